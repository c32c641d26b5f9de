"""Rejects graphs that are too large before they are generated."""

from netbandit.parts.component import Checks, Mistake
from netbandit.util.memory import exceeded, shown

MOST_LINKS = 50_000_000
"""No graph has more links than this, however much memory there is."""

_BYTES_A_LINK = 1_200
_BYTES_AN_AGENT = 1_500
"""The memory of a replication: measured on stars, rings, dense and random graphs, with the network of a run."""


def memory_of(agents: float, links: float) -> float:
    """Return the bytes that a replication over a graph is expected to take."""
    return _BYTES_AN_AGENT * agents + _BYTES_A_LINK * links


def too_large(key: str, agents: float, links: float) -> Checks:
    """Yield, at *key*, a graph that has too many links, or that does not fit the memory of this machine.

    Args:
        key: The key to blame.
        agents: The number of agents.
        links: The number of links to expect.
    """
    size = memory_of(agents, links)
    if links > MOST_LINKS:
        text = f"too many: the graph would have about {links:.3g} links; at most {MOST_LINKS:,} are possible"
        yield Mistake(key, text)
    elif (most := exceeded(size)) is not None:
        graph = f"about {links:.3g} links, which take some {shown(size)} of memory"
        yield Mistake(key, f"too many: the graph would have {graph}; {shown(most)} is available here")
