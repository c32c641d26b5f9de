"""Named checks of a part: each runs it in small scenarios, and says what is wrong, where, and how to mend it."""

import random
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import networkx
import numpy as np

from netbandit.bandits.bandit import ArmBandit, Bandit
from netbandit.learners.learner import AnyLearner
from netbandit.learners.slots import Learner
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.topology import Topology
from netbandit.parts.component import Part
from netbandit.parts.settings import Raw
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.protocols.rounds import ProtocolError
from netbandit.protocols.silent import Silent
from netbandit.simulation import return_validation
from netbandit.simulation.bandit_environments import CHOOSE, PROCURE
from netbandit.simulation.execution import executed
from netbandit.simulation.replication import RunnablePoint, Simulation
from netbandit.testing import properties
from netbandit.testing.call_recorder import CallRecorder, content, facts, first_difference, kept
from netbandit.testing.elsewhere import Answer, run_elsewhere
from netbandit.testing.properties import Property, differences
from netbandit.testing.scenes import FAULTS, Scene, scenes
from netbandit.testing.trial import Trial
from netbandit.user_code.errors import ReturnedError, complaint, is_ours
from netbandit.util.streams import Streams
from netbandit.util.wording import unknown_value


class CheckError(AssertionError):
    """A part fails a check.

    Attributes:
        check: The check's name.
        part: The part's class.
        text: What is wrong, with the method and where in the run.
        remedy: What mends it.
        scene: The scenario in which it is, in words; nothing: in all.
        tables: That scenario.
    """

    def __init__(self, check: str, part: type, text: str, remedy: str, scene: str = "", tables: Raw | None = None):
        self.check, self.part, self.text = check, part, text
        self.remedy, self.scene, self.tables = remedy, scene, tables
        where = f", {scene}" if scene else ""
        super().__init__(f"check {check} ({part.__qualname__}{where}): {text}; {remedy}")


class Subject:
    """A part that is checked, with the scenes in which it is; what is run for one check is kept for the others.

    Args:
        kind: Its class.
        keys: Its keys.
        over: Tables to be put over those of each scene.

    Attributes:
        table: ``bandit``, ``learner`` or ``protocol``.
    """

    def __init__(self, kind: type[Part], keys: Mapping[str, Any], over: Raw) -> None:
        self.kind = kind
        self.table = table_of(kind)
        self._part = {"kind": kind, **keys}
        self._over = over
        self._trials: dict[str, list[tuple[Scene, Trial]]] = {}
        self._answers: dict[int, list[Answer]] = {}

    def trials(self, fault: str = "") -> list[tuple[Scene, Trial]]:
        """Return the scenes over good links, or where some fault is, each with its replication.

        Raises:
            CheckError: There is none over good links.
        """
        if fault not in self._trials:
            refused: list[str] = []
            found = [
                (scene, Trial(scene.point)) for scene in scenes(self.table, self._part, self._over, fault, refused)
            ]
            if not found and not fault:
                text = f"is refused in all scenes: {'; '.join(dict.fromkeys(refused))}"
                remedy = 'mend that, or give tables that it goes with: scene={"topology": {...}}'
                raise CheckError("scenes", self.kind, text, remedy)
            self._trials[fault] = found
        return self._trials[fault]

    def answer(self, trial: Trial, hash_seed: int) -> Answer:
        """Return what another process finds of a scene over good links."""
        trials = [one for _, one in self.trials()]
        if hash_seed not in self._answers:
            self._answers[hash_seed] = run_elsewhere([one.point for one in trials], hash_seed)
        return self._answers[hash_seed][trials.index(trial)]

    def explained(self, text: str, *diaries: CallRecorder) -> str:
        """Return in what two runs first differ, or if no recorded call shows it, the *text* that says that they do."""
        found = first_difference(*diaries)
        if found is None:
            return f"{self.kind.__qualname__}: {text}"
        return f"{found[0] or self.kind.__qualname__}: {found[1]} ({text})"


