"""Learners of an object for each agent, and agents that stay silent in a broadcast."""

from math import log, sqrt
from typing import ClassVar

import numpy as np
import pytest
from helpers.choices import runs_with_choices

import netbandit as nb
from netbandit.testing import check_learner


class Ucb1:
    """UCB1 in five lines."""

    def __init__(self, arms):
        self.pulls, self.sums = np.zeros(arms), np.zeros(arms)

    def choose(self, slot, actions):
        if not self.pulls.all():
            return int(self.pulls.argmin())
        return int((self.sums / self.pulls + 0.5 * sqrt(8 * log(max(slot, 1))) / np.sqrt(self.pulls)).argmax())

    def learn(self, slot, arm, reward, vector):
        self.pulls[arm] += 1
        self.sums[arm] += reward


class Telling(Ucb1):
    """Tells what it found last, if that was a success and others may use it."""

    def learn(self, slot, arm, reward, vector):
        super().learn(slot, arm, reward, vector)
        self.latest = (arm, reward)

    def message(self):
        return np.array(self.latest) if self.latest[1] else None

    def hear(self, source, row, sent):
        arm, reward = row
        Ucb1.learn(self, sent, int(arm), reward, None)


class Alone(nb.AgentLearner):
    def make(self, world, agent, rng):
        return Ucb1(world.arms)


class Together(nb.AgentLearner):
    def make(self, world, agent, rng):
        return Telling(world.arms)


class Vectorized(nb.Learner):
    """What `Together` does, for all agents at once; silent agents by a mask."""

    may_be_silent: ClassVar[bool] = True

    def start(self, world, agents, rng):
        self.pulls, self.sums = np.zeros((2, agents, world.arms))
        self.latest = np.zeros((agents, 2))

    def choose(self, slot, agents):
        pulls = self.pulls[agents]
        upper = self.sums[agents] / np.maximum(pulls, 1) + 0.5 * sqrt(8 * log(max(slot, 1))) / np.sqrt(
            np.maximum(pulls, 1)
        )
        return np.where(pulls.all(axis=1), upper.argmax(axis=1), pulls.argmin(axis=1))

    def learn(self, slot, agents, arms, rewards):
        self.pulls[agents, arms] += 1
        self.sums[agents, arms] += rewards
        self.latest[agents] = np.column_stack([arms, rewards])

    def share(self, slot, agents):
        return self.latest[agents], self.latest[agents, 1] == 0

    def receive(self, slot, agents, sources, payloads, sent_slots):
        np.add.at(self.pulls, (agents, payloads[:, 0].astype(int)), 1)
        np.add.at(self.sums, (agents, payloads[:, 0].astype(int)), payloads[:, 1])

    def forget(self, slot, agents):
        self.pulls[agents] = self.sums[agents] = 0


