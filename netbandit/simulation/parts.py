"""From a scenario as it was written to parts that can run, or to all of its mistakes at once."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from netbandit.bandits.bandit import Bandit, Watch
from netbandit.learners.learner import AnyLearner, Talk
from netbandit.network.families.family import Family
from netbandit.network.topology import Topology, TopologyError
from netbandit.own_code import complaint, place
from netbandit.part import Others, Part, found_by, read_part
from netbandit.protocols import adapters
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.reading import read
from netbandit.registry import BUILT_IN, KindError, key_names, keys_of, kind_key, kind_of, part_class
from netbandit.scenario import sweep
from netbandit.scenario.links import LinkSettings
from netbandit.scenario.load import Document
from netbandit.scenario.model import PARTS, Scenario
from netbandit.scenario.objects import plain
from netbandit.scenario.schema import json_schema
from netbandit.scenario.sweep import Point
from netbandit.scenario.topology import read_topology
from netbandit.scenario.validate import validate
from netbandit.settings import KeyPath, Problem, Raw
from netbandit.simulation.build import latency_problems, peer_latencies, slowest_hop, topology_streams
from netbandit.simulation.drivers import talk_of
from netbandit.simulation.point import PointParts
from netbandit.simulation.simulation import Simulation
from netbandit.simulation.slot_learner import in_slots
from netbandit.streams import Streams
from netbandit.wording import one_of, show


class PointConfig(PointParts):
    """One point of a scenario, checked: it can be sent to a worker, and makes each replication there."""

    def simulation(self, replication: int) -> Simulation:
        """Return a replication, ready to run."""
        return Simulation(self, replication)


@dataclass(frozen=True)
class Study:
    """A checked scenario.

    Attributes:
        document: The scenario as it was written.
        points: The points of its sweep, in order; one without a sweep.
        notes: What is valid, but has no effect; one line each.
    """

    document: Document
    points: list[PointConfig]
    notes: list[str]


def check(document: Document, watch: Watch = lambda what, done, total: None) -> Study:
    """Find everything that is wrong with a scenario, or make its parts.

    Args:
        document: The scenario as it was written.
        watch: Told of files that take time to read.

    Raises:
        ScenarioError: The scenario has mistakes; all of them are in it.
    """
    problems = sweep.problems(document.data)
    points: list[PointConfig] = []
    notes: Counter[Problem] = Counter()
    graphs: dict[str, Topology | TopologyError] = {}
    idle_notes: list[Problem] = []
    idle: dict[KeyPath, list[Problem]] = {}
    wrong: dict[Problem, list[Point]] = {}
    count = 0
    for point in sweep.expand(document.data, document.parameters):
        count += 1
        checked = _Check(document, point, graphs, watch)
        parts = _guarded(checked, point)
        for problem in dict.fromkeys(map(point.origin, checked.problems)):
            wrong.setdefault(problem, []).append(point)
        notes.update(list(dict.fromkeys(checked.notes)))  # once a point
        for problem in checked.idle:
            idle.setdefault(problem[0], []).append(point.origin(problem))
        if parts is not None:
            points.append(parts)
    problems += [
        sweep.named(document.data, having, problem) if len(having) < count else problem
        for problem, having in wrong.items()
    ]
    for found in idle.values():
        varied = dict.fromkeys((_swept(path), text) for path, text in found)
        if len(found) == count:
            problems += [(path, f"{text}: it would change nothing") for path, text in varied]
        else:
            idle_notes += [(path, f"{text}, whose points with other values are alike") for path, text in varied]
    if problems:
        raise document.error(problems)
    # A key that some point of the sweep uses is no leftover.
    everywhere = [note for note, points_with in notes.items() if points_with == count]
    return Study(document, points, document.error([*everywhere, *idle_notes]).lines)


def _guarded(checked: "_Check", point: Point) -> PointConfig | None:
    """Return the parts of *point*; what code of the user's own raises on the way, whatever it is, is a mistake."""
    try:
        return checked.parts()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        written = {table: point.data.get(table) for table in BUILT_IN}
        kinds = {table: str(part.get(kind_key(table))) for table, part in written.items() if isinstance(part, Mapping)}
        tables = {kind.partition(":")[0].partition(".")[0]: table for table, kind in kinds.items() if ":" in kind}
        where = place(error, frozenset(tables))
        if where is None:
            raise
        file = Path(where[0])
        found = next((tables[name] for name in tables if name in (file.stem, *file.parts)), "bandit")
        text = f"{kinds.get(found, 'a part')} fails: {complaint(error, frozenset(tables))}"
        checked.problems.append(((found, kind_key(found)), text))
        return None


