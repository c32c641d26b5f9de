"""The measure of links under each protocol: the time of its own round, or none."""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from netbandit.conditions.energy import Energy
from netbandit.conditions.faults import Faults
from netbandit.network.families.meeting import Meeting
from netbandit.parts.registry import kind_of
from netbandit.scenario.errors import ScenarioError
from netbandit.studies.advice.flooding_time import FloodingTime
from netbandit.studies.advice.gis_time import GisTime
from netbandit.studies.advice.measure import Measure, MeasureName
from netbandit.studies.advice.served_times import SinkTime, UplinkTime
from netbandit.studies.advice.spectral_gap import Gap
from netbandit.studies.advice.structure_measures import Activations, Resilience
from netbandit.studies.advice.tree_times import LocalTime, RelayTime
from netbandit.util.wording import show

if TYPE_CHECKING:
    from netbandit.protocols.local import Local
    from netbandit.protocols.protocol import NetworkProtocol
    from netbandit.simulation.replication import RunnablePoint

JUDGED = ("gis", "flooding", "sink", "relay", "local", "master-worker", "consensus")
"""The kinds of protocols for which the effect of a link is known."""

_REFUSED = {
    "gossip": "recipients are drawn at random",
    "silent": "no messages are sent",
    "pooled": "agents share all data without messages",
    "parameter-server": "no agent waits for others",
    "vertical": "agents hold parts of one context, and only agent 0 needs them",
}
EMPTY = "energy.capacity"
"""The table under which agents can run out of energy."""

_CONSIDERED = {"latency", "missing", "cost", "energy"}


def measure_of(point: "RunnablePoint", name: MeasureName) -> Measure:
    """Return the measure that rates the links of a scenario.

    Args:
        point: The point of the scenario.
        name: The name of the measure; ``time`` of consensus is its ``gap``.

    Raises:
        ScenarioError: There is no such measure of its protocol.
    """
    if name == "resilience":
        return Resilience()
    protocol = point.protocol
    kind = kind_of("protocol", type(protocol))
    if name == "cost":
        if kind != "gis":
            raise ScenarioError([f'--measure cost: is that of a round of gis, and protocol.kind is "{kind}"'])
        return Activations()
    if (name == "gap") > (kind == "consensus"):
        raise ScenarioError([f'--measure gap: is that of consensus, and protocol.kind is "{kind}"'])
    return _of_protocol(point, protocol, kind)


def measure_of_any(name: MeasureName) -> Measure:
    """Return the measure of links if no protocol is named."""
    named: dict[MeasureName, Measure] = {
        "time": FloodingTime(),
        "cost": Activations(),
        "resilience": Resilience(),
        "gap": Gap("max-degree", None),
    }
    return named[name]


def _of_protocol(point: "RunnablePoint", protocol: "NetworkProtocol", kind: str) -> Measure:
    from netbandit.protocols.consensus import Consensus
    from netbandit.protocols.local import Local
    from netbandit.protocols.sink import Sink

    plain: dict[str, Callable[[], Measure]] = {
        "gis": GisTime,
        "flooding": FloodingTime,
        "relay": RelayTime,
        "master-worker": UplinkTime,
    }
    if kind in plain:
        return plain[kind]()
    if isinstance(protocol, Sink) and kind == "sink":
        return SinkTime(protocol.collect == "gis")
    if isinstance(protocol, Consensus) and kind == "consensus":
        return Gap(protocol.weights, protocol.step)
    why = _REFUSED.get(kind, "it is a class of your own")
    if isinstance(protocol, Local) and kind == "local":
        reason = _why_not_local(point, protocol)
        if reason is None:
            return LocalTime(protocol.ttl, protocol.route == "flood")
        why = reason
    known = ", ".join(map(show, JUDGED))
    raise ScenarioError(
        [
            f"protocol.kind: what a link changes is not computed for {show(kind)}: {why}; it is for {known}; "
            "--measure resilience goes with every protocol"
        ]
    )


def _why_not_local(point: "RunnablePoint", protocol: "Local") -> str | None:
    """Return why a round of local cannot be computed from the network, or None if it can."""
    from netbandit.simulation.drivers.choice import pattern_of

    if pattern_of(type(point.bandit), type(point.learner)) == "call":
        return "after a call all agents wait for ttl times the slowest link, whatever the other links"
    if protocol.absorb:
        return "with absorb = true what agents have learnt decides which of them pass items on"
    return "with stop > 0 the agents that pass items on are drawn at random" if protocol.stop else None


def left_out(point: "RunnablePoint", used_links: Collection[str] | None = None) -> Iterator[str]:
    """Yield influences on the time of a round in runs that the evaluation of links ignores: keys, and calls.

    Args:
        point: The point of the scenario.
        used_links: Which of ``peer`` and ``uplink`` rounds use; None: those that its protocol does.
    """
    from netbandit.simulation.drivers.choice import pattern_of

    links, protocol = point.scenario.links, point.protocol
    for table, settings in (("peer", links.peer), ("uplink", links.uplink)):
        if table in (protocol.used_links if used_links is None else used_links):
            for key in settings.model_dump(exclude_defaults=True):
                if key not in _CONSIDERED:
                    yield f"links.{table}.{key}{'' if key in settings.model_fields_set else ' (energy.preset)'}"
    if point.scenario.table(Faults):
        yield "faults"
    if point.scenario.table(Energy).capacity is not None:
        yield EMPTY
    if point.family.changes is not None:
        yield "topology.changes"
    if isinstance(point.family, Meeting):
        yield "when agents meet"
    if getattr(protocol, "deadline", None) is not None:
        yield "protocol.deadline"
    if pattern_of(type(point.bandit), type(point.learner)) == "call":
        yield "the call before a round"
