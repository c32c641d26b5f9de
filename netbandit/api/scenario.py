"""A scenario as an object of Python."""

import json
from collections.abc import Mapping
from inspect import signature
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from netbandit.api import running
from netbandit.network import files
from netbandit.parts.arguments import by_name
from netbandit.parts.conditions import CONDITIONS
from netbandit.parts.plugins import offered
from netbandit.parts.registry import kind_key, kind_of
from netbandit.parts.validation import is_frame, native
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import Document, load, load_tables
from netbandit.scenario.objects import PARTS, is_graph, plain, refuse_deep, tables_of
from netbandit.scenario.toml_text import toml_text
from netbandit.util.wording import did_you_mean

if TYPE_CHECKING:
    import networkx

    from netbandit.api.condition_tables import ConditionTables
    from netbandit.api.results import Results
    from netbandit.bandits.bandit import Bandit
    from netbandit.learners.learner import AnyLearner
    from netbandit.network.families.family import Family
    from netbandit.protocols.protocol import NetworkProtocol
    from netbandit.scenario.links import LinksSettings
    from netbandit.scenario.model import RunSettings
    from netbandit.studies.emulation import Emulation
    from netbandit.studies.emulation.sockets import Transport

Keys = Mapping[str, Any]
"""A table of keys, as in a scenario file."""