def table_of(kind: type[Part]) -> str:
    """Return the table of a scenario for which a class is.

    Raises:
        TypeError: It is for none of those that are checked.
    """
    bases = {"protocol": NetworkProtocol, "learner": AnyLearner, "bandit": Bandit}
    for table, base in bases.items():
        if isinstance(kind, type) and issubclass(kind, base):
            return table
    raise TypeError(f"{kind!r} is no class of a protocol, a learner or a world")


@dataclass(frozen=True)
class Check:
    """A check of a part; called with a class and its keys, or with an object, it raises a `CheckError` or nothing.

    Attributes:
        name: Its name.
        find: Yields what is wrong in one of the scenes.
        remedy: What mends it.
        tables: The parts for which it is.
        faults: For each table with which of `netbandit.testing.scenes.FAULTS` its scenes are; where it is not among
            them, all links are good.
    """

    name: str
    find: Callable[[Subject, Trial], Iterator[str]]
    remedy: str
    tables: tuple[str, ...] = ("protocol", "learner", "bandit")
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, part: Part | type[Part], /, scene: Raw | None = None, **keys: Any) -> None:
        """Check a part; see `check_protocol`."""
        self.on(subject(part, keys, scene))

    def on(self, subject: Subject) -> None:
        """Check the part of a subject."""
        for fault in self.faults.get(subject.table, ("",)):
            for scene, trial in subject.trials(fault):
                try:
                    text = next(self.find(subject, trial), None)
                except CheckError:
                    raise
                except Exception as error:  # code of somebody's own can fail in any way
                    text = _raised(error, subject.kind)
                if text is not None:
                    raise CheckError(self.name, subject.kind, text, self.remedy, scene.name, scene.tables)


def subject(part: Part | type[Part], keys: Mapping[str, Any], scene: Raw | None) -> Subject:
    """Return what is checked.

    Raises:
        TypeError: It is no part, or keys are given with an object, which has its own.
    """
    if isinstance(part, Part):
        if keys:
            raise TypeError(f"{type(part).__qualname__} is an object, with keys of its own: give its class with keys")
        given = part.model_dump(by_alias=True, exclude_unset=True)
        return Subject(type(part), given, scene or {})
    return Subject(part, keys, scene or {})


def chosen(table: str, checks: Iterable[str] | None, exclude: Iterable[str]) -> list[Check]:
    """Return the checks for a *table*: those that are named, or all, but for those to be left out.

    Raises:
        ValueError: There is no check of such a name.
    """
    mine = {name: check for name, check in CHECKS.items() if table in check.tables}
    wanted = list(mine if checks is None else checks)
    known = [(name, mine) for name in wanted] + [(name, CHECKS) for name in exclude]
    for name, those in known:
        if name not in those:
            raise ValueError(f"a check of a {table} {unknown_value(name, those)}")
    return [mine[name] for name in wanted if name not in set(exclude)]


def _raised(error: Exception, kind: type) -> str:
    """Return what was raised, with the method of the part's own in which it was, and where in the run."""
    if isinstance(error, ReturnedError | ProtocolError):
        return str(error)
    packages = frozenset() if is_ours(kind) else frozenset({kind.__module__.partition(".")[0]})
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        if isinstance(frame.f_locals.get("self"), kind):
            place = f"{kind.__qualname__}.{frame.f_code.co_name}{facts(frame.f_locals)}"
            return f"{place}: raises {complaint(error, packages)}"
    return f"{kind.__qualname__}: raises {complaint(error, packages)}"


def _returns(subject: Subject, trial: Trial) -> Iterator[str]:
    try:
        with patch.object(return_validation, "is_ours", lambda kind: False):  # ours are looked at, too
            trial.run("plain")
    except ReturnedError as error:
        yield str(error)
    except Exception:  # that is what the check "runs" is for
        return


def _runs(subject: Subject, trial: Trial) -> Iterator[str]:
    trial.plain  # noqa: B018 - it raises
    yield from ()


