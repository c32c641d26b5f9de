"""Records the releases of a run in which one reward of an agent is set to 0 or 1."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.learners.slots import Learner
from netbandit.learners.uploads import UploadLearner

_MOST_AGENTS = 6
"""The number of agents whose rewards are candidates."""

_MOST_TIMES = 3
"""The number of releases of each such agent whose preceding reward is a candidate."""


@dataclass(frozen=True)
class Reward:
    """The reward that differs between the two worlds; the releases of its agent are observed.

    Attributes:
        agent: The agent.
        when: For a learner that decides in slots: its first reward from this slot on; for an epoch learner: the number
            of the epoch.
        arm: For an epoch learner: the active arm, 0: the first, -1: the last.
    """

    agent: int
    when: int
    arm: int | None = None

    def __str__(self) -> str:
        if self.arm is None:
            return f"its first reward from slot {self.when} on"
        return f"a reward of epoch {self.when}, of the {'last' if self.arm else 'first'} arm it has left,"


def candidates(shared: Mapping[int, Sequence[int]], *, epochs: bool) -> list[Reward]:
    """Return candidate rewards of agents that shared most often, least often and in between.

    Args:
        shared: For each agent the times at which it shared.
        epochs: Whether these are epochs or slots.
    """
    agents = sorted(shared, key=lambda agent: (-len(shared[agent]), agent))
    found = []
    for agent in dict.fromkeys(agents[place] for place in evenly(len(agents), _MOST_AGENTS)):
        times = shared[agent]
        for when in dict.fromkeys(times[place] for place in evenly(len(times), _MOST_TIMES)):
            found += [Reward(agent, when, arm) for arm in (0, -1)] if epochs else [Reward(agent, when)]
        if not epochs:
            found.append(Reward(agent, 1))  # the first slots only explore
    return found


def evenly(count: int, most: int) -> list[int]:
    """Return at most *most* evenly spaced indices below *count*, including the first and the last."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(most, count)).tolist()})


class ReleaseRecorder:
    """Records the releases of one run at a time, and whether the reward has been set.

    Attributes:
        shared: For each agent the slots or epochs in which it shared.
        rows: The releases of the reward's agent, in order.
        due: Whether the reward has not been set yet.
    """

    def __init__(self) -> None:
        self.arms = 0  # numbers of a row, where it names arms
        self.slot = 0  # the latest in which any agent has decided
        self.open(None, 0)

    def open(self, reward: Reward | None, world: int) -> None:
        """Begin a run in which *reward* has the value *world*, 0 or 1; None: no reward is changed."""
        self.reward, self.world = reward, world
        self.rows: list[NDArray[np.float64]] = []
        self.shared: defaultdict[int, list[int]] = defaultdict(list)
        self.due = reward is not None

    def note(self, agent: int, when: int, numbers: NDArray[np.float64]) -> None:
        """Record that *agent* shares *numbers*."""
        self.shared[agent].append(when)
        if self.reward is not None and agent == self.reward.agent:
            self.rows.append(np.array(numbers, dtype=np.float64).ravel())

    def note_rows(self, slot: int, agents: NDArray[np.int64], rows: NDArray[np.float64]) -> None:
        """Record that *agents* share one row each."""
        if self.reward is None:
            for agent, row in zip(agents.tolist(), rows, strict=True):
                self.note(agent, slot, row)
        elif self.reward.agent in agents:
            self.note(self.reward.agent, slot, rows[int(np.flatnonzero(agents == self.reward.agent)[0])])


def watched(learner: AnyLearner, recorder: ReleaseRecorder) -> AnyLearner:
    """Return an unstarted copy of *learner* that sets the reward and records what agents share."""
    kind: Any = type(learner)
    methods: dict[str, Callable[..., Any]]
    if isinstance(learner, EpochLearner):
        methods = _in_epochs(kind, recorder)
    else:
        assert isinstance(learner, Learner)
        methods = _in_slots(kind, recorder)
    body = {"__module__": kind.__module__, "__doc__": kind.__doc__, **methods}
    subclass: Any = type(kind)(kind.__name__, (kind,), body)
    return subclass.model_validate(learner.table())  # type: ignore[no-any-return]


def _in_epochs(kind: Any, recorder: ReleaseRecorder) -> dict[str, Callable[..., Any]]:
    def begin(self: Any, epoch: int) -> Any:
        self.__dict__["phase"] = phase = kind.begin(self, epoch)
        return phase

    def observe(self: Any, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
        reward, phase = recorder.reward, self.__dict__["phase"]
        if reward is not None and recorder.due and phase.epoch == reward.when:
            alone = getattr(self, "agent", None)  # else it is a cohort, with a row for each agent
            if alone in (None, reward.agent):
                place = (reward.agent if alone is None else 0, reward.arm)
                sums = sums.copy()
                sums[place] = min(int(sums[place]), phase.pulls - 1) + recorder.world
                recorder.due = False
        kind.observe(self, sums, rng)

    def note_shared(self: Any, agent: int, epoch: int, arms: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        """Note *numbers* for *arms*; zeros stand for the eliminated arms."""
        recorder.arms = max(recorder.arms, int(arms.max()) + 1)
        row = np.zeros(recorder.arms)
        row[arms] = numbers
        recorder.note(agent, epoch, row)

    return {"begin": begin, "observe": observe, "note_shared": note_shared}


def _in_slots(kind: Any, recorder: ReleaseRecorder) -> dict[str, Callable[..., Any]]:
    def learn(self: Any, slot: int, agents: NDArray[np.int64], arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        reward, recorder.slot = recorder.reward, slot
        if reward is not None and recorder.due and slot >= reward.when and reward.agent in agents:
            rewards, place = np.array(rewards), int(np.flatnonzero(agents == reward.agent)[0])
            if rewards.ndim == 1:
                rewards[place] = recorder.world
            else:  # in a market: all units of one producer are good, or none
                producer = int(arms[place].argmax())
                rewards[place, producer] = recorder.world * arms[place, producer]
            recorder.due = False
        kind.learn(self, slot, agents, arms, rewards)

    def share(self: Any, slot: int, agents: NDArray[np.int64]) -> Any:
        rows = kind.share(self, slot, agents)
        if rows is not None:
            recorder.note_rows(slot, agents, rows)
        return rows

    def answer(self: Any, slot: int, agents: NDArray[np.int64]) -> Any:
        rows = kind.answer(self, slot, agents)
        recorder.note_rows(slot, agents, rows)
        return rows

    def deposit(self: Any, agent: int) -> Any:
        found = kind.deposit(self, agent)
        recorder.note(agent, recorder.slot, found.sums)
        return found

    methods: dict[str, Callable[..., Any]] = {"learn": learn}
    if kind.has("share"):
        methods["share"] = share
    if kind.has("answer"):
        methods["answer"] = answer
    if issubclass(kind, UploadLearner):
        methods["deposit"] = deposit
    return methods
