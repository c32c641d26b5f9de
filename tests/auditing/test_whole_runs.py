"""Whole runs in two worlds that differ in one reward, whatever the learner."""

import numpy as np
import pytest
from click.testing import CliRunner

import netbandit
from netbandit.auditing.whole_runs import MOST_NUMBERS, whole_runs
from netbandit.cli import main
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.check import check

SCENARIO = """
schema = 1
name = "runs"
[run]
horizon = 300
[topology]
family = "star"
agents = 4
[bandit]
kind = "bernoulli"
means = [0.5, 0.7]
[learner]
kind = "elimination"
epsilon = 0.5
[protocol]
kind = "master-worker"
"""

LINEAR = """
schema = 1
name = "runs"
[run]
horizon = 12
[topology]
family = "star"
agents = 2
[bandit]
kind = "linear"
dimension = 1
arms = 2
[learner]
kind = "feducb"
epsilon = 20.0
delta = 0.01
calibration = "zcdp"
schedule = "fixed"
every = 4
[protocol]
kind = "master-worker"
"""

MINE = """
from dataclasses import replace
from netbandit.learners.elimination import Elimination

class Modest(Elimination):
    def account(self, **facts):
        spent = super().account(**facts)
        return replace(spent, epsilon=spent.epsilon / 8)
"""


def mechanism(tmp_path, text, *overrides):
    file = tmp_path / "runs.toml"
    file.write_text(text)
    return whole_runs(check(load(file, overrides)).points[0])


def test_only_one_reward_differs_and_all_that_is_shared_is_written_down(tmp_path):
    runs = mechanism(tmp_path, SCENARIO, "learner.epsilon=inf")
    first, second = (runs.draw(world, 3, np.random.default_rng(0)) for world in (0, 1))
    assert first.shape == (3, MOST_NUMBERS)
    assert np.ptp(first, axis=0).max() == 0  # without noise the world is the same in each run
    changed = second[0] - first[0]
    assert changed[0] > 0  # the mean of the first arm in the first epoch, by one of its pulls
    assert changed[1] == 0
    assert runs.spent().epsilon == np.inf


def test_where_each_agent_has_a_learner_of_its_own_one_is_watched(tmp_path):
    """With a deadline: what one agent shares is written down, and not what the others do."""
    (tmp_path / "a.toml").write_text(SCENARIO + 'deadline = "5 ms"\n')
    (point,) = check(load(tmp_path / "a.toml")).points
    mechanism = whole_runs(point)
    zero, one = (mechanism.draw(world, 1, np.random.default_rng(3))[0] for world in (0, 1))
    rounds = point.simulation(0).run().metrics["rounds"]
    assert 0 < np.count_nonzero(zero) <= 2 * (rounds + 1)
    changed = np.flatnonzero(zero != one)
    assert changed[0] == 0
    assert zero[1] == one[1]


def test_noise_is_drawn_afresh_and_the_world_is_not(tmp_path):
    runs = mechanism(tmp_path, SCENARIO)
    first = runs.draw(0, 4, np.random.default_rng(0))
    assert len(np.unique(first[:, 0])) == 4
    assert (runs.spent().epsilon, runs.spent().unit) == (2.0, "one reward of one agent")


def test_a_learner_in_slots_is_audited_too(tmp_path):
    runs = mechanism(tmp_path, LINEAR)
    first, second = (runs.draw(world, 2, np.random.default_rng(0)) for world in (0, 1))
    numbers = 2  # U^ and u^ of a single dimension
    shared = np.flatnonzero(np.any(first != 0, axis=0))
    assert shared.tolist() == list(range(len(shared)))
    assert len(shared) >= 2 * numbers
    assert np.any(first[0] != second[0])
    assert runs.spent().epsilon > 0
    assert "observation" in runs.spent().unit


def test_a_learner_of_ones_own_that_states_too_little_is_caught(tmp_path):
    (tmp_path / "mine_modest.py").write_text(MINE)
    file = tmp_path / "runs.toml"
    file.write_text(SCENARIO.replace('kind = "elimination"', 'kind = "mine_modest:Modest"'))
    done = CliRunner().invoke(main, ["audit", str(file), "--samples", "120", "--confidence", "0.95"])
    assert done.exit_code == 1, done.stderr
    assert "MORE THAN IS STATED" in done.stdout
    (honest,) = netbandit.audit(file, samples=120, learner__kind="elimination")
    assert not honest.caught


@pytest.mark.parametrize("override", ["protocol.kind=silent", "run.horizon=5"])
def test_where_nothing_leaves_there_is_nothing_to_audit(tmp_path, override):
    with pytest.raises(ScenarioError, match="nothing leaves an agent"):
        mechanism(tmp_path, SCENARIO, override)
