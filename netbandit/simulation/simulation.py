"""One replication, from its parts to its result."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.garbage import paused_collection
from netbandit.installed_parts import packages_of
from netbandit.network.clock import Clock, Environment
from netbandit.network.contact_figures import contact_figures
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import Channel, LinkClass, Queue
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.network.trace_writer import Trace
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.registry import BUILT_IN, kind_key
from netbandit.simulation.blas_threads import one_blas_thread
from netbandit.simulation.build import build_network, topology_streams
from netbandit.simulation.build_contacts import build_changing
from netbandit.simulation.build_energy import build_energy, energy_of
from netbandit.simulation.choosing.way import Choice, explained
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.drivers import driver_for, talk_of
from netbandit.simulation.lies import liars_of
from netbandit.simulation.result import LinkUse, Metric, Nodes, RunResult, versions
from netbandit.simulation.returned import checked
from netbandit.streams import Streams

if TYPE_CHECKING:
    from netbandit.simulation.point import RunnablePoint


class Simulation:
    """One replication of one point of a scenario.

    Args:
        point: The parts, checked.
        replication: The replication's number, from 0.
        streams: Its random streams; None: those of the scenario's seed and this number.
    """

    def __init__(self, point: "RunnablePoint", replication: int, streams: Streams | None = None) -> None:
        self._point = point
        self._replication = replication
        self._streams = streams

    def run(self, trace: Path | None = None) -> RunResult:
        """Run to the horizon.

        Args:
            trace: The file to write every message to, or None.

        Raises:
            TopologyError: This replication's random graph cannot be drawn.
        """
        began = time.perf_counter()
        point = self._point
        scenario = point.scenario
        topology = point.topology(self._replication)
        fingerprint = Fingerprint()
        tracing = Trace(trace, topology.agents) if trace is not None else nullcontext()
        with paused_collection(), one_blas_thread(), tracing as writer:
            stage = self._stage(topology, fingerprint, writer)
            network, clock = stage.network, stage.clock
            driver = driver_for(stage)
            driver.start()
            waits: list[int] = []
            if may_never_come(stage):
                # With nothing queued, under way or timed at the horizon, who waits does so for ever.
                clock.at_end(lambda: waits.extend(driver.stalled() if clock.environment.idle else ()))
            # Until nothing is left to happen: nothing starts after the horizon, but what is under way arrives.
            clock.environment.run()
            outcome = driver.finish()
            outcomes = network.close()
        found = _finite(outcome.metrics)
        waiting = driver.waiting()
        absent = _absent_slots(network, topology.agents, clock)
        slots = topology.agents * clock.horizon
        energy, energy_of_nodes = energy_of(
            network, int(found.get("decisions", slots - absent) or 0), _up_time(network, topology.agents, clock)
        )
        honest = topology.agents - len(stage.liars)
        played = honest * clock.horizon - _absent_slots(network, topology.agents, clock, stage.liars)
        decisions = found.get("decisions", played)
        rounds, waited = found.pop("rounds"), found.pop("round_slots")
        metrics: dict[str, Metric] = {
            "regret": outcome.regret,
            "regret_per_agent": None if outcome.regret is None else outcome.regret / honest,
            "rounds": rounds,
            "round_slots": waited if rounds else None,  # a round that has not ended is no wait of zero
            **_finite(_communication(network)),
            "regret_per_decision": outcome.regret / decisions if outcome.regret is not None and decisions else None,
            **asdict(outcomes),
            **_waits(network, clock.slot),
            "stalled": len(waits),
            "waiting_slots": sum(waiting) / len(waiting) if waiting else None,
            "absent_slots": absent,
            "availability": (slots - absent) / slots,
            **_over_time(network, topology),
            "simulated_s": clock.end / 1e9,
            "epsilon": found.pop("epsilon"),
            "delta": found.pop("delta"),
            "epsilon_claimed": found.pop("epsilon_claimed"),
            **_basic_composition(outcome.privacy),
            **energy,
            "broadcasts": network.ledger.broadcasts,
            "broadcast_copies": network.ledger.copies.sent,
            "broadcasts_missed": network.ledger.copies.missed,
            **found,
            "events": fingerprint.events,
        }
        in_vain = driver.waits and getattr(point.protocol, "deadline", None) is None
        metrics["may_stall"] = int(in_vain and may_never_come(stage))
        digest = fingerprint.hexdigest()
        metrics["wall_s"] = time.perf_counter() - began
        return RunResult(
            name=scenario.name,
            parameters=dict(point.parameters),
            resolved=dict(point.resolved),
            seed=scenario.run.seed,
            replication=self._replication,
            metrics=metrics,
            kinds=network.ledger.kinds,
            topology={
                "agents": topology.agents,
                "links": topology.links,
                "diameter": topology.diameter,
                "radius": topology.radius,
            },
            curves=outcome.curves,
            links=_link_use(network, topology),
            uplinks=_use_of(network.uplink_pairs(), network.uplink_class),
            fingerprint=digest,
            versions=versions() | packages_of(_others_kinds(point.resolved)),
            nodes=_nodes(topology, energy_of_nodes),
            privacy_unit=outcome.privacy.unit if outcome.privacy else "",
            privacy_accountant=outcome.privacy.accountant if outcome.privacy else "",
            privacy_caveats=outcome.privacy.caveats if outcome.privacy else (),
            privacy_bound=outcome.privacy.bound if outcome.privacy else "exact",
            remarks=(*outcome.remarks, *_waiting(rounds, waits, waiting, point.protocol, network)),
        )

    def choices(self) -> list[Choice]:
        """Return which ways its parts would take that are faster than event by event, or why not; nothing is run.

        Raises:
            TopologyError: This replication's random graph cannot be drawn.
        """
        topology = self._point.topology(self._replication)
        with paused_collection(), one_blas_thread(), explained() as choices:
            driver_for(self._stage(topology, Fingerprint(), None)).start()
        return choices

    @property
    def _talk(self) -> str:
        return talk_of(type(self._point.bandit), type(self._point.learner)) or ""

    def _stage(self, topology: Topology, fingerprint: Fingerprint, writer: Trace | None) -> ReplicationContext:
        """Return all that a driver works with."""
        point = self._point
        scenario = point.scenario
        streams = self._streams or Streams(scenario.run.seed, self._replication)
        clock = Clock(Environment(), scenario.run.slot_nanoseconds, scenario.run.horizon)
        drawn_from = topology_streams(point.family, scenario.run.seed, self._replication)
        network = build_network(
            scenario.links,
            topology,
            clock,
            drawn_from,
            fingerprint,
            writer,
            own_streams=streams,
            peers=point.protocol.uses_peer_links,
            faults=scenario.faults,
            changing=build_changing(
                point.family, topology, drawn_from, clock.slot, clock.end, point.protocol, self._talk
            ),
            energy=build_energy(scenario.energy, scenario.links, clock.slot),
        )
        bandit_streams = streams if point.bandit.seed is None else Streams(point.bandit.seed, 0)
        bandit = checked(point.bandit.fresh())
        bandit.horizon, bandit.agents = scenario.run.horizon, topology.agents
        bandit.agent_names = lambda: topology.names
        bandit.start(topology.agents, bandit_streams.generator)
        liars = liars_of(scenario.adversary, topology, streams)
        return ReplicationContext(point, topology, network, clock, bandit, streams, fingerprint, liars)


def _others_kinds(resolved: Mapping[str, Any]) -> dict[str, str]:
    """Return the kinds by which parts of installed packages are named, by table."""
    kinds = {table: str(resolved.get(table, {}).get(kind_key(table))) for table in BUILT_IN}
    return {table: kind for table, kind in kinds.items() if kind not in BUILT_IN[table] and ":" not in kind}


def _finite(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return *metrics* with None for what is infinite."""
    return {name: value if value is None or isfinite(value) else None for name, value in metrics.items()}


