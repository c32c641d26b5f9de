"""When links and agents are down, known in advance to compiled loops."""

from collections.abc import Sequence

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
    """Return why it cannot be known in advance when links and agents are down; None: nothing queues, not too often."""
    known: list[tuple[Downtimes, int, int]] = []
    downtimes = network.link_downtimes
    if downtimes is not None and network.links:
        link = network.links[0]  # the others fail by the same law
        of_one = downtimes(min(link.first, link.second), max(link.first, link.second))
        known.append((of_one, len(network.links), _latest_arrival(network)))
    if network.agents_fail:
        known.append((network.node_downtimes[0], network.agents, _latest_timeout(network)))
    if known and network.peer_bandwidth is not None:
        return "links or agents are down at times, over links with a bandwidth"
    # Twice as far each time: they may be so many that counting them all would take for ever.
    few = all(
        len(times.until(latest >> halvings)) <= _MOST_CUTS // number
        for times, number, latest in known
        for halvings in range(_HALVINGS, -1, -1)
    )
    return None if few else f"links or agents are down too often to be known ahead (at most {_MOST_CUTS:,} times)"


def cuts_of(network: Network) -> tuple[Times, Times]:
    """Return where the times of each link begin, shape (links + 1,), and the times from and until (ns), shape (n, 2).

    Where no link is ever down, both are empty.
    """
    downtimes = network.link_downtimes
    if downtimes is None:
        return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    known = [downtimes(min(link.first, link.second), max(link.first, link.second)) for link in network.links]
    return _rows_of(known, _latest_arrival(network))


def absences_of(network: Network) -> tuple[Times, Times]:
    """As `cuts_of`, of agents."""
    known = network.node_downtimes if network.agents_fail else [NEVER_DOWN] * network.agents
    return _rows_of(known, _latest_timeout(network))


def _rows_of(known: Sequence[Downtimes], latest: int) -> tuple[Times, Times]:
    cuts = [times.until(latest + 1) for times in known]
    first = np.zeros(len(cuts) + 1, dtype=np.int64)
    np.cumsum([len(some) for some in cuts], out=first[1:])
    rows = [(begin, int(min(end, _FOR_GOOD))) for some in cuts for begin, end in some]
    return first, np.array(rows, dtype=np.int64).reshape(-1, 2)


def _latest_timeout(network: Network) -> int:
    """Return until when (ns) it matters whether an agent is down: it repeats nothing for which it waits then."""
    retry = network.peer_faults.retry
    longest = 0.0 if retry is None else retry.timeout * retry.spread * max(retry.factors)
    return _latest_arrival(network) + (int(longest) + 1 if longest < _FOR_GOOD else _FOR_GOOD)


def _latest_arrival(network: Network) -> int:
    """Return when (ns) a message that does not queue arrives at the latest."""
    faults = network.peer_faults
    slowest = max((channel.latency for near in network.channels for channel in near), default=0)
    jitter = faults.jitter
    longest = 0 if jitter is None else int(jitter.times(np.array([_LARGEST_NUMBER]))[0])
    return network.clock.end + slowest + longest
