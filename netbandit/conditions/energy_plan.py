"""Builds the agents' energy model from the keys of ``[energy]``, and gives its metrics."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netbandit.conditions import energy_keys as keys
from netbandit.network.batteries import JOULE, Daily, OnAndOff, Price
from netbandit.network.network import Network
from netbandit.scenario.links import LinkEnergySettings
from netbandit.util.table_files import Table, finite
from netbandit.util.units import parse_duration
from netbandit.util.wording import show

_NANO = 10**9
_HEADER = ("FROM", "WATT")
_LATEST = 4e9


def harvested(law: keys.Harvest, slot: int) -> int | OnAndOff | Daily | Sequence[tuple[int, int]]:
    """Return what is harvested by the *law* of ``energy.harvest``; *slot* is the length of a slot (ns)."""
    if isinstance(law, keys.DailyHarvest):
        times = (parse_duration(each).nanoseconds(slot) for each in (law.from_, law.until, law.every))
        return Daily(nanowatt(law.power), *times)
    if isinstance(law, keys.OnOffHarvest):
        on_for, off_for = (max(1, parse_duration(each).nanoseconds(slot)) for each in (law.on_for, law.off_for))
        return OnAndOff(nanowatt(law.power), on_for, off_for)
    if isinstance(law, keys.HarvestFile):
        return read_harvest(Path(law.file))
    return nanowatt(law)


def most_harvested(law: keys.Harvest) -> float:
    """Return the largest power (W) that is harvested by the *law* of ``energy.harvest``."""
    if isinstance(law, keys.HarvestFile):
        return max((power for _, power in read_harvest(Path(law.file))), default=0) / _NANO
    return law if isinstance(law, float) else law.power


def read_harvest(path: Path) -> list[tuple[int, int]]:
    """Return the times (ns) and harvested powers (nW) listed in a file; each power applies from its time on.

    Raises:
        TableFileError: The file is malformed; the message names the line.
    """
    table = Table(path)
    if table.names != _HEADER:
        raise table.error(f"must be {','.join(_HEADER)}, not {show(','.join(table.names))}")
    found: list[tuple[int, int]] = []
    for line, cells in table:
        begin, watt = map(finite, cells)
        if begin is None or watt is None:
            raise table.error(f"must be two numbers, seconds and watt, not {show(','.join(cells))}", line)
        if not (0 <= begin <= _LATEST and 0 <= watt <= _LATEST):
            raise table.error(f"seconds and watt must be between 0 and {_LATEST:g}", line)
        moment = round(begin * _NANO)
        if found and moment <= found[-1][0]:
            raise table.error("each line must be later than the one before", line)
        found.append((moment, nanowatt(watt)))
    return found


def price(energy: LinkEnergySettings, end: int) -> Price:
    """Return the energy cost of a message at one *end* of a link: 0 for the sender's, 1 for the receiver's."""
    return Price(attojoule(energy.of_message[end]), attojoule(energy.of_byte[end]))


def attojoule(joule: float) -> int:
    """Return an energy in attojoule."""
    return round(Fraction(repr(joule)) * JOULE)


def nanowatt(watt: float) -> int:
    """Return a power in nanowatt."""
    return round(Fraction(repr(watt)) * _NANO)


def energy_of(
    network: Network, pulls: int, up: int
) -> tuple[dict[str, float | int | None], dict[str, NDArray[np.float64]]]:
    """Return energy metrics and the final state of the batteries, if the scenario has an energy model.

    The second are arrays for `Nodes`, if agents have batteries.

    Args:
        network: The network, after the run.
        pulls: The number of decisions.
        up: The total up time of all agents (ns).
    """
    plan = network.energy
    if plan is None:
        return {}, {}
    slot, agents = network.clock.slot, network.agents
    if network.batteries is not None:
        found, lifetime = network.batteries.drained(), None
        if found.lifetime is not None and isfinite(found.lifetime):
            lifetime = found.lifetime / slot
        of_nodes = {
            "energy": np.array([battery.spent / JOULE for battery in network.batteries.all]),
            "capacity": np.array(
                [
                    np.nan if agent in plan.mains else battery.capacity / JOULE
                    for agent, battery in enumerate(network.batteries.all)
                ]
            ),
            "drain": np.array([np.nan if drain is None else drain for drain in found.drains]),
        }
        figures: dict[str, float | int | None] = {
            "energy_j": found.spent / JOULE,
            "harvested_j": found.harvested / JOULE,
            "alive": found.alive / agents,
            "first_death": None if found.first_death is None else found.first_death / slot,
            "half_dead": None if found.half_dead is None else found.half_dead / slot,
            "lifetime_slots": lifetime,
            "sustained": None if found.lifetime is None else int(found.lifetime == inf),
        }
        return figures, of_nodes
    computed = 0 if network.computing is None else network.computing.energy
    spent = pulls * plan.pull + up * plan.idle + network.spent_on_messages(plan) + computed
    return {"energy_j": spent / JOULE}, {}
