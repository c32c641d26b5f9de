"""The output of ``netbandit topology``: round times, dependence on single links and nodes, and advice."""

from collections.abc import Iterator

import numpy as np

from netbandit.network.contact_figures import contact_figures
from netbandit.network.contacts import UpTimes
from netbandit.network.geography import great_circle_km
from netbandit.network.topology import Topology
from netbandit.results.intervals import Interval
from netbandit.results.numbers import scaled, shortest
from netbandit.studies.advice.confirm import Confirmed
from netbandit.studies.advice.measure import MeasureName
from netbandit.studies.advice.placement import Placement
from netbandit.studies.advice.resilience import bridges, cut_nodes
from netbandit.studies.advice.round_times import round_times
from netbandit.studies.advice.timed_graph import TimedGraph
from netbandit.studies.advice.what_if import Advice
from netbandit.util.text import pluralize

_SHOWN = 5


def contact_lines(up: UpTimes | None, topology: Topology, end: int) -> list[tuple[str, str]]:
    """Return the description of a network over time, as names and texts: empty if links are always up.

    Args:
        up: Its contacts; None: links are always up.
        topology: The graph of all links.
        end: The end of the period (ns).
    """
    if up is None:
        return []
    figures = contact_figures(up._replace(end=np.minimum(up.end, end)), topology.edges, topology.agents, end)
    pairs = topology.agents * (topology.agents - 1)
    return [
        ("until the horizon", f"{end / 1e9:,g} s"),
        ("contacts", f"{figures.contacts:,}"),
        ("neighbours present", f"{figures.degree:.3g}"),
        ("all connected", f"{figures.connected:.0%} of the time"),
        ("pairs that can be reached", f"{figures.reachable:,} of {pairs:,}"),
    ]


def network_lines(graph: TimedGraph) -> Iterator[tuple[str, str]]:
    """Yield figures of a network from the times of its links, as names and texts."""
    topology = graph.topology
    places = topology.coordinates
    if places is not None and topology.links:
        lengths = great_circle_km(places[topology.edges[:, 0]], places[topology.edges[:, 1]])
        known = lengths[lengths == lengths]
        if len(known):
            yield "link lengths (km)", f"{known.min():.0f} to {known.max():.0f}, mean {known.mean():.0f}"
    if topology.links:
        shortest_, longest = graph.latencies.min() / 1e6, graph.latencies.max() / 1e6
        yield "link latency (ms)", f"{shortest(shortest_, 4)} to {shortest(longest, 4)}"
    for found in round_times(graph):
        text = "never ends: not everybody can be reached"
        if found.nanoseconds is not None and found.slots is not None:
            text = f"{milliseconds(found.nanoseconds)}, {_slots(found.slots)}"
        yield f"round of {found.protocol}", text
    for name, points in (("bridges", bridges(topology)), ("cut nodes", cut_nodes(topology))):
        if not points:
            yield name, "none"
            continue
        worst = ", ".join(f"{_names(topology, point.nodes)} ({point.separated} pairs)" for point in points[:_SHOWN])
        more = f" and {len(points) - _SHOWN} more" if len(points) > _SHOWN else ""
        yield name, f"{len(points)}: {worst}{more}"


def left_out_line(left_out: list[str]) -> str:
    """Return the note on influences in runs that the times shown ignore."""
    return f"left out here, but not in runs: {', '.join(left_out)}"


def advice_lines(topology: Topology, steps: list[Advice], left_out: list[str], new_links: str) -> Iterator[str]:
    """Yield the advice step by step, a line each change.

    Args:
        topology: The network.
        steps: The advice.
        left_out: Influences in runs that the evaluation of links ignores.
        new_links: The latency assumed for a link that does not exist yet, in words; empty where all are equal.
    """
    for number, step in enumerate(steps, start=1):
        what = "lost" if step.lose else "more"
        before = _value(step.measure, step.before)
        head = f"one link {what}" if len(steps) == 1 else f"link {number} of {len(steps)} {what}"
        if not step.tried:
            yield f"{step.subject}, {before}: {'; '.join(step.remarks)}"
            continue
        how = "" if number == 1 else ", with the best of the step before in place (greedy: each step is the best alone)"
        yield f"{head}: {step.subject}, {before} without it; all {scaled(step.tried)} tried, exactly{how}"
        if left_out and number == 1 and step.measure != "resilience":
            yield f"  {left_out_line(left_out)}"
        if new_links and number == 1 and not step.lose:
            yield f"  a new link is given {new_links}"
        if not step.best:
            yield "  none makes it better"
        if len(steps) == 1 and len(step.best) > 1:
            yield f"  alternatives, the best first; --what-if {len(step.best)} plans so many, each after the one before"
        for index, change in enumerate(step.best, start=1):
            latency = milliseconds(change.latency)
            ends = f"{_names(topology, change.link)} ({latency})"
            yield f"  {index}. {ends}: {_value(step.measure, change.value)}{_saved(step, change.value)}"


def placement_lines(topology: Topology, what: str, found: list[Placement], how: str) -> Iterator[str]:
    """Yield where to put *what*, one line per node; *how* names the search method."""
    yield f"{what}: {how}"
    for index, placement in enumerate(found, start=1):
        nodes = ", ".join(topology.names[node] for node in placement.nodes)
        farthest, mean = milliseconds(placement.farthest), milliseconds(placement.mean)
        yield f"  {index}. {nodes}: the farthest agent is {farthest} away, the mean {mean}"


def confirmed_lines(
    topology: Topology, before: dict[str, Interval], found: list[Confirmed], replications: int
) -> Iterator[str]:
    """Yield the results of running the scenario, with 95 % intervals of the differences."""
    yield f"run {replications} times each, the same replications on every network:"
    yield "  as it is: " + ", ".join(f"{name} {shortest(interval.value, 5)}" for name, interval in before.items())
    for each in found:
        texts = [f"{name} {_signed(interval)}" for name, interval in each.differences.items()]
        yield f"  {_names(topology, each.link)}: " + ", ".join(texts)


def milliseconds(nanoseconds: float) -> str:
    """Return a time as text."""
    return f"{shortest(nanoseconds / 1e6, 4)} ms"


def _signed(interval: Interval) -> str:
    sign = "+" if interval.value > 0 else ""
    text = f"{sign}{shortest(interval.value, 4)}"
    if interval.why_none:
        return f"{text} ({interval.why_none})"
    return f"{text} [{shortest(interval.low, 4)}, {shortest(interval.high, 4)}]"


def _slots(slots: int) -> str:
    return pluralize(scaled(slots), "slot")


def _value(measure: MeasureName, value: float | None) -> str:
    if measure == "gap":
        return shortest(0.0 if value is None else 1 - value, 4)
    if value is None:
        return "a round never ends"
    if measure == "time":
        return milliseconds(value)
    return f"{value:,.0f} {'activations' if measure == 'cost' else 'pairs'}"


def _saved(step: Advice, value: float | None) -> str:
    gap = step.measure == "gap"
    if value is None or step.before is None or not (before := 1 - step.before if gap else step.before):
        return ""
    return f" ({(1 - value if gap else value) / before - 1:+.1%})"


def _names(topology: Topology, nodes: tuple[int, ...]) -> str:
    return " - ".join(topology.names[node] for node in nodes)
