"""Checks whether an attack fits the learner and the protocol, and which agents may be liars."""

from collections.abc import Iterator, Mapping

from netbandit.bandits.bandit import ArmBandit, Bandit
from netbandit.bandits.linear import Linear
from netbandit.bandits.procurement import Procurement
from netbandit.byzantine.adversaries.attack_kinds import ATTACKS, NEEDS_MEANS, Form, is_own
from netbandit.byzantine.adversaries.own_attack import PARTS, forms_of
from netbandit.checks.facts import Facts
from netbandit.learners.learner import NO_LIES
from netbandit.learners.linear import GatherLearner, in_slots
from netbandit.parts.settings import Problem
from netbandit.scenario.objects import plain
from netbandit.simulation.build_faults import node_problems
from netbandit.simulation.byzantine_items import how_many
from netbandit.util.wording import one_of, show


def problems(facts: Facts) -> Iterator[Problem]:
    """Yield attacks that the learner or the bandit does not support, with the reason, and a target outside the arms."""
    settings = facts.adversary
    if not settings:
        return
    bandit = facts.bandit if facts.knows("bandit") else None
    arms = None if bandit is None else bandit.outline().arms
    if isinstance(settings.target, int) and arms is not None and settings.target >= arms:
        yield ("adversary", "target"), f"the bandit has arms 0 to {arms - 1}, and not {settings.target}"
    form = _form(facts)
    kind = f"learner.kind = {show(facts.kinds['learner'])}"
    if settings.attack == "none":  # liars report the truth
        return
    if form is None:
        yield ("adversary", "attack"), f"cannot be with {kind}: {_why_not(facts)}"
    elif is_own(settings.attack):
        if facts.knows("attack") and form not in forms_of(facts.attack):
            text = f"cannot be {show(plain(settings.attack))} with {kind}, whose agents tell {_TOLD[form]}"
            why = f"it has no method {form}" if form in PARTS else f"one of your own can forge only {', '.join(PARTS)}"
            yield ("adversary", "attack"), f"{text}: {why}"
    elif settings.attack is not None and settings.attack not in ATTACKS[form]:
        text = f"cannot be {show(settings.attack)} with {kind}, whose agents tell {_TOLD[form]}"
        yield ("adversary", "attack"), f"{text}: must be {one_of(sorted(ATTACKS[form]))}"
    elif settings.attack in NEEDS_MEANS[form] and not _means_are_known(bandit):
        text = f"cannot be {show(settings.attack)} with bandit.kind = {show(facts.kinds['bandit'])}"
        yield ("adversary", "attack"), f"{text}: nobody knows how good its arms are, so that no liar can"
    if form in ("mixed counts", "mixed means") and settings.range == "any":
        yield (
            ("adversary", "range"),
            f'must be "plausible" with {kind}: a step cannot leave out what is seen to be wrong',
        )


_TOLD: Mapping[Form, str] = {
    "means": "means of arms",
    "sums": "sums",
    "totals": "pulls and rewards",
    "statistics": "units and how many were good",
    "mixed counts": "numbers that are mixed",
    "mixed means": "numbers that are mixed",
    "recommendations": "an arm to those that ask",
}


def _form(facts: Facts) -> Form | None:
    """Return the form of the items that agents share; None: no lie is defined for them."""
    if facts.kinds["protocol"] == "vertical":
        return None
    learner = facts.learner
    if isinstance(learner, GatherLearner):
        return in_slots(learner).tells() if learner.stands_in_slots else None
    return learner.tells()


def _means_are_known(bandit: Bandit | None) -> bool:
    """Return whether *bandit* exposes the true means of its arms; True while the bandit is unknown (None)."""
    return bandit is None or isinstance(bandit, ArmBandit | Procurement | Linear)


def _why_not(facts: Facts) -> str:
    """Return why the learner does not support lies."""
    if facts.kinds["protocol"] == "vertical":
        return "nobody else has an agent's columns, so that nothing can be compared with them"
    return facts.learner.impossible.get("adversary", NO_LIES)


def graph_problems(facts: Facts) -> Iterator[Problem]:
    """Yield liars missing from the graph, duplicates, a list of all agents, and attacks that need the others' items."""
    settings, topology = facts.adversary, facts.graph
    yield from node_problems(("adversary", "agents"), settings.agents or (), topology, set(), "stands twice")
    if settings and how_many(settings, topology.agents) >= topology.agents:
        yield ("adversary", "agents"), "all agents lie: somebody must be honest"
    if settings.attack == "hidden" and facts.differing:
        text = "each agent concludes for itself here, and what others tell in the same round is not known ahead"
        yield ("adversary", "attack"), f'cannot be "hidden": {text}'
    elif settings.attack == "hidden" and facts.protocol.speaks_for_groups:
        text = "a sink that lies tells what stands for its component, and what other sinks tell is not known ahead"
        yield ("adversary", "attack"), f'cannot be "hidden": {text}'


def graph_notes(facts: Facts) -> Iterator[Problem]:
    """Yield settings without effect: lies that nobody receives, a share that rounds to no liar, an unused target."""
    settings, topology = facts.adversary, facts.graph
    if not settings:
        return
    if facts.protocol.isolated:
        kind = show(facts.kinds["protocol"])
        yield ("adversary",), f"nobody hears a lie with protocol.kind = {kind}: liars are only not counted"
    if settings.share and not how_many(settings, topology.agents):
        yield ("adversary", "share"), f"{settings.share:g} of {topology.agents} agents is less than one: nobody lies"
    if settings.attack not in ("inflate", "collude") and settings.target != "worst":
        yield ("adversary", "target"), 'is used only with attack = "inflate" or "collude"'
