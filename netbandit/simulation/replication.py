"""A point of a sweep that can be run, and its replications, each from its parts to its result."""

import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from netbandit.bandits.bandit import Bandit
from netbandit.conditions.condition import Condition, Model
from netbandit.conditions.contacts import build_changing
from netbandit.conditions.graph import drawn_topology, topology_streams
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.learners.learner import AnyLearner
from netbandit.network.clock import Clock, Environment
from netbandit.network.families.family import Family
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.topology import Topology
from netbandit.network.trace_writer import Trace
from netbandit.parts.conditions import CONDITIONS
from netbandit.parts.plugins import offers, packages_of
from netbandit.parts.registry import BUILT_IN, kind_key
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.model import Scenario
from netbandit.simulation.accounting import (
    absent_slots,
    connectivity,
    link_use,
    nodes_of,
    of_models,
    outcomes,
    traffic,
    use_of,
    waiting_remarks,
)
from netbandit.simulation.dispatch.kernel_choice import Choice, explained
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.drivers.choice import driver_for, pattern_of
from netbandit.simulation.regret import level_to_the_end
from netbandit.simulation.result import Curve, Metric, RunResult, versions
from netbandit.simulation.return_validation import checked, figures_of
from netbandit.simulation.sweep_point import Point
from netbandit.user_code.errors import is_ours
from netbandit.util.blas_threads import one_blas_thread
from netbandit.util.memory import paused_collection
from netbandit.util.process import machine, machine_text
from netbandit.util.streams import Streams


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
        self._horizon = point.scenario.run.horizon

    def run(self, trace: Path | None = None) -> RunResult:
        """Run to the horizon.

        Args:
            trace: The file that every message is written to, or None.

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
            if scenario.run.until == "answered":
                self._horizon = self._answered(topology)
            context = self.context(topology, fingerprint, writer)
            network, clock, models = context.network, context.clock, context.models
            driver = driver_for(context)
            driver.start()
            waits: list[int] = []
            if may_never_come(context):
                # If nothing is queued, in flight or scheduled at the horizon, agents that wait do so for ever.
                clock.at_end(lambda: waits.extend(driver.stalled() if clock.environment.idle else ()))
            # Run until no event is left: nothing starts after the horizon, but messages in flight arrive.
            clock.environment.run()
            outcome = driver.finish()
            network.close()
        found = _finite(outcome.metrics)
        waiting = driver.waiting()
        absent = absent_slots(network, topology.agents, clock)
        slots = topology.agents * clock.horizon
        liars = context.lies.liars
        honest = topology.agents - len(liars)
        played = honest * clock.horizon - absent_slots(network, topology.agents, clock, liars)
        decisions = found.get("decisions", played)
        rounds, waited = found.pop("rounds"), found.pop("round_slots")
        metrics: dict[str, Metric] = {
            "regret": outcome.regret,
            "regret_per_agent": None if outcome.regret is None else outcome.regret / honest,
            "reward": found.pop("reward"),
            "rounds": rounds,
            "round_slots": waited if rounds else None,  # a round that has not ended is no wait of zero
            **_finite(traffic(network)),
            "regret_per_decision": outcome.regret / decisions if outcome.regret is not None and decisions else None,
            **outcomes(network),
            **of_models(network),
            "stalled": len(waits),
            "waiting_slots": sum(waiting) / len(waiting) if waiting else None,
            "absent_slots": absent,
            "availability": (slots - absent) / slots,
            **connectivity(network, topology),
            "simulated_s": clock.end / 1e9,
            "epsilon": found.pop("epsilon"),
            "delta": found.pop("delta"),
            "epsilon_claimed": found.pop("epsilon_claimed"),
            **_basic_composition(outcome.privacy),
        }
        for model in models:
            metrics |= _counted(model, {**metrics, **found})
        metrics |= {
            "broadcasts": network.ledger.broadcasts,
            "broadcast_copies": network.ledger.copies.sent,
            "broadcasts_missed": network.ledger.copies.missed,
            "broadcasts_in_flight": network.ledger.copies.in_flight,
            **found,
            "events": fingerprint.events,
        }
        metrics |= _finite(figures_of(context.bandit, context.bandit.figures(), metrics))
        in_vain = driver.waits and getattr(point.protocol, "deadline", None) is None
        metrics["may_stall"] = int(in_vain and may_never_come(context))
        of_agents = {name: array for model in models for name, array in model.of_agents().items()}
        if scenario.run.until == "answered":
            of_agents |= outcome.of_agents
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
            curves={name: self._level(curve) for name, curve in outcome.curves.items()},
            links=link_use(network, topology),
            uplinks=use_of(network.links.uplink_pairs(), network.uplink_class),
            fingerprint=digest,
            versions=versions() | packages_of(_others_kinds(point)),
            machine=machine_text(machine()),
            nodes=nodes_of(topology, of_agents),
            privacy_unit=outcome.privacy.unit if outcome.privacy else "",
            privacy_accountant=outcome.privacy.accountant if outcome.privacy else "",
            privacy_caveats=outcome.privacy.caveats if outcome.privacy else (),
            privacy_bound=outcome.privacy.bound if outcome.privacy else "exact",
            remarks=(
                *outcome.remarks,
                *waiting_remarks(rounds, waits, waiting, point.protocol, network),
                *(remark for model in models for remark in model.remarks()),
            ),
        )

    def _answered(self, topology: Topology) -> int:
        """Play until all agents that are up have answered for good, and return after how many slots that is.

        The run itself is then one of this horizon, so that nothing that plans ahead need know how it ends.
        """
        context = self.context(topology, Fingerprint(), None)
        driver, clock = driver_for(context), context.clock
        driver.start()
        clock.at_end(driver.close)
        clock.environment.run(until=driver.over)
        return driver.answered()

    def _level(self, curve: Curve) -> Curve:
        """Return *curve*, level from the end of the run to the horizon, where it ended before."""
        limit = self._point.scenario.run.horizon
        return curve if self._horizon == limit else level_to_the_end(curve.slots, curve.values, limit)

    def choices(self) -> list[Choice]:
        """Return the choice of kernels for each part of the run, with the reasons; nothing is run.

        Raises:
            TopologyError: This replication's random graph cannot be drawn.
        """
        topology = self._point.topology(self._replication)
        with paused_collection(), one_blas_thread(), explained() as choices:
            driver_for(self.context(topology, Fingerprint(), None)).start()
        return choices

    def plan(self, topology: Topology) -> ReplicationPlan:
        """Return what is the case, by what each condition says."""
        point, run = self._point, self._point.scenario.run
        streams = self._streams or Streams(run.seed, self._replication)
        clock = Clock(Environment(), run.slot_nanoseconds, self._horizon)
        drawn_from = topology_streams(point.family, run.seed, self._replication)
        talk = pattern_of(type(point.bandit), type(point.learner)) or ""
        bandit = checked(point.bandit.fresh())
        bandit.horizon, bandit.agents = run.horizon, topology.agents
        bandit.agent_names = lambda: topology.names
        bandit_streams = streams if point.bandit.seed is None else Streams(point.bandit.seed, 0)
        bandit.start(topology.agents, bandit_streams.generator)
        plan = ReplicationPlan(
            links=point.scenario.links,
            topology=topology,
            clock=clock,
            bandit=bandit,
            streams=streams,
            graph_streams=drawn_from,
            peers=point.protocol.uses_peer_links,
            changing=build_changing(point.family, topology, drawn_from, clock.slot, clock.end, point.protocol, talk),
            attack=point.attack,
        )
        for condition in self._conditions:
            condition.prepare(plan)
        return plan

    @property
    def _conditions(self) -> Sequence[Condition]:
        """The conditions, in the order of the registry."""
        return [each for each in self._point.scenario.conditions.values() if isinstance(each, Condition)]

    def context(self, topology: Topology, fingerprint: Fingerprint, writer: Trace | None) -> ReplicationContext:
        """Return all that a driver works with."""
        plan = self.plan(topology)
        network = plan.network(fingerprint, writer)
        network.header = self._point.scenario.run.header
        started = [condition.start(network) for condition in self._conditions]
        models = [model for model in started if model is not None]
        network.watch([model for model in models if model.watches])
        return ReplicationContext(
            learner=self._point.learner,
            protocol=self._point.protocol,
            run=self._point.scenario.run,
            topology=topology,
            network=network,
            clock=plan.clock,
            bandit=plan.bandit,
            streams=plan.streams,
            fingerprint=fingerprint,
            lies=plan.lies,
            feedback=plan.feedback,
            models=models,
        )


def _counted(model: Model, found: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return the metrics of a *model*, given those that are *found* already; ours may replace some of these."""
    figures = model.metrics(found)
    return _finite(figures if is_ours(type(model)) else figures_of(model, figures, found, "metrics"))


