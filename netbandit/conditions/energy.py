"""``[energy]``: batteries of agents, and the consumption of their activities."""

from collections.abc import Iterator, Mapping
from itertools import chain
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, model_validator

from netbandit.conditions import energy_keys as keys
from netbandit.conditions.condition import Condition, Model
from netbandit.conditions.energy_plan import attojoule, harvested, most_harvested, nanowatt, price, read_harvest
from netbandit.conditions.facts import Facts
from netbandit.conditions.faults import Faults
from netbandit.conditions.links import link_class
from netbandit.conditions.nodes import NodeNumbers, node_problems, number_notes
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.learners.learner import EpochLearner
from netbandit.network.batteries import JOULE, Drained, EnergyPlan
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.metric import Metric
from netbandit.parts.settings import Problem, filled_in
from netbandit.scenario.links import Energy as Joule
from netbandit.scenario.links import LinksSettings
from netbandit.util.table_files import TableFileError
from netbandit.util.text import in_words
from netbandit.util.units import parse_duration
from netbandit.util.wording import Allowed, show

_SECONDS = 2e-5
"""Seconds to let an agent come back and run empty; measured."""

_LONG = 60
"""Warn if this takes longer (s)."""


class Energy(Condition):
    """``[energy]``: what agents live on; by default only messages are counted."""

    preset: Literal["cc2420", "sx1272", "wifi"] | None = Field(
        default=None,
        description="A radio chip: fills in idle, send and receive where they are not given, and the bandwidth of "
        "links without one, if the chip says it.",
    )
    capacity: Annotated[
        Joule | keys.UniformCapacity | None,
        BeforeValidator(keys.read_capacity),
        Allowed(keys.CAPACITY, keys=(keys.UniformCapacity,)),
    ] = Field(
        default=None,
        description="Capacity of each agent's battery, which is full at the beginning, or { uniform = [...] }; "
        "absent: energy is counted, and no battery is empty.",
    )
    idle: keys.Power = Field(default=0.0, description="Power while an agent is up: it listens.")
    send: keys.Power | None = Field(
        default=None, description="Power in place of idle while it sends; absent: the same. Needs a bandwidth."
    )
    receive: keys.Power | None = Field(
        default=None, description="Power in place of idle while it receives; absent: the same. Needs a bandwidth."
    )
    pull: Joule = Field(default=0.0, description="Energy per pull.")
    harvest: Annotated[
        keys.Harvest,
        BeforeValidator(keys.read_harvest_law),
        Allowed(keys.HARVEST, keys=(keys.DailyHarvest, keys.OnOffHarvest, keys.HarvestFile)),
    ] = Field(
        default=0.0,
        description="Power that each agent harvests: always, from and until some time of each period, on and off for "
        "exponential times, or from a file; what does not fit into the battery is gone.",
    )
    mains: Annotated[
        Literal["sinks"] | list[int | str] | None,
        BeforeValidator(keys.read_mains),
        Allowed('"sinks", or a list of agents, by their numbers or names'),
    ] = Field(
        default=None,
        description="Agents that never run empty, as gateways on the mains: a list, or those with the smallest "
        "eccentricity in each component (sinks), as the centres of stars are.",
    )
    recover: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Who has run empty comes back at this share of its capacity; absent: never. Whether it has kept "
        "what it knew, faults.nodes.memory says.",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _fill_in(cls, written: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the values of a preset, where they are not given."""
        chip = keys.CHIPS.get(str(written.get("preset"))) if isinstance(written, Mapping) else None
        if chip is None:
            return handler(written)
        return filled_in(written, {"idle": chip.idle, "send": chip.send, "receive": chip.receive}, handler)

    @classmethod
    def fill_in_others(cls, data: Any) -> Any:
        """See `ConditionSettings.fill_in_others`: the bandwidth of a preset, for links without one."""
        energy = data.get("energy") if isinstance(data, Mapping) else None
        chip = keys.CHIPS.get(str(energy.get("preset"))) if isinstance(energy, Mapping) else None
        links = data.get("links", {}) if isinstance(data, Mapping) else None
        if chip is None or chip.bandwidth is None or not isinstance(links, Mapping):
            return data
        filled = dict(links)
        for name in ("peer", "uplink"):
            table = links.get(name, {})
            if isinstance(table, Mapping) and table.get("bandwidth") is None and not _has_airtime(table.get("radio")):
                filled[name] = {**table, "bandwidth": chip.bandwidth}
        return {**data, "links": filled}

    def plan(self, links: LinksSettings, topology: Topology, slot: int) -> EnergyPlan | None:
        """Return the agents' energy model; None if the scenario has none.

        Args:
            links: ``[links]``, with the energy cost of messages.
            topology: The graph, which must contain the named agents.
            slot: The length of a slot (ns).
        """
        if not self:
            return None
        capacity = self.capacity
        named = self.mains if isinstance(self.mains, list) else ()
        numbers = NodeNumbers(topology)
        ends = capacity.uniform if isinstance(capacity, keys.UniformCapacity) else [capacity, capacity]
        return EnergyPlan(
            capacity=None if ends[0] is None or ends[1] is None else (attojoule(ends[0]), attojoule(ends[1])),
            idle=nanowatt(self.idle),
            send=None if self.send is None else nanowatt(self.send),
            receive=None if self.receive is None else nanowatt(self.receive),
            pull=attojoule(self.pull),
            harvested=harvested(self.harvest, slot),
            recover=self.recover,
            mains=frozenset(topology.sinks if self.mains == "sinks" else [numbers[node] for node in named]),
            sending=(price(links.peer.energy, 0), price(links.uplink.energy, 0)),
            receiving=(price(links.peer.energy, 1), price(links.uplink.energy, 1)),
        )

    def prepare(self, plan: ReplicationPlan) -> None:
        """See `Condition.prepare`: what agents consume."""
        plan.energy = self.plan(plan.links, plan.topology, plan.clock.slot)

    def start(self, network: Network) -> "Consumed | None":
        """See `Condition.start`."""
        return None if network.energy is None else Consumed(network, network.energy)

    def known(self, facts: Facts) -> Mapping[str, Any]:
        """See `Condition.known`: whether agents may run empty."""
        return {"may_run_empty": self.capacity is not None, "agents_fail": self.capacity is not None}

    def problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield invalid settings of ``[energy]``, and conflicts with other tables."""
        links, run = facts.links, facts.run
        differ = [key for key in ("send", "receive") if getattr(self, key) not in (None, self.idle)]
        filled_in = [key for key in differ if key not in self.model_fields_set]
        for table in sorted(facts.used_links):
            if link_class(getattr(links, table)).takes_time:
                continue
            needed = f"links.{table}.bandwidth" + (" or links.peer.radio.airtime" if table == "peer" else "")
            for key in differ:
                if key not in filled_in:
                    yield ("energy", key), f"needs {needed}: without it nothing takes any time to send"
            if filled_in:
                names = " and ".join(f"energy.{key}" for key in filled_in)
                text = (
                    f"{show(self.preset)} sets {names}, what an agent takes during a transmission, which needs "
                    f"{needed}: set it, or {names} to energy.idle ({self.idle:g} W)"
                )
                yield ("energy", "preset"), text
        if isinstance(self.harvest, keys.DailyHarvest):
            yield from _daily_problems(self.harvest, run.slot_nanoseconds)
        if isinstance(self.harvest, keys.HarvestFile):
            try:
                read_harvest(Path(self.harvest.file))
            except TableFileError as error:
                yield ("energy", "harvest", "file"), str(error)
        if self.capacity is None:
            if self.harvest:
                yield ("energy", "harvest"), "needs energy.capacity: there is no battery to fill"
            if self.mains is not None:
                yield ("energy", "mains"), "needs energy.capacity: nobody runs empty"
            if self.recover is not None:
                yield ("energy", "recover"), "needs energy.capacity: nobody runs empty"
            return
        for table in ("peer", "uplink"):
            if getattr(links, table).retry is not None:
                of = [f"energy.{name}" for name in ("capacity", "harvest", "mains", "recover") if getattr(self, name)]
                text = (
                    "cannot be combined with energy.capacity: nothing is repeated where batteries may run empty; "
                    f"leave out {in_words(of, 'and')}, and netbandit nodes --battery says how long batteries last"
                )
                yield ("links", table, "retry"), text
        says = [key for key, otherwise in (("activity", run.activity != "every"), ("idle", run.idle)) if otherwise]
        if self.pull and (says or (facts.knows("talk") and facts.talk == "gather")):
            why = f"run.{says[0]} says otherwise" if says else "users come, and one agent decides"
            yield ("energy", "pull"), f"with energy.capacity every agent must pull in every slot, but {why}"
        nodes = facts.table(Faults).nodes
        if nodes is not None and nodes.memory == "lost" and isinstance(facts.learner, EpochLearner):
            text = 'must be "kept" with energy.capacity and a learner of rounds, whose lives are planned ahead'
            yield ("faults", "nodes", "memory"), text

    def _recovery_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield a share from which agents come back so early that they run empty again and again."""
        if self.capacity is None or self.recover is None:
            return
        least = self.capacity.uniform[0] if isinstance(self.capacity, keys.UniformCapacity) else self.capacity
        times = facts.end / 1e9 * most_harvested(self.harvest) / (self.recover * least)
        if times * facts.agents * _SECONDS > _LONG:
            text = f"an agent may come back and run empty up to {times:.0e} times in a run, which takes long: a larger "
            yield ("energy", "recover"), f"{text}share lets it live longer each time"

    def graph_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield each agent of ``energy.mains`` that is missing from the graph or listed twice."""
        topology = facts.graph
        if isinstance(self.mains, list):
            yield from node_problems(("energy", "mains"), self.mains, topology, set(), "is named twice")

    def graph_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield a number in ``energy.mains`` by which another agent is called, and recoveries that are too many."""
        yield from self._recovery_notes(facts)
        if isinstance(self.mains, list):
            yield from number_notes(("energy", "mains"), self.mains, facts.graph)


class Consumed(Model):
    """What agents have consumed, and the state of their batteries.

    Args:
        network: The network.
        plan: What agents consume.
    """

    watches = False

    def __init__(self, network: Network, plan: EnergyPlan) -> None:
        self._network, self._plan = network, plan
        self._drained: Drained | None = None

    def metrics(self, found: Mapping[str, Metric]) -> Mapping[str, Metric]:
        """See `Model.metrics`."""
        network, plan, slot = self._network, self._plan, self._network.clock.slot
        if network.batteries is None:
            agents, horizon = network.agents, network.clock.horizon
            decisions = found.get("decisions", agents * horizon - int(found["absent_slots"] or 0))
            computed = 0 if network.computing is None else network.computing.energy
            spent = int(decisions or 0) * plan.pull + self._up_time() * plan.idle + self._spent_on_messages()
            return {"energy_j": (spent + computed) / JOULE}
        drained = self._drained = network.batteries.drained()
        lifetime = drained.lifetime
        return {
            "energy_j": drained.spent / JOULE,
            "harvested_j": drained.harvested / JOULE,
            "alive": drained.alive / network.agents,
            "first_death": None if drained.first_death is None else drained.first_death / slot,
            "half_dead": None if drained.half_dead is None else drained.half_dead / slot,
            "lifetime_slots": None if lifetime is None or lifetime == inf else lifetime / slot,
            "sustained": None if lifetime is None else int(lifetime == inf),
        }

    def _spent_on_messages(self) -> int:
        """Return the energy of messages (aJ), at sender and receiver, whether they arrived or were lost.

        The receiver of what is under way at the end has spent nothing on it. Over a radio channel, each transmission
        costs its sender, and all agents in reach.
        """
        network, plan, spent = self._network, self._plan, 0
        radio, server = network.radio, network.server
        if radio is not None:
            spent += plan.to_send(False, radio.transmissions, radio.size, radio.airtime)
            spent += plan.to_receive(False, radio.heard, radio.heard_size, radio.heard_airtime)
        wires = network.links.peer_channels() if radio is None else ()
        for channel in chain(wires, network.links.uplink_channels()):
            uplink = server in (channel.sender, channel.receiver)
            busy, coming = (0, 0) if channel.queue is None else (channel.queue.busy, channel.queue.under_way)
            if channel.sender != server:
                spent += plan.to_send(uplink, channel.messages, channel.bytes, busy)
            if channel.receiver != server:
                messages, size = channel.fates.get("in_flight", (0, 0))
                spent += plan.to_receive(uplink, channel.messages - messages, channel.bytes - size, busy - coming)
        return spent

    def _up_time(self) -> int:
        """Return the total up time (ns) of all agents."""
        network, end = self._network, self._network.clock.end
        outages = network.outages
        if outages is None or not network.agents_fail:
            return network.agents * end
        down = (outages.node(agent).until(end) for agent in range(network.agents))
        return network.agents * end - sum(int(min(last, end)) - first for own in down for first, last in own)

    def of_agents(self) -> Mapping[str, NDArray[np.float64]]:
        """See `Model.of_agents`: the state of their batteries."""
        batteries, drained = self._network.batteries, self._drained
        if batteries is None or drained is None:
            return {}
        mains = self._plan.mains
        capacities = [nan if agent in mains else one.capacity / JOULE for agent, one in enumerate(batteries.all)]
        return {
            "energy": np.array([battery.spent / JOULE for battery in batteries.all]),
            "capacity": np.array(capacities),
            "drain": np.array([nan if drain is None else drain for drain in drained.drains]),
        }


def _daily_problems(law: keys.DailyHarvest, slot: int) -> Iterator[Problem]:
    begin, end, every = (parse_duration(each).nanoseconds(slot) for each in (law.from_, law.until, law.every))
    here = ("energy", "harvest")
    if end <= begin:
        yield (*here, "until"), f"must be after from = {show(law.from_)}, not {show(law.until)}"
    elif end - begin >= every or end > every:
        yield (*here, "until"), f"must be within the period: every = {show(law.every)}"


def _has_airtime(radio: Any) -> bool:
    return isinstance(radio, Mapping) and bool({"airtime", "preset"} & radio.keys())