def _swept(path: KeyPath) -> KeyPath:
    """Return the key of a sweep in place of one of its values."""
    return path[:2] if path[0] == "sweep" and path[1] != sweep.CASES else path


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files with all built-in parts."""
    kinds = {
        table: {kind: keys_of(part_class(table, kind, Path())) for kind in known} for table, known in BUILT_IN.items()
    }
    return json_schema(kinds)


class _Check:
    """The check of one point: collects what is wrong, from the file's tables to the drawn graph."""

    def __init__(
        self, document: Document, point: Point, graphs: dict[str, Topology | TopologyError], watch: Watch
    ) -> None:
        self._document = document
        self._point = point
        self._graphs = graphs
        self._watch = watch
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self.idle: list[Problem] = []  # varied keys that the kind of this point does not have

    def parts(self) -> PointConfig | None:
        """Return the parts, or None if there are problems."""
        data = self._point.data
        scenario, problems = validate(data)
        self.problems += problems
        family, problems, notes = read_topology(data.get("topology"), self._document.folder)
        self.problems += problems
        self.notes += notes
        bandit, bandit_settings = self._part("bandit")
        learner, learner_settings = self._part("learner")
        protocol, protocol_settings = self._part("protocol")
        talks = frozenset() if learner is None else learner.talks
        if bandit is not None and learner is not None:
            talks = self._check_world(bandit, learner)
        fits = learner is not None and protocol is not None and self._check_pair(talks, protocol)
        inputs: dict[str, Path] = {}
        family = self._with_files("topology", family, inputs)
        bandit_settings = self._with_files("bandit", bandit_settings, inputs)
        known: dict[str, Any] = {
            "bandit": bandit_settings,
            "learner": learner_settings,
            "protocol": protocol_settings if fits else None,
            "kinds": {table: self._kind(table) for table in ("topology", *PARTS)},
            "talk": next(iter(talks)) if len(talks) == 1 else None,
            "horizon": None if scenario is None else scenario.run.horizon,
        }
        self._check_among(known)
        if scenario is not None:
            self.problems += latency_problems(scenario.links, scenario.run.slot_nanoseconds)
        if self.problems or scenario is None or family is None:
            return None
        for table, settings in (("peer", scenario.links.peer), ("uplink", scenario.links.uplink)):
            self.notes += [(("links", table, key), text) for key, text in settings.unused()]
        parts = PointConfig(
            parameters=plain(self._point.parameters),
            resolved=_resolved(scenario, known["kinds"], family, bandit_settings, learner_settings, protocol_settings),
            scenario=scenario,
            family=family,
            bandit_settings=bandit_settings,
            learner_settings=learner_settings,
            protocol_settings=protocol_settings,
            folder=self._document.folder.absolute(),
            inputs=inputs,
        )
        self._check_graph(parts, known)
        return None if self.problems else parts

    def _check_among(self, known: Mapping[str, Any]) -> None:
        """Let each part look at the others, as far as they are *known*."""
        others = Others(**known)
        for table in PARTS:
            part = known[table]
            if isinstance(part, Part):
                check_with = (
                    partial(adapters.check_with, part) if isinstance(part, NetworkProtocol) else part.check_with
                )
                mistakes, notes = found_by(check_with(others), table)
                self.problems += mistakes
                self.notes += notes

    def _within(self, table: str, problems: Iterator[Problem]) -> None:
        self.problems += [((table, *path), text) for path, text in problems]

    def _part(self, table: str) -> tuple[Any, Any]:
        """Return class and settings of a part; None where they cannot be had."""
        written = self._point.data.get(table)
        if not isinstance(written, Mapping) or not isinstance(written.get("kind"), str | type):
            return None, None  # said by validate()
        kind = written["kind"]
        try:
            found = part_class(table, kind, self._document.folder)
        except KindError as error:
            self.problems.append(((table, "kind"), str(error)))
            return None, None
        known = self._without_leftovers(table, written, found)
        if issubclass(found, Part):
            known.pop("kind")
            part, problems, notes = read_part(found, known, table)
            self.problems += problems
            self.notes += notes
            return found, part
        known["kind"] = self._kind(table)
        settings, problems = read(found.Settings, known, (table,))
        self.problems += problems
        self._within(table, found.Settings.problems(known))
        if settings is not None:
            self.notes += [((table, key), text) for key, text in settings.unused()]
        return found, settings

    def _without_leftovers(self, table: str, written: Mapping[str, Any], found: Any) -> Raw:
        """Return the table without keys that were written for another kind that a sweep or --set has replaced."""
        kept: Raw = {}
        for key, value in written.items():
            if key not in key_names(found) and self._known_elsewhere(table, key):
                if f"{table}.{key}" in self._point.parameters:
                    self.idle.append(((table, key), f"is no key of the {table} {show(self._kind(table))}"))
                continue
            kept[key] = value
        return kept

    def _known_elsewhere(self, table: str, key: str) -> bool:
        for kind in self._document.other_kinds(table, key):
            try:
                other = part_class(table, kind, self._document.folder)
            except KindError:
                continue
            if key in key_names(other):
                return True
        return False

    def _check_world(self, bandit: type[Bandit], learner: type[AnyLearner]) -> frozenset[Talk]:
        """Return how the learner talks in this world."""
        try:
            talk = talk_of(bandit, learner)
            return learner.talks if talk is None else frozenset({talk})
        except TypeError as error:
            self.problems.append((("learner", "kind"), f"{error} (bandit.kind = {show(self._kind('bandit'))})"))
            return learner.talks

    def _kind(self, table: str) -> str:
        written = self._point.data.get(table)
        kind = written.get(kind_key(table)) if isinstance(written, Mapping) else ""
        return kind_of(table, kind) if isinstance(kind, type) else str(kind)

    def _check_pair(self, talks: frozenset[Talk], protocol: type[NetworkProtocol]) -> bool:
        """Return whether the protocol can carry how the learner talks."""
        if not talks & protocol.patterns:
            learner_kind, kind = self._kind("learner"), self._kind("protocol")
            needs = " or ".join(f"{each}s, in which {_TALKS[each]}" for each in sorted(talks))
            text = (
                f"{show(kind)} offers no {needs}, as learner.kind = {show(learner_kind)} needs here: "
                f"must be {one_of(_offering(talks))} or one of your own"
            )
            self.problems.append((("protocol", "kind"), text))
            return False
        for talk in sorted(talks & protocol.patterns):
            misfits = adapters.misfit(protocol, talk)
            if misfits is not None:
                self.problems.append((("protocol", "kind"), misfits))
                return False
        return True

    def _with_files(self, table: str, part: Any, inputs: dict[str, Path]) -> Any:
        """Return the part with absolute paths, noting its files among the *inputs*."""
        if part is None:
            return None
        for key, written in part.files().items():
            path = (self._document.base_of((table, key)) / written).absolute()
            if not path.is_file():
                what = "is not a file" if path.exists() else "is not there"
                text = f"{path} {what}; a relative path starts at the folder of the file it is written in"
                self.problems.append(((table, key), text))
            inputs[f"{table}.{key}"] = path
            part = part.model_copy(update={key: str(path)})
        return part

    def _check_graph(self, parts: PointConfig, known: Mapping[str, Any]) -> None:
        """Draw the graph of the first replication, and check what depends on it."""
        scenario = parts.scenario
        key = json.dumps([parts.resolved["topology"], scenario.run.seed], sort_keys=True)
        graph = self._graphs.get(key)
        if graph is None:
            try:
                graph = parts.topology(0)
            except TopologyError as error:
                graph = error
            self._graphs.clear()  # points that share a graph mostly come one after the other
            self._graphs[key] = graph
        if isinstance(graph, TopologyError):
            self._within("topology", iter(graph.problems))
            return
        slot = scenario.run.slot_nanoseconds
        release = _release_size(parts)
        known = {
            **known,
            "agents": graph.agents,
            "components": len(graph.components),
            "graph": graph,
            "slowest_hop": lambda around: slowest_hop(scenario.links.peer, graph, slot, around + release),
        }
        with suppress(TopologyError):  # links without coordinates: said below
            self._check_among(known)
        if scenario.links.peer.latency == "geographic":
            try:
                streams = topology_streams(parts.family, scenario.run.seed, 0)
                peer_latencies(scenario.links.peer, graph, scenario.run.slot_nanoseconds, streams)
            except TopologyError as error:
                path = ("links", "peer", "latency")
                hint = _hint(scenario.links.peer, graph, scenario.run.slot_nanoseconds)
                self.problems += [(path, f'"geographic" cannot be: {text}; {hint}') for _, text in error.problems]
        if not self.problems:
            self._check_among({**known, "watch": self._watch})


