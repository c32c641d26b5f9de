"""Warns about failure rates so high that tracking up/down switches would dominate the run time."""

from collections.abc import Iterator
from math import inf

from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.loss_laws import BurstLoss
from netbandit.network.outages import Failing, Redrawn
from netbandit.parts.settings import KeyPath, Problem
from netbandit.util.memory import shown
from netbandit.util.units import rough_time

_SECONDS = 1.6e-6
"""What it takes to look up one switch from up to down, or back; measured."""

_BYTES = 50
"""What is kept of it."""

_LONG = 60
"""From how many seconds on it is said."""


def fault_rate_warnings(faults: Faults, links: int, agents: int, end: int, way: int) -> Iterator[Problem]:
    """Yield the laws after which things switch so often in one run that looking it up takes minutes.

    The state of a channel counts when a message starts, that of a node also when the last one arrives. Of a link it is
    looked up when it is down first after a message has started.

    Args:
        faults: What goes wrong.
        links: The number of links between agents.
        agents: The number of agents.
        end: When the horizon comes (ns).
        way: How long (ns) the slowest message is on its way.
    """
    plan = faults.plan
    laws: list[tuple[KeyPath, str, int, float | None, float]] = [
        (("links", "peer", "loss"), "channels between agents", 2 * links, _stay_of(faults.peer), end),
        (("links", "uplink", "loss"), "channels of uplinks", 2 * agents, _stay_of(faults.uplink), end),
        (("faults", "links"), "links between agents", links, _stay(plan.links), end + min(way, _up_for(plan.links))),
        (("faults", "nodes"), "agents", agents, _stay(plan.nodes), end + way),
        (("faults", "server"), "the server", 1, _stay(plan.server), end + way),
    ]
    for path, things, number, stay, until in laws:
        if stay is None:
            continue
        switches = number * until / stay
        if switches * _SECONDS > _LONG:
            spent = f"{rough_time(switches * _SECONDS)} and {shown(switches * _BYTES)} of memory"
            yield (
                path,
                f"{things} switch about {switches:.0e} times in all in a run, each every {stay / 1e6:.2g} ms: finding "
                f"them until the last message arrives may take {spent}, unless few of them carry messages; longer "
                "times between switches, shorter slots or faster links make it quicker",
            )


def _stay_of(faults: ChannelFaults) -> float | None:
    """Return how long a channel stays as it is in the mean (ns); None where it does not switch."""
    loss = faults.loss
    return (loss.good_for + loss.bad_for) / 2 if isinstance(loss, BurstLoss) else None


def _stay(law: Failing | Redrawn | None) -> float | None:
    """Return how long a thing stays as it is in the mean (ns); None where it does not switch."""
    if isinstance(law, Failing):
        return (law.up_for + law.down_for) / 2
    return None if law is None or law.up in (0, 1) else law.every


def _up_for(law: Failing | Redrawn | None) -> float:
    """Return how long (ns) a thing stays up in the mean."""
    if isinstance(law, Failing):
        return law.up_for
    return inf if law is None or law.up >= 1 else law.every / (1 - law.up)
