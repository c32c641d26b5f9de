"""When links are down, known in advance to compiled loops."""

import numpy as np
from numpy.typing import NDArray

from netbandit.network.network import Network

_MOST_CUTS = 1 << 20
_HALVINGS = 40
_FOR_GOOD = 1 << 62
_LARGEST_NUMBER = 1 - 2**-53


def cuts_fit(network: Network) -> bool:
    """Return whether it can be known in advance when links are down: nothing queues, and that is not too often."""
    downtimes = network.link_downtimes
    if downtimes is None or not network.links:
        return True
    if network.peer_bandwidth is not None:
        return False
    link = network.links[0]  # the others fail by the same law
    known = downtimes(min(link.first, link.second), max(link.first, link.second))
    most = _MOST_CUTS // len(network.links)
    latest = _latest_arrival(network)
    # Twice as far each time: they may be so many that counting them all would take for ever.
    return all(len(known.until(latest >> halvings)) <= most for halvings in range(_HALVINGS, -1, -1))


def cuts_of(network: Network) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the times of each link begin, shape (links + 1,), and the times from and until (ns), shape (n, 2).

    Where no link is ever down, both are empty.
    """
    downtimes = network.link_downtimes
    if downtimes is None:
        return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    latest = _latest_arrival(network)
    cuts = [
        downtimes(min(link.first, link.second), max(link.first, link.second)).until(latest + 1)
        for link in network.links
    ]
    first = np.zeros(len(cuts) + 1, dtype=np.int64)
    np.cumsum([len(some) for some in cuts], out=first[1:])
    rows = [(begin, int(min(end, _FOR_GOOD))) for some in cuts for begin, end in some]
    return first, np.array(rows, dtype=np.int64).reshape(-1, 2)


def _latest_arrival(network: Network) -> int:
    """Return when (ns) a message that does not queue arrives at the latest."""
    faults = network.peer_faults
    slowest = max((channel.latency for near in network.channels for channel in near), default=0)
    jitter = None if faults is None else faults.jitter
    longest = 0 if jitter is None else int(jitter.times(np.array([_LARGEST_NUMBER]))[0])
    return network.clock.end + slowest + longest
