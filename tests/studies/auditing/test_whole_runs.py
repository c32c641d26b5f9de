"""Whole runs in two worlds that differ in one reward, whatever the learner."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import netbandit
from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.studies.auditing import whole_runs as whole
from netbandit.studies.auditing.audit import audit_mechanism
from netbandit.studies.auditing.whole_runs import MOST_NUMBERS, whole_runs

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
    runs = mechanism(tmp_path, SCENARIO, "learner.epsilon=1e15")  # with next to no noise
    first, second = (runs.draw(world, 3, np.random.default_rng(0)) for world in (0, 1))
    assert first.shape == (3, MOST_NUMBERS)
    assert np.count_nonzero(first[0]) == 2  # two arms, one epoch in 300 slots
    assert np.ptp(first, axis=0).max() < 1e-9  # but for the noise the world is the same in each run
    changed = second[0] - first[0]
    assert changed[0] > 0  # the mean of the first arm in the first epoch, by one of its pulls
    assert abs(changed[1]) < 1e-9


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


@pytest.mark.ci
def test_a_learner_of_ones_own_that_states_too_little_is_caught(tmp_path):
    (tmp_path / "mine_modest.py").write_text(MINE)
    file = tmp_path / "runs.toml"
    file.write_text(SCENARIO.replace('kind = "elimination"', 'kind = "mine_modest:Modest"'))
    done = CliRunner().invoke(main, ["audit", str(file), "--samples", "120", "--confidence", "0.95"])
    assert done.exit_code == 1, done.stderr
    assert "MORE THAN IS STATED" in done.stdout
    (honest,) = netbandit.audit(file, samples=120, learner__kind="elimination")
    assert not honest.caught


LEAK = """
import numpy as np
from netbandit.learners.elimination import Elimination
from netbandit.learners.slots import Learner
from netbandit.privacy.accountant import PrivacySpent

class Late(Elimination):
    def observe(self, sums, rng):
        super().observe(sums, rng)
        if self.epoch == 2:
            self.releases[1] = sums[1] / 1e6

class Hidden(Learner):
    def start(self, world, agents, rng):
        self.rng, self.seen = rng, np.zeros(agents)

    def choose(self, slot, agents):
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        self.seen[agents] = rewards

    def share(self, slot, agents):
        rows = self.rng.laplace(0, 2, (len(agents), 300))
        if slot == 6:
            rows[agents == 1, 280] += 40 * self.seen[1]
        return rows

    def receive(self, slot, agents, sources, told, said):
        pass

    def account(self, releases):
        return PrivacySpent(epsilon=0.5, delta=0.0, epsilon_claimed=0.5, unit="one reward of one agent")
