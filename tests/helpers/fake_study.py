"""A study without a simulation: points whose runs are arithmetic, with a mistake or a wait where a test wants one."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from netbandit.compilation.compile_notice import announce
from netbandit.simulation.result import Curve, LinkUse, RunResult
from netbandit.simulation.sweep_point import Point


def fake_result(parameters: Mapping[str, Any], resolved: Mapping[str, Any], replication: int) -> RunResult:
    horizon = resolved["run"]["horizon"]
    agents = resolved["topology"]["agents"]
    regret = agents * horizon * 0.1 + replication
    slots = np.array([0, horizon // 2, horizon], dtype=np.int64)
    return RunResult(
        name=resolved["name"],
        parameters=dict(parameters),
        resolved=dict(resolved),
        seed=resolved["run"]["seed"],
        replication=replication,
        metrics={
            "regret": regret,
            "regret_per_agent": regret / agents,
            "rounds": 4,
            "cost": 100 * agents + replication,
            "bytes": 12_000 * agents,
            "epsilon": None,
            "events": 17,
            "wall_s": 0.01,
        },
        kinds={"DATA": (agents, 24 * agents)},
        topology={"agents": agents, "links": agents - 1, "diameter": 2 + replication, "radius": None},
        curves={"regret": Curve(slots=slots, values=np.array([0.0, regret / 3, regret]))},
        links=LinkUse(np.arange(agents - 1), np.arange(1, agents), *(np.arange(agents - 1) for _ in range(3))),
        fingerprint=f"{agents:04x}{replication:04x}",
        versions={"netbandit": "0"},
    )


class _Uncompiled:
    """A loop that numba keeps in a folder in which it is not yet."""

    signatures = ()
    py_func = fake_result

    def __init__(self, folder: str) -> None:
        self.stats = SimpleNamespace(cache_path=folder)


@dataclass(frozen=True)
class FakeSimulation:
    point: "FakePoint"
    replication: int

    def run(self, trace: Path | None = None) -> RunResult:
        point = self.point
        if point.log is not None:
            with (point.log / f"{time.time_ns()}-{os.getpid()}").open("w") as file:
                file.write(f"{point.parameters} {self.replication}")
        if trace is not None:
            trace.write_text('{"t": 0}\n')
        if point.compiles is not None:
            announce(_Uncompiled(str(point.compiles)), "fake and fake")
        if self.replication in point.waits:
            time.sleep(point.waits[self.replication])
        if self.replication in point.fails:
            raise point.fails[self.replication]
        return fake_result(point.parameters, point.resolved, self.replication)


@dataclass(frozen=True)
class FakePoint(Point):
    fails: dict[int, BaseException] = field(default_factory=dict)
    waits: dict[int, float] = field(default_factory=dict)
    log: Path | None = None
    compiles: Path | None = None

    def simulation(self, replication: int) -> FakeSimulation:
        return FakeSimulation(self, replication)


@dataclass(frozen=True)
class FakeDocument:
    data: dict[str, Any]
    folder: Path = Path()

    @property
    def written(self) -> dict[str, Any]:
        return self.data


@dataclass(frozen=True)
class FakeStudy:
    points: list[FakePoint]
    document: FakeDocument = field(default_factory=lambda: FakeDocument({"name": "fake"}))
    notes: list[str] = field(default_factory=list)


def resolved(agents: int = 5, replications: int = 3, **more: Any) -> dict[str, Any]:
    run = {"horizon": 1000, "seed": 0, "slot": "1 ms", "replications": replications, **more.pop("run", {})}
    return {"schema": 1, "name": "fake", "run": run, "topology": {"family": "star", "agents": agents}, **more}


def with_parameters(*chosen: dict[str, Any]) -> FakeStudy:
    """Return a study of points of one replication that vary these keys, whatever their runs do; from 3 agents on."""
    points = fake_study(*range(3, 3 + len(chosen)), replications=1).points
    return FakeStudy([replace(point, parameters=keys) for point, keys in zip(points, chosen, strict=True)])


def fake_study(*sizes: int, replications: int = 3, **more: Any) -> FakeStudy:
    key = "topology.agents"
    return FakeStudy([FakePoint({key: size}, resolved(size, replications), **more) for size in sizes])
