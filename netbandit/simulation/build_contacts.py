"""Builds the contact plan (when each link is up) from ``topology.changes``."""

from netbandit.network.contacts import (
    ContactModel,
    GeneratedContacts,
    Markov,
    Matching,
    Recurring,
    is_always_up,
)
from netbandit.network.families.changes import (
    Changes,
    MarkovChanges,
    MatchingChanges,
    RedrawnChanges,
)
from netbandit.network.families.family import Family
from netbandit.network.outages import LinkSchedule, Redrawn
from netbandit.network.topology import Topology
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.simulation.build_faults import Changing
from netbandit.util.streams import Streams
from netbandit.util.units import parse_duration


def build_contacts(family: Family, topology: Topology, streams: Streams, slot: int, end: int) -> LinkSchedule | None:
    """Return when the links of a graph are up; None if always.

    Args:
        family: The family of the graph, with the model by which it changes.
        topology: The graph.
        streams: The streams of the graph.
        slot: The length of a slot (ns).
        end: The end of the run (ns).
    """
    if topology.contacts is not None:
        return None if topology.contacts.is_always_up(end) else topology.contacts
    model = model_of(family.changes, slot)
    return None if model is None or is_always_up(model) else GeneratedContacts(model, topology.edges, streams)


def build_changing(
    family: Family, topology: Topology, streams: Streams, slot: int, end: int, protocol: NetworkProtocol, talk: str
) -> Changing | None:
    """Return how a graph changes, and how *protocol* handles that under pattern *talk*; None if the graph is static.

    See `build_contacts`.
    """
    contacts = build_contacts(family, topology, streams, slot, end)
    if contacts is None:
        return None
    carry = getattr(protocol, "carry", None)
    carried = None if carry is None else carry.nanoseconds(slot)
    sensed = family.neighbours == "sensed"
    return Changing(contacts, sensed, sensed and protocol.over_seen_links(talk) == "wait", carried, protocol.slotted)


def model_of(changes: Changes | None, slot: int) -> ContactModel | None:
    """Return the model described by *changes*; *slot* is the length of a slot (ns)."""
    if changes is None:
        return None
    every = _ns(changes.every, slot)
    if isinstance(changes, MarkovChanges):
        share = changes.begin
        if share == "stationary":
            share = changes.born / (changes.born + changes.dies)
        return Markov(changes.born, changes.dies, every, share)
    if isinstance(changes, RedrawnChanges):
        return Redrawn(changes.up, every)
    if isinstance(changes, MatchingChanges):
        return Matching(every)
    return Recurring(_ns(changes.up_for, slot), every, changes.phase)


def _ns(duration: str, slot: int) -> int:
    return max(1, parse_duration(duration).nanoseconds(slot))