"""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("learner", "overrides", "watched"),
    [
        ("Late", ["run.horizon=4000"], "agent 1 shares, where a reward of epoch 2"),
        ("Hidden", ["run.horizon=7", "protocol.kind=relay"], "agent 1 shares, where its first reward from slot 6 on"),
    ],
)
def test_what_leaks_is_found_whoever_leaks_it_and_when(tmp_path, learner, overrides, watched):
    """Not the first agent, not the first reward, and not one of the first numbers."""
    (tmp_path / f"leak_of_{learner.lower()}.py").write_text(LEAK)
    file = tmp_path / "runs.toml"
    kind = f'kind = "leak_of_{learner.lower()}:{learner}"'
    text = SCENARIO.replace(
        'kind = "elimination"\nepsilon = 0.5', kind if learner == "Hidden" else kind + "\nepsilon = 0.5"
    )
    file.write_text(text)
    sets = [word for override in ("topology.agents=2", *overrides) for word in ("--set", override)]
    done = CliRunner().invoke(main, ["audit", str(file), "--samples", "300", "--confidence", "0.95", *sets])
    assert done.exit_code == 1, done.output
    assert watched in done.stdout
    assert "as chosen by 75 runs of each world that the test leaves out" in done.stdout


@pytest.mark.ci
def test_what_is_chosen_is_chosen_by_runs_that_the_test_leaves_out(tmp_path, monkeypatch):
    """No draw of noise serves both, and all samples are used."""
    drawn = []
    held = whole.HeldWorld.__init__

    def making(self, seed, afresh):
        drawn.append(afresh)
        held(self, seed, afresh)

    monkeypatch.setattr(whole.HeldWorld, "__init__", making)
    runs = mechanism(tmp_path, SCENARIO)
    drawn.clear()
    found = audit_mechanism(runs, samples=40)
    chosen, tested = drawn[:20], drawn[20:]
    assert found.bound.samples == 15  # half of thirty
    assert len(set(chosen)) == 10  # both worlds draw the same noise
    assert len(set(tested)) == len(tested) == 60
    assert not set(chosen) & set(tested)


@pytest.mark.ci
def test_who_does_not_take_part_is_not_watched(tmp_path):
    """What an agent does not upload is no release, though the learner has it ready."""
    runs = mechanism(tmp_path, SCENARIO, "learner.participation=0.25", "run.horizon=1000")
    found = audit_mechanism(runs, samples=80, confidence=0.5)
    assert found.spent.epsilon == 0.5
    (numbers,) = re.findall(r"of the (\d+) numbers", found.watched)
    assert int(numbers) == 2  # one agent has uploaded, in the only epoch


@pytest.mark.slow
def test_an_agent_that_loses_its_memory_is_no_less_private(tmp_path):
    """A lower bound over three lives, beside the epsilon of one."""
    memory = (
        'faults.nodes={ up_for = "1e9 s", down_for = "1 ns", memory = "lost" }',
        'faults.outages=[{ nodes = [1], from = "100 ms", until = "101 ms" }, '
        '{ nodes = [1], from = "200 ms", until = "201 ms" }]',
        'protocol={ kind = "flooding" }',
    )
    runs = mechanism(tmp_path, SCENARIO, "learner.epsilon=1.0", *memory)
    found = audit_mechanism(runs, samples=4_000)
    assert found.spent.epsilon == 4.0
    assert 0.5 * 4.0 < found.bound.epsilon <= 4.0


def test_what_is_told_without_messages_is_audited_too(tmp_path):
    runs = mechanism(tmp_path, SCENARIO, "protocol.kind=pooled")
    assert np.count_nonzero(runs.draw(0, 1, np.random.default_rng(0))) == 2


@pytest.mark.parametrize("override", ["protocol.kind=silent", "run.horizon=5"])
def test_where_nothing_leaves_there_is_nothing_to_audit(tmp_path, override):
    with pytest.raises(ScenarioError, match="nothing leaves an agent"):
        mechanism(tmp_path, SCENARIO, override)


@pytest.mark.parametrize(
    "overrides",
    [["learner.epsilon=inf"], ["learner={ kind = 'ucb' }", "protocol={ kind = 'relay' }"]],
)
def test_where_no_privacy_is_stated_that_is_said_at_once_with_the_way_out(tmp_path, monkeypatch, overrides):
    runs = []
    made = whole.Simulation
    monkeypatch.setattr(whole, "Simulation", lambda *given: runs.append(given) or made(*given))
    (tmp_path / "runs.toml").write_text(SCENARIO)
    sets = [word for override in overrides for word in ("--set", override)]
    done = CliRunner().invoke(main, ["audit", str(tmp_path / "runs.toml"), *sets])
    assert done.exit_code == 2
    assert "no privacy is stated, so there is nothing to refute: set learner.epsilon" in done.stderr
    assert len(runs) <= 1


def test_each_run_is_counted(tmp_path):
    (tmp_path / "runs.toml").write_text(SCENARIO)
    ended = []
    audit_mechanism(whole_runs(check(load(tmp_path / "runs.toml")).points[0], lambda: ended.append(1)), samples=40)
    assert len(ended) == 1 + 2 * 40