def _others_kinds(point: "RunnablePoint") -> list[tuple[str, str]]:
    """Return by which names, each with its table, packages offer what of a point is theirs."""
    kinds = [(table, str(point.resolved.get(table, {}).get(kind_key(table)))) for table in BUILT_IN]
    parts = [(table, kind) for table, kind in kinds if kind not in BUILT_IN[table] and ":" not in kind]
    conditions = [("condition", table) for table in point.scenario.conditions if table not in CONDITIONS]
    models = [kind for kind in point.scenario.links.models.values() if not is_ours(kind)]
    targets = {f"{kind.__module__}:{kind.__qualname__}" for kind in models}
    theirs = [("link", offer.kind) for offer in (offers("link") if targets else ()) if offer.target in targets]
    return parts + conditions + theirs


def _finite(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return *metrics* with None for infinite values."""
    return {name: value if value is None or isfinite(value) else None for name, value in metrics.items()}


def _basic_composition(spent: PrivacySpent | None) -> dict[str, Metric]:
    """Return the privacy spent by basic composition of all releases, if the account provides it."""
    if spent is None or spent.basic is None:
        return {}
    epsilon, delta = spent.basic
    return _finite({"epsilon_basic_composition": epsilon, "delta_basic_composition": delta})


def may_never_come(context: ReplicationContext) -> bool:
    """Return whether agents may wait for ever: for a lost message, one that waits for its link, or a mute agent."""
    return context.network.may_lose or context.network.flags.waits or context.some_are_mute


_holders: "list[weakref.ref[RunnablePoint]]" = []
"""The point that caches its graph: replications of a point run one after another."""

_OF_MESSAGES = frozenset({"latency", "bandwidth", "cost", "energy", "missing", "radio"})
"""Keys of links without effect if no message is sent over them; protocols may read all other keys."""


@dataclass(frozen=True, kw_only=True)
class RunnablePoint(Point):
    """A checked point of a scenario; it can be sent to a worker, and makes its replications there.

    Attributes:
        scenario: The tables every scenario has.
        family: The topology's family.
        bandit, learner, protocol: The parts, never started: each replication takes ``fresh()`` of them.
        attack: The class of a user-defined attack; None without an attack or with a built-in one.
        folder: The scenario's folder, which user modules are imported from.
    """

    scenario: Scenario
    family: Family
    bandit: Bandit
    learner: AnyLearner
    protocol: NetworkProtocol
    attack: type | None = None
    folder: Path
    _topologies: dict[int, Topology] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Workers draw graphs again: sending one costs more than drawing it.
        return {**self.__dict__, "_topologies": {}}

    @property
    def effective(self) -> Mapping[str, Any]:
        """See `Point.effective`: links over which the protocol sends nothing have no effect."""
        return _without_idle_links(self.resolved, self.protocol)

    def topology(self, replication: int) -> Topology:
        """Return the graph of a replication.

        Raises:
            TopologyError: It cannot be drawn.
        """
        fixed = not self.family.random or self.family.seed is not None
        number = 0 if fixed else replication
        topology = self._topologies.get(number)
        if topology is None:
            while _holders:  # one graph at a time, however many points there are
                held = _holders.pop()()
                if held is not None:
                    held._topologies.clear()
            run = self.scenario.run
            streams, slot = topology_streams(self.family, run.seed, number), run.slot_nanoseconds
            topology = drawn_topology(self.family, streams, slot, run.horizon * slot)
            self._topologies[number] = topology
            _holders.append(weakref.ref(self))
        return topology

    def simulation(self, replication: int) -> Simulation:
        """Return a replication, ready to run."""
        return Simulation(self, replication)


def _without_idle_links(resolved: Mapping[str, Any], protocol: NetworkProtocol) -> Mapping[str, Any]:
    """Return a resolved scenario without the keys of links that *protocol* does not use.

    Where nobody ever hears anything, all of them are left out.
    """
    used, heard = protocol.used_links, not protocol.isolated
    links = {
        table: {key: value for key, value in keys.items() if heard and (table in used or key not in _OF_MESSAGES)}
        for table, keys in resolved.get("links", {}).items()
    }
    return {**resolved, "links": links} if links != resolved.get("links") else resolved