class Scenario:
    """A simulation: its bandit, learner, protocol and network, each an object or a dictionary of keys as in a file.

    Nothing is checked before `check`, `run` or `sweep`; then all mistakes are reported at once, each with its keyword.

    Args:
        topology: A family of graphs, a graph of networkx, or the path of a graph file.
        bandit: The world; a class means an object with all its defaults, also below.
        learner: The learner.
        protocol: The protocol that exchanges what is learnt.
        run: Horizon, slot, seed and replications: ``Run(horizon=10_000)``.
        links: The two classes of links: ``Links(peer=Link(latency="5 ms"))``.
        name: Names the study and the folder of its results.
        description: Its question or purpose, in a sentence.
        sweep: Dotted key -> list of values; the grid of all combinations is run.
        conditions: What else is the case, nothing if it is not given: failures ``faults=Faults(...)``, Byzantine agents
            ``adversary=Adversary(...)``, batteries ``energy=Energy(capacity="20 J", idle="1 mW")``, the delay of
            rewards ``feedback=Feedback(delay="30 ms")``, the time that nodes compute ``compute=Compute(agents={"item":
            "5 ms"}, speed=2.0)``.
    """

    def __init__(
        self,
        *,
        topology: "Family | networkx.Graph[Any] | Keys | str | PathLike[str] | None" = None,
        bandit: "Bandit | type[Bandit] | Keys | None" = None,
        learner: "AnyLearner | type[AnyLearner] | Keys | None" = None,
        protocol: "NetworkProtocol | type[NetworkProtocol] | Keys | None" = None,
        run: "RunSettings | Keys | None" = None,
        links: "LinksSettings | Keys | None" = None,
        name: str | None = None,
        description: str | None = None,
        sweep: Mapping[str, Any] | None = None,
        **conditions: "Unpack[ConditionTables]",
    ) -> None:
        unknown = [table for table in conditions if table not in CONDITIONS and not offered("condition", table)]
        if unknown:
            hint = did_you_mean(unknown[0], [*signature(Scenario).parameters, *CONDITIONS])
            raise TypeError(f"Scenario() has no keyword {unknown[0]!r}{hint}")
        given = {
            "name": name,
            "description": description,
            "run": run,
            "topology": topology,
            "links": links,
            **conditions,
            "bandit": bandit,
            "learner": learner,
            "protocol": protocol,
            "sweep": sweep,
        }
        self._tables: dict[str, Any] = tables_of(given)
        self._file: str | None = None
        self._overrides: dict[str, Any] = {}

    @classmethod
    def from_toml(cls, path: str | PathLike[str], **overrides: Any) -> "Scenario":
        """Return the scenario of a file.

        Args:
            path: The file; it is read when the scenario is checked or run.
            overrides: Keys to set, with ``__`` for each dot: ``run__horizon=1000``.
        """
        refuse_deep(overrides)
        made = cls()
        made._file = fspath(path)
        made._overrides = {key: native(value) for key, value in overrides.items()}
        return made

    @property
    def tables(self) -> dict[str, Any]:
        """The scenario as tables of keys, without defaults; a class in place of its kind.

        Raises:
            ScenarioError: The file cannot be read.
        """
        return dict(self.document().data)

    def document(
        self, overrides: Mapping[str, Any] | None = None, unrecorded: Mapping[str, Any] | None = None
    ) -> Document:
        """Return the scenario as it was written, not yet checked.

        Args:
            overrides: Keys to set, with ``__`` for each dot.
            unrecorded: The same, but no columns of the results.

        Raises:
            ScenarioError: A file cannot be read, or a keyword is none.
        """
        changes = {**self._overrides, **(overrides or {})}
        if self._file is not None:
            return load(self._file, changes, unrecorded=unrecorded)
        return load_tables(self._tables, changes, unrecorded=unrecorded, keywords=True)

    def check(self) -> list[str]:
        """Return all mistakes, a line each; none if the scenario can be run."""
        from netbandit.checks.check import check

        try:
            check(self.document())
        except ScenarioError as error:
            return error.lines
        return []

    def notes(self) -> list[str]:
        """Return notes on keys without effect or of doubtful intent, a line each, as ``netbandit check`` prints them.

        Raises:
            ScenarioError: The scenario has mistakes.
        """
        from netbandit.checks.check import check

        return check(self.document()).notes

    def run(
        self,
        *,
        replications: int | None = None,
        jobs: int = 1,
        out: str | PathLike[str] | None = None,
        trace: bool = False,
        scheduler: str | None = None,
        replace: bool = False,
    ) -> "Results":
        """Run the scenario and its sweep, and return all figures; runs already in the folder are reused.

        Args:
            replications: Independent repetitions; as the scenario says if not given.
            jobs: The number of parallel processes; 1: in this process, 0: one for each core.
            out: The folder of the results; if not given ``results/NAME``, and without a name
                ``results/scenario-HASH8``.
            trace: Whether each run writes a trace of its messages and phases.
            scheduler: The address of a dask scheduler to use the workers of.
            replace: Whether the results of another study, if *out* holds them, are removed.

        Raises:
            ScenarioError: The scenario has mistakes; nothing is written.
            OtherStudyError: *out* holds the results of another study, and *replace* is not given.
            StorageError: The results cannot be written.
            RunsFailedError: Some runs failed.
        """
        unrecorded = {} if replications is None else {"run__replications": replications}
        return running.run_document(self.document(unrecorded=unrecorded), out, jobs, scheduler, trace, replace)

    def sweep(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        replications: int | None = None,
        jobs: int = 1,
        out: str | PathLike[str] | None = None,
        trace: bool = False,
        scheduler: str | None = None,
        replace: bool = False,
        **more: Any,
    ) -> "Results":
        """Run the scenario at all combinations of values, and return all figures.

        Args:
            values: Dotted key -> list of values: ``{"links.peer.latency": ["1 ms", "10 ms"]}``; of a part also objects
                and classes: ``{"protocol": [Gis(), Flooding]}``. A range, an array of numpy and a series of pandas are
                lists.
            replications: As for `run`.
            jobs: As for `run`.
            out: As for `run`.
            trace: As for `run`.
            scheduler: As for `run`.
            replace: As for `run`.
            more: The same as keywords with ``__`` for each dot: ``links__peer__latency=["1 ms", "10 ms"]``; what is no
                list is set.

        Raises:
            ScenarioError: The scenario has mistakes; nothing is written.
            OtherStudyError: *out* holds the results of another study, and *replace* is not given.
            StorageError: The results cannot be written.
            RunsFailedError: Some runs failed.
            ValueError: A key is no text, or *jobs* no number of processes.
        """
        unrecorded = {} if replications is None else {"run__replications": replications}
        dotted = by_name("values", {} if values is None else values, "dotted keys with a list of values each")
        swept = {key.replace(".", "__"): value for key, value in dotted.items()}
        document = self.document(running.as_sweep({**swept, **more}), unrecorded)
        return running.run_document(document, out, jobs, scheduler, trace, replace)

    def emulate(
        self,
        *,
        point: int = 1,
        replication: int = 0,
        transport: "Transport" = "tcp",
        dilation: float | None = None,
        tolerance: float = 0.02,
        processes: int | None = None,
        retries: int = 2,
        calibrate: bool = False,
        out: str | PathLike[str] | None = None,
    ) -> "Emulation":
        """Run a replication in real processes over real sockets, and compare it with its simulation.

        Args:
            point: Which point of the sweep, from 1.
            replication: Which replication, from 0.
            transport: ``"tcp"`` or ``"udp"``.
            dilation: Real seconds for each simulated one; None: as few as this host allows, which is measured first.
            tolerance: By how much the times of rounds, links and receivers may differ, as a share.
            processes: The number of processes among which agents are divided; None: one for each agent.
            retries: The number of further attempts, each at twice the dilation, if it does not finish.
            calibrate: Whether this host is measured although *dilation* is given.
            out: Where to write ``emulation.json`` and the picture, if anywhere.

        Raises:
            ScenarioError: The scenario has mistakes, or cannot be emulated.
            NoEndError: The agents did not finish.
            DifferentChoiceError: An agent has concluded something else than in the simulation.
            ValueError: There is no such point.
            StorageError: *out* cannot be written.
        """
        from netbandit.checks.check import check
        from netbandit.studies.emulation import RefusedError, emulate

        document = self.document()
        points = check(document).points
        if not 1 <= point <= len(points):
            raise ValueError(f"point must be from 1 to {len(points)}, not {point}")
        try:
            found = emulate(
                points[point - 1],
                replication=replication,
                transport=transport,
                dilation=dilation,
                tolerance=tolerance,
                processes=processes,
                retries=retries,
                calibrate=calibrate,
            )
        except RefusedError as error:
            raise document.error(error.problems) from None
        if out is not None:
            found.save(Path(out))
        return found

    def to_toml(self, path: str | PathLike[str] | None = None) -> str:
        """Return the scenario as the text of a file, and write it to *path* if given.

        A graph of networkx is written beside the file, as ``NAME.graph.json``, and pandas tables as
        ``NAME.rewards.csv`` and ``NAME.arms.csv``.

        Raises:
            ScenarioError: The file of the scenario cannot be read.
            ValueError: A class cannot be imported from a file, or a graph or a table has no place without *path*.
            OSError: The file cannot be written.
        """
        tables = dict(self.document().data)
        if tables.get("name") == "scenario" and "name" not in self._tables and self._file is None:
            del tables["name"]
        beside: dict[Path, str] = {}
        for table, key in [*((table, kind_key(table)) for table in PARTS), ("adversary", "attack")]:
            if isinstance(tables.get(table), dict) and isinstance(tables[table].get(key), type):
                tables[table] = {**tables[table], key: _importable(table, tables[table][key])}
        topology = tables.get("topology")
        if isinstance(topology, dict) and is_graph(topology.get("graph")):
            graph = _beside(path, ".graph.json", "a graph")
            keys = {key: value for key, value in topology.items() if key not in ("family", "graph", "component")}
            tables["topology"] = {"family": "file", "file": graph.name, **keys}
            beside[graph] = _node_link(files.of_graph(topology["graph"], topology.get("component")))
        for key, file_key, ending in _FRAMES:
            bandit = tables.get("bandit")
            if isinstance(bandit, dict) and is_frame(bandit.get(key)):
                from netbandit.bandits.reward_tables import written

                frame = _beside(path, ending, "a table")
                beside[frame], needed = written(bandit[key], bandit)
                kept = {name: value for name, value in bandit.items() if name != key}
                tables["bandit"] = {**needed, **kept, file_key: frame.name}
        text = toml_text({"schema": 1, **plain(tables)})
        if path is not None:
            for file, content in beside.items():
                file.write_text(content, encoding="utf-8")
            Path(path).write_text(text, encoding="utf-8")
        return text

    def __repr__(self) -> str:
        if self._file is not None:
            return f"Scenario.from_toml({self._file!r})"
        shown = {table: plain(value) for table, value in self._tables.items()}
        return f"Scenario({', '.join(f'{table}={value!r}' for table, value in shown.items())})"


