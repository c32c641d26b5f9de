"""Link latencies that a graph itself provides, in the edge attribute ``latency``.

Where a file has several of a link, in its two directions, say, they all stand there, with "and" between them.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from netbandit.network.topology import Topology, TopologyError
from netbandit.util.units import Duration
from netbandit.util.wording import show

LONGEST = 2**62
"""In nanoseconds: sums of such latencies would overflow."""
NAMED = 5
"""How many of the links without a latency an error names."""
NOT_TAKEN = 'the links of this graph have latencies of their own, which are not used; "edges" takes them'
"""The note if the graph has latencies and links.peer.latency is a different one."""


AND = " and "


def joined(texts: Iterable[str]) -> str:
    """Return the latencies of a link that differ, as one text; empty ones are left out."""
    found: dict[tuple[object, ...], str] = {}
    for text in filter(None, texts):
        found.setdefault(_amount(text), text)
    return AND.join(found.values())


def _amount(text: str) -> tuple[object, ...]:
    try:
        duration = Duration(text)
    except ValueError:
        return (text,)
    return duration.amount, duration.in_slots


def any_given(topology: Topology) -> bool:
    """Whether a link of the graph has a latency of its own."""
    return not topology.bare and any("latency" in one for _, _, one in topology.graph.edges(data=True))


def given_latencies(topology: Topology, slot: int) -> NDArray[np.int64]:
    """Return the latency of each link in nanoseconds, shape (L,), in the order of ``topology.edges``.

    Args:
        topology: The graph; the attribute ``latency`` of a link is a duration such as ``"10 ms"``.
        slot: The length of a slot in nanoseconds, for durations in slots.

    Raises:
        TopologyError: At the empty key path, if links have none, or one that is no duration.
    """
    found = np.zeros(topology.links, dtype=np.int64)
    missing: list[str] = []
    wrong: list[str] = []
    for index, (first, second) in enumerate(topology.edges.tolist()):
        text = topology.graph.edges[first, second].get("latency")
        if text is None:
            missing.append(f"{first}-{second}")
            continue
        if AND in str(text):
            wrong.append(
                f"link {first}-{second} has the latencies {text}: it must have one, the same in both directions"
            )
            continue
        try:
            nanoseconds = Duration(str(text)).nanoseconds(slot)
            if nanoseconds >= LONGEST:
                raise ValueError("must be less than 146 years")
            found[index] = nanoseconds
        except ValueError as error:
            wrong.append(f"the latency of link {first}-{second} {error}, not {show(text)}")
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        subject = "1 link has" if len(missing) == 1 else f"{len(missing)} links have"
        wrong.append(f"{subject} no attribute latency: {', '.join(missing[:NAMED])}{more}")
    if wrong:
        raise TopologyError([((), text) for text in wrong])
    return found
