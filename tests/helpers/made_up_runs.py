"""Results nobody simulated, of the shape and size that simulations leave behind."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import networkx
import numpy as np

from netbandit.plots.grouping import Arrangement, arrange
from netbandit.results.results_folder import RUNS, ResultsFolder
from netbandit.results.run_folder import read_run, save_run
from netbandit.results.run_keys import run_keys
from netbandit.results.study_result import PointResult, StudyPlan, StudyResult
from netbandit.simulation.result import Curve, LinkUse, Nodes, RunResult
from netbandit.simulation.sweep_point import Point

METRICS = ("regret", "regret_per_agent", "rounds", "round_slots", "cost", "activations", "messages", "bytes")


def made_up(
    graph: networkx.Graph | None = None,
    *,
    name: str = "quickstart",
    parameters: dict[str, Any] | None = None,
    replication: int = 0,
    seed: int = 0,
    horizon: int = 10_000,
    family: str = "ring",
    bend: float = 2_500.0,
    rounds: int = 5,
    nodes: Nodes | None = None,
    metrics: dict[str, Any] | None = None,
    spread: float = 0.12,
) -> RunResult:
    """Return a run on *graph* whose regret rises and flattens at *bend*, noisy from replication to replication."""
    graph = networkx.cycle_graph(20) if graph is None else graph
    rng = np.random.default_rng([replication, seed, graph.number_of_nodes(), int(bend)])
    factor = float(1 + spread * rng.standard_normal())
    early = np.arange(min(horizon, 100) + 1)
    slots = np.unique(np.concatenate([early, np.geomspace(1, horizon, 300).astype(np.int64), [horizon]]))
    values = 0.4 * graph.number_of_nodes() * bend * factor * (1 - np.exp(-slots / (bend * factor)))
    links = np.array(sorted(tuple(sorted(edge)) for edge in graph.edges), dtype=np.int64).reshape(-1, 2)
    farthest = [max(hops.values()) for _, hops in networkx.all_pairs_shortest_path_length(graph)]
    diameter = max(farthest)
    messages = rounds * rng.poisson(6, len(links)) + rounds
    activations = np.minimum(messages, rounds * diameter)
    cost = float(activations.sum())
    figures: dict[str, Any] = {
        "regret": float(values[-1]),
        "regret_per_agent": float(values[-1]) / graph.number_of_nodes(),
        "rounds": rounds,
        "round_slots": float(diameter) if rounds else 0.0,
        "cost": cost,
        "activations": int(activations.sum()),
        "messages": int(messages.sum()),
        "bytes": int(messages.sum()) * 120,
    }
    figures.update(metrics or {})
    resolved: dict[str, Any] = {
        "name": name,
        "run": {"horizon": horizon, "slot": "1 ms", "seed": seed, "replications": 10},
        "topology": {"family": family, "agents": graph.number_of_nodes()},
        "links": {"peer": {"latency": "0 ms", "cost": 1}, "uplink": {"latency": "0 ms", "cost": 25}},
        "learner": {"kind": "elimination", "epsilon": 1.0},
        "protocol": {"kind": "gis"},
    }
    for key, value in (parameters or {}).items():
        table = resolved
        *tables, last = key.split(".")
        for part in tables:
            table = table.setdefault(part, {})
        table[last] = copy.deepcopy(value)
    return RunResult(
        name=name,
        parameters=parameters or {},
        resolved=resolved,
        seed=seed,
        replication=replication,
        metrics=figures,
        kinds={"DATA": (int(messages.sum()), int(messages.sum()) * 120)},
        topology={
            "agents": graph.number_of_nodes(),
            "links": len(links),
            "diameter": diameter,
            "radius": min(farthest),
        },
        curves={"regret": Curve(slots.astype(np.int64), values)},
        links=LinkUse(links[:, 0], links[:, 1], messages, messages * 120, activations),
        fingerprint="0" * 16,
        versions={"netbandit": "0"},
        nodes=nodes,
    )


def family_sweep(replications: int = 2, parameters: Mapping[str, Any] = {}, **keys: Any) -> list[RunResult]:
    """Return runs on three families of graphs, with the *keys* of `made_up`."""
    graphs = {"star": networkx.star_graph(7), "ring": networkx.cycle_graph(8), "complete": networkx.complete_graph(8)}
    return [
        made_up(
            graph, family=family, parameters={"topology.family": family} | (parameters or {}), replication=one, **keys
        )
        for family, graph in graphs.items()
        for one in range(replications)
    ]


def study_of(runs: list[RunResult]) -> StudyResult:
    """Return the study that *runs* are of, as if it had been read from its folder."""
    points: dict[str, list[RunResult]] = {}
    for run in runs:
        points.setdefault(repr(run.parameters), []).append(run)
    found = [
        PointResult(
            parameters=some[0].parameters,
            resolved=some[0].resolved,
            keys=[f"{name}-{run.seed}-{run.replication}" for run in some],
            runs=list(some),
        )
        for name, some in points.items()
    ]
    return StudyResult(runs[0].name if runs else "nothing", found)


def arranged(runs: list[RunResult]) -> Arrangement:
    """Return *runs* as pictures see them."""
    return arrange(study_of(runs))


def curves(panel: Any) -> list[Any]:
    """Return the lines of a panel without those of the intervals of their means alone, and of single runs."""
    return [line for line in panel.lines if line.get_label() not in ("_alone", "_run")]


def trace(folder: Path, text: str) -> None:
    """Give the run in *folder* a trace, as a run does that is asked for one."""
    written = folder / "written"
    written.write_text(text)
    save_run(folder, read_run(folder), written)


def write(folder: Path, runs: list[RunResult], written: dict[str, Any] | None = None) -> None:
    """Write a results folder as a run does."""
    points = {repr(run.parameters): Point(run.parameters, run.resolved) for run in runs}
    replications = 1 + max(run.replication for run in runs)
    keys = {name: run_keys(point)[:replications] for name, point in points.items()}
    for run in runs:
        save_run(folder / RUNS / keys[repr(run.parameters)][run.replication], run)
    ResultsFolder(folder).describe(StudyPlan(runs[0].name, list(points.values()), list(keys.values()), written))
