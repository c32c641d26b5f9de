"""Check of numbers of agents where nodes are called by other numbers: see `netbandit.checks.facts`."""

from collections.abc import Iterator

from netbandit.checks.facts import Facts
from netbandit.parts.settings import KeyPath, Problem
from netbandit.scenario.faults import NodeName
from netbandit.util.wording import show


def graph_notes(facts: Facts) -> Iterator[Problem]:
    """Yield lists of agents with a number, from 0, by which another one is called."""
    names = facts.graph.names
    known = set(names)
    for path, nodes in _lists(facts):
        for node in nodes:
            if isinstance(node, int) and node < len(names) and str(node) in known and str(node) != names[node]:
                text = f"{node} is the agent of this number, from 0, which is called {show(names[node])}; in quotes, "
                yield path, f"{text}{show(str(node))}, it is a name"
                break


def _lists(facts: Facts) -> Iterator[tuple[KeyPath, list[NodeName]]]:
    for place, outage in enumerate(facts.faults.outages):
        here = ("faults", "outages", place)
        yield (*here, "nodes"), list(outage.nodes or ())
        yield (*here, "links"), [node for pair in outage.links or () for node in pair]
        yield (*here, "partition"), [node for group in outage.partition or () for node in group]
    yield ("energy", "mains"), facts.energy.mains if isinstance(facts.energy.mains, list) else []
    yield ("adversary", "agents"), facts.adversary.agents or []
