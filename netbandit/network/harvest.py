"""Energy harvesting: power over time, piecewise constant."""

from collections.abc import Iterator, Sequence

from netbandit.network.battery import Harvest
from netbandit.network.downtimes import failing
from netbandit.network.draws import Draws


def steady(power: int) -> Harvest:
    """Yield the same *power* (nW) for ever."""
    yield 0, power


def daily(power: int, begin: int, end: int, every: int) -> Harvest:
    """Yield a *power* (nW) from *begin* to *end* of each period, which lasts *every* (all in ns)."""
    yield 0, 0
    period = 0
    while True:
        yield period + begin, power
        yield period + end, 0
        period += every


def on_and_off(draws: Draws, agent: int, power: int, on_for: int, off_for: int) -> Harvest:
    """Yield a *power* (nW) that is on and off for exponential times, begun in its stationary distribution.

    Args:
        draws: Where the numbers of all agents are.
        agent: The agent.
        power: The power (nW) while it is on.
        on_for: The mean on time (ns).
        off_for: The mean off time (ns).
    """
    yield 0, 0
    for begin, end in failing(draws, agent, off_for, on_for):
        yield begin, power
        yield int(end), 0


def listed(moments: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the listed powers: each start (ns), and the power (nW) from then on."""
    yield 0, 0
    yield from moments
