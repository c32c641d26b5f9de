"""``[faults]``: failures of agents, links and the server, and what losses on links mean for those who wait."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from netbandit.conditions import outage_keys as keys
from netbandit.conditions.condition import Condition
from netbandit.conditions.facts import Facts
from netbandit.conditions.fault_rates import fault_rate_notes
from netbandit.conditions.faults_plan import (
    Changing,
    at_random,
    channel_faults,
    failing,
    outage_of,
)
from netbandit.conditions.latencies import slowest_way
from netbandit.conditions.nodes import NodeNumbers, no_node, node_problems, number_notes
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.learners.differing_sets import DifferingSets
from netbandit.learners.learner import EpochLearner
from netbandit.learners.slots import Learner
from netbandit.network import faults as network_faults
from netbandit.network.models.jitter import law_of
from netbandit.network.models.settings import nanoseconds as ns
from netbandit.network.outages import OutagePlan
from netbandit.network.packet import ACK_BYTES
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.scenario.links import LinkSettings, LinksSettings, UniformLatency, UplinkSettings
from netbandit.util.units import parse_bandwidth
from netbandit.util.wording import Allowed, show


class Faults(Condition):
    """``[faults]``: failures of links, agents and the server; by default none."""

    links: Annotated[
        keys.FailingSettings | keys.RedrawnSettings | None,
        BeforeValidator(keys.read_links),
        Allowed(keys.LINKS, keys=(keys.FailingSettings, keys.RedrawnSettings)),
    ] = Field(
        default=None,
        description="How every peer link fails: { up_for, down_for }, or redrawn in each period: { up, every }.",
    )
    nodes: keys.FailingNodes | None = Field(default=None, description="How every agent fails.")
    server: keys.FailingSettings | None = Field(default=None, description="How the server fails.")
    outages: list[keys.OutageSettings] = Field(default=[], description="Scheduled outages.")

    def __bool__(self) -> bool:
        return bool(self.links or self.nodes or self.server or self.outages)

    def models(
        self,
        links: LinksSettings,
        topology: Topology,
        slot: int,
        changing: Changing | None = None,
        *,
        peers: bool = True,
    ) -> network_faults.Faults:
        """Return the fault models of the network.

        Args:
            links: ``[links]``.
            topology: The graph, which has all nodes and links that are named.
            slot: The length of a slot (ns).
            changing: How the graph changes, if it does.
            peers: Whether peer links are used.
        """
        return network_faults.Faults(
            peer=channel_faults(links.peer, slot),
            uplink=channel_faults(links.uplink, slot),
            plan=OutagePlan(
                links=at_random(self.links, slot),
                nodes=failing(self.nodes, slot),
                server=failing(self.server, slot),
                memory="kept" if self.nodes is None else self.nodes.memory,
                outages=tuple(outage_of(outage, topology, slot) for outage in self.outages),
                **(changing._asdict() if peers and changing is not None else {}),
            ),
            radio=links.peer.radio.plan(slot) if peers and links.peer.radio is not None else None,
        )

    def prepare(self, plan: ReplicationPlan) -> None:
        """See `Condition.prepare`: what can go wrong, by the keys of links as well."""
        plan.faults = self.models(plan.links, plan.topology, plan.clock.slot, plan.changing, peers=plan.peers)

    def known(self, facts: Facts) -> Mapping[str, Any]:
        """See `Condition.known`: whether agents fail, and what they know then, and whether messages may be lost."""
        lost = {"may_lose": self._may_lose(facts)} if facts.knows("links", "may_change", "may_refuse") else {}
        return {
            "agents_fail": self.nodes is not None or any(outage.nodes for outage in self.outages),
            "agents_forget": self.nodes is not None and self.nodes.memory == "lost",
            **lost,
        }

    def graph_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield answers that may be lost for good, invalid outages, and state that learners cannot have."""
        yield from self._answer_problems(facts)
        yield from self._outage_problems(facts)
        if isinstance(facts.learner, EpochLearner):
            yield from self._per_agent_problems(facts)
        else:
            yield from self._memory_problems(facts)

    def graph_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield losses for which agents wait, timeouts that are too short, messages that meet, and doubtful numbers."""
        yield from self._broadcast_notes(facts) if facts.pattern == "broadcast" else self._queue_notes(facts)
        yield from self._burst_notes(facts)
        yield from self._answer_notes(facts)
        yield from self._fault_notes(facts)
        yield from self._tie_notes(facts)
        for index, outage in enumerate(self.outages):
            here, groups = ("faults", "outages", index), (*outage.named_links, *(outage.partition or ()))
            named = [*outage.named_nodes, *(node for group in groups for node in group)]
            yield from number_notes(here, named, facts.graph)
        yield from self._rate_notes(facts)

    def _memory_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield a problem if agents lose their memory but the learner cannot restart from nothing."""
        if self.nodes is None or self.nodes.memory == "kept":
            return
        here, learner, kind = ("faults", "nodes", "memory"), facts.learner, facts.kinds["learner"]
        if facts.pattern == "exchange":
            text = "whose neighbours need the row of each of its steps"
            yield here, f'must be "kept" with learner.kind = {show(kind)}, {text}'
        elif isinstance(learner, Learner) and not learner.has("forget"):
            yield here, f'"lost" needs a learner with a method forget(slot, agents), which {kind} does not have'

    def _outage_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield each invalid outage: of links or nodes missing from the graph, or with an end before its beginning."""
        topology, slot = facts.graph, facts.slot
        numbers = NodeNumbers(topology)
        for index, outage in enumerate(self.outages):
            here = ("faults", "outages", index)
            if outage.until is not None and ns(outage.until, slot) <= ns(outage.from_, slot):
                yield (*here, "until"), f"must be after from = {show(outage.from_)}, not {show(outage.until)}"
            if outage.for_ is not None and ns(outage.for_, slot) < 1:
                yield (*here, "for"), f"must be at least a nanosecond, not {show(outage.for_)}"
            elif (
                outage.every is not None and outage.for_ is not None and ns(outage.every, slot) <= ns(outage.for_, slot)
            ):
                yield (*here, "every"), f"must be longer than for = {show(outage.for_)}, not {show(outage.every)}"
            for number, node in enumerate(outage.named_nodes):
                if node not in numbers:
                    yield (*here, "nodes", number), no_node(node, topology)
            for number, pair in enumerate(outage.named_links):
                yield from (((*here, "links", number), no_node(node, topology)) for node in pair if node not in numbers)
                if all(node in numbers for node in pair):
                    first, second = (numbers[node] for node in pair)
                    if not topology.graph.has_edge(first, second):
                        yield (
                            (*here, "links", number),
                            f"the graph has no link between {show(pair[0])} and {show(pair[1])}",
                        )
            seen: set[int] = set()
            for number, group in enumerate(outage.partition or ()):
                path = (*here, "partition", number)
                yield from node_problems(path, group, topology, seen, "is in two groups, or twice in one")

    def _per_agent_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield faults that make agents' state diverge in rounds, if the learner or protocol does not support that."""
        learner, protocol, kinds = facts.learner, facts.protocol, facts.kinds
        lost = self.nodes is not None and self.nodes.memory == "lost"
        memory = ("faults", "nodes", "memory")
        if lost and not protocol.forgetful:
            yield memory, f'must be "kept": protocol.kind = {show(kinds["protocol"])} does not say what a node forgets'
        if isinstance(learner, DifferingSets):
            return
        text = (
            f"learner.kind = {show(kinds['learner'])} has no methods of netbandit.learners.differing_sets:DifferingSets"
        )
        if lost:
            yield memory, f'must be "kept": {text}'
        if getattr(protocol, "deadline", None) is not None:
            yield ("protocol", "deadline"), f"leave it out: agents would differ in what they know, and {text}"
        elif protocol.differs:
            cure = 'must be one by which all know the same, as "gis"'
            yield ("protocol", "kind"), f"{cure}: agents would differ in what they know, and {text}"

    def _answer_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield links that may lose an answer for good, so that an agent would wait for it for ever."""
        links = facts.links
        name = self._answered_over(facts)
        if name is not None and getattr(links, name).retry is None:
            shared = name == "peer" and links.peer.radio is not None  # a shared radio channel has no retransmissions
            text = (
                f"messages may be lost on links.{name} and are not repeated, and an agent whose answer is lost would "
                f"never test again: this key ends its wait{'' if shared else f', and so does links.{name}.retry'}"
            )
            yield ("protocol", "deadline"), f"is missing: {text}"

    def _answer_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield links that retransmit answers only so often, so that an agent might wait for one for ever."""
        name = self._answered_over(facts)
        if name is None or (retry := getattr(facts.links, name).retry) is None:
            return
        text = (
            f"an agent whose upload or answer is lost {retry.attempts} times waits for ever and never uploads again: "
            "protocol.deadline ends its wait, and more attempts make this rarer"
        )
        yield ("links", name, "retry", "attempts"), text

    def _may_lose(self, facts: Facts) -> bool:
        """Return whether messages of the protocol may be lost for good."""
        links, used = facts.links, facts.used_links
        lossy = any(_loses(getattr(links, table)) for table in used)
        over_peers = "peer" in used and (links.peer.radio is not None or self.links is not None)
        failing = facts.may_change or facts.may_refuse or any((self.nodes, self.server, self.outages))
        return bool(used) and (lossy or over_peers or failing)

    def _broadcast_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield losses that leave agents that broadcast without an answer (see `_answer_notes`)."""
        links, protocol = facts.links, facts.protocol
        if not (facts.may_lose and getattr(protocol, "served", False)):
            return
        lossy = [table for table in sorted(protocol.used_links) if _loses(getattr(links, table))]
        helps = [
            f"links.{table}.retry repeats what is lost"
            for table in lossy
            if table != "peer" or links.peer.radio is None
        ]
        text = "the server waits for all uploads of a round, and one that is lost leaves all agents without an answer"
        help = "; ".join([*helps, "with learners of rounds, such as elimination, protocol.deadline ends the wait"])
        yield ("protocol", "kind"), f"{text} (unanswered): {help}"

    def _queue_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield queues that drop messages without retransmission, under protocols whose agents wait for them."""
        links, protocol = facts.links, facts.protocol
        if getattr(protocol, "deadline", "none") is not None:
            return
        for table in protocol.used_links:
            settings = getattr(links, table)
            if settings.queue is not None and settings.retry is None:
                text = "what is dropped is not repeated, and who waits for it does so for ever"
                help = f"links.{table}.retry repeats it, and a protocol.deadline ends the wait"
                yield ("links", table, "queue"), f"{text}: {help}"

    def _burst_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield a finite queue that bursts may fill: what agents pass on in a slot starts together."""
        protocol, graph = facts.protocol, facts.graph
        whole = graph.links == graph.agents * (graph.agents - 1) // 2  # then nothing is passed on
        if facts.links.peer.queue is None or not protocol.slotted or whole:
            return
        from netbandit.protocols.flooding import Flooding
        from netbandit.protocols.local import Local
        from netbandit.protocols.relay import Relay
        from netbandit.protocols.sink import Sink

        passes_on = isinstance(protocol, Relay | Flooding | Sink)
        if not (passes_on or (isinstance(protocol, Local) and protocol.route == "tree" and protocol.ttl > 1)):
            return
        text = "slotted messages that are passed on start together, so they may find the queue full on links that are"
        help = 'protocol.timing = "asynchronous" spreads them, and a longer queue holds them'
        yield ("links", "peer", "queue"), f"{text} idle most of the time: {help}"

    def _answered_over(self, facts: Facts) -> Literal["peer", "uplink"] | None:
        """Return the links that may lose an answer for which an agent waits without a deadline, if any."""
        links, protocol = facts.links, facts.protocol
        changing, refuses = facts.may_change, facts.may_refuse
        if not hasattr(protocol, "answer"):
            return None
        from netbandit.protocols.parameter_server import ParameterServer

        if not isinstance(protocol, ParameterServer) or protocol.answer != "uploader" or protocol.deadline is not None:
            return None
        # An agent that was down itself checks again when it comes back up.
        if protocol.server == "uplink":
            down = self.server is not None or any(outage.server for outage in self.outages)
            return "uplink" if links.uplink.loss or links.uplink.queue is not None or down or refuses else None
        cuts = (outage.links or outage.nodes or outage.partition for outage in self.outages)
        down = changing or self.links is not None or self.nodes is not None or any(cuts)
        may_drop = links.peer.queue is not None or refuses
        return "peer" if links.peer.loss or links.peer.radio is not None or may_drop or down else None

    def _fault_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield what is valid but probably unintended: a timeout too short, faults where nothing is sent."""
        links, slot = facts.links, facts.slot
        kind, latencies = facts.kinds["protocol"], facts.peer_latencies
        if kind == "silent" and (self.links or self.server):
            yield ("faults",), 'has no effect: with protocol.kind = "silent" no messages are sent'
        uplink = links.uplink.latency
        slowest = ns(uplink.uniform[1] if isinstance(uplink, UniformLatency) else uplink, slot)
        for name, table, latency in (
            ("peer", links.peer, max(latencies, default=0)),
            ("uplink", links.uplink, slowest),
        ):
            if table.retry is None:
                continue
            back = 0 if table.bandwidth is None else -(-ACK_BYTES * 8_000_000_000 // parse_bandwidth(table.bandwidth))
            if ns(table.retry.timeout, slot) < 2 * latency + back:
                text = (
                    f"is shorter than a round trip without queueing, {(2 * latency + back) / 1e6:g} ms: all is resent"
                )
                yield ("links", name, "retry", "timeout"), text

    def _rate_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield what switches between up and down so often that finding these times would take minutes."""
        if any(self.graph_problems(facts)):
            return
        graph, latencies = facts.graph, {"peer": facts.peer_latencies, "uplink": facts.uplink_latencies}
        faults = self.models(facts.links, graph, facts.slot)
        used: dict[str, Sequence[int]] = {table: latencies[table] for table in facts.protocol.used_links}
        # Messages arrive, and jobs end, also after the horizon.
        way = slowest_way(facts.links, used, faults) + facts.longest_job
        yield from fault_rate_notes(faults, graph.links, graph.agents, facts.end, way)

    def _tie_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield a note that equal latencies (ns) make messages arrive at the same instant, as in no real network."""
        links, protocol, latencies = facts.links, facts.protocol, facts.peer_latencies
        jitter = law_of(links.peer.jitter, 1)
        if protocol.counts_ties and not protocol.slotted and jitter is None and len(set(latencies)) < len(latencies):
            yield (
                ("protocol", "timing"),
                "over links of equal latency messages meet at a node in the same instant, as in no real network, so "
                'that fewer are sent: links.peer.jitter = "0.001 ms" shows how many otherwise',
            )


def _loses(link: LinkSettings | UplinkSettings) -> bool:
    return link.retry is None and (bool(link.loss) or link.queue is not None)
