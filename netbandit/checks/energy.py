"""Checks of ``[energy]``: see `netbandit.checks.facts`."""

from collections.abc import Iterator
from pathlib import Path

from netbandit.checks.facts import Facts
from netbandit.learners.learner import EpochLearner
from netbandit.parts.settings import Problem
from netbandit.scenario.energy import DailyHarvest, HarvestFile
from netbandit.simulation.build import link_class
from netbandit.simulation.build_energy import read_harvest
from netbandit.simulation.build_faults import node_problems
from netbandit.util.table_files import TableFileError
from netbandit.util.units import parse_duration
from netbandit.util.wording import show


def problems(facts: Facts) -> Iterator[Problem]:
    """Yield invalid settings of ``[energy]``, and conflicts with other tables."""
    energy, links, run = facts.energy, facts.links, facts.run
    differ = [key for key in ("send", "receive") if getattr(energy, key) not in (None, energy.idle)]
    filled_in = [key for key in differ if key not in energy.model_fields_set]
    for table in sorted(facts.used_links):
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
    if energy.pull and (run.activity != "every" or (facts.knows("talk") and facts.talk == "gather")):
        why = "run.activity says otherwise" if run.activity != "every" else "users come, and one agent decides"
        yield ("energy", "pull"), f"with energy.capacity every agent must pull in every slot, but {why}"
    nodes = facts.faults.nodes
    if nodes is not None and nodes.memory == "lost" and isinstance(facts.learner, EpochLearner):
        text = 'must be "kept" with energy.capacity and a learner of rounds, whose lives are planned ahead'
        yield ("faults", "nodes", "memory"), text


def _daily_problems(law: DailyHarvest, slot: int) -> Iterator[Problem]:
    begin, end, every = (parse_duration(each).nanoseconds(slot) for each in (law.from_, law.until, law.every))
    here = ("energy", "harvest")
    if end <= begin:
        yield (*here, "until"), f"must be after from = {show(law.from_)}, not {show(law.until)}"
    elif end - begin >= every or end > every:
        yield (*here, "until"), f"must be within the period: every = {show(law.every)}"


def graph_problems(facts: Facts) -> Iterator[Problem]:
    """Yield each agent of ``energy.mains`` that is missing from the graph or listed twice."""
    energy, topology = facts.energy, facts.graph
    if isinstance(energy.mains, list):
        yield from node_problems(("energy", "mains"), energy.mains, topology, set(), "is named twice")
