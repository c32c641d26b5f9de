"""Builds the service times and speeds of nodes from the keys of ``[compute]``."""

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from netbandit.conditions import compute_keys as keys
from netbandit.conditions.compute_keys import ServerTimes
from netbandit.conditions.laws import delay_law, mean_of
from netbandit.network.computing import ServiceTimes, Work
from netbandit.network.delays import Delay
from netbandit.network.jitter import UniformJitter
from netbandit.util.agent_rows import Whose, whose
from netbandit.util.streams import Streams
from netbandit.util.table_files import Table, TableFileError, finite
from netbandit.util.units import Duration
from netbandit.util.wording import show

WORK: tuple[Work, ...] = ("message", "aggregate", "decision", "item")


def service_times(times: ServerTimes, slot: int) -> ServiceTimes:
    """Return the service times that a table describes; *slot* is the length of a slot (ns)."""
    laws = {work: delay_law(getattr(times, work), slot) for work in WORK if hasattr(times, work)}
    byte = Duration(times.byte)
    return ServiceTimes(
        {work: law for work, law in laws.items() if _most(law) > 0},
        float(byte.amount * (slot if byte.in_slots else 1)),
        times.inbox,
    )


def speeds(speed: keys.Speed, agents: Sequence[str], streams: Streams) -> list[float]:
    """Return the factor of the times of each agent, shape (M,).

    Args:
        speed: ``compute.speed``, with the absolute path of a file.
        agents: What the M agents are called.
        streams: The streams of the replication; agent i draws its speed from index i of ``speed``.

    Raises:
        TableFileError: The file contains no speeds, or those of other agents.
    """
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


def _most(law: Delay) -> float:
    return law.longest if isinstance(law, UniformJitter) else mean_of(law)
