"""Builds the service times and speeds of nodes from ``[compute]``, and checks that table."""

from collections.abc import Iterator, Mapping
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np

from netbandit.learners.counts import CountingLearner
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.network.computing import ComputePlan, ServiceTimes, Work
from netbandit.network.delays import Delay, GeometricDelay, ParetoDelay
from netbandit.network.jitter import ExponentialJitter, LognormalJitter, UniformJitter
from netbandit.network.message import HEADER_BYTES
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.local import Local
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario import compute as keys
from netbandit.scenario.compute import ComputeSettings, ServerTimes
from netbandit.scenario.delay import ParetoDelay as ParetoDelayKey
from netbandit.scenario.delay import UniformDelay
from netbandit.scenario.links import LinksSettings
from netbandit.scenario.model import RunSettings
from netbandit.simulation.build_energy import nanowatt
from netbandit.simulation.build_feedback import delay_law
from netbandit.util.streams import Streams
from netbandit.util.table_files import Table, TableFileError, finite
from netbandit.util.units import Duration
from netbandit.util.wording import show

_WORK: tuple[Work, ...] = ("message", "aggregate", "decision", "item")


def build_compute(settings: ComputeSettings, agents: int, slot: int, streams: Streams) -> ComputePlan | None:
    """Return what nodes compute, and how fast; None if nothing takes them any time.

    Args:
        settings: ``[compute]``, with the absolute path of a file.
        agents: The number M of agents.
        slot: The length of a slot (ns).
        streams: The streams of the replication; agent i draws its speed from index i of ``speed``.

    Raises:
        TableFileError: The file contains no speeds.
    """
    of_agents, of_server = service_times(settings.agents, slot), service_times(settings.server, slot)
    if not (of_agents.laws or of_agents.handles or of_server.laws or of_server.handles):
        return None
    return ComputePlan(of_agents, of_server, speeds(settings, agents, streams), nanowatt(settings.power))


def service_times(times: ServerTimes, slot: int) -> ServiceTimes:
    """Return the service times that a table describes; *slot* is the length of a slot (ns)."""
    laws = {work: delay_law(getattr(times, work), slot) for work in _WORK if hasattr(times, work)}
    byte = Duration(times.byte)
    return ServiceTimes(
        {work: law for work, law in laws.items() if _most(law) > 0},
        float(byte.amount * (slot if byte.in_slots else 1)),
        times.inbox,
    )


def speeds(settings: ComputeSettings, agents: int, streams: Streams) -> list[float]:
    """Return the factor of the times of each agent, shape (M,); see `build_compute`."""
    speed = settings.speed
    if isinstance(speed, float):
        return [speed] * agents
    if isinstance(speed, list):
        return speed
    if isinstance(speed, keys.SpeedFile):
        rows = read_speeds(Path(speed.file), speed.column)
        return [rows[agent % len(rows)] for agent in range(agents)]
    uniforms = np.array([streams.generator("speed", agent).random() for agent in range(agents)])
    match speed:
        case keys.UniformSpeed():
            least, most = speed.uniform
            found = least + uniforms * (most - least)
        case keys.LognormalSpeed():
            from scipy.special import ndtri

            found = np.exp(np.clip(speed.lognormal * ndtri(uniforms), -_MOST, _MOST))
        case keys.ParetoSpeed():
            found = np.exp(np.minimum(-np.log1p(-uniforms) / speed.pareto, _MOST))
        case keys.ShareSpeed():
            found = np.where(uniforms < speed.share, speed.factor, 1.0)
    return [float(one) for one in found]


_MOST = log(1e9)
"""The logarithm of the largest factor."""


def read_speeds(path: Path, column: str) -> list[float]:
    """Return the numbers in a *column* of a table of devices, over their mean.

    Raises:
        TableFileError: The file is malformed; the message names the line.
    """
    table = Table(path)
    if column not in table.names:
        raise table.error(f"has no column {show(column)}, but {show(','.join(table.names))}")
    place = table.names.index(column)
    found = []
    for line, cells in table:
        value = finite(cells[place])
        if value is None or value <= 0:
            raise table.error(f"{column} must be a number above 0, not {show(cells[place])}", line)
        found.append(value)
    if not found:
        raise table.error("lists no device")
    mean = sum(found) / len(found)
    return [value / mean for value in found]


def mean_of(law: Delay) -> float:
    """Return the mean of a delay distribution (ns); infinity where it has none."""
    match law:
        case UniformJitter():
            return (law.shortest + law.longest) / 2
        case ExponentialJitter():
            return law.mean
        case LognormalJitter():
            return law.median * exp(min(law.sigma**2 / 2, 600))
        case GeometricDelay():
            return law.mean * law.slot
        case ParetoDelay():
            return law.least * law.shape / (law.shape - 1) if law.shape > 1 else inf
    raise TypeError(f"{law!r} is no law of a service time")


