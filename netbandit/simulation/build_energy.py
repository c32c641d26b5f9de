"""Builds the agents' energy model from ``[energy]`` and the energy costs of messages."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.network.batteries import JOULE, Daily, EnergyPlan, OnAndOff, Price
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.scenario.energy import CHIPS, DailyHarvest, EnergySettings, HarvestFile, OnOffHarvest, UniformCapacity
from netbandit.scenario.faults import FaultsSettings
from netbandit.scenario.links import LinkEnergySettings, LinksSettings
from netbandit.scenario.model import RunSettings
from netbandit.simulation.build import link_class
from netbandit.simulation.build_faults import NodeNumbers, node_problems
from netbandit.util.table_files import Table, TableFileError, finite
from netbandit.util.units import parse_duration, parse_power
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


def mains_problems(energy: EnergySettings, topology: Topology) -> Iterator[Problem]:
    """Yield each agent of ``energy.mains`` that is missing from the graph or listed twice."""
    if isinstance(energy.mains, list):
        yield from node_problems(("energy", "mains"), energy.mains, topology, set(), "is named twice")


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


def energy_problems(
    energy: EnergySettings,
    links: LinksSettings,
    faults: FaultsSettings,
    run: RunSettings,
    known: Mapping[str, Any],
) -> Iterator[Problem]:
    """Yield invalid settings of ``[energy]``, and conflicts with other tables.

    Args:
        energy: ``[energy]``.
        links: ``[links]``.
        faults: ``[faults]``.
        run: ``[run]``.
        known: The parts known so far, the communication pattern (``talk``), and the links that the protocol uses.
    """
    chip = CHIPS.get(str(energy.preset))
    differ = [key for key in ("send", "receive") if getattr(energy, key) not in (None, energy.idle)]
    filled_in = [key for key in differ if chip is not None and getattr(energy, key) == parse_power(getattr(chip, key))]
    for table in sorted(known["used_links"]):
        if link_class(getattr(links, table)).takes_time:
            continue
        needed = f"links.{table}.bandwidth" + (" or links.peer.radio.airtime" if table == "peer" else "")
        for key in differ:
            if key not in filled_in:
                yield ("energy", key), f"needs {needed}: without it nothing takes any time to send"
        if filled_in:
            keys = " and ".join(f"energy.{key}" for key in filled_in)
            text = (
                f"{show(energy.preset)} sets {keys}, what an agent takes during a transmission, which needs {needed}: "
                f"set it, or {keys} to energy.idle ({energy.idle:g} W)"
            )
            yield ("energy", "preset"), text
    if isinstance(energy.harvest, DailyHarvest):
        yield from _daily_problems(energy.harvest, run.slot_nanoseconds)
    if isinstance(energy.harvest, HarvestFile):
        try:
            read_harvest(Path(energy.harvest.file))
        except TableFileError as error:
            yield ("energy", "harvest", "file"), str(error)
    if energy.capacity is None:
        if energy.harvest:
            yield ("energy", "harvest"), "needs energy.capacity: there is no battery to fill"
        if energy.mains is not None:
            yield ("energy", "mains"), "needs energy.capacity: nobody runs empty"
        if energy.recover is not None:
            yield ("energy", "recover"), "needs energy.capacity: nobody runs empty"
        return
    for table in ("peer", "uplink"):
        if getattr(links, table).retry is not None:
            text = "cannot be combined with energy.capacity: nothing is repeated where batteries may run empty"
            yield ("links", table, "retry"), text
    if energy.pull and (run.activity != "every" or known["talk"] == "gather"):
        why = "run.activity says otherwise" if run.activity != "every" else "users come, and one agent decides"
        yield ("energy", "pull"), f"with energy.capacity every agent must pull in every slot, but {why}"
    lost = faults.nodes is not None and faults.nodes.memory == "lost"
    learner: AnyLearner | None = known["learner"]
    if lost and isinstance(learner, EpochLearner):
        text = 'must be "kept" with energy.capacity and a learner of rounds, whose lives are planned ahead'
        yield ("faults", "nodes", "memory"), text


def _daily_problems(law: DailyHarvest, slot: int) -> Iterator[Problem]:
    begin, end, every = (parse_duration(each).nanoseconds(slot) for each in (law.from_, law.until, law.every))
    here = ("energy", "harvest")
    if end <= begin:
        yield (*here, "until"), f"must be after from = {show(law.from_)}, not {show(law.until)}"
    elif end - begin >= every or end > every:
        yield (*here, "until"), f"must be within the period: every = {show(law.every)}"


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
