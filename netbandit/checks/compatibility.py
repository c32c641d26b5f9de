"""Checks whether learners and protocols support the agents' activity model and loss of memory."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from netbandit.bandits.bandit import Bandit
from netbandit.learners.feducb import FedUcb
from netbandit.learners.learner import AnyLearner
from netbandit.learners.slots import Learner
from netbandit.parts.settings import KeyPath, Problem
from netbandit.scenario.activity import PoissonActivity
from netbandit.scenario.faults import FaultsSettings
from netbandit.scenario.model import Scenario
from netbandit.simulation.drivers import pattern_of
from netbandit.simulation.turns import MOST_USERS, gap_of
from netbandit.util.wording import show

_HERE: KeyPath = ("run", "activity")


def activity_problems(scenario: Scenario | None, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield parts that require every agent to decide in every slot, if ``run.activity`` says otherwise.

    Args:
        scenario: The tables that every scenario has; None if they have mistakes.
        known: The parts known so far, and their kinds.
    """
    if scenario is None or scenario.run.activity == "every":
        return
    for table in ("learner", "protocol"):
        part = known[table]
        if part is not None and part.counts_slots:
            kind = show(known["kinds"][table])
            yield _HERE, f'must be "every" with {table}.kind = {kind}, which counts slots that every agent plays'
    if not isinstance(scenario.run.activity, PoissonActivity):
        return
    users = scenario.run.slot_nanoseconds / gap_of(scenario.run.activity, scenario.run.slot_nanoseconds)
    if users > MOST_USERS:
        yield (
            (*_HERE, "poisson"),
            f"too short: {users:,.0f} users of an agent per slot; at most {MOST_USERS:,} can arrive",
        )
    protocol, learner = known["protocol"], known["learner"]
    if protocol is not None and protocol.uses_peer_links and protocol.slotted:
        text = 'users arrive between slots, which needs protocol.timing = "asynchronous"'
        yield _HERE, f'must be "every", "one" or {{ share = ... }}: {text}'
    if isinstance(learner, FedUcb) and learner.epsilon != inf:
        text = "a private feducb counts its releases in slots (learner.epsilon = inf needs no count)"
        yield _HERE, f'must be "every", "one" or {{ share = ... }}: {text}'


def memory_problems(faults: FaultsSettings, bandit: Bandit, learner: AnyLearner, kind: str) -> Iterator[Problem]:
    """Yield a problem if agents lose their memory but the learner cannot restart from nothing.

    Args:
        faults: ``[faults]``.
        bandit: The bandit.
        learner: The learner.
        kind: The learner's kind.
    """
    if faults.nodes is None or faults.nodes.memory == "kept":
        return
    here = ("faults", "nodes", "memory")
    if pattern_of(type(bandit), type(learner)) == "exchange":
        text = "whose neighbours need the row of each of its steps"
        yield here, f'must be "kept" with learner.kind = {show(kind)}, {text}'
    elif isinstance(learner, Learner) and not learner.has("forget"):
        yield here, f'"lost" needs a learner with a method forget(slot, agents), which {kind} does not have'
