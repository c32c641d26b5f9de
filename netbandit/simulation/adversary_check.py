"""What lies do not fit, and which agents cannot be liars."""

from collections.abc import Iterator, Mapping
from typing import Any

from netbandit.learners.learner import NO_DEFENCE, AnyLearner, EpochLearner
from netbandit.network.topology import Topology
from netbandit.scenario.adversary import AdversarySettings
from netbandit.settings import Problem
from netbandit.simulation.build_faults import node_problems
from netbandit.simulation.lies import how_many
from netbandit.wording import show


def adversary_problems(settings: AdversarySettings, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield lies to a learner for which it is not known what a lie is, with the reason; and a target that is no arm.

    Args:
        settings: ``[adversary]``.
        known: The parts, as far as they are known, and their kinds.
    """
    learner = known["learner"]
    if not settings or learner is None:
        return
    if not isinstance(learner, EpochLearner):
        kind = show(known["kinds"]["learner"])
        yield ("adversary", "attack"), f"cannot be with learner.kind = {kind}: {_why_not(learner, known)}"
    arms = known["bandit"].outline().arms if known["bandit"] is not None else None
    if isinstance(settings.target, int) and arms is not None and settings.target >= arms:
        yield ("adversary", "target"), f"the bandit has arms 0 to {arms - 1}, and not {settings.target}"


def _why_not(learner: AnyLearner, known: Mapping[str, Any]) -> str:
    """Return why lies, or a defence, are not possible with *learner*."""
    if known["kinds"]["protocol"] == "vertical":
        return "nobody else has an agent's columns, so that nothing can be compared with them"
    return learner.impossible.get("robust", NO_DEFENCE)


def liar_problems(settings: AdversarySettings, topology: Topology, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield liars that the graph lacks, that stand twice, or that are all agents; and an attack that needs others.

    Args:
        settings: ``[adversary]``.
        topology: The graph.
        known: ``differing``: whether each agent concludes for itself.
    """
    yield from node_problems(("adversary", "agents"), settings.agents or (), topology, set(), "stands twice")
    if settings and how_many(settings, topology.agents) >= topology.agents:
        yield ("adversary", "agents"), "all agents lie: somebody must be honest"
    if settings.attack == "hidden" and known["differing"]:
        text = "each agent concludes for itself here, and what others tell in the same round is not known ahead"
        yield ("adversary", "attack"), f'cannot be "hidden": {text}'


def adversary_notes(settings: AdversarySettings, topology: Topology, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield liars that nobody hears, and a share of so few agents that nobody lies."""
    if not settings:
        return
    if known["protocol"].isolated:
        kind = show(known["kinds"]["protocol"])
        yield ("adversary",), f"nobody hears a lie with protocol.kind = {kind}: liars are only not counted"
    if settings.share and not how_many(settings, topology.agents):
        yield ("adversary", "share"), f"{settings.share:g} of {topology.agents} agents is less than one: nobody lies"
    if settings.attack not in ("inflate", "collude") and settings.target != "worst":
        yield ("adversary", "target"), 'is used only with attack = "inflate" or "collude"'
