"""Confirms or refutes advice by running the scenario on the advised networks."""

import copy
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import networkx

from netbandit.network.topology import Topology
from netbandit.results.intervals import Interval, mean
from netbandit.scenario.links import UniformLatency
from netbandit.scenario.load import load
from netbandit.scenario.toml_text import toml_text
from netbandit.studies.advice.sources import Source
from netbandit.studies.advice.timed_graph import TimedGraph

METRICS = ("regret", "round_slots", "cost")
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Confirmed:
    """A modified network that was run and compared with the original.

    Attributes:
        link: The link added or removed.
        differences: For each metric of both runs, modified minus original, over the same replications.
    """

    link: tuple[int, int]
    differences: dict[str, Interval]


def confirm(
    source: Source,
    networks: Sequence[tuple[tuple[int, int], TimedGraph]],
    replications: int,
) -> tuple[dict[str, Interval], list[Confirmed]]:
    """Run the scenario of *source* on its own network and on each of the *networks*.

    A replication has the same seed on all of them: the same world and the same rewards, so differences are known better
    than means. Latencies that are drawn are those of the network that the advice is for, in all replications.

    Args:
        source: A network that comes from a scenario.
        networks: The link added or removed, and the modified network.
        replications: The number of runs of each.

    Returns:
        The metrics of the original network, and the changes on each of the others.
    """
    base = _metrics(source, source.timed, replications)
    known = [name for name in METRICS if all(name in run for run in base)]
    before = {name: mean([run[name] for run in base], CONFIDENCE) for name in known}
    confirmed = []
    for link, timed in networks:
        changed = _metrics(source, timed, replications)
        differences = {}
        for name in known:
            if all(name in run for run in changed):
                pairs = zip(changed, base, strict=True)
                differences[name] = mean([one[name] - other[name] for one, other in pairs], CONFIDENCE)
        confirmed.append(Confirmed(link, differences))
    return before, confirmed


def _metrics(source: Source, timed: TimedGraph, replications: int) -> list[dict[str, float]]:
    from netbandit.checks.check import check

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.json"
        tables = copy.deepcopy(dict(source.point.resolved))
        tables["topology"] = {"family": "file", "file": str(file)}
        topology = timed.topology
        if isinstance(source.point.scenario.links.peer.latency, UniformLatency):
            tables["links"]["peer"]["latency"] = "edges"
            topology = timed.with_latencies()
        write(topology, file)
        tables["run"]["replications"] = replications
        (point,) = check(load("scenario", [], text=toml_text(tables))).points
        results = [point.simulation(replication).run() for replication in range(replications)]
    return [{name: value for name, value in result.metrics.items() if value is not None} for result in results]


def write(topology: Topology, file: Path) -> None:
    """Write a network as node-link JSON, with the names and places of its nodes; a scenario can use it.

    Raises:
        OSError: The file cannot be written.
    """
    data = {**networkx.node_link_data(topology.graph, edges="edges"), "graph": {}}
    file.write_text(json.dumps(data, default=float), encoding="utf-8")