def _repeats(subject: Subject, trial: Trial) -> Iterator[str]:
    first = trial.plain
    with _other_random_numbers():
        Trial(trial.point, 1).run("plain")
        found = next(differences(first, trial.run("plain")), None)
    if found is not None:
        before = trial.recorded_calls(subject.table)
        with _other_random_numbers():
            yield subject.explained(
                f"run again with the same seed, {found}", before, trial.recorded_calls(subject.table)
            )


@contextmanager
def _other_random_numbers() -> Iterator[None]:
    """Let the generators that Python and numpy share among all code be in another state."""
    python, numpy = random.getstate(), np.random.get_state(legacy=True)
    assert isinstance(numpy, tuple)
    random.seed(int(numpy[1][0]))
    np.random.seed((int(numpy[1][0]) + 1) % 2**32)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _numbering(subject: Subject, trial: Trial) -> Iterator[str]:
    graph = trial.point.topology(0).graph
    turned: networkx.Graph[int] = networkx.Graph()
    turned.add_nodes_from(reversed(list(graph.nodes(data=True))))
    turned.add_edges_from((second, first, data) for first, second, data in reversed(list(graph.edges(data=True))))
    other = Trial(replace(trial.point, _topologies={0: Topology(turned)}))
    found = next(differences(trial.plain, other.plain), None)
    if found is not None:
        text = f"with the nodes and links of the graph in another order, {found}"
        yield subject.explained(text, trial.recorded_calls(subject.table), other.recorded_calls(subject.table))


def _elsewhere(subject: Subject, trial: Trial) -> Iterator[str]:
    for hash_seed in (1, 2):
        found = next(differences(trial.plain, subject.answer(trial, hash_seed).result), None)
        if found is not None:
            (answer,) = run_elsewhere([trial.point], hash_seed, subject.table)
            assert answer.recorder is not None
            text = f"in another process, where PYTHONHASHSEED={hash_seed}, {found}"
            yield subject.explained(text, trial.recorded_calls(subject.table), answer.recorder)


def _items(subject: Subject, trial: Trial) -> Iterator[str]:
    seen = trial.traced.seen
    yield from (f"{subject.kind.__qualname__}: {text}" for text in (*seen.changed(), *seen.disorder))


def _arguments(subject: Subject, trial: Trial) -> Iterator[str]:
    with kept(subject.kind) as recorder:
        trial.run("plain")
    yield from (f"{entry.place}: {entry.text}" for entry in recorder.changed)


def _luck(subject: Subject, trial: Trial) -> Iterator[str]:
    world = trial.point.bandit.fresh()
    if isinstance(world, ArmBandit):
        world.horizon, world.agents = trial.point.scenario.run.horizon, trial.server
        world.start(trial.server, Streams(0, 0).generator)
        whole = world.draw(Streams(0, 0).generator("rewards"), 12)
        rng = Streams(0, 0).generator("rewards")
        if content(np.concatenate([world.draw(rng, 5), world.draw(rng, 7)])) != content(whole):
            yield f"{subject.kind.__qualname__}.draw: 5 and then 7 numbers are other ones than 12 at once"


class _OthersPaidOtherwise(Streams):
    """Streams in which all agents but one find other rewards."""

    def generator(self, purpose: str, index: int = 0) -> np.random.Generator:
        return super().generator("rewards of others" if purpose == "rewards" and index else purpose, index)


def _private(subject: Subject, trial: Trial) -> Iterator[str]:
    """Let all agents but agent 0 be paid otherwise, and none send a message: agent 0 must choose as before."""
    if not issubclass(subject.kind, Learner):
        return
    point = replace(trial.point, protocol=Silent())
    with executed("plain"):
        first, second = (_choices_of_first(point, kind(0, 0)) for kind in (Streams, _OthersPaidOtherwise))
    if first != second:
        name = subject.kind.__qualname__
        yield f"{name}.choose: agent 0 chooses otherwise where others are paid otherwise, and nobody sends anything"


