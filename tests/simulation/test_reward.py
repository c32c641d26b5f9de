"""The metric ``reward`` of every run, and worlds whose best arm is unknown, which have no other measure."""

import numpy as np
import pytest

import netbandit as nb
from netbandit.plots.study_pictures import planned
from netbandit.results.columns import main_metric, run_values
from netbandit.results.results_folder import ResultsFolder
from netbandit.scenario.errors import ScenarioError


class Adding(nb.Learner):
    """Takes turns between arms, and says what it was paid."""

    def start(self, world, agents, rng):
        self.arms, self.paid = world.arms, np.zeros(agents)

    def choose(self, slot, agents):
        return (agents + slot) % self.arms

    def learn(self, slot, agents, arms, rewards):
        self.paid[agents] += rewards

    def figures(self):
        return {"paid": float(self.paid.sum()), "paid_but_first": float(self.paid[1:].sum())}


class Unknown(nb.ArmBandit):
    """Pays, by a law that nobody knows, the number of the arm or nothing."""

    @property
    def arm_count(self):
        return 3

    def means_at(self, slot):
        return None

    def pull(self, slot, agents, arms, numbers):
        return np.where(numbers < 0.5, arms, 0.0)


class UnknownVectors(nb.ActionSetBandit):
    """Vectors whose best is unknown."""

    def start(self, agents, generator):
        self.agents, self.arm_count, self.dimension, self.sub_gaussian = agents, 2, 2, 0.5

    def begin(self, generator):
        self.pulls = 0

    def actions(self, agents):
        return np.broadcast_to(np.eye(2), (len(agents), 2, 2))

    def pull(self, agents, arms):
        self.pulls += len(agents)
        return arms * 1.0, None

    def figures(self):
        return {"pulls": self.pulls}


def study(folder, **parts):
    given = {"protocol": nb.protocols.Silent(), "topology": nb.families.Ring(agents=4), "run": nb.Run(horizon=50)}
    nb.Scenario(**given | parts).run(out=folder)
    return ResultsFolder(folder).study()


def run(folder, **parts):
    return study(folder, **parts).points[0].finished[0]


@pytest.mark.parametrize(
    "bandit",
    [
        nb.bandits.Bernoulli(arms=3),
        nb.bandits.Gaussian(means=[0.25, 0.5, 1.0], sigma=0.5),
        nb.bandits.Linear(dimension=2, arms=3),
        nb.bandits.Bernoulli(means=[0.2, 0.7, 0.4], changes=[{"slot": 20, "means": [0.7, 0.2, 0.4]}]),
    ],
)
def test_is_what_learners_are_paid(tmp_path, bandit):
    metrics = run(tmp_path, bandit=bandit, learner=Adding).metrics
    assert metrics["reward"] == pytest.approx(metrics["paid"], rel=1e-12)
    assert metrics["reward"] != 0


def test_counts_no_liar(tmp_path):
    parts = {"bandit": nb.bandits.Bernoulli(means=[0.0, 1.0]), "learner": nb.learners.Ucb(share="totals")}
    parts |= {"protocol": nb.protocols.Local(), "adversary": nb.Adversary(agents=[0], attack="flip")}
    metrics = run(tmp_path, **parts).metrics
    assert metrics["reward"] + metrics["regret"] == 3 * 50


@pytest.mark.parametrize(
    "parts",
    [
        {"bandit": nb.bandits.Bernoulli(means=[0.5, 0.9]), "learner": nb.learners.Elimination(gap=0.4)},
        {
            "bandit": nb.bandits.Bernoulli(means=[0.5, 0.9]),
            "learner": nb.learners.Elimination(gap=0.4),
            "faults": nb.Faults(nodes={"up_for": "20 ms", "down_for": "5 ms"}),
            "adversary": nb.Adversary(agents=[3], attack="flip"),
        },
    ],
)
def test_of_elimination_is_that_of_the_means_pulled(tmp_path, parts):
    metrics = run(tmp_path, **parts, run=nb.Run(horizon=2_000), protocol=nb.protocols.Gis()).metrics
    decisions = metrics["regret"] / metrics["regret_per_decision"]
    assert metrics["reward"] + metrics["regret"] == pytest.approx(0.9 * decisions)


def test_of_a_market_is_the_expected_revenue(tmp_path):
    best = {}
    for name, learner in (("learned", nb.learners.Pfcb()), ("again", nb.learners.Pfcb(explore=2))):
        metrics = run(tmp_path / name, bandit=nb.bandits.Procurement(producers=4), learner=learner).metrics
        best[name] = metrics["reward"] + metrics["regret"]
    assert best["learned"] == pytest.approx(best["again"])  # the optimum, whatever is chosen


def test_without_known_means_there_is_no_regret(tmp_path):
    found = study(tmp_path, bandit=Unknown, learner=Adding)
    (point,) = found.points
    result = point.finished[0]
    assert {name for name, value in result.metrics.items() if name.startswith("regret") and value is not None} == set()
    assert result.metrics["reward"] == result.metrics["paid"] > 0
    assert list(result.curves) == ["reward"]
    assert result.curves["reward"].values[-1] == result.metrics["reward"]
    assert main_metric([run_values(point)]) == "reward"
    figure = planned(found)[0].draw()
    assert "reward" in figure.axes[0].get_ylabel()


def test_without_a_known_regret_of_vectors_there_is_none_and_a_world_has_figures(tmp_path):
    metrics = run(tmp_path, bandit=UnknownVectors, learner=nb.learners.Oful(), protocol=nb.protocols.Gis()).metrics
    assert metrics["regret"] is None
    assert 0 < metrics["reward"] <= metrics["pulls"] == 4 * 50


def returning(**methods):
    """A world like `Unknown` with other methods."""
    return type("World", (Unknown,), {"__module__": __name__} | methods)


@pytest.mark.parametrize(
    ("world", "more", "text"),
    [
        (returning(arm_count=nb.ArmBandit.arm_count), {}, "World.means_at must return means, or its class override"),
        (returning(pull=nb.ArmBandit.pull), {}, "World.means_at must return means, or its class override arm_count"),
        (returning(arm_count=property(lambda self: 0)), {}, "arm_count must be the number of arms, at least 1, not 0"),
        (
            returning(means_at=lambda self, slot: None if slot else np.ones(3)),
            {},
            "World.means_at must return a means in every slot, or None in every slot, not NoneType",
        ),
        (
            returning(regrets=lambda self, slot, agents, arms: arms * 1.0 if slot else None),
            {},
            "World.regrets must return a regret in every slot, or None in every slot, not float64",
        ),
        (
            Unknown,
            {"adversary": nb.Adversary(agents=[0], attack="flip"), "protocol": nb.protocols.Local()},
            "and its scenario have no [adversary]",
        ),
        (returning(figures=lambda self: {"reward": 1}), {}, "World.figures must give its figures names of their own"),
    ],
)
def test_what_a_world_without_means_must_say(tmp_path, world, more, text):
    with pytest.raises((ScenarioError, nb.RunsFailedError)) as caught:
        run(tmp_path, bandit=world, learner=nb.learners.Ucb(share="totals"), **more)
    assert text in str(caught.value)
