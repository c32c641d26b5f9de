"""Things that fail and are mended far more often than anybody means: looking that up would take longer than the run."""

from collections.abc import Iterator

from netbandit.memory import shown
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.loss import BurstLoss
from netbandit.network.outages import Failing, Redrawn
from netbandit.settings import KeyPath, Problem
from netbandit.units import rough_time

_SECONDS = 1.6e-6
"""What it takes to look up one switch from up to down, or back; measured."""

_BYTES = 50
"""What is kept of it."""

_LONG = 60
"""From how many seconds on it is said."""


def switch_notes(faults: Faults, links: int, agents: int, end: int) -> Iterator[Problem]:
    """Yield the laws after which things switch so often in one run that looking it up takes minutes.

    Args:
        faults: What goes wrong.
        links: The number of links between agents.
        agents: The number of agents.
        end: When the horizon comes (ns).
    """
    plan = faults.plan
    laws: list[tuple[KeyPath, str, int, float | None]] = [
        (("links", "peer", "loss"), "channels between agents", 2 * links, _stay_of(faults.peer)),
        (("links", "uplink", "loss"), "channels of uplinks", 2 * agents, _stay_of(faults.uplink)),
        (("faults", "links"), "links between agents", links, _stay(plan.links)),
        (("faults", "nodes"), "agents", agents, _stay(plan.nodes)),
        (("faults", "server"), "the server", 1, _stay(plan.server)),
    ]
    for path, things, number, stay in laws:
        if stay is None:
            continue
        switches = number * end / stay
        if switches * _SECONDS > _LONG:
            spent = f"{rough_time(switches * _SECONDS)} and {shown(switches * _BYTES)} of memory"
            yield (
                path,
                f"{things} switch about {switches:.0e} times in all in a run, each every {stay / 1e6:.2g} ms: looking "
                f"that up may take {spent}, unless few of them carry messages; with longer times, or shorter slots, it "
                "is quicker",
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
