"""Checks one point of a scenario and returns its parts, or all of its mistakes."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from os.path import exists, isfile
from pathlib import Path
from typing import Any

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import Bandit, Watch
from netbandit.byzantine.adversaries.attack_kinds import is_own
from netbandit.checks.ineffective_keys import LinkKey, link_keys
from netbandit.conditions import activity, answering, contacts, links
from netbandit.conditions.adversary import Adversary
from netbandit.conditions.condition import Condition, learn_from
from netbandit.conditions.facts import Facts, found
from netbandit.conditions.graph import topology_streams
from netbandit.conditions.latencies import peer_latencies, slowest_hop, uplink_latencies
from netbandit.learners.gathering import in_slots
from netbandit.learners.learner import AnyLearner
from netbandit.learners.slots import Learner
from netbandit.network.edge_latencies import NOT_TAKEN, any_given
from netbandit.network.families.family import Family, Shape
from netbandit.network.families.hybrid import Hybrid
from netbandit.network.families.meeting import Meeting
from netbandit.network.files import unused
from netbandit.network.message import HEADER_BYTES
from netbandit.network.topology import Topology, TopologyError
from netbandit.parts.component import CommunicationPattern, Others, Part, found_by, read_part
from netbandit.parts.registry import (
    BUILT_IN,
    KindError,
    NotImported,
    attack_class,
    key_names,
    kind_key,
    kind_of,
    own_module,
    part_class,
)
from netbandit.parts.settings import ConditionSettings, FileSettings, KeyPath, Problem, Raw
from netbandit.parts.validation import UNKNOWN_KEY
from netbandit.protocols import adapters
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.links import FROM_GRAPH, LinkSettings, LinksSettings
from netbandit.scenario.load import Document
from netbandit.scenario.model import PARTS, Scenario
from netbandit.scenario.sweep import Combination
from netbandit.scenario.topology import read_topology
from netbandit.scenario.validate import valid_tables, validate
from netbandit.simulation.driver import concludes_per_agent
from netbandit.simulation.drivers.choice import pattern_of
from netbandit.simulation.replication import RunnablePoint
from netbandit.simulation.return_validation import checked
from netbandit.user_code.errors import ReturnedError, is_ours
from netbandit.user_code.fingerprint import UnstableError, fingerprint_of
from netbandit.util.memory import exceeded, shown
from netbandit.util.streams import Streams
from netbandit.util.text import in_words
from netbandit.util.wording import one_of, show

TABLES = (activity, answering, links, contacts)
"""The checks of tables that every scenario has, each as `netbandit.conditions.facts` says; conditions answer, too."""


class PointCheck:
    """The check of one point: collects its problems, from the file's tables (`made`) to the drawn graph (`drawn`).

    Args:
        document: The scenario as it was written.
        combination: The values of the sweep at the point.
        graphs: The graph drawn last, by its inputs; shared with other points.
        identities: The fingerprints of user classes, or why there is none; shared with other points.
        watch: Called with the progress of reading large files.
        own_code: Whether to import user modules and packages that provide parts.

    Attributes:
        problems: The problems found.
        unchecked: Kinds that were not imported; no point is made with one.
        notes: Settings that are valid but have no effect.
        idle: Swept keys that the kind of this point does not have.
        never_reused: User-defined kinds without a fingerprint, so that their runs are never reused, and why.
        link_keys: The written keys of ``[links]``.
    """

    def __init__(
        self,
        document: Document,
        combination: Combination,
        graphs: dict[str, Topology | TopologyError],
        identities: dict[type, str | UnstableError],
        watch: Watch,
        own_code: bool = True,
    ) -> None:
        self._own_code = own_code
        self._document = document
        self._combination = combination
        self._graphs = graphs
        self._identities = identities
        self._watch = watch
        self.problems: list[Problem] = []
        self.unchecked: list[Problem] = []
        self.notes: list[Problem] = []
        self.idle: list[Problem] = []
        self.never_reused: list[Problem] = []
        self.link_keys: list[LinkKey] = []
        self._facts = Facts()
        self._asked: tuple[object, ...] = TABLES
        self._mended: NetworkProtocol | None = None  # without its invalid keys, if there are any

    def made(self) -> RunnablePoint | None:
        """Return the point, or None if there are problems; no graph is drawn."""
        data = self._combination.data
        scenario, problems = validate(data)
        self.problems += problems
        topology = data.get("topology") if self._may_import("topology", self.kind("topology")) else None
        family, problems, notes = read_topology(topology, self._document.folder)
        self.problems += problems
        self.notes += notes
        bandit_class, bandit = self._part("bandit")
        if bandit is not None:
            checked(bandit.fresh()).outline()  # others ask for it
        learner_class, learner = self._part("learner")
        protocol_class, protocol = self._part("protocol")
        talks = frozenset() if learner_class is None else learner_class.talks
        if bandit_class is not None and learner_class is not None:
            talks = self._check_world(bandit_class, learner_class)
        fits = (
            learner_class is not None
            and protocol_class is not None
            and self._check_pair(talks, protocol_class, learner)
        )
        carried = talks & protocol_class.patterns if fits else talks
        inputs: dict[str, Path] = {}
        family = self._with_files("topology", family, inputs)
        bandit = self._with_files("bandit", bandit, inputs)
        usable = protocol or self._mended
        facts = Facts(
            family=family,
            bandit=bandit,
            learner=learner,
            protocol=protocol if fits else None,
            kinds={table: self.kind(table) for table in ("topology", *PARTS)},
            talk=next(iter(carried)) if len(carried) == 1 else None,
            used_links=frozenset() if usable is None else usable.used_links,
            horizon=None if scenario is None else scenario.run.horizon,
            activity=None if scenario is None else scenario.run.activity,
        )
        if scenario is not None:
            for table, settings in scenario.conditions.items():
                scenario = scenario.with_condition(table, self._with_own_files(table, settings, inputs))
        # A mistake in one table must not hide incompatibilities among the others.
        tables = valid_tables(data) if scenario is None else scenario.tables
        conditions = {name: table for name, table in tables.items() if isinstance(table, Condition)}
        for name in (name for name, table in tables.items() if isinstance(table, NotImported)):
            text = "the condition was not imported: its keys, and what depends on it, were not checked"
            self.unchecked.append(((name,), text))
        links = tables.get("links")
        models = links.models if isinstance(links, LinksSettings) else {}
        for path in (path for path, kind in models.items() if not hasattr(kind, "FORM")):
            self.unchecked.append((path, "the model was not imported: its keys were not checked"))
        adversary = conditions.get("adversary")
        attack = self._own_attack(adversary.attack) if isinstance(adversary, Adversary) else None
        facts.learn(run=tables.get("run"), links=links, conditions=conditions, attack=attack)
        learn_from(conditions.values(), facts)
        self._check_among(facts)
        if isinstance(bandit, ActionSetBandit) and scenario is not None and not is_ours(type(bandit)):
            self._try_start(bandit, scenario.run.horizon)
        self._asked = (*TABLES, *conditions.values())
        self.problems += found("problems", self._asked, facts)
        if self.problems or self.unchecked or scenario is None or family is None:
            return None
        self.notes += found("notes", self._asked, facts)
        self.link_keys = link_keys(scenario.links, protocol, facts.kinds["protocol"])
        parts = {"topology": family, "bandit": bandit, "learner": learner, "protocol": protocol}
        point = RunnablePoint(
            parameters=self._combination.parameters,
            resolved=_resolved(scenario, facts.kinds, family, (bandit, learner, protocol)),
            scenario=scenario,
            family=family,
            bandit=bandit,
            learner=learner,
            protocol=protocol,
            attack=attack,
            folder=self._document.folder.absolute(),
            inputs=inputs,
            identities=self._identities_of(parts, attack, conditions, models),
        )
        if isinstance(family, Shape | Hybrid):
            self._check_state(point, point.resolved["topology"]["agents"])
        self._facts = facts
        return None if self.problems else point

    def drawn(self, point: RunnablePoint) -> RunnablePoint | None:
        """Return the *point* that was `made`, or None if its graph has problems."""
        self._check_graph(point, self._facts)
        return None if self.problems else point

    def _importable(self, table: str, kind: str | type) -> bool:
        """Return whether the class of a *kind* can be imported."""
        if self._own_code or isinstance(kind, type):
            return True
        return (own_module(table, kind) or "netbandit").partition(".")[0] == "netbandit"

    def _may_import(self, table: str, kind: str | type) -> bool:
        """Return whether the class of a *kind* may be imported; if not, note the kind as unchecked."""
        if self._importable(table, kind):
            return True
        text = f"{show(kind)} was not imported: its keys, and what depends on it, were not checked"
        self.unchecked.append(((table, "attack" if table == "adversary" else kind_key(table)), text))
        return False

    def _own_attack(self, attack: str | type | None) -> type | None:
        """Return the class of a user-defined *attack*; None if it is built in or cannot be imported."""
        if attack is None or not is_own(attack) or not self._may_import("adversary", attack):
            return None
        try:
            return attack_class(attack, self._document.folder)
        except KindError as error:
            self.problems.append((("adversary", "attack"), str(error)))
            return None

    def _identities_of(
        self,
        parts: Mapping[str, Any],
        attack: type | None,
        conditions: Mapping[str, Condition],
        models: Mapping[KeyPath, type],
    ) -> dict[str, str | None]:
        """Return the fingerprints of user-defined classes of all these, by the key that names each."""
        found: dict[str, str | None] = {}
        classes: dict[KeyPath, type] = {(table, kind_key(table)): type(part) for table, part in parts.items()}
        if attack is not None:
            classes["adversary", "attack"] = attack
        classes |= {(table,): type(condition) for table, condition in conditions.items()}
        classes |= models
        for path, kind in classes.items():
            if is_ours(kind):
                continue
            if kind not in self._identities:
                try:
                    self._identities[kind] = fingerprint_of(kind)
                except UnstableError as error:
                    self._identities[kind] = error
            identity = self._identities[kind]
            if isinstance(identity, UnstableError):
                text = f"its runs are never reused from a folder, as its code may have changed: {identity}"
                self.never_reused.append((path, text))
            found[".".join(map(str, path))] = identity if isinstance(identity, str) else None
        return found

    def _check_among(self, facts: Facts) -> None:
        """Check each part against the others, as far as they are known."""
        for table in PARTS:
            part = getattr(facts, table) if facts.knows(table) else None
            if isinstance(part, Part):
                check_with = (
                    partial(adapters.check_with, part) if isinstance(part, NetworkProtocol) else part.check_with
                )
                mistakes, notes = found_by(check_with(facts), table)
                self.problems += mistakes
                self.notes += notes

    def _with_own_files(self, table: str, settings: ConditionSettings, inputs: dict[str, Path]) -> ConditionSettings:
        """Return the *settings* of a condition with absolute paths of its files, and add these to the *inputs*."""
        for key in type(settings).model_fields:
            given = getattr(settings, key)
            if isinstance(given, FileSettings):
                path = (self._document.base_of((table, key)) / given.file).absolute()
                if path.is_file():
                    inputs[f"{table}.{key}.file"] = path
                settings = settings.model_copy(update={key: given.model_copy(update={"file": str(path)})})
        return settings

    def _try_start(self, bandit: ActionSetBandit, horizon: int) -> None:
        """Start a world of the user's own with two agents, and note all attributes that it lacks then."""
        world = checked(bandit.fresh())
        world.horizon, world.agents, world.agent_names = horizon, 2, lambda: ["0", "1"]
        try:
            world.start(2, Streams(0, 0).generator)
        except ReturnedError as error:
            self.problems.append((("bandit", "kind"), str(error)))
        except Exception:  # it may need the agents of the scenario: that is for the run
            return

    def _part(self, table: str) -> tuple[Any, Any]:
        """Return the class of a part and the part; None for each that is not available."""
        written = self._combination.data.get(table)
        if not isinstance(written, Mapping) or not isinstance(written.get("kind"), str | type):
            return None, None  # reported by validate()
        kind = written["kind"]
        if isinstance(kind, str) and not self._may_import(table, kind):
            return None, None
        try:
            found = part_class(table, kind, self._document.folder)
        except KindError as error:
            self.problems.append(((table, "kind"), str(error)))
            return None, None
        known = self._without_leftovers(table, written, found)
        known.pop("kind")
        part, problems, notes = read_part(found, known, table)
        if problems and table == "protocol":
            wrong = {path[1] for path, _ in problems if len(path) > 1}
            self._mended = read_part(found, {key: value for key, value in known.items() if key not in wrong}, table)[0]
        self.problems += [(path, text + self._having(table, path, text)) for path, text in problems]
        self.notes += notes
        return found, part

    def _having(self, table: str, path: KeyPath, text: str) -> str:
        """Return which kinds have an unknown key, if any."""
        if not text.startswith(f"{UNKNOWN_KEY}, ") or len(path) != 2 or "did you mean" in text:
            return ""
        others = [kind for kind in BUILT_IN[table] if path[1] in key_names(part_class(table, kind, Path()))]
        if not others:
            return ""
        has, have, what = ("has", "have", " no such key")
        if str(path[1]).startswith("epsilon"):
            has, have, what = ("is", "are", " not private")
        verb = has if len(others) == 1 else have
        return f"; {show(self.kind(table))} {has}{what}, {in_words(list(map(show, others)), 'and')} {verb}"

    def _without_leftovers(self, table: str, written: Mapping[str, Any], found: Any) -> Raw:
        """Return the table without keys of another kind that a sweep or --set has replaced."""
        kept: Raw = {}
        for key, value in written.items():
            if key not in key_names(found) and self._known_elsewhere(table, key):
                if f"{table}.{key}" in self._combination.parameters:
                    self.idle.append(((table, key), f"is not a key of the {table} {show(self.kind(table))}"))
                continue
            kept[key] = value
        return kept

    def _known_elsewhere(self, table: str, key: str) -> bool:
        for kind in self._document.other_kinds(table, key):
            if not self._importable(table, kind):
                return True  # it may be
            try:
                other = part_class(table, kind, self._document.folder)
            except KindError:
                continue
            if key in key_names(other):
                return True
        return False

    def _check_world(self, bandit: type[Bandit], learner: type[AnyLearner]) -> frozenset[CommunicationPattern]:
        """Return the communication patterns of the learner with this bandit."""
        try:
            talk = pattern_of(bandit, learner)
            if talk is None:
                return learner.talks
            # Agents that can call for each other may be able to deposit with a server, too.
            return frozenset({talk}) | (learner.talks & {"deposit"} if talk == "call" else frozenset())
        except TypeError as error:
            kinds = {table: show(self.kind(table)) for table in ("learner", "bandit")}
            fits = _playing(bandit, learner)
            text = f"{kinds['learner']} cannot play bandit.kind = {kinds['bandit']}: {error}"
            for table, other in (("learner", "bandit"), ("bandit", "learner")):
                if fits[table]:
                    text += f"; {table}s that go with {kinds[other]}: {', '.join(fits[table])}"
            self.problems.append((("learner", "kind"), text))
            return learner.talks

    def kind(self, table: str) -> str:
        """Return the kind of a part as written in its *table*."""
        written = self._combination.data.get(table)
        kind = written.get(kind_key(table)) if isinstance(written, Mapping) else ""
        return kind_of(table, kind) if isinstance(kind, type) else str(kind)

    def _check_pair(
        self, talks: frozenset[CommunicationPattern], protocol: type[NetworkProtocol], learner: AnyLearner | None
    ) -> bool:
        """Check that the protocol offers one of the learner's communication patterns."""
        if not talks & protocol.patterns:
            learner_kind, kind = self.kind("learner"), self.kind("protocol")
            needs = " or ".join(f"{each}s, in which {_TALKS[each]}" for each in sorted(talks))
            text = (
                f"{show(kind)} offers no {needs}, as learner.kind = {show(learner_kind)} needs here: "
                f"must be {one_of(_offering(talks, learner, learner_kind))} or one of your own"
            )
            self.problems.append((("protocol", "kind"), text))
            return False
        if (
            isinstance(learner, Learner)
            and learner.has("serve")
            and protocol.uses_peer_links
            and "deposit" not in protocol.patterns
        ):
            text = f"{show(self.kind('protocol'))} has no server, which learner.kind = {show(self.kind('learner'))}"
            cure = 'must be "parameter-server", or "master-worker" or "pooled", where all upload at once, or "silent"'
            self.problems.append((("protocol", "kind"), f"{text} needs: {cure}"))
            return False
        for talk in sorted(talks & protocol.patterns):
            misfits = adapters.misfit(protocol, talk)
            if misfits is not None:
                self.problems.append((("protocol", "kind"), misfits))
                return False
        return True

    def _with_files(self, table: str, part: Any, inputs: dict[str, Path]) -> Any:
        """Return the part with absolute paths, and add its files to the *inputs*."""
        if part is None:
            return None
        files = part.files()
        if not isinstance(files, dict) or not all(isinstance(each, str) for each in (*files, *files.values())):
            raise ReturnedError(f"{type(part).__qualname__}.files must return a path by the name of its key", table)
        for key, written in files.items():
            path = (self._document.base_of((table, key)) / written).absolute()
            if not isfile(path):  # unlike Path.is_file, it bears with a name that is too long
                what = "is not a file" if exists(path) else "is not there"
                text = f"{path} {what}; a relative path starts at the folder of the file it is written in"
                self.problems.append(((table, key), text))
            inputs[f"{table}.{key}"] = path
            part = part.model_copy(update={key: str(path)})
        return part

    def _check_state(self, parts: RunnablePoint, agents: int) -> None:
        """Refuse a point whose agents' state would exceed the memory limit."""
        outline = parts.bandit.outline()
        arms, dimension = outline.arms or 1, outline.dimension or 0
        # A number or a vector per arm, and a matrix if arms are vectors.
        size = 8.0 * max(agents * arms, arms * dimension, agents * min(dimension, 1000) ** 2, dimension**2)
        if (most := exceeded(size)) is not None:
            key = "dimension" if dimension > arms else "arms"
            of = f"{agents:,} agents with {arms:,} arms" + (f" of dimension {dimension:,}" if dimension else "")
            text = f"too many: {of} take at least {shown(size)} of memory; {shown(most)} is available here"
            self.problems.append((("bandit", key), text))

    def _check_graph(self, parts: RunnablePoint, facts: Facts) -> None:
        """Draw the graph of the first replication, and check all settings that depend on it."""
        scenario, run, peer = parts.scenario, parts.scenario.run, parts.scenario.links.peer
        family = id(type(parts.family))  # two user-defined families may share a name
        met_until = [run.slot, run.horizon] if isinstance(parts.family, Meeting) else []
        key = json.dumps([family, parts.resolved["topology"], run.seed, *met_until], sort_keys=True)
        graph = self._graphs.get(key)
        if graph is None:
            self._graphs.clear()  # points that share a graph mostly come one after the other
            links = parts.family.expected() if isinstance(parts.family, Shape | Hybrid) else 0
            text = f"drawing about {links:,.0f} links, some {links * _SECONDS_A_LINK:.0f} s"
            if links > _MANY_LINKS:
                self._watch(text, 0, 1)
            try:
                graph = parts.topology(0)
            except TopologyError as error:
                graph = error
            except MemoryError:
                graph = TopologyError([((), "the graph does not fit into memory")])
            if links > _MANY_LINKS:
                self._watch(text, 1, 1)
            self._graphs[key] = graph
        if isinstance(graph, TopologyError):
            self.problems += [(("topology", *path), text) for path, text in graph.problems]
            return
        if not isinstance(parts.family, Shape | Hybrid):
            self._check_state(parts, graph.agents)
        if self.problems:
            return
        slot, end = run.slot_nanoseconds, run.horizon * run.slot_nanoseconds
        release = release_size(parts)
        changing = parts.family.changes is not None or graph.contacts is not None
        streams = topology_streams(parts.family, run.seed, 0)
        peers = None
        with suppress(TopologyError):  # links without coordinates: reported below
            peers = peer_latencies(peer, graph, slot, streams)
        facts.learn(
            graph=graph,
            slot=slot,
            end=end,
            agents=graph.agents,
            components=len(graph.components),
            differing=concludes_per_agent(
                parts.learner,
                parts.protocol,
                fail=facts.agents_fail,
                forget=facts.agents_forget,
                lack=facts.may_lack,
            ),
            slowest_hop=lambda around: slowest_hop(
                peer, graph, slot, max(0, around + run.header - HEADER_BYTES) + release
            ),
            may_change=changing or facts.may_run_empty,  # a forwarding agent may run out of energy
            peer_latencies=None if peers is None else peers.tolist(),
            uplink_latencies=uplink_latencies(scenario.links.uplink, graph.agents, slot, streams).tolist(),
        )
        facts.pattern = pattern_of(type(parts.bandit), type(parts.learner))
        learn_from([each for each in self._asked if isinstance(each, Condition)], facts)
        self.problems += found("graph_problems", self._asked, facts)
        self.notes += found("graph_notes", self._asked, facts)
        with suppress(TopologyError):
            self._check_among(facts)
        if peer.latency != "edges" and any_given(graph):
            self.notes.append((("links", "peer", "latency"), NOT_TAKEN))
        read = {} if graph.bare else graph.graph.graph  # what was said of the graph as it was read
        remarks = [(("topology", *path), text) for path, text in read.get("notes", ())]
        self.notes += remarks
        if said := "" if graph.bare else unused(graph.graph):
            self.notes.append((("topology", "graph" if facts.kinds["topology"] == "graph" else "file"), said))
        if peer.latency in FROM_GRAPH:
            try:
                peer_latencies(peer, graph, slot, streams)
            except TopologyError as error:
                path, what = ("links", "peer", "latency"), show(peer.latency)
                hint = _hint(peer, graph, slot)
                self.problems += [(path, f"{what} cannot be: {text}; {hint}") for _, text in error.problems]
        if not self.problems:
            facts.learn(watch=self._watch)
            self._check_among(facts)
        if self.problems:  # these may explain why the graph is disconnected
            self.problems += [remark for remark in remarks if remark[0][1] in ("from", "range")]


