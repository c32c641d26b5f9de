"""``[adversary]``: the agents that lie, their attack, and whether it fits what agents tell each other."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, ConfigDict, Field, field_serializer, model_validator
from pydantic.json_schema import SkipJsonSchema

from netbandit.bandits.bandit import ArmBandit, Bandit
from netbandit.byzantine.adversaries.attack_kinds import (
    ATTACKS,
    NEEDS_MEANS,
    Attack,
    Form,
    Target,
    count_liars,
    drawn,
    is_own,
    of_highest_degree,
)
from netbandit.byzantine.adversaries.own_attack import PARTS, forms_of
from netbandit.conditions.condition import Condition
from netbandit.conditions.facts import Facts
from netbandit.conditions.lies_plan import LiesPlan
from netbandit.conditions.nodes import NodeName, NodeNumbers, node_problems, number_notes
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.learners.gathering import GatherLearner, in_slots
from netbandit.learners.learner import NO_LIES
from netbandit.network.topology import Topology
from netbandit.parts.registry import kind_of
from netbandit.parts.settings import DurationText, Problem
from netbandit.scenario.objects import plain
from netbandit.util.streams import Streams
from netbandit.util.units import Duration
from netbandit.util.wording import Allowed, one_of, show

_OWN = Allowed('"package.module:Class"')
OwnAttack = Annotated[str, Field(pattern="^[^:]+:[^:]+$"), _OWN] | SkipJsonSchema[Annotated[type[object], _OWN]]
"""An attack of the user's own: its name, or from Python its class."""

_TARGET = '"worst", "second" or the number of an arm'


def _target(value: object) -> object:
    known = value in ("worst", "second") if isinstance(value, str) else type(value) is int and value >= 0
    if not known:
        raise ValueError(f"must be {_TARGET}, not {show(value)}")
    return value


_TOLD: Mapping[Form, str] = {
    "means": "means of arms",
    "sums": "sums",
    "totals": "pulls and rewards",
    "statistics": "units and how many were good",
    "mixed counts": "numbers that are mixed",
    "mixed means": "numbers that are mixed",
    "recommendations": "an arm to those that ask",
}