def _basic_composition(spent: PrivacySpent | None) -> dict[str, Metric]:
    """Return what adding up all releases comes to, where an account gives that too."""
    if spent is None or spent.basic is None:
        return {}
    epsilon, delta = spent.basic
    return _finite({"epsilon_basic_composition": epsilon, "delta_basic_composition": delta})


def _communication(network: Network) -> dict[str, Metric]:
    peer, uplink = network.peer_totals(), network.uplink_totals()
    return {
        "cost": peer.cost + uplink.cost,
        "activations": peer.activations + uplink.activations,
        "messages": peer.messages + uplink.messages,
        "bytes": peer.bytes + uplink.bytes,
        "energy_j": peer.energy + uplink.energy,
    }


def _waits(network: Network, slot: int) -> dict[str, Metric]:
    """Return what is counted of messages that wait for their links, or for the air, where any do."""
    if not network.waits and network.radio is None:
        return {}
    waiting, outcomes = network.waiting, network.ledger.outcomes
    put = outcomes.delivered + outcomes.lost + outcomes.duplicates_dropped + outcomes.in_flight  # with copies
    asked = put + waiting.unsent
    found: dict[str, Metric] = {
        "unsent": waiting.unsent,
        "delivery_ratio": outcomes.delivered / asked if asked else None,
    }
    if network.waits:
        found["cut_off"] = waiting.cut_off
        found["waited_slots"] = waiting.waited / slot / waiting.started if waiting.started else None
    if network.radio is not None:
        found["transmissions"] = network.radio.transmissions
        found["airtime_s"] = network.radio.airtime / 1e9
        found["collided"] = network.radio.collided
    return found


