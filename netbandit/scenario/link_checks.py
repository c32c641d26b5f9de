"""What cannot be together among the tables that every scenario has."""

from netbandit.registry import BUILT_IN
from netbandit.scenario.links import LinksSettings, UniformLatency
from netbandit.scenario.model import RunSettings
from netbandit.settings import Problem
from netbandit.wording import show


def combinations(run: RunSettings | None, family: object, links: LinksSettings | None) -> list[Problem]:
    """Return what cannot be together among the tables of this package, whichever of them are valid so far.

    Args:
        run: ``[run]``, or None if it has mistakes.
        family: The family of the topology, whatever was written.
        links: ``[links]``, or None if it has mistakes.
    """
    problems: list[Problem] = []
    if links is None:
        return problems
    ours = isinstance(family, str) and family in BUILT_IN["topology"]
    needs = {"geographic": "coordinates", "edges": "links"}.get(str(links.peer.latency))
    if ours and needs is not None and family != "file" and (family, needs) != ("contacts", "links"):
        problems.append(
            (
                ("links", "peer", "latency"),
                f"{show(links.peer.latency)} needs the {needs} of a topology file: "
                f'must be a duration such as "10 ms" with topology.family = {show(family)}',
            )
        )
    for which, latency in (("peer", links.peer.latency), ("uplink", links.uplink.latency)):
        if not isinstance(latency, UniformLatency):
            continue
        shortest, longest = latency.ends
        if shortest.in_slots != longest.in_slots and run is None:
            continue
        slot = run.slot_nanoseconds if run is not None else 1
        if shortest.amount * (slot if shortest.in_slots else 1) > longest.amount * (slot if longest.in_slots else 1):
            problems.append(
                (
                    ("links", which, "latency", "uniform"),
                    f"must go from the shortest to the longest latency, not from {show(latency.uniform[0])} "
                    f"to {show(latency.uniform[1])}",
                )
            )
    return problems
