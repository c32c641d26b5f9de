"""One replication, run in as many ways as somebody asks for: plain, compiled, and with a trace; each way once."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from netbandit.network.outages import Outages
from netbandit.simulation.execution import Execution, executed
from netbandit.simulation.replication import RunnablePoint
from netbandit.simulation.result import RunResult
from netbandit.testing.call_recorder import CallRecorder, kept
from netbandit.testing.provenance import Provenance, watched


class Traced(NamedTuple):
    """A run with a trace.

    Attributes:
        result: What it leaves behind.
        messages: The lines of its trace that are messages, see `netbandit.network.trace_writer.Trace`.
        jobs: Those that are jobs of nodes that compute.
        seen: What was seen of the items of its rounds.
        lines: All lines of its trace.
    """

    result: RunResult
    messages: list[Mapping[str, Any]]
    jobs: list[Mapping[str, Any]]
    seen: Provenance
    lines: list[Mapping[str, Any]]


class Trial:
    """A replication of a point; what is asked of it is kept.

    Args:
        point: The parts, checked.
        replication: The replication's number.
    """

    def __init__(self, point: RunnablePoint, replication: int = 0) -> None:
        self.point = point
        self.replication = replication

    def run(self, how: Execution, trace: Path | None = None) -> RunResult:
        """Run it now."""
        with executed(how):
            return self.point.simulation(self.replication).run(trace)

    @cached_property
    def plain(self) -> RunResult:
        """The run message by message."""
        return self.run("plain")

    @cached_property
    def compiled(self) -> RunResult:
        """The run in compiled loops and in bulk, as far as there are any for it."""
        return self.run("compiled")

    @cached_property
    def traced(self) -> Traced:
        """The run with a trace."""
        with TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.jsonl"
            with watched() as seen:
                result = self.run("plain", trace)
            lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
        messages, jobs = ([line for line in lines if key in line] for key in ("kind", "job"))
        return Traced(result, messages, jobs, seen, lines)

    def recorded_calls(self, table: str) -> CallRecorder:
        """Return what a part does in a run: ``bandit``, ``learner`` or ``protocol``."""
        with TemporaryDirectory() as folder, kept(type(getattr(self.point, table))) as recorder:
            self.run("plain", Path(folder) / "trace.jsonl")
        return recorder

    @property
    def server(self) -> int:
        """The server's number: that of the agents."""
        return self.point.topology(self.replication).agents

    @property
    def end(self) -> int:
        """When the run ends (ns)."""
        run = self.point.scenario.run
        return run.horizon * run.slot_nanoseconds

    @cached_property
    def outages(self) -> Outages:
        """When links and nodes are down."""
        topology = self.point.topology(self.replication)
        plan = self.point.simulation(self.replication).plan(topology)
        numbers = {(first, second): number for number, (first, second) in enumerate(topology.edges.tolist())}
        return Outages(plan.faults.plan, topology.agents, numbers, plan.streams)
