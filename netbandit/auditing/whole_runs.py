"""Whole runs as a mechanism: two worlds that differ in one reward of an agent, and all that it shares in them.

The world is held still (its rewards, its graph, who takes part), and only what agents draw themselves, noise above all,
is drawn anew in each run. One reward is 0 in one world and 1 in the other, all else that the agent is paid is the same
as long as it makes the same choices. What follows from that reward in later choices is thus part of what is audited,
whatever an accountant says of it.

Which reward of which agent, and which of all the numbers that the agent shares, is chosen by runs that the test leaves
out: there both worlds draw the same noise, so that their difference shows what the reward does, however few they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from netbandit.auditing.mechanisms import Draw, Mechanism
from netbandit.auditing.watching import ReleaseRecorder, Reward, candidates, evenly, watched
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.learners.linear import GatherLearner, in_slots
from netbandit.privacy.accountant import PrivacySpent
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.replication import RunnablePoint, Simulation
from netbandit.simulation.result import RunResult
from netbandit.util.streams import Streams

RUNS = 2_000
"""Runs of each world, by default."""

MOST_NUMBERS = 200
"""The numbers of a transcript that are looked at: those in which the reward shows most."""

_RUNS_OF_EACH = 3
"""Runs of each world in which a reward is tried, at least."""

_TRIED_AGAIN = 3
"""Rewards that are tried again, in more runs."""

_WORLD = (
    *("bandit", "rewards", "contexts", "log", "replay"),
    *("links", "topology", "faults", "participants", "gossip", "activity", "budgets"),
)
"""The purposes of streams that are not the learner's, or how these begin."""


class HeldWorld(Streams):
    """The streams of a run in which only what learners draw is drawn afresh."""

    def __init__(self, seed: int, afresh: int) -> None:
        super().__init__(seed, 0)
        self._afresh = afresh

    def _sequence(self, purpose: str, index: int) -> np.random.SeedSequence:
        number = self.replication if purpose.startswith(_WORLD) else self._afresh
        return np.random.SeedSequence(self.seed, spawn_key=(number, crc32(purpose.encode()), index))


class _Runs:
    """Runs of one point, and what spent most privacy in them."""

    def __init__(self, point: RunnablePoint) -> None:
        self.recorder = ReleaseRecorder()
        self._seed = point.scenario.run.seed
        self._watched = replace(point, learner=watched(_template(point), self.recorder))
        self.worst: RunResult | None = None

    def run(self, reward: Reward | None, world: int, afresh: int) -> NDArray[np.float64]:
        """Return all numbers that the agent of *reward* shares in one run."""
        self.recorder.open(reward, world)
        found = Simulation(self._watched, 0, HeldWorld(self._seed, afresh)).run()
        if self.worst is None or _epsilon(found) > _epsilon(self.worst):
            self.worst = found  # that has to be stated
        return np.concatenate([np.zeros(0), *self.recorder.rows])

    def stated(self) -> PrivacySpent:
        """Return what the account of the worst run states."""
        run = self.worst
        assert run is not None
        return PrivacySpent(
            epsilon=_epsilon(run),
            delta=float(run.metrics["delta"] or 0.0),
            epsilon_claimed=_epsilon(run, "epsilon_claimed"),
            unit=run.privacy_unit,
            accountant=run.privacy_accountant,
            caveats=run.privacy_caveats,
            bound=run.privacy_bound,
        )


def whole_runs(point: RunnablePoint) -> Mechanism:
    """Return the runs of *point* as a mechanism; its learner may be one of the user's own.

    Raises:
        ScenarioError: Nothing leaves an agent that could be audited.
    """
    runs = _Runs(point)
    runs.run(None, 0, 1)
    rewards = candidates(runs.recorder.shared, epochs=isinstance(point.learner, EpochLearner))
    told = point.protocol.out_of_band or (runs.worst is not None and runs.worst.kinds)
    if not (told and rewards):
        text = "protocol.kind: nothing leaves an agent, so there is nothing to audit"
        raise ScenarioError([f"{point.scenario.name}: {text}"])
    whole = Mechanism(
        name=", ".join([point.scenario.name, *(f"{key} = {value}" for key, value in point.parameters.items())]),
        setting=f"whole runs of {point.scenario.run.horizon:,} slots",
        spent=runs.stated,
        draw=_draw(runs, rewards[0], np.arange(MOST_NUMBERS)),
        samples=RUNS,
    )

    def choose(samples: int, rng: np.random.Generator) -> Mechanism:
        reward, numbers, of = _choice(runs, rewards, samples, rng)
        chosen = (
            f"{len(numbers)} of the {of:,} numbers that agent {reward.agent} shares, where {reward} shows most, as "
            f"chosen by {samples:,} runs of each world that the test leaves out"
        )
        return replace(whole, draw=_draw(runs, reward, numbers), choose=None, watched=chosen)

    return replace(whole, choose=choose)


