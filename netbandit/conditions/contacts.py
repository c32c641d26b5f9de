"""``topology.changes``: when links come and go, and what of it is checked; see `facts`."""

from collections.abc import Iterator

from netbandit.conditions.facts import Facts
from netbandit.conditions.faults_plan import Changing
from netbandit.network.contacts import (
    MOST_CONTACTS,
    ContactModel,
    GeneratedContacts,
    Markov,
    Matching,
    Recurring,
    expected_contacts,
    is_always_up,
)
from netbandit.network.families.changes import (
    Changes,
    MarkovChanges,
    MatchingChanges,
    RecurringChanges,
    RedrawnChanges,
)
from netbandit.network.families.family import Family
from netbandit.network.families.meeting import Meeting
from netbandit.network.outages import LinkSchedule, Redrawn
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.util.streams import Streams
from netbandit.util.units import parse_duration
from netbandit.util.wording import show


def graph_problems(facts: Facts) -> Iterator[Problem]:
    """Yield models that are impossible or have too many contacts, and protocols that cannot see link changes."""
    family, topology, slot, end = facts.family, facts.graph, facts.slot, facts.end
    protocol, kind, talk = facts.protocol, facts.kinds["protocol"], facts.pattern or ""
    changes, model = family.changes, model_of(family.changes, slot)
    changing = model is not None or topology.contacts is not None
    if getattr(protocol, "carry", None) is not None and not (changing and family.neighbours == "sensed"):
        yield ("protocol", "carry"), "must be left out: nothing waits where agents do not see links come and go"
    if not changing:
        return
    if family.neighbours == "sensed" and protocol.uses_peer_links and protocol.over_seen_links(talk) is None:
        from netbandit.protocols.local import Local

        without = " without a deadline" if isinstance(protocol, Local) else ""  # applies to calls only
        text = f"protocol.kind = {show(kind)} does not say{without} what agents do who see links come and go"
        yield ("topology", "neighbours"), f'must be "unknown": {text}'
    if model is None:
        return
    if isinstance(changes, RecurringChanges) and isinstance(model, Recurring) and model.up_for >= model.every:
        text = (
            f"must be shorter than every = {show(changes.every)}, not {show(changes.up_for)}: links would never be down"
        )
        yield ("topology", "changes", "up_for"), text
        return
    contacts = expected_contacts(model, topology.links, topology.agents, end)
    if contacts > MOST_CONTACTS:
        text = f"too short: about {contacts:.2g} contacts in a run; at most {MOST_CONTACTS:,} are possible"
        yield ("topology", "changes", "every"), text


def graph_notes(facts: Facts) -> Iterator[Problem]:
    """Yield keys that need a time-varying graph, and a link model without effect because nothing is sent."""
    family, protocol = facts.family, facts.protocol
    changing = family.changes is not None or isinstance(family, Meeting)
    if family.changes is not None and not protocol.uses_peer_links:
        yield ("topology", "changes"), "has no effect: the protocol sends nothing over links between agents"
    if not changing and "neighbours" in family.model_fields_set:
        yield ("topology", "neighbours"), "is used only where links come and go"


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