_FRAMES = (("data", "path", ".rewards.csv"), ("arms_data", "arms_path", ".arms.csv"))
"""The keys of tables of pandas, those of their files, and how these are called."""


def _beside(path: str | PathLike[str] | None, ending: str, what: str) -> Path:
    """Return the file beside that of the scenario with *what* a scenario's file cannot hold."""
    if path is None:
        raise ValueError(f"{what} is written beside the file of its scenario: give the path of one")
    return Path(path).with_suffix(ending)


def _importable(table: str, part: type) -> str:
    kind = kind_of(table, part)
    if kind.startswith("__main__:") or "<locals>" in kind:
        raise ValueError(f"{table}: the class {part.__qualname__} is in no module: move it to one to name it in a file")
    return kind


def _node_link(graph: "networkx.Graph[int]") -> str:
    """Return a graph of a topology as node-link JSON, from which it is read as it is."""
    nodes = [{"id": node, **graph.nodes[node]} for node in sorted(graph)]
    links = []
    for first, second, attributes in graph.edges(data=True):
        speed = {"LinkSpeedRaw": attributes["speed"]} if "speed" in attributes else {}
        latency = {"latency": attributes["latency"]} if "latency" in attributes else {}
        links.append({"source": first, "target": second, **speed, **latency})
    return json.dumps({"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": links}, indent=1)