def _choices_of_first(point: RunnablePoint, streams: Streams) -> list[int]:
    """Return what stands in the fingerprint for the choices of agent 0."""
    found, record = [], Fingerprint.record

    def noted(self: Fingerprint, time: int, node: int, code: int, size: int) -> None:
        if not node and code in (CHOOSE.code, PROCURE.code):
            found.append(size)
        record(self, time, node, code, size)

    with patch.object(Fingerprint, "record", noted):
        Simulation(point, 0, streams).run()
    return found


def _hold(*asked: Property) -> Callable[[Subject, Trial], Iterator[str]]:
    """Return what finds where some of the properties that all runs have do not hold."""

    def find(subject: Subject, trial: Trial) -> Iterator[str]:
        yield from (f"{subject.kind.__qualname__}: {text}" for holds in asked for text in holds(trial))

    return find


_AS_PROMISED = "return what the base class's documentation of the method asks for"
_OWN_STATE = (
    "make all state in start, by assignment to self, not in the class or its module, and draw from the generators that "
    "it is given only"
)
# In all their ways: with good links, and in the swarm.
_SAME = (properties.compiled_is_plain, properties.traced_is_untraced)
_FAULTY = _hold(*(holds for holds in properties.ALWAYS if holds not in _SAME))
_FAULTS = {
    "protocol": tuple(fault for fault in FAULTS if fault not in ("memory", "deadline")),
    # What becomes of messages is the protocol's affair; others see who is there, and when something comes.
    "learner": ("losses", "disorder", "nodes", "all"),
    "bandit": ("nodes",),
}
_DEADLINE = {"protocol": ("deadline",), "learner": ("deadline",)}
_MEMORY = {"protocol": ("memory",), "learner": ("memory",)}
_GIVEN_UP = "let it go on without what is lost, or refuse such scenarios in check_with"

CHECKS: Mapping[str, Check] = {
    check.name: check
    for check in (
        Check("returns", _returns, _AS_PROMISED),
        Check("runs", _runs, "or refuse such scenarios in check_with, with a Mistake"),
        Check("repeats", _repeats, _OWN_STATE),
        Check("elsewhere", _elsewhere, "go through sets in a sorted order, and use neither hash() nor id()"),
        Check("numbering", _numbering, "go through nodes in the order of their numbers", ("protocol",)),
        Check("traced", _hold(properties.traced_is_untraced), _OWN_STATE),
        Check("compiled", _hold(properties.compiled_is_plain), "steps must do the same compiled and plain"),
        Check("finite", _hold(properties.figures_are_finite), "give None for a figure that does not exist"),
        Check("conserved", _hold(properties.messages_are_accounted_for), "send all by network.send and its likes"),
        Check("waits", _hold(properties.nobody_waits_unsaid), "inform every agent of every round", ("protocol",)),
        Check("heard", _hold(properties.items_travel_by_messages), "tell agents by messages only", ("protocol",)),
        Check("items", _items, "aggregate items in the order of agents' numbers, and change none", ("protocol",)),
        Check("arguments", _arguments, "copy an array before you change it", ("learner", "bandit")),
        Check("private", _private, "let agents learn of others by what they receive or adopt only", ("learner",)),
        Check("luck", _luck, "draw one number a slot, in the order of slots", ("bandit",)),
        Check("faults", _FAULTY, _GIVEN_UP, faults=_FAULTS),
        Check("deadline", _FAULTY, _GIVEN_UP, tuple(_DEADLINE), _DEADLINE),
        Check("memory", _FAULTY, "let forget leave nothing of what agents knew", tuple(_MEMORY), _MEMORY),
    )
}
"""All checks, by name, in the order in which they are made."""


def run_checks(table: str, checks: Iterable[str] | None, exclude: Iterable[str], made: Subject) -> None:
    """Make the checks of a part that is to be one of *table*.

    Raises:
        TypeError: It is a part for another table.
        CheckError: It fails one.
    """
    if made.table != table:
        raise TypeError(f"{made.kind.__qualname__} is a {made.table}, not a {table}")
    for check in chosen(table, checks, exclude):
        check.on(made)