def _over_time(network: Network, topology: Topology) -> dict[str, Metric]:
    """Return what a graph is like over time whose links come and go."""
    if network.faults.plan.contacts is None:
        return {}
    return contact_figures(network.up_times, topology.edges, topology.agents, network.clock.end)._asdict()


def may_never_come(stage: ReplicationContext) -> bool:
    """Return whether what agents wait for may never come: it is lost, waits for its link, or somebody tells nothing."""
    return stage.network.may_lose or stage.network.waits or stage.some_are_mute


def _waiting(
    rounds: Metric, stalled: Sequence[int], waiting: Sequence[int], protocol: NetworkProtocol, network: Network
) -> tuple[str, ...]:
    """Say that agents wait for what cannot come any more, and what would help; and where no round has ended at all."""
    remarks = []
    if stalled:
        where, helps = [], []
        for table, count in network.lost_for_good().items():
            if not count:
                continue
            if getattr(network.faults, table).retry is None:
                where.append(f"lost on links.{table}")
                helps.append(f"links.{table}.retry resends lost messages")
            else:
                where.append(f"given up on links.{table}")
                helps.append(f"more links.{table}.retry.attempts make this rarer")
        if getattr(protocol, "deadline", "") is None:
            helps.append("a protocol.deadline ends the wait")
        remarks.append(
            f"agents waited at the horizon for messages {' and '.join(where) or 'that never came'}, with nothing in "
            "transit that could end the wait (stalled: how many agents, waiting_slots: for how long)"
            f"{'; ' if helps else ''}{', and '.join(helps)}"
        )
    if waiting and not rounds:
        remarks.append("no round had ended by the horizon: agents were still waiting for the first (waiting_slots)")
    return tuple(remarks)


def _absent_slots(network: Network, agents: int, clock: Clock, but: Collection[int] = ()) -> int:
    """Return how many slots agents, *but* some, did not play because they were down at their beginnings."""
    outages = network.outages
    if outages is None or not outages.any_agents:
        return 0
    ranges = (outages.absent_slots(agent, clock.slot, clock.horizon) for agent in range(agents) if agent not in but)
    return sum(last - first for own in ranges for first, last in own)


def _up_time(network: Network, agents: int, clock: Clock) -> int:
    """Return for how long (ns) agents were up, all together."""
    outages = network.outages
    if outages is None or not outages.any_agents:
        return agents * clock.end
    down = (outages.node(agent).until(clock.end) for agent in range(agents))
    return agents * clock.end - sum(int(min(end, clock.end)) - begin for own in down for begin, end in own)


def _link_use(network: Network, topology: Topology) -> LinkUse:
    if network.links:  # in the order of topology.edges
        return _use_of(network.link_pairs(), network.peer_class)
    # The protocol uses no peer links.
    counts = 10 if network.peer_class.takes_time else 6
    return LinkUse(topology.edges[:, 0], topology.edges[:, 1], *np.zeros((counts, topology.links), dtype=np.int64))


def _use_of(links: Iterable[tuple[Channel, Channel]], link_class: LinkClass) -> LinkUse:
    """Return the use of *links* of a class, given the two channels of each, the first that of its first end."""
    queues = link_class.takes_time
    # Not as a list of rows: Python would look for garbage among them again and again.
    rows = np.fromiter(chain.from_iterable(map(_with_queues if queues else _counts, links)), dtype=np.int64)
    columns = rows.reshape(-1, 12 if queues else 8).T
    return LinkUse(*map(np.ascontiguousarray, columns))


def _counts(link: tuple[Channel, Channel]) -> tuple[int, ...]:
    there, back = link
    return (
        there.sender,
        there.receiver,
        there.messages + back.messages,
        there.bytes + back.bytes,
        there.link.activations,
        there.lost + back.lost,
        back.messages,
        back.bytes,
    )


def _with_queues(link: tuple[Channel, Channel]) -> tuple[int, ...]:
    there, back = (channel.queue or Queue() for channel in link)
    longest = max(there.longest_wait, back.longest_wait)
    return *_counts(link), there.busy, back.busy, there.waited + back.waited, longest


def _nodes(topology: Topology, energy: Mapping[str, NDArray[np.float64]]) -> Nodes | None:
    named = any("name" in data for _, data in topology.graph.nodes(data=True))
    if not named and topology.coordinates is None and not energy:
        return None
    return Nodes(tuple(topology.names) if named else None, topology.coordinates, **energy)