def _release_size(parts: PointConfig) -> int:
    """Return the bytes that an agent who decides in every slot releases, as far as they are known ahead."""
    if "call" not in parts.learner.talks:
        return 0
    learner = in_slots(parts.learner_settings)
    return learner.item_bytes(learner.share_numbers(parts.bandit_settings.outline().dimension or 0))


_TALKS = {
    "round": "everybody gives an item and hears of all",
    "broadcast": "an item reaches the others one by one",
    "gather": "an agent waits for what all others know before it decides",
    "call": "an agent asks all others for what they have learnt",
    "exchange": "each agent tells its neighbours in every step, and mixes what they tell",
}
"""What happens in each way to talk, for the reader of a message."""


def _offering(talks: frozenset[Talk]) -> list[str]:
    """Return the protocols that offer one of some ways to talk."""
    kinds = BUILT_IN["protocol"]
    return [kind for kind in kinds if part_class("protocol", kind, Path()).patterns & talks]


def _hint(links: LinkSettings, graph: Topology, slot: int) -> str:
    """Return what helps where ``"geographic"`` lacks coordinates: a median takes links that have them."""
    try:
        peer_latencies(links.model_copy(update={"missing": "median"}), graph, slot, Streams(0, 0))
    except TopologyError:
        return 'give them, or a latency such as "10 ms"'
    return 'give them, or set links.peer.missing = "median"'


def _resolved(
    scenario: Scenario, kinds: Mapping[str, str], family: Family, bandit: Any, learner: Any, protocol: Any
) -> dict[str, Any]:
    """Return the whole scenario with every default filled in."""
    parts: dict[str, Any] = {"topology": {"family": kinds["topology"], **family.table()}}
    for table, settings in zip(PARTS, (bandit, learner, protocol), strict=True):
        parts[table] = (
            {"kind": kinds[table], **settings.table()} if isinstance(settings, Part) else settings.model_dump()
        )
    dumped = scenario.model_dump(mode="json", exclude=set(parts))
    keys = [field.alias or name for name, field in Scenario.model_fields.items()]
    whole = {**dumped, **parts}
    return {key: whole[key] for key in keys if key in whole}
