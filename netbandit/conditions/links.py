"""``[links]`` apart from faults: what all links of a class have in common, and its checks; see `facts`."""

from collections.abc import Iterator

from netbandit.conditions.facts import Facts
from netbandit.network.edge_latencies import LONGEST
from netbandit.network.link import LinkClass
from netbandit.parts.settings import Problem
from netbandit.scenario.links import LinkSettings, UniformLatency, UplinkSettings
from netbandit.util.units import Bandwidth, Duration, energy_of_both, parse_size


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


def link_class(settings: LinkSettings | UplinkSettings) -> LinkClass:
    """Return the properties shared by all links of a class."""
    radio = settings.radio if isinstance(settings, LinkSettings) else None
    return LinkClass(
        bandwidth=None if settings.bandwidth is None else Bandwidth(settings.bandwidth).bits,
        cost=settings.cost,
        energy_per_message=energy_of_both(settings.energy.per_message),
        energy_per_byte=energy_of_both(settings.energy.per_byte),
        received_per_message=settings.energy.of_message[1],
        received_per_byte=settings.energy.of_byte[1],
        modulation=None if radio is None or radio.airtime is None else radio.airtime.lora.modulation,
        most_waiting=parse_size(settings.queue) if isinstance(settings.queue, str) else settings.queue,
        counts_bytes=isinstance(settings.queue, str),
    )
