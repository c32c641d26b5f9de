"""Builds the agents' energy model from ``[energy]`` and the energy costs of messages."""

from fractions import Fraction
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.network.batteries import JOULE, Daily, EnergyPlan, OnAndOff, Price
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.scenario.energy import DailyHarvest, EnergySettings, HarvestFile, OnOffHarvest, UniformCapacity
from netbandit.scenario.links import LinkEnergySettings, LinksSettings
from netbandit.simulation.build_faults import NodeNumbers
from netbandit.util.table_files import Table, finite
from netbandit.util.units import parse_duration
from netbandit.util.wording import show

_NANO = 10**9
_HEADER = ("FROM", "WATT")
_LATEST = 4e9


def build_energy(energy: EnergySettings, links: LinksSettings, topology: Topology, slot: int) -> EnergyPlan | None:
    """Return the agents' energy model; None if the scenario has none.

    Args:
        energy: ``[energy]``.
        links: ``[links]``, with the energy cost of messages.
        topology: The graph, which must contain the named agents; see `mains_problems`.
        slot: The length of a slot (ns).
    """
    if not energy:
        return None
    capacity = energy.capacity
    named = energy.mains if isinstance(energy.mains, list) else ()
    numbers = NodeNumbers(topology)
    ends = capacity.uniform if isinstance(capacity, UniformCapacity) else [capacity, capacity]
    return EnergyPlan(
        capacity=None if ends[0] is None or ends[1] is None else (_attojoule(ends[0]), _attojoule(ends[1])),
        idle=nanowatt(energy.idle),
        send=None if energy.send is None else nanowatt(energy.send),
        receive=None if energy.receive is None else nanowatt(energy.receive),
        pull=_attojoule(energy.pull),
        harvested=_harvested(energy, slot),
        recover=energy.recover,
        mains=frozenset(topology.sinks if energy.mains == "sinks" else [numbers[node] for node in named]),
        sending=(_price(links.peer.energy, 0), _price(links.uplink.energy, 0)),
        receiving=(_price(links.peer.energy, 1), _price(links.uplink.energy, 1)),
    )


def _harvested(energy: EnergySettings, slot: int) -> Any:
    law = energy.harvest
    if isinstance(law, DailyHarvest):
        times = (parse_duration(each).nanoseconds(slot) for each in (law.from_, law.until, law.every))
        return Daily(nanowatt(law.power), *times)
    if isinstance(law, OnOffHarvest):
        on_for, off_for = (max(1, parse_duration(each).nanoseconds(slot)) for each in (law.on_for, law.off_for))
        return OnAndOff(nanowatt(law.power), on_for, off_for)
    if isinstance(law, HarvestFile):
        return read_harvest(Path(law.file))
    return nanowatt(law)


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


def _price(energy: LinkEnergySettings, end: int) -> Price:
    """Return the energy cost of a message at one *end* of a link: 0 for the sender's, 1 for the receiver's."""
    return Price(_attojoule(energy.of_message[end]), _attojoule(energy.of_byte[end]))


def _attojoule(joule: float) -> int:
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