def _handling(times: ServiceTimes) -> float:
    """Return how long (ns) the handling of a header takes, in the mean."""
    return times.per_byte * HEADER_BYTES + (mean_of(times.laws["message"]) if "message" in times.laws else 0.0)


def _most(law: Delay) -> float:
    return law.longest if isinstance(law, UniformJitter) else mean_of(law)


def compute_problems(settings: ComputeSettings, run: RunSettings, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield invalid settings of ``[compute]``, and conflicts with other tables.

    Args:
        settings: ``[compute]``.
        run: ``[run]``.
        known: The parts known so far, and their kinds.
    """
    if not settings:
        return
    slot = run.slot_nanoseconds
    for table, times in (("agents", settings.agents), ("server", settings.server)):
        for work in _WORK:
            law = getattr(times, work, None)
            if isinstance(law, UniformDelay):
                shortest, longest = (Duration(end).nanoseconds(slot) for end in law.uniform)
                if shortest > longest:
                    yield ("compute", table, work), "uniform: the longest must not be below the shortest"
    speed = settings.speed
    if isinstance(speed, keys.UniformSpeed) and speed.uniform[0] > speed.uniform[1]:
        yield ("compute", "speed"), "uniform: the largest must not be below the smallest"
    if isinstance(speed, keys.SpeedFile):
        try:
            read_speeds(Path(speed.file), speed.column)
        except TableFileError as error:
            yield ("compute", "speed", "file"), str(error)
            return
    protocol, learner, kinds = known["protocol"], known["learner"], known["kinds"]
    if protocol is not None and protocol.out_of_band:
        kind = show(kinds["protocol"])
        yield ("compute",), f"cannot be with protocol.kind = {kind}, whose agents share data without any message"
    laws = service_times(settings.agents, slot).laws
    if isinstance(protocol, GatherProtocol):
        kind = show(kinds["protocol"])
        for work in _WORK[1:]:
            if work in laws:
                text = f'must be "0 ms" with protocol.kind = {kind}, whose parts of contexts are no contributions'
                yield ("compute", "agents", work), text
    if "decision" not in laws:
        return
    if isinstance(learner, EpochLearner):
        kind = show(kinds["learner"])
        text = f'must be "0 ms" with learner.kind = {kind}, which plays phases: item is the time of its contributions'
        yield ("compute", "agents", "decision"), text
    takes = mean_of(laws["decision"]) * _slowest(settings)
    if takes >= slot:
        text = f"must be shorter than a slot for the slowest agent, whose decisions take {takes / slot:.3g} slots"
        yield ("compute", "agents", "decision"), text


def _slowest(settings: ComputeSettings) -> float:
    """Return the largest factor of times that an agent may have, where that is known; else 1."""
    match settings.speed:
        case float():
            return settings.speed
        case list():
            return max(settings.speed)
        case keys.UniformSpeed():
            return settings.speed.uniform[1]
        case keys.ShareSpeed():
            return settings.speed.factor if settings.speed.share else 1.0
        case keys.SpeedFile():
            return max(read_speeds(Path(settings.speed.file), settings.speed.column))
    return 1.0


def speed_problems(settings: ComputeSettings, agents: int) -> Iterator[Problem]:
    """Yield a problem if the number of speeds is not that of *agents*."""
    if isinstance(settings.speed, list) and len(settings.speed) != agents:
        yield ("compute", "speed"), f"has {len(settings.speed)} factors, but there are {agents} agents"


def compute_notes(settings: ComputeSettings, slot: int, protocol: NetworkProtocol) -> Iterator[Problem]:
    """Yield laws without a mean, and keys of `[compute]` that have no effect with *protocol*."""
    for table, times in (("agents", settings.agents), ("server", settings.server)):
        for work in _WORK:
            law = getattr(times, work, None)
            if isinstance(law, ParetoDelayKey) and law.pareto[1] <= 1:
                yield ("compute", table, work), "a Pareto law of a shape of at most 1 has no mean"
        if times.inbox is not None and not service_times(times, slot).handles:
            yield ("compute", table, "inbox"), "has no effect: handling a message takes no time"
    if isinstance(settings.speed, keys.ParetoSpeed) and settings.speed.pareto <= 1:
        yield ("compute", "speed"), "a Pareto law of a shape of at most 1 has no mean"
    if settings.server != ServerTimes() and "uplink" not in protocol.used_links:
        yield ("compute", "server"), "has no effect: the protocol has no server"
    agents = service_times(settings.agents, slot)
    if not (agents.laws or agents.handles):
        if settings.speed != 1.0:
            yield ("compute", "speed"), "has no effect: nothing takes agents any time"
        if settings.power:
            yield ("compute", "power"), "has no effect: nothing takes agents any time"
    silent = [work for work in ("message", "aggregate", "item") if work in agents.laws]
    if protocol.isolated and silent:
        yield ("compute", "agents", silent[0]), "has no effect: agents tell each other nothing"


def may_refuse(settings: ComputeSettings, slot: int) -> bool:
    """Return whether the inbox of a node may be full; *slot* is the length of a slot (ns)."""
    tables: tuple[ServerTimes, ...] = (settings.agents, settings.server)
    return any(times.inbox is not None and service_times(times, slot).handles for times in tables)


def refusal_notes(
    settings: ComputeSettings, links: LinksSettings, protocol: NetworkProtocol, slot: int
) -> Iterator[Problem]:
    """Yield inboxes that refuse messages for good, under protocols whose agents wait for these messages."""
    if getattr(protocol, "deadline", "none") is not None:
        return
    once = [table for table in sorted(protocol.used_links) if getattr(links, table).retry is None]
    for table, times in (("agents", settings.agents), ("server", settings.server)):
        reached = once if table == "agents" else [name for name in once if name == "uplink"]
        if reached and times.inbox is not None and service_times(times, slot).handles:
            text = "what is refused is not repeated, and who waits for it does so for ever"
            help = f"links.{reached[0]}.retry repeats it, and a protocol.deadline ends the wait"
            yield ("compute", table, "inbox"), f"{text}: {help}"


def load_notes(
    settings: ComputeSettings,
    run: RunSettings,
    learner: AnyLearner,
    protocol: NetworkProtocol,
    talk: str | None,
    graph: Topology,
) -> Iterator[Problem]:
    """Yield nodes that cannot keep up with what reaches them, or with their decisions, short deadlines, and idle jobs.

    Args:
        settings: ``[compute]``.
        run: ``[run]``.
        learner: The learner.
        protocol: The protocol.
        talk: The communication pattern.
        graph: The graph of the first replication.
    """
    slot = run.slot_nanoseconds
    agents, server = service_times(settings.agents, slot), service_times(settings.server, slot)
    served = "uplink" in protocol.used_links
    at_once = talk in ("broadcast", "exchange", "ask") or (talk == "call" and isinstance(protocol, Local))
    elsewhere = isinstance(protocol, MasterWorker) or getattr(protocol, "server", None) == "uplink"
    if "aggregate" in agents.laws and (at_once or elsewhere):
        text = "the server puts together what comes" if elsewhere else "agents use each item as it comes"
        yield ("compute", "agents", "aggregate"), f"has no effect: {text}"
    tells = isinstance(learner, CountingLearner) and run.activity == "every" and not protocol.isolated
    if talk == "broadcast" and tells:
        here, messages = ("server", graph.agents) if served else ("agents", max(map(len, graph.neighbours)))
        takes = messages * _handling(server if served else agents) * (1.0 if served else _slowest(settings))
        if takes > slot:
            who = "the server" if served else "an agent with the most neighbours"
            text = f"{messages:,} messages reach {who} in each slot, which take {takes / slot:.3g} slots to handle"
            yield ("compute", here, "message"), f"{text}: they wait ever longer"
    if talk == "broadcast" and tells and "item" in agents.laws:
        takes = mean_of(agents.laws["item"]) * max(speeds(settings, graph.agents, Streams(run.seed, 0)))
        if takes > slot:
            text = f"the slowest agent tells something in each slot, which takes it {takes / slot:.3g} slots"
            yield ("compute", "agents", "item"), f"{text}: it falls ever further behind"
    if "decision" in agents.laws and isinstance(settings.speed, keys.LognormalSpeed | keys.ParetoSpeed):
        takes = mean_of(agents.laws["decision"])
        slow = sum(takes * speed >= slot for speed in speeds(settings, graph.agents, Streams(run.seed, 0)))
        if slow:
            text = f"{slow:,} of {graph.agents:,} agents of the first replication decide slower than a slot passes"
            yield ("compute", "agents", "decision"), f"{text}, and fall ever further behind"
    deadline = getattr(protocol, "deadline", None)
    if isinstance(protocol, MasterWorker) and deadline is not None and server.handles:
        handled = 1 + int(deadline.nanoseconds(slot) // _handling(server))
        if handled < graph.agents:
            text = f"by then the server has handled {handled:,} of {graph.agents:,} uploads at most, in the mean"
            yield ("protocol", "deadline"), f"{text}, and answers without the others (compute.server.message)"
