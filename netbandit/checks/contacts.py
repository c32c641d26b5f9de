"""Checks of ``[topology]`` that changes: see `netbandit.checks.facts`."""

from collections.abc import Iterator

from netbandit.checks.facts import Facts
from netbandit.network.contacts import MOST_CONTACTS, Recurring, expected_contacts
from netbandit.network.families.changes import RecurringChanges
from netbandit.network.families.meeting import Meeting
from netbandit.parts.settings import Problem
from netbandit.protocols.local import Local
from netbandit.simulation.build_contacts import model_of
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
