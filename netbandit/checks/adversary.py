"""Checks whether an attack fits the learner and the protocol, and which agents may be liars."""

from collections.abc import Iterator, Mapping
from typing import Any

from netbandit.bandits.bandit import ArmBandit
from netbandit.bandits.linear import Linear
from netbandit.bandits.procurement import Procurement
from netbandit.byzantine.adversaries.attack_kinds import ATTACKS, NEEDS_MEANS, Form, is_own
from netbandit.byzantine.adversaries.own_attack import PARTS, forms_of
from netbandit.learners.learner import NO_LIES, AnyLearner
from netbandit.learners.linear import GatherLearner, in_slots
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.scenario.adversary import AdversarySettings
from netbandit.scenario.objects import plain
from netbandit.simulation.build_faults import node_problems
from netbandit.simulation.byzantine_items import how_many
from netbandit.util.wording import one_of, show


def adversary_problems(settings: AdversarySettings, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield attacks that the learner or the bandit does not support, with the reason, and a target outside the arms.

    Args:
        settings: ``[adversary]``.
        known: The parts known so far, their kinds, and the class of a user-defined attack.
    """
    learner = known["learner"]
    if not settings or learner is None:
        return
    arms = known["bandit"].outline().arms if known["bandit"] is not None else None
    if isinstance(settings.target, int) and arms is not None and settings.target >= arms:
        yield ("adversary", "target"), f"the bandit has arms 0 to {arms - 1}, and not {settings.target}"
    form = _form(learner, known)
    kind = f"learner.kind = {show(known['kinds']['learner'])}"
    if settings.attack == "none":  # liars report the truth
        return
    if form is None:
        yield ("adversary", "attack"), f"cannot be with {kind}: {_why_not(learner, known)}"
    elif is_own(settings.attack):
        if known["attack"] is not None and form not in forms_of(known["attack"]):
            text = f"cannot be {show(plain(settings.attack))} with {kind}, whose agents tell {_TOLD[form]}"
            why = f"it has no method {form}" if form in PARTS else f"one of your own can forge only {', '.join(PARTS)}"
            yield ("adversary", "attack"), f"{text}: {why}"
    elif settings.attack is not None and settings.attack not in ATTACKS[form]:
        text = f"cannot be {show(settings.attack)} with {kind}, whose agents tell {_TOLD[form]}"
        yield ("adversary", "attack"), f"{text}: must be {one_of(sorted(ATTACKS[form]))}"
    elif settings.attack in NEEDS_MEANS[form] and not _means_are_known(known["bandit"]):
        text = f"cannot be {show(settings.attack)} with bandit.kind = {show(known['kinds']['bandit'])}"
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


def _form(learner: AnyLearner, known: Mapping[str, Any]) -> Form | None:
    """Return the form of the items that agents of *learner* share; None: no lie is defined for them."""
    if known["kinds"]["protocol"] == "vertical":
        return None
    if isinstance(learner, GatherLearner):
        return in_slots(learner).tells() if learner.stands_in_slots else None
    return learner.tells()


def _means_are_known(bandit: Any) -> bool:
    """Return whether *bandit* exposes the true means of its arms; True while the bandit is unknown (None)."""
    return bandit is None or isinstance(bandit, ArmBandit | Procurement | Linear)


def _why_not(learner: AnyLearner, known: Mapping[str, Any]) -> str:
    """Return why *learner* does not support lies."""
    if known["kinds"]["protocol"] == "vertical":
        return "nobody else has an agent's columns, so that nothing can be compared with them"
    return learner.impossible.get("adversary", NO_LIES)


def liar_problems(settings: AdversarySettings, topology: Topology, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield liars missing from the graph, duplicates, a list of all agents, and attacks that need the others' items.

    Args:
        settings: ``[adversary]``.
        topology: The graph.
        known: ``differing``: whether each agent concludes for itself; and the protocol.
    """
    yield from node_problems(("adversary", "agents"), settings.agents or (), topology, set(), "stands twice")
    if settings and how_many(settings, topology.agents) >= topology.agents:
        yield ("adversary", "agents"), "all agents lie: somebody must be honest"
    if settings.attack == "hidden" and known["differing"]:
        text = "each agent concludes for itself here, and what others tell in the same round is not known ahead"
        yield ("adversary", "attack"), f'cannot be "hidden": {text}'
    elif settings.attack == "hidden" and known["protocol"].speaks_for_groups:
        text = "a sink that lies tells what stands for its component, and what other sinks tell is not known ahead"
        yield ("adversary", "attack"), f'cannot be "hidden": {text}'


def adversary_notes(settings: AdversarySettings, topology: Topology, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield settings without effect: lies that nobody receives, a share that rounds to no liar, an unused target."""
    if not settings:
        return
    if known["protocol"].isolated:
        kind = show(known["kinds"]["protocol"])
        yield ("adversary",), f"nobody hears a lie with protocol.kind = {kind}: liars are only not counted"
    if settings.share and not how_many(settings, topology.agents):
        yield ("adversary", "share"), f"{settings.share:g} of {topology.agents} agents is less than one: nobody lies"
    if settings.attack not in ("inflate", "collude") and settings.target != "worst":
        yield ("adversary", "target"), 'is used only with attack = "inflate" or "collude"'
