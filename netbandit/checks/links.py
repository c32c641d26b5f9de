"""Checks of ``[links]`` apart from faults: see `netbandit.checks.facts`."""

from collections.abc import Iterator

from netbandit.checks.facts import Facts
from netbandit.network.edge_latencies import LONGEST
from netbandit.parts.settings import Problem
from netbandit.scenario.links import UniformLatency
from netbandit.util.units import Duration


def problems(facts: Facts) -> Iterator[Problem]:
    """Yield each latency that is too long for the clock."""
    links, slot = facts.links, facts.run.slot_nanoseconds
    for table, latency in (("peer", links.peer.latency), ("uplink", links.uplink.latency)):
        durations = latency.ends if isinstance(latency, UniformLatency) else [latency]
        for duration in durations:
            if isinstance(duration, Duration) and duration.nanoseconds(slot) >= LONGEST:
                yield (
                    ("links", table, "latency"),
                    f'must be less than "{LONGEST // 10**9} s" (146 years), not "{duration}"',
                )


def notes(facts: Facts) -> Iterator[Problem]:
    """Yield keys without effect beside other keys of their table."""
    for table, settings in (("peer", facts.links.peer), ("uplink", facts.links.uplink)):
        for key, text in settings.unused():
            yield ("links", table, key), text