def is_large(point: RunnablePoint) -> bool:
    """Return whether drawing the graph of *point* is known to take a while."""
    family = point.family
    return isinstance(family, Shape | Hybrid) and (
        point.resolved["topology"]["agents"] > _MANY_AGENTS or family.expected() > _MANY_LINKS
    )


_MANY_AGENTS = 10_000
_MANY_LINKS = 500_000
_SECONDS_A_LINK = 4e-6
"""Seconds to draw a link; measured, within a factor of three across families."""


_TALKS = {
    "round": "each agent contributes an item and receives all",
    "broadcast": "an item reaches the others one by one",
    "gather": "an agent collects data from all others before it decides",
    "call": "an agent asks all others for their statistics",
    "ask": "an agent asks one neighbour, which answers",
    "deposit": "an agent deposits its statistics with a server",
    "exchange": "in every step each agent sends its values to its neighbours, and mixes theirs",
}
"""Each communication pattern in words, for messages."""


def _playing(bandit: type[Bandit], learner: type[AnyLearner]) -> dict[str, list[str]]:
    """Return the built-in learners that can play a bandit, and the built-in bandits that a learner can play."""

    def plays(bandit: type[Bandit], learner: type[AnyLearner]) -> bool:
        try:
            pattern_of(bandit, learner)
        except TypeError:
            return False
        return True

    classes = {table: {kind: part_class(table, kind, Path()) for kind in BUILT_IN[table]} for table in PARTS[:2]}
    return {
        "learner": [kind for kind, found in classes["learner"].items() if plays(bandit, found)],
        "bandit": [kind for kind, found in classes["bandit"].items() if plays(found, learner)],
    }