class Masked(Vectorized):
    def share(self, slot, agents):
        rows, silent = super().share(slot, agents)
        return np.ma.array(rows, mask=np.column_stack([silent, silent]))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a scenario; see `runs_with_choices`."""
    return runs_with_choices(
        tmp_path,
        monkeypatch,
        protocol=nb.protocols.Silent(),
        topology=nb.families.Ring(agents=5),
        run=nb.Run(horizon=200),
        links={"peer": {"latency": "0.4 ms"}},
        bandit=nb.bandits.Bernoulli(means=[0.2, 0.5, 0.6]),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"feedback": nb.Feedback(delay="3 slots")},
        {"run": nb.Run(horizon=200, activity={"share": 0.5})},
        {"faults": nb.Faults(nodes={"up_for": "20 ms", "down_for": "5 ms", "memory": "lost"})},
    ],
)
def test_ucb1_in_an_object_each_chooses_what_arrays_of_all_agents_choose(run, parts):
    own, arrays = run(learner=Alone(), **parts), run(learner=Vectorized(), **parts)
    assert own[1] == arrays[1]
    assert own[0].metrics["reward"] == arrays[0].metrics["reward"] > 0


def test_ucb1_in_an_object_each_chooses_what_ours_chooses(run):
    assert run(learner=Alone())[1] == run(learner=nb.learners.Ucb())[1]


PROTOCOLS = [
    nb.protocols.Relay(), nb.protocols.Local(ttl=2), nb.protocols.Local(ttl=2, route="flood"), nb.protocols.Gis(),
    nb.protocols.MasterWorker(), nb.protocols.Flooding(), nb.protocols.Pooled(),
    nb.protocols.Pooled(when="pull"), nb.protocols.Earliest(),
]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: type(one).__name__.lower())
def test_objects_that_tell_are_the_same_as_arrays_of_all_agents(run, protocol):
    one, all_at_once, masked = (run(learner=kind(), protocol=protocol) for kind in (Together, Vectorized, Masked))
    assert one[1] == all_at_once[1] == masked[1]
    assert one[0].fingerprint == all_at_once[0].fingerprint == masked[0].fingerprint
    assert one[0].metrics["bytes"] == all_at_once[0].metrics["bytes"] == masked[0].metrics["bytes"]


class Half(Vectorized):
    """Agents of even numbers have nothing to say."""

    def share(self, slot, agents):
        return np.column_stack([agents, agents * np.nan])[:, :1] * 1.0, agents % 2 == 0

    def receive(self, slot, agents, sources, payloads, sent_slots):
        assert (sources % 2 == 1).all()
        assert (payloads[:, 0] == sources).all()


def test_who_is_silent_sends_nothing(run):
    found, _ = run(learner=Half(), protocol=nb.protocols.Relay(), topology=nb.families.Complete(agents=5))
    told = 2 * 200  # by agents 1 and 3, each to four others, in order of a tree: the complete graph
    assert found.metrics["messages"] == told * 4
    assert found.metrics["bytes"] == told * 4 * (20 + 4 + 8)
    assert found.metrics["rounds"] == 200


def test_where_others_wait_who_is_silent_sends_a_message_without_a_row(run):
    found, _ = run(learner=Half(), protocol=nb.protocols.MasterWorker(), topology=nb.families.Star(agents=5))
    messages, size = found.kinds["UPLOAD"]
    assert messages == 5 * 200
    assert size == 200 * (5 * (20 + 0) + 2 * 8)


class Nobody(Vectorized):
    def share(self, slot, agents):
        return np.zeros((len(agents), 2)), np.ones(len(agents), dtype=bool)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: type(one).__name__.lower())
def test_where_all_are_silent_no_round_begins(run, protocol):
    found, choices = run(learner=Nobody(), protocol=protocol)
    assert found.metrics["messages"] == found.metrics["rounds"] == 0
    assert choices == run(learner=Alone())[1]


def test_vectors_are_shown_to_each_agent_alone(run):
    class Greedy:
        def __init__(self, dimension):
            self.gram, self.response = np.eye(dimension), np.zeros(dimension)

        def choose(self, slot, actions):
            return int((actions @ np.linalg.solve(self.gram, self.response)).argmax())

        def learn(self, slot, arm, reward, vector):
            self.gram += np.outer(vector, vector)
            self.response += reward * vector

    class EachGreedy(nb.AgentLearner):
        plays: ClassVar[str] = "vectors"

        def make(self, world, agent, rng):
            assert world.actions is None
            return Greedy(world.dimension)

    class AllGreedy(nb.Learner):
        plays: ClassVar[str] = "vectors"

        def start(self, world, agents, rng):
            self.world, self.each = world, [Greedy(world.dimension) for _ in range(agents)]

        def choose(self, slot, agents):
            self.shown = self.world.actions(agents)
            return np.array([self.each[agent].choose(slot, self.shown[row]) for row, agent in enumerate(agents)])

        def learn(self, slot, agents, arms, rewards):
            for row, agent in enumerate(agents):
                self.each[agent].learn(slot, arms[row], rewards[row], self.shown[row, arms[row]])

    linear = nb.bandits.Linear(dimension=3, arms=4, actions="fresh")
    assert run(learner=EachGreedy(), bandit=linear)[1] == run(learner=AllGreedy(), bandit=linear)[1]
    late = {"feedback": nb.Feedback(delay="3 slots")}
    assert run(learner=EachGreedy(), bandit=linear, **late)[0].metrics["regret"] > 0


def liar(kind, **methods):
    return type("Liar", (kind,), {"__module__": __name__} | methods)


class Loud(Telling):
    def message(self):
        return [1.0] * len(self.pulls)


def told(**methods):
    kind = type("Told", (Telling,), methods)
    return liar(Together, make=lambda self, world, agent, rng: kind(world.arms))


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        (liar(Vectorized, may_be_silent=False), "Liar.share must mask no agent, unless it is of a class of broadcasts"),
        (liar(Vectorized, share=lambda self, slot, agents: (self.latest, np.ones(2))), "a mask of its 5 agents"),
        (
            liar(Vectorized, share=lambda self, slot, agents: (self.latest[:2], self.latest[:, 0] > 5)),
            "a row of numbers",
        ),
        (
            liar(
                Vectorized, share=lambda self, slot, agents: np.ma.array(self.latest, mask=[[1, 0]] * len(self.latest))
            ),
            "rows that are masked as a whole, not one that is masked in part",
        ),
        (told(choose=lambda self, slot, actions: 7), "choose must return an arm from 0 to 2"),
        (
            told(message=lambda self: np.ones(2 + int(self.latest[1])), hear=lambda self, *_: None),
            "message() of the objects of Liar must return rows of one length, not (2,), (3,)",
        ),
    ],
)
def test_what_is_wrong_is_said(run, learner, text):
    with pytest.raises(nb.RunsFailedError) as caught:
        run(learner=learner, protocol=nb.protocols.Relay())
    assert text in str(caught.value)


@pytest.mark.ci
@pytest.mark.parametrize("learner", [Alone, Together, Vectorized])
def test_the_checks_of_the_package_pass(learner):
    check_learner(learner)
