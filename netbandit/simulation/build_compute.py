"""Builds the service times and speeds of nodes from ``[compute]``, and checks that table."""

from collections.abc import Sequence
from math import exp, inf, log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from netbandit.network.computing import ComputePlan, ServiceTimes, Work
from netbandit.network.delays import Delay, GeometricDelay, ParetoDelay
from netbandit.network.jitter import ExponentialJitter, LognormalJitter, UniformJitter
from netbandit.scenario import compute as keys
from netbandit.scenario.compute import ComputeSettings, ServerTimes
from netbandit.simulation.build_energy import nanowatt
from netbandit.simulation.build_feedback import delay_law
from netbandit.util.agent_rows import Whose, whose
from netbandit.util.streams import Streams
from netbandit.util.table_files import Table, TableFileError, finite
from netbandit.util.units import Duration
from netbandit.util.wording import show

WORK: tuple[Work, ...] = ("message", "aggregate", "decision", "item")


def build_compute(settings: ComputeSettings, agents: Sequence[str], slot: int, streams: Streams) -> ComputePlan | None:
    """Return what nodes compute, and how fast; None if nothing takes them any time.

    Args:
        settings: ``[compute]``, with the absolute path of a file.
        agents: What the M agents are called.
        slot: The length of a slot (ns).
        streams: The streams of the replication; agent i draws its speed from index i of ``speed``.

    Raises:
        TableFileError: The file contains no speeds, or those of other agents.
    """
    of_agents, of_server = service_times(settings.agents, slot), service_times(settings.server, slot)
    if not (of_agents.laws or of_agents.handles or of_server.laws or of_server.handles):
        return None
    return ComputePlan(of_agents, of_server, speeds(settings, agents, streams), nanowatt(settings.power))


def service_times(times: ServerTimes, slot: int) -> ServiceTimes:
    """Return the service times that a table describes; *slot* is the length of a slot (ns)."""
    laws = {work: delay_law(getattr(times, work), slot) for work in WORK if hasattr(times, work)}
    byte = Duration(times.byte)
    return ServiceTimes(
        {work: law for work, law in laws.items() if _most(law) > 0},
        float(byte.amount * (slot if byte.in_slots else 1)),
        times.inbox,
    )


def speeds(settings: ComputeSettings, agents: Sequence[str], streams: Streams) -> list[float]:
    """Return the factor of the times of each agent, shape (M,); see `build_compute`."""
    speed = settings.speed
    if isinstance(speed, float):
        return [speed] * len(agents)
    if isinstance(speed, list):
        return speed
    if isinstance(speed, keys.SpeedFile):
        devices = read_devices(Path(speed.file), speed.column)
        return [devices.speeds[row] for row in devices.whose(agents).rows]
    uniforms = np.array([streams.generator("speed", agent).random() for agent in range(len(agents))])
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


class Devices(NamedTuple):
    """A table of devices.

    Attributes:
        path: Its file.
        speeds: The factor of each row.
        others: The columns that are no speeds.
    """

    path: Path
    speeds: list[float]
    others: dict[str, list[str]]

    def whose(self, agents: Sequence[str]) -> Whose:
        """Return which row is that of each of *agents*, by what they are called.

        Raises:
            TableFileError: The rows are those of others.
        """
        try:
            return whose(self.others, len(self.speeds), agents, "speeds")
        except ValueError as error:
            raise TableFileError(self.path, str(error)) from None


def read_devices(path: Path, column: str) -> Devices:
    """Return a table of devices, whose speeds are the numbers in a *column* over their mean.

    Raises:
        TableFileError: The file is malformed; the message names the line.
    """
    table = Table(path)
    if column not in table.names:
        raise table.error(f"has no column {show(column)}, but {show(','.join(table.names))}")
    place = table.names.index(column)
    found = []
    others: dict[str, list[str]] = {name: [] for name in table.names if name != column}
    for line, cells in table:
        for name, cell in zip(table.names, cells, strict=True):
            if name != column:
                others[name].append(cell)
        value = finite(cells[place])
        if value is None or value <= 0:
            raise table.error(f"{column} must be a number above 0, not {show(cells[place])}", line)
        found.append(value)
    if not found:
        raise table.error("lists no device")
    mean = sum(found) / len(found)
    return Devices(path, [value / mean for value in found], others)


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


def _most(law: Delay) -> float:
    return law.longest if isinstance(law, UniformJitter) else mean_of(law)


def may_refuse(settings: ComputeSettings, slot: int) -> bool:
    """Return whether the inbox of a node may be full; *slot* is the length of a slot (ns)."""
    tables: tuple[ServerTimes, ...] = (settings.agents, settings.server)
    return any(times.inbox is not None and service_times(times, slot).handles for times in tables)
