"""Which failures switch so often that tracking up and down would dominate the run time."""

from collections.abc import Iterator
from math import inf

from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.models.loss import BurstLoss
from netbandit.network.outages import Failing, Redrawn
from netbandit.parts.settings import KeyPath, Problem
from netbandit.util.memory import shown
from netbandit.util.units import rough_time

_SECONDS = 1.6e-6
"""Seconds to look up one switch between up and down; measured."""

_BYTES = 50
"""Bytes stored per switch."""

_LONG = 60
"""Warn if the look-ups take longer than this (s)."""


def fault_rate_notes(faults: Faults, links: int, agents: int, end: int, way: float) -> Iterator[Problem]:
    """Yield the fault models under which tracking the switches of one run would take minutes.

    The state of a channel is needed when a message starts; that of a node also when the last message arrives. For a
    link, the run looks up the first outage after a message has started.

    Args:
        faults: The fault models.
        links: The number of links between agents.
        agents: The number of agents.
        end: The time of the horizon (ns).
        way: The travel time of the slowest message, and the time of the longest job (ns).
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
    """Return the mean time (ns) between two switches of a channel; None if it never switches."""
    loss = faults.loss
    return (loss.good_for + loss.bad_for) / 2 if isinstance(loss, BurstLoss) else None


def _stay(law: Failing | Redrawn | None) -> float | None:
    """Return the mean time (ns) between two switches of a link or node; None if it never switches."""
    if isinstance(law, Failing):
        return (law.up_for + law.down_for) / 2
    return None if law is None or law.up in (0, 1) else law.every


def _up_for(law: Failing | Redrawn | None) -> float:
    """Return the mean time (ns) that a link or node stays up."""
    if isinstance(law, Failing):
        return law.up_for
    return inf if law is None or law.up >= 1 else law.every / (1 - law.up)
