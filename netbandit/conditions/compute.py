"""``[compute]``: how long nodes take to handle messages and to do jobs of their own."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from netbandit.conditions import compute_keys as keys
from netbandit.conditions.compute_keys import ServerTimes
from netbandit.conditions.compute_plan import WORK, read_devices, service_times, speeds
from netbandit.conditions.condition import Condition, Model
from netbandit.conditions.energy_keys import Power
from netbandit.conditions.energy_plan import nanowatt
from netbandit.conditions.facts import Facts
from netbandit.conditions.laws import mean_of
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.learners.learner import EpochLearner
from netbandit.network.batteries import JOULE
from netbandit.network.computing import ComputePlan, Computing, ServiceTimes
from netbandit.network.jitter import LONGEST
from netbandit.network.message import HEADER_BYTES
from netbandit.network.network import Network
from netbandit.parts.metric import Metric
from netbandit.parts.settings import Problem
from netbandit.protocols.gather import GatherProtocol
from netbandit.scenario.delay import ParetoDelay as ParetoDelayKey
from netbandit.scenario.delay import UniformDelay
from netbandit.util.streams import Streams
from netbandit.util.table_files import TableFileError, not_used
from netbandit.util.text import pluralize
from netbandit.util.units import Duration
from netbandit.util.wording import Allowed, show


class Compute(Condition):
    """``[compute]``: what nodes compute, and how fast; by default nothing takes them any time."""

    agents: keys.AgentTimes = keys.AgentTimes()
    server: keys.ServerTimes = keys.ServerTimes()
    speed: Annotated[
        keys.Speed,
        BeforeValidator(keys.read_speed),
        Allowed(keys.SPEED, keys=keys.LAWS),
    ] = Field(
        default=1.0,
        description="The factor of an agent's times: a number, a list, a distribution from which each agent's is drawn "
        "in each replication, or a table of devices.",
    )
    power: Power = Field(default=0.0, description="Power of an agent while it computes, beside energy.idle.")

    def plan(self, agents: Sequence[str], slot: int, streams: Streams) -> ComputePlan | None:
        """Return what nodes compute, and how fast; None if nothing takes them any time.

        Args:
            agents: What the M agents are called.
            slot: The length of a slot (ns).
            streams: The streams of the replication; agent i draws its speed from index i of ``speed``.

        Raises:
            TableFileError: The file contains no speeds, or those of other agents.
        """
        of_agents, of_server = service_times(self.agents, slot), service_times(self.server, slot)
        if not (of_agents.laws or of_agents.handles or of_server.laws or of_server.handles):
            return None
        return ComputePlan(of_agents, of_server, speeds(self.speed, agents, streams), nanowatt(self.power))

    def prepare(self, plan: ReplicationPlan) -> None:
        """See `Condition.prepare`: what nodes compute."""
        plan.compute = self.plan(plan.topology.names, plan.clock.slot, plan.streams)

    def start(self, network: Network) -> "Computed | None":
        """See `Condition.start`."""
        return None if network.computing is None else Computed(network, network.computing)

    def _longest(self, agents: Sequence[str], slot: int, streams: Streams) -> float:
        """Return how long (ns) the longest kind of job takes the slowest node, in the mean; see `plan`."""
        of_agents, of_server = (service_times(times, slot).laws.values() for times in (self.agents, self.server))
        own = max(map(mean_of, of_agents), default=0.0)
        slowest = max(speeds(self.speed, agents, streams)) if own else 1.0
        return min(max(own * slowest, *map(mean_of, of_server), 0.0), LONGEST)  # some laws have no mean

    def known(self, facts: Facts) -> Mapping[str, Any]:
        """See `Condition.known`: whether the inbox of a node may be full, and how long jobs are."""
        slot = facts.run.slot_nanoseconds
        tables: tuple[ServerTimes, ...] = (self.agents, self.server)
        known = {"may_refuse": any(each.inbox is not None and service_times(each, slot).handles for each in tables)}
        if not facts.knows("graph") or any(self.graph_problems(facts)):
            return known
        return {**known, "longest_job": self._longest(facts.graph.names, slot, Streams(facts.run.seed, 0))}

    def problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield invalid settings of ``[compute]``, and conflicts with other tables."""
        run = facts.run
        if not self:
            return
        slot = run.slot_nanoseconds
        for table, times in (("agents", self.agents), ("server", self.server)):
            for work in WORK:
                law = getattr(times, work, None)
                if isinstance(law, UniformDelay):
                    shortest, longest = (Duration(end).nanoseconds(slot) for end in law.uniform)
                    if shortest > longest:
                        yield ("compute", table, work), "uniform: the longest must not be below the shortest"
        speed = self.speed
        if isinstance(speed, keys.UniformSpeed) and speed.uniform[0] > speed.uniform[1]:
            yield ("compute", "speed"), "uniform: the largest must not be below the smallest"
        if isinstance(speed, keys.SpeedFile):
            try:
                read_devices(Path(speed.file), speed.column)
            except TableFileError as error:
                yield ("compute", "speed", "file"), str(error)
                return
        laws = service_times(self.agents, slot).laws
        if facts.knows("protocol"):
            protocol, kind = facts.protocol, show(facts.kinds["protocol"])
            if protocol.out_of_band:
                yield (
                    ("compute",),
                    f"cannot be with protocol.kind = {kind}, whose agents share data without any message",
                )
            if isinstance(protocol, GatherProtocol):
                for work in WORK[1:]:
                    if work in laws:
                        text = (
                            f'must be "0 ms" with protocol.kind = {kind}, whose parts of contexts are no contributions'
                        )
                        yield ("compute", "agents", work), text
        if "decision" not in laws:
            return
        if facts.knows("learner") and isinstance(facts.learner, EpochLearner):
            kind = show(facts.kinds["learner"])
            text = (
                f'must be "0 ms" with learner.kind = {kind}, which plays phases: item is the time of its contributions'
            )
            yield ("compute", "agents", "decision"), text
        takes = mean_of(laws["decision"]) * self._slowest()
        if takes >= slot:
            text = f"must be shorter than a slot for the slowest agent, whose decisions take {_slots(takes / slot)}"
            yield ("compute", "agents", "decision"), text

    def _slowest(self) -> float:
        """Return the largest factor of times that an agent may have, where that is known; else 1."""
        match self.speed:
            case float():
                return self.speed
            case list():
                return max(self.speed)
            case keys.UniformSpeed():
                return self.speed.uniform[1]
            case keys.ShareSpeed():
                return self.speed.factor if self.speed.share else 1.0
            case keys.SpeedFile():
                return max(read_devices(Path(self.speed.file), self.speed.column).speeds)
        return 1.0

    def graph_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield a problem if speeds are not those of the agents."""
        agents = facts.agents
        if isinstance(self.speed, keys.SpeedFile):
            try:
                read_devices(Path(self.speed.file), self.speed.column).whose(facts.graph.names)
            except TableFileError as error:
                yield ("compute", "speed", "file"), str(error)
        if isinstance(self.speed, list) and len(self.speed) != agents:
            yield ("compute", "speed"), f"has {len(self.speed)} factors, but there are {agents} agents"

    def notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield laws without a mean, and keys of `[compute]` that have no effect with *protocol*."""
        slot, protocol = facts.run.slot_nanoseconds, facts.protocol
        for table, times in (("agents", self.agents), ("server", self.server)):
            for work in WORK:
                law = getattr(times, work, None)
                if isinstance(law, ParetoDelayKey) and law.pareto[1] <= 1:
                    yield ("compute", table, work), "a Pareto distribution with a shape of at most 1 has no mean"
            if times.inbox is not None and not service_times(times, slot).handles:
                yield ("compute", table, "inbox"), "has no effect: handling a message takes no time"
        if isinstance(self.speed, keys.ParetoSpeed) and self.speed.pareto <= 1:
            yield ("compute", "speed"), "a Pareto distribution with a shape of at most 1 has no mean"
        if self.server != ServerTimes() and "uplink" not in protocol.used_links:
            yield ("compute", "server"), "has no effect: the protocol has no server"
        agents = service_times(self.agents, slot)
        if not (agents.laws or agents.handles):
            if self.speed != 1.0:
                yield ("compute", "speed"), "has no effect: nothing takes agents any time"
            if self.power:
                yield ("compute", "power"), "has no effect: nothing takes agents any time"
        silent = [work for work in ("message", "aggregate", "item") if work in agents.laws]
        if protocol.isolated and silent:
            yield ("compute", "agents", silent[0]), "has no effect: agents tell each other nothing"

    def _refusal_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield inboxes that refuse messages for good, under protocols whose agents wait for these messages."""
        links, protocol, slot = facts.links, facts.protocol, facts.slot
        if facts.pattern == "broadcast":  # agents do not wait for broadcasts
            return
        if getattr(protocol, "deadline", "none") is not None:
            return
        once = [table for table in sorted(protocol.used_links) if getattr(links, table).retry is None]
        for table, times in (("agents", self.agents), ("server", self.server)):
            reached = once if table == "agents" else [name for name in once if name == "uplink"]
            if reached and times.inbox is not None and service_times(times, slot).handles:
                text = "what is refused is not repeated, and who waits for it does so for ever"
                help = f"links.{reached[0]}.retry repeats it, and a protocol.deadline ends the wait"
                yield ("compute", table, "inbox"), f"{text}: {help}"

    def _device_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield that devices are those of agents by position, and columns of their table that are not used."""
        speed = self.speed
        if not isinstance(speed, keys.SpeedFile):
            return
        devices = read_devices(Path(speed.file), speed.column)
        by = devices.whose(facts.graph.names).column
        if by is None:
            rows = len(devices.speeds)
            text = f"no column names all agents, so agent 0 is row 0 of {rows}, and so on"
            again = ", from the first on again" if rows < facts.agents else ""
            yield ("compute", "speed", "file"), f"{text}{again}"
        if unused := [name for name in devices.others if name != by]:
            yield ("compute", "speed", "file"), not_used(unused)

    def graph_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield nodes that cannot keep up with messages or decisions, short deadlines, and idle jobs."""
        if not self:
            return
        from netbandit.learners.counts import CountingLearner
        from netbandit.protocols.local import Local
        from netbandit.protocols.master_worker import MasterWorker

        yield from self._refusal_notes(facts)
        if any(self.graph_problems(facts)):  # nothing is known of speeds that are not those of the agents
            return
        yield from self._device_notes(facts)
        run, learner = facts.run, facts.learner
        protocol, graph, talk = facts.protocol, facts.graph, facts.talk if facts.knows("talk") else None
        slot = run.slot_nanoseconds
        agents, server = service_times(self.agents, slot), service_times(self.server, slot)
        served = "uplink" in protocol.used_links
        at_once = talk in ("broadcast", "exchange", "ask") or (talk == "call" and isinstance(protocol, Local))
        elsewhere = isinstance(protocol, MasterWorker) or getattr(protocol, "server", None) == "uplink"
        if "aggregate" in agents.laws and (at_once or elsewhere):
            text = "the server puts together what comes" if elsewhere else "agents use each item as it comes"
            yield ("compute", "agents", "aggregate"), f"has no effect: {text}"
        tells = isinstance(learner, CountingLearner) and run.activity == "every" and not protocol.isolated
        if talk == "broadcast" and tells:
            here, messages = ("server", graph.agents) if served else ("agents", max(map(len, graph.neighbours)))
            takes = messages * _handling(server if served else agents) * (1.0 if served else self._slowest())
            if takes > slot:
                who = "the server" if served else "an agent with the most neighbours"
                text = f"{messages:,} messages reach {who} in each slot, which take {_slots(takes / slot)} to handle"
                yield ("compute", here, "message"), f"{text}: they wait ever longer"
        if talk == "broadcast" and tells and "item" in agents.laws:
            takes = mean_of(agents.laws["item"]) * max(speeds(self.speed, graph.names, Streams(run.seed, 0)))
            if takes > slot:
                text = f"the slowest agent tells something in each slot, which takes it {_slots(takes / slot)}"
                yield ("compute", "agents", "item"), f"{text}: it falls ever further behind"
        if "decision" in agents.laws and isinstance(self.speed, keys.LognormalSpeed | keys.ParetoSpeed):
            takes = mean_of(agents.laws["decision"])
            slow = sum(takes * speed >= slot for speed in speeds(self.speed, graph.names, Streams(run.seed, 0)))
            if slow:
                text = f"{slow:,} of {graph.agents:,} agents of the first replication decide slower than a slot passes"
                yield ("compute", "agents", "decision"), f"{text}, and fall ever further behind"
        deadline = getattr(protocol, "deadline", None)
        if isinstance(protocol, MasterWorker) and deadline is not None and server.handles:
            handled = 1 + int(deadline.nanoseconds(slot) // _handling(server))
            if handled < graph.agents:
                text = f"by then the server has handled {handled:,} of {graph.agents:,} uploads at most, in the mean"
                yield ("protocol", "deadline"), f"{text}, and answers without the others (compute.server.message)"


class Computed(Model):
    """What nodes have computed.

    Args:
        network: The network.
        computing: The jobs of its nodes.
    """

    watches = False

    def __init__(self, network: Network, computing: Computing) -> None:
        self._network, self._computing = network, computing

    def metrics(self, found: Mapping[str, Metric]) -> Mapping[str, Metric]:
        """See `Model.metrics`."""
        computing, agents, end = self._computing, self._network.agents, self._network.clock.end
        joule = computing.energy / JOULE  # also part of what agents consume, if that is planned
        return {
            "busy": sum(map(computing.busy, range(agents))) / (agents * end),
            "server_busy": computing.busy(self._network.server) / end,
            "inbox_wait_ms": computing.waited / computing.begun / _MILLISECOND if computing.begun else None,
            "inbox_most": computing.most_waiting,
            "refused": computing.refused,
            "unhandled": computing.unhandled,
            "compute_j": joule,
            **({} if self._network.energy is not None else {"energy_j": (found["energy_j"] or 0.0) + joule}),
        }

    def remarks(self) -> Iterator[str]:
        """See `Model.remarks`: nodes that could not keep up with what reached them."""
        unhandled, delivered = self._computing.unhandled, self._network.ledger.outcomes.delivered
        if unhandled > _MUCH * delivered:
            yield (
                f"{unhandled / delivered:.0%} of the messages were delivered and never handled (unhandled): nodes "
                "computed too slowly for what reached them, or went down, or the "
                "run ended before (busy, server_busy, inbox_wait_ms)"
            )


_MILLISECOND = 10**6
_MUCH = 0.1
"""The share of the messages delivered of which it is said that they were never handled."""


def _handling(times: ServiceTimes) -> float:
    """Return how long (ns) the handling of a header takes, in the mean."""
    return times.per_byte * HEADER_BYTES + (mean_of(times.laws["message"]) if "message" in times.laws else 0.0)


def _slots(number: float) -> str:
    return pluralize(f"{number:.3g}", "slot")