def _offering(talks: frozenset[CommunicationPattern], learner: AnyLearner | None, kind: str) -> list[str]:
    """Return the protocols that offer at least one of *talks*, and that a *learner* of this *kind* does not refuse."""
    offering = [each for each in BUILT_IN["protocol"] if part_class("protocol", each, Path()).patterns & talks]
    if learner is None:
        return offering
    mistakes = {
        each: found_by(learner.check_with(Others(kinds={"learner": kind, "protocol": each})), "learner")[0]
        for each in offering
    }
    return [each for each in offering if not any(path[0] == "protocol" for path, _ in mistakes[each])]


def _hint(links: LinkSettings, graph: Topology, slot: int) -> str:
    """Return a hint for graphs whose links lack latencies or coordinates: the median over the links that have them."""
    if links.latency == "edges":
        return 'give each link one such as "10 ms"'
    try:
        peer_latencies(links.model_copy(update={"missing": "median"}), graph, slot, Streams(0, 0))
    except TopologyError:
        return 'give them, or a latency such as "10 ms"'
    return 'give them, or set links.peer.missing = "median"'


def _resolved(scenario: Scenario, kinds: Mapping[str, str], family: Family, parts_in_order: Any) -> dict[str, Any]:
    """Return the whole scenario with every default filled in."""
    parts: dict[str, Any] = {"topology": {"family": kinds["topology"], **family.table()}}
    for table, part in zip(PARTS, parts_in_order, strict=True):
        parts[table] = {"kind": kinds[table], **part.table()}
    head = scenario.model_dump(mode="json", exclude={*parts, "links"})
    tables = {"links": scenario.links, **scenario.conditions}
    dumped = {name: table.model_dump(mode="json", by_alias=True) for name, table in tables.items()}
    return head | {"topology": parts["topology"]} | dumped | parts


def release_size(point: RunnablePoint) -> int:
    """Return the known bytes of a release by an agent that decides in every slot."""
    if "call" not in point.learner.talks:
        return 0
    learner = checked(in_slots(point.learner).fresh())
    return learner.item_bytes(learner.share_numbers(point.bandit.outline().dimension or 0))
