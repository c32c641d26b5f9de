"""When links and agents are down, known in advance to compiled loops."""

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from netbandit.network.downtimes import NEVER_DOWN, Downtimes
from netbandit.network.network import Network

_MOST_CUTS = 1 << 20
_HALVINGS = 40
_FOR_GOOD = 1 << 62
_LARGEST_NUMBER = 1 - 2**-53


Times = NDArray[np.int64]


def why_no_cuts(network: Network) -> str | None:
    """Return why it cannot be known in advance when links and agents are down; None: that is not too often."""
    known: list[tuple[Downtimes, int, int]] = []
    downtimes = network.link_downtimes
    if downtimes is not None and network.links:
        link = network.links[0]  # the others fail by the same law
        of_one = downtimes(min(link.first, link.second), max(link.first, link.second))
        known.append((of_one, len(network.links), network.clock.end))
    if network.agents_fail:
        known.append((network.node_downtimes[0], network.agents, _latest_timeout(network)))
    # Twice as far each time: they may be so many that counting them all would take for ever.
    few = all(
        len(times.until(latest >> halvings)) <= _MOST_CUTS // number
        for times, number, latest in known
        for halvings in range(_HALVINGS, -1, -1)
    )
    return None if few else f"links or agents are down too often to be known ahead (at most {_MOST_CUTS:,} times)"


def cuts_of(network: Network) -> tuple[Times, Times]:
    """Return where the times of each link begin, shape (links + 1,), and the times from and until (ns), shape (n, 2).

    What is put on a link begins before the horizon, and is lost if the link goes down before it arrives: one that goes
    down after the horizon might as well stay so. Where no link is ever down, both are empty.
    """
    downtimes = network.link_downtimes
    if downtimes is None:
        return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    known = [downtimes(min(link.first, link.second), max(link.first, link.second)) for link in network.links]
    end = network.clock.end
    return _rows_of([[*times.until(end), (times.down(end), inf)] for times in known])


def absences_of(network: Network, size: int) -> tuple[Times, Times]:
    """As `cuts_of`, of agents, between which no message has more than *size* bytes.

    It may queue, but is put on its channel before the horizon.
    """
    known = network.node_downtimes if network.agents_fail else [NEVER_DOWN] * network.agents
    latest = _latest_timeout(network) + network.transmission(size)
    return _rows_of([times.until(latest + 1) for times in known])


def _rows_of(known: Sequence[Sequence[tuple[float, float]]]) -> tuple[Times, Times]:
    first = np.zeros(len(known) + 1, dtype=np.int64)
    np.cumsum([len(some) for some in known], out=first[1:])
    rows = [(int(min(begin, _FOR_GOOD)), int(min(end, _FOR_GOOD))) for some in known for begin, end in some]
    return first, np.array(rows, dtype=np.int64).reshape(-1, 2)


def _latest_timeout(network: Network) -> int:
    """Return until when (ns) it matters whether an agent is down: it repeats nothing for which it waits then.

    A message that takes its time to be put on a channel arrives later by as much.
    """
    faults = network.peer_faults
    slowest = max((channel.latency for near in network.channels for channel in near), default=0)
    jitter, retry = faults.jitter, faults.retry
    longest = 0 if jitter is None else int(jitter.times(np.array([_LARGEST_NUMBER]))[0])
    patience = 0.0 if retry is None else retry.timeout * retry.spread * max(retry.factors)
    return network.clock.end + slowest + longest + (int(patience) + 1 if patience < _FOR_GOOD else _FOR_GOOD)
