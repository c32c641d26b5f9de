"""Whole runs as a mechanism: two worlds that differ in one reward, and all that one agent shares in them.

The world is held still (its rewards, its graph, who takes part), and only what agents draw themselves, noise above all,
is drawn anew in each run. One reward of agent 0 is 0 in one world and 1 in the other, all else that it is paid is the
same as long as it makes the same choices. What follows from that reward in later choices is thus part of what is
audited, whatever an accountant says of it.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from netbandit.auditing.mechanisms import Mechanism
from netbandit.learners.learner import AnyLearner, EpochLearner, Phase
from netbandit.learners.linear import GatherLearner
from netbandit.learners.slots import Learner
from netbandit.privacy.accountant import PrivacySpent
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.point import PointConfig
from netbandit.simulation.result import RunResult
from netbandit.simulation.simulation import Simulation
from netbandit.simulation.slot_learner import in_slots
from netbandit.streams import Streams

AGENT = 0
"""The agent whose reward differs, and whose releases are looked at."""

SLOT = 1
"""The slot of that reward where a learner decides in slots: the first ones only explore. Else it is the first pull."""

RUNS = 2_000
"""Runs of each world, by default."""

MOST_NUMBERS = 200
"""The numbers of a transcript that are looked at, from the first on."""

_WORLD = (
    *("bandit", "rewards", "contexts", "log", "replay"),
    *("links", "topology", "faults", "participants", "gossip", "activity"),
)
"""The purposes of streams that are not the learner's, or how these begin."""


class _HeldWorld(Streams):
    """The streams of a run in which only what learners draw is drawn afresh."""

    def __init__(self, seed: int, afresh: int) -> None:
        super().__init__(seed, 0)
        self._afresh = afresh

    def _sequence(self, purpose: str, index: int) -> np.random.SeedSequence:
        number = self.replication if purpose.startswith(_WORLD) else self._afresh
        return np.random.SeedSequence(self.seed, spawn_key=(number, crc32(purpose.encode()), index))


class _Diary:
    """What agent 0 has shared in one run, in order, and whether its reward has been set; open for one run at a time."""

    def __init__(self) -> None:
        self.open(0)

    def open(self, world: int) -> None:
        """Begin a run in which the reward is 0 or 1, as *world* is."""
        self.world = world
        self.rows: list[NDArray[np.float64]] = []
        self.pulls = 0
        self.done = False

    def transcript(self) -> NDArray[np.float64]:
        """Return the numbers that were shared, zeros behind them, shape (MOST_NUMBERS,)."""
        numbers = np.concatenate([np.zeros(0), *self.rows])[:MOST_NUMBERS]
        return np.pad(numbers, (0, MOST_NUMBERS - len(numbers)))


def whole_runs(point: PointConfig) -> Mechanism:
    """Return the runs of *point* as a mechanism; its learner may be one of the user's own.

    Raises:
        ScenarioError: Nothing leaves an agent that could be audited.
    """
    diary = _Diary()
    watched = replace(point, learner=_watched(_template(point), diary))
    states: list[RunResult] = []

    def run(world: int, afresh: int) -> NDArray[np.float64]:
        diary.open(world)
        found = Simulation(watched, 0, _HeldWorld(point.scenario.run.seed, afresh)).run()
        states[:] = [max([*states, found], key=_epsilon)]  # what spent most is what has to be stated
        return diary.transcript()

    run(0, 1)
    if not states[0].kinds:
        text = "protocol.kind: nothing leaves an agent, so there is nothing to audit"
        raise ScenarioError([f"{point.scenario.name}: {text}"])

    def draw(world: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.stack([run(world, int(afresh)) for afresh in rng.integers(1, 2**62, samples)])

    return Mechanism(
        name=", ".join([point.scenario.name, *(f"{key} = {value}" for key, value in point.parameters.items())]),
        setting=f"whole runs of {point.scenario.run.horizon:,} slots, all that agent {AGENT} shares in them",
        spent=lambda: _stated(states[0]),
        draw=draw,
        samples=RUNS,
    )


def _stated(run: RunResult) -> PrivacySpent:
    return PrivacySpent(
        epsilon=_epsilon(run),
        delta=float(run.metrics["delta"] or 0.0),
        epsilon_claimed=_epsilon(run, "epsilon_claimed"),
        unit=run.privacy_unit,
        accountant=run.privacy_accountant,
        caveats=run.privacy_caveats,
    )


def _epsilon(run: RunResult, name: str = "epsilon") -> float:
    value = run.metrics.get(name)
    return inf if value is None else float(value)


def _template(point: PointConfig) -> AnyLearner:
    learner = point.learner
    if isinstance(learner, EpochLearner):
        return learner
    if isinstance(learner, GatherLearner) and not learner.stands_in_slots:
        text = "learner.kind: contexts leave their owners without noise, so no privacy is stated that could be audited"
        raise ScenarioError([f"{point.scenario.name}: {text}"])
    return in_slots(learner)


def _watched(learner: AnyLearner, diary: _Diary) -> AnyLearner:
    """Return *learner* with its keys, not started, that sets the reward and writes down what agent 0 shares."""
    kind: Any = type(learner)
    methods: dict[str, Callable[..., Any]]
    if isinstance(learner, EpochLearner):

        def begin(self: Any, epoch: int) -> Any:
            phase = kind.begin(self, epoch)
            if getattr(self, "agent", AGENT) == AGENT:  # a cohort, or agent 0 where each has a learner of its own
                diary.pulls = phase.pulls if isinstance(phase, Phase) else 0
            return phase

        def observe(self: Any, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
            if getattr(self, "agent", AGENT) != AGENT:
                kind.observe(self, sums, rng)
                return
            if not diary.done:
                sums = sums.copy()
                sums[AGENT, 0] = min(int(sums[AGENT, 0]), diary.pulls - 1) + diary.world
                diary.done = True
            kind.observe(self, sums, rng)
            row = np.zeros(max(int(self.active.max()) + 1, diary.rows[0].size if diary.rows else 0))
            row[self.active] = self.releases[AGENT]
            diary.rows.append(row)

        methods = {"begin": begin, "observe": observe}
    else:

        def learn(self: Any, slot: int, agents: NDArray[np.int64], arms: NDArray[Any], rewards: NDArray[Any]) -> None:
            if slot >= SLOT and not diary.done and AGENT in agents:
                rewards, place = np.array(rewards), int(np.flatnonzero(agents == AGENT)[0])
                if rewards.ndim == 1:
                    rewards[place] = diary.world
                else:  # in a market: all units of one producer are good, or none
                    producer = int(arms[place].argmax())
                    rewards[place, producer] = diary.world * arms[place, producer]
                diary.done = True
            kind.learn(self, slot, agents, arms, rewards)

        def share(self: Any, slot: int, agents: NDArray[np.int64]) -> Any:
            rows = kind.share(self, slot, agents)
            if rows is not None and AGENT in agents:
                diary.rows.append(np.ravel(rows[int(np.flatnonzero(agents == AGENT)[0])]))
            return rows

        assert isinstance(learner, Learner)
        methods = {"learn": learn, **({"share": share} if learner.has("share") else {})}
    body = {"__module__": kind.__module__, "__doc__": kind.__doc__, **methods}
    watched: Any = type(kind)(kind.__name__, (kind,), body)
    return watched.model_validate(learner.table())  # type: ignore[no-any-return]