def _draw(runs: _Runs, reward: Reward, numbers: NDArray[np.int64]) -> Draw:
    """Return what draws these *numbers* of the transcripts, zeros where one is shorter."""

    def draw(world: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        found = np.zeros((samples, len(numbers)))
        for row, afresh in enumerate(rng.integers(1, 2**62, samples)):
            shared = runs.run(reward, world, int(afresh))
            there = numbers < len(shared)
            found[row, there] = shared[numbers[there]]
        return found

    return draw


def _choice(
    runs: _Runs, rewards: Sequence[Reward], samples: int, rng: np.random.Generator
) -> tuple[Reward, NDArray[np.int64], int]:
    """Return the reward that shows most in one number, the numbers in which it shows, and of how many.

    All are tried in few runs, and those that showed most in as many again.

    Args:
        runs: Runs of the point.
        rewards: The rewards to choose from.
        samples: Runs of each world, at most; at least 2.
        rng: Of the seeds of these runs.
    """
    half = samples // 2
    most = max(1, half // _RUNS_OF_EACH)
    if len(rewards) > most:
        rewards = [rewards[place] for place in evenly(len(rewards), most)]
    if len(rewards) > 1:
        tried = [float(_shows(runs, reward, half // len(rewards), rng).max(initial=0.0)) for reward in rewards]
        rewards = [rewards[place] for place in np.argsort(-np.array(tried), kind="stable")[:_TRIED_AGAIN]]
        samples -= half
    found = [_shows(runs, reward, max(2, samples // len(rewards)), rng) for reward in rewards]
    best = int(np.argmax([shows.max(initial=0.0) for shows in found]))
    shows = found[best]
    order = np.argsort(-shows, kind="stable")[:MOST_NUMBERS]
    numbers = np.sort(order[shows[order] > 0])
    return rewards[best], numbers if len(numbers) else np.arange(min(1, len(shows))), len(shows)


def _shows(runs: _Runs, reward: Reward, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how far *reward* moves the mean of each number that its agent shares, in standard deviations.

    Both worlds draw the same noise, so that the shift is known well from few runs; what it is compared with is how much
    a number varies from one draw of noise to the next.
    """
    noise = rng.integers(1, 2**62, count).tolist()
    worlds = [[runs.run(reward, world, afresh) for afresh in noise] for world in (0, 1)]
    length = max(len(shared) for world in worlds for shared in world)
    first, second = (np.array([np.pad(one, (0, length - len(one))) for one in world]) for world in worlds)
    shift = np.abs((second - first).mean(axis=0))
    deviations = np.sqrt((first.var(axis=0, ddof=1) + second.var(axis=0, ddof=1)) / 2)
    shows: NDArray[np.float64] = np.divide(
        shift, deviations, out=np.where(shift > 0, np.inf, 0.0), where=deviations > 0
    )
    return shows


def _epsilon(run: RunResult, name: str = "epsilon") -> float:
    value = run.metrics.get(name)
    return inf if value is None else float(value)


def _template(point: RunnablePoint) -> AnyLearner:
    learner = point.learner
    if isinstance(learner, EpochLearner):
        return learner
    if isinstance(learner, GatherLearner) and not learner.stands_in_slots:
        text = "learner.kind: contexts leave their owners without noise, so no privacy is stated that could be audited"
        raise ScenarioError([f"{point.scenario.name}: {text}"])
    return in_slots(learner)
