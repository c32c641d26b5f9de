"""Checks of ``run.activity``: see `facts`."""

from collections.abc import Iterator
from math import inf

from netbandit.conditions.facts import Facts
from netbandit.parts.settings import KeyPath, Problem
from netbandit.scenario.activity import MOST_USERS, PoissonActivity
from netbandit.util.wording import show

_HERE: KeyPath = ("run", "activity")


def notes(facts: Facts) -> Iterator[Problem]:
    """Yield keys of ``[run]`` without effect."""
    for key, text in facts.run.unused():
        yield ("run", key), text


def problems(facts: Facts) -> Iterator[Problem]:
    """Yield parts that require every agent to decide in every slot, if ``run.activity`` says otherwise."""
    run = facts.run
    if run.activity == "every":
        return
    parts = {table: getattr(facts, table) for table in ("learner", "protocol") if facts.knows(table)}
    for table, part in parts.items():
        if part.counts_slots:
            kind = show(facts.kinds[table])
            yield _HERE, f'must be "every" with {table}.kind = {kind}, which counts slots that every agent plays'
    if not isinstance(run.activity, PoissonActivity):
        return
    users = run.slot_nanoseconds / run.activity.gap(run.slot_nanoseconds)
    if users > MOST_USERS:
        yield (
            (*_HERE, "poisson"),
            f"too short: {users:,.0f} users of an agent per slot; at most {MOST_USERS:,} can arrive",
        )
    protocol, learner = parts.get("protocol"), parts.get("learner")
    if protocol is not None and protocol.uses_peer_links and protocol.slotted:
        text = 'users arrive between slots, which needs protocol.timing = "asynchronous"'
        yield _HERE, f'must be "every", "one" or {{ share = ... }}: {text}'
    from netbandit.learners.feducb import FedUcb

    if isinstance(learner, FedUcb) and learner.epsilon != inf:
        text = "a private feducb counts its releases in slots (learner.epsilon = inf needs no count)"
        yield _HERE, f'must be "every", "one" or {{ share = ... }}: {text}'
