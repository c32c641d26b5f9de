"""Audits whole runs: two worlds differ in one reward of an agent, and the audit observes all its releases.

The world (rewards, graph, participants) is fixed; only the random numbers of the learners, above all noise, are drawn
afresh in each run. One reward is 0 in one world and 1 in the other. All other rewards of the agent are the same as long
as it makes the same choices. The audit thus includes the effect of that reward on later choices, even if an accountant
does not.

The reward, its agent and the observed numbers are selected with runs that are excluded from the test. In these runs
both worlds draw the same noise, so that a few of them suffice to show the effect of the reward.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.gathering import GatherLearner, in_slots
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.learners.slots import Learner
from netbandit.privacy.accountant import PrivacySpent
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.replication import RunnablePoint, Simulation
from netbandit.simulation.result import RunResult
from netbandit.studies.auditing.mechanisms import Draw, Mechanism
from netbandit.studies.auditing.watching import ReleaseRecorder, Reward, candidates, evenly, watched
from netbandit.util.streams import Streams

RUNS = 2_000
"""The default number of runs of each world."""

MOST_NUMBERS = 200
"""The number of observed entries of a transcript: those that the reward affects most."""

_RUNS_OF_EACH = 3
"""The minimum number of runs of each world in which a candidate reward is tried."""

_TRIED_AGAIN = 3
"""The number of candidate rewards that are tried again in more runs."""

_WORLD = (
    *("bandit", "rewards", "contexts", "log", "replay"),
    *("links", "topology", "faults", "participants", "gossip", "activity", "budgets"),
)
"""The purposes, or prefixes of purposes, of streams that do not belong to the learner."""


class HeldWorld(Streams):
    """The streams of a run in which only the learners' random numbers are drawn afresh."""

    def __init__(self, seed: int, afresh: int) -> None:
        super().__init__(seed, 0)
        self._afresh = afresh

    def _sequence(self, purpose: str, index: int) -> np.random.SeedSequence:
        number = self.replication if purpose.startswith(_WORLD) else self._afresh
        return np.random.SeedSequence(self.seed, spawn_key=(number, crc32(purpose.encode()), index))


class _Runs:
    """The runs of one point, and the largest privacy spent in them."""

    def __init__(self, point: RunnablePoint, ended: Callable[[], None]) -> None:
        self.recorder = ReleaseRecorder()
        self._ended = ended
        self._seed = point.scenario.run.seed
        self._watched = replace(point, learner=watched(_template(point), self.recorder))
        openly = (EpochLearner.account, Learner.account)
        if getattr(type(self._watched.learner), "account", None) in openly:  # what is shared has no noise
            raise _nothing_stated(point)
        self.worst: RunResult | None = None

    def run(self, reward: Reward | None, world: int, afresh: int) -> NDArray[np.float64]:
        """Run once and return all numbers that the agent of *reward* shares."""
        self.recorder.open(reward, world)
        found = Simulation(self._watched, 0, HeldWorld(self._seed, afresh)).run()
        self._ended()
        if self.worst is None or _epsilon(found) > _epsilon(self.worst):
            self.worst = found  # that has to be stated
        return np.concatenate([np.zeros(0), *self.recorder.rows])

    def stated(self) -> PrivacySpent:
        """Return the account of the worst run."""
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


def whole_runs(point: RunnablePoint, ended: Callable[[], None] = lambda: None) -> Mechanism:
    """Return the runs of *point* as a mechanism; the learner may be user-defined.

    Args:
        point: The point; one run of it shows what agents share.
        ended: Called when a run has ended, of about two for each sample.

    Raises:
        ScenarioError: No agent releases anything that could be audited, or no privacy is stated for what it does.
    """
    runs = _Runs(point, ended)
    runs.run(None, 0, 1)
    rewards = candidates(runs.recorder.shared, epochs=isinstance(point.learner, EpochLearner))
    shared = point.protocol.out_of_band or (runs.worst is not None and runs.worst.kinds)
    if not (shared and rewards):
        text = "protocol.kind: nothing leaves an agent, so there is nothing to audit"
        raise ScenarioError([f"{point.scenario.name}: {text}"])
    if runs.stated().epsilon == inf:
        raise _nothing_stated(point)
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


def _nothing_stated(point: RunnablePoint) -> ScenarioError:
    text = "no privacy is stated, so there is nothing to refute: set learner.epsilon of elimination, feducb or pfcb"
    return ScenarioError([f"{point.scenario.name}: learner: {text}, or give a learner of your own the method account"])


def _draw(runs: _Runs, reward: Reward, numbers: NDArray[np.int64]) -> Draw:
    """Return a function that draws these *numbers* of the transcripts, with zeros where a transcript is shorter."""

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
    """Return the reward with the largest effect on one number, the affected numbers, and the length of a transcript.

    Tries all candidates in a few runs, and the best ones in as many again.

    Args:
        runs: The runs of the point.
        rewards: The candidate rewards.
        samples: The maximum number of runs of each world; at least 2.
        rng: The generator of the seeds of these runs.
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
    """Return the shift of the mean of each number that the agent shares due to *reward*, in standard deviations.

    Both worlds draw the same noise, so a few runs estimate the shift well. The standard deviation is that of a number
    over draws of the noise.
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