class Adversary(Condition):
    """``[adversary]``: agents that send false values; by default none.

    A liar pulls, waits and tells when an honest agent would, in messages of the same size. Only the values differ.

    Attributes:
        from_: The begin of the lies.
    """

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    agents: list[NodeName] | None = Field(
        default=None, min_length=1, description="Agents that lie, by their numbers or names."
    )
    share: float | None = Field(
        default=None, ge=0, lt=1, description="Instead of agents: the share of all agents that lie, rounded down."
    )
    place: Literal["random", "degree"] = Field(
        default="random",
        description='Who these are: drawn ("random"), or those with most neighbours ("degree").',
    )
    attack: Attack | OwnAttack | None = Field(
        default=None,
        description="What liars say of an arm's mean v. none: the truth, they are only not counted; flip: 1 - v; "
        "inflate: 1 of the target; collude: 1 of the target and 0 of all others; swap: 0 of the best arm and 1 of the "
        "second; topple: 0 of the best and 1 of all others; hidden: as much less of the best and more of the second as "
        "does not stand out; noise: v + N(0, 1); constant: 0.5; stale: what was true a round ago; mute: nothing. Of "
        "sums, totals and statistics: the same about rewards, and stale is what was told first. Of recommendations "
        "(gosine): naive, any worse arm; smart, the one that the asker lacks and has pulled least. "
        'Or a class of your own, "package.module:Class", with a method for each form it forges: means, sums or totals.',
    )
    target: Annotated[Target, BeforeValidator(_target), Allowed(_TARGET)] = Field(
        default="worst", description="The arm that inflate and collude praise, of those that are left."
    )
    range: Literal["plausible", "any"] = Field(
        default="plausible",
        description='"plausible" lies are within what an honest message can say; with "any" they may be outside, and '
        "receivers leave out what they see to be wrong.",
    )
    strength: float = Field(default=10.0, gt=0, le=1e300, description='With range = "any": the value in place of 1.')
    from_: DurationText = Field(default="0 ms", alias="from", description="The begin of the lies.")

    @field_serializer("attack", when_used="json")
    def _named(self, attack: str | type | None) -> str | None:
        return kind_of("adversary", attack) if isinstance(attack, type) else attack

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.agents is not None and self.share is not None:
            raise ValueError("has agents and share: only one of them may select the liars")
        if self and self.attack is None:
            raise ValueError('selects liars without an attack: give it one such as "flip"')
        if self.attack is not None and not self:
            raise ValueError("has an attack without liars: give it agents or a share")
        return self

    def __bool__(self) -> bool:
        return self.agents is not None or self.share is not None

    def how_many(self, agents: int) -> int:
        """Return the number of liars among *agents* agents."""
        return len(self.agents) if self.agents is not None else count_liars(self.share or 0.0, agents)

    def prepare(self, plan: ReplicationPlan) -> None:
        """See `Condition.prepare`: who lies, and how."""
        if not self:
            return
        plan.lies = LiesPlan(
            liars=self._liars(plan.topology, plan.streams),
            attack=None if is_own(self.attack) else cast(Attack | None, self.attack),
            own=plan.attack,
            target=self.target,
            strength=None if self.range == "plausible" else self.strength,
            begin=Duration(self.from_).nanoseconds(plan.clock.slot),
        )

    def _liars(self, topology: Topology, streams: Streams) -> frozenset[int]:
        """Return the agents that lie."""
        if self.agents is not None:
            numbers = NodeNumbers(topology)
            return frozenset(numbers[node] for node in self.agents)
        liars = self.how_many(topology.agents)
        if not liars:
            return frozenset()
        if self.place == "degree":
            return of_highest_degree(list(map(len, topology.neighbours)), liars)
        return drawn(streams.generator("adversary.place"), topology.agents, liars)

    def known(self, facts: Facts) -> Mapping[str, Any]:
        """See `Condition.known`: how many agents lie."""
        return {"liars": self.how_many(facts.graph.agents)} if facts.knows("graph") else {}

    def problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield attacks that the learner or the bandit does not support, and a target outside the arms."""
        if not self:
            return
        bandit = facts.bandit if facts.knows("bandit") else None
        arms = None if bandit is None else bandit.outline().arms
        if isinstance(self.target, int) and arms is not None and self.target >= arms:
            yield ("adversary", "target"), f"the bandit has arms 0 to {arms - 1}, and not {self.target}"
        form = self._form(facts)
        kind = f"learner.kind = {show(facts.kinds['learner'])}"
        if self.attack == "none":  # liars report the truth
            return
        if form is None:
            yield ("adversary", "attack"), f"cannot be with {kind}: {self._why_not(facts)}"
        elif is_own(self.attack):
            if facts.knows("attack") and form not in forms_of(facts.attack):
                text = f"cannot be {show(plain(self.attack))} with {kind}, whose agents tell {_TOLD[form]}"
                why = (
                    f"it has no method {form}"
                    if form in PARTS
                    else f"one of your own can forge only {', '.join(PARTS)}"
                )
                yield ("adversary", "attack"), f"{text}: {why}"
        elif self.attack is not None and self.attack not in ATTACKS[form]:
            text = f"cannot be {show(self.attack)} with {kind}, whose agents tell {_TOLD[form]}"
            yield ("adversary", "attack"), f"{text}: must be {one_of(sorted(ATTACKS[form]))}"
        elif self.attack in NEEDS_MEANS[form] and not _means_are_known(bandit):
            text = f"cannot be {show(self.attack)} with bandit.kind = {show(facts.kinds['bandit'])}"
            yield ("adversary", "attack"), f"{text}: nobody knows how good its arms are, so that no liar can"
        if form in ("mixed counts", "mixed means") and self.range == "any":
            yield (
                ("adversary", "range"),
                f'must be "plausible" with {kind}: a step cannot leave out what is seen to be wrong',
            )

    def _form(self, facts: Facts) -> Form | None:
        """Return the form of the items that agents share; None: no lie is defined for them."""
        if facts.kinds["protocol"] == "vertical":
            return None
        learner = facts.learner
        if isinstance(learner, GatherLearner):
            return in_slots(learner).tells() if learner.stands_in_slots else None
        return learner.tells()

    def _why_not(self, facts: Facts) -> str:
        """Return why the learner does not support lies."""
        if facts.kinds["protocol"] == "vertical":
            return "nobody else has an agent's columns, so that nothing can be compared with them"
        return facts.learner.impossible.get("adversary", NO_LIES)

    def graph_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield liars missing from the graph, duplicates, a list of all agents, attacks that need the others' items."""
        topology = facts.graph
        yield from node_problems(("adversary", "agents"), self.agents or (), topology, set(), "stands twice")
        if self and self.how_many(topology.agents) >= topology.agents:
            yield ("adversary", "agents"), "all agents lie: somebody must be honest"
        if self.attack == "hidden" and facts.differing:
            text = "each agent concludes for itself here, and what others tell in the same round is not known ahead"
            yield ("adversary", "attack"), f'cannot be "hidden": {text}'
        elif self.attack == "hidden" and facts.protocol.speaks_for_groups:
            text = "a sink that lies tells what stands for its component, and what other sinks tell is not known ahead"
            yield ("adversary", "attack"), f'cannot be "hidden": {text}'

    def graph_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield settings without effect: lies that nobody receives, a share of no liar, an unused target."""
        topology = facts.graph
        if not self:
            return
        yield from number_notes(("adversary", "agents"), self.agents or (), topology)
        if facts.protocol.isolated:
            kind = show(facts.kinds["protocol"])
            yield ("adversary",), f"nobody hears a lie with protocol.kind = {kind}: liars are only not counted"
        if self.share and not self.how_many(topology.agents):
            yield ("adversary", "share"), f"{self.share:g} of {topology.agents} agents is less than one: nobody lies"
        if self.attack not in ("inflate", "collude") and self.target != "worst":
            yield ("adversary", "target"), 'is used only with attack = "inflate" or "collude"'


def _means_are_known(bandit: Bandit | None) -> bool:
    """Return whether *bandit* exposes the true means of its arms; True while the bandit is unknown (None)."""
    from netbandit.bandits.linear import Linear
    from netbandit.bandits.procurement import Procurement

    return bandit is None or isinstance(bandit, ArmBandit | Procurement | Linear)
