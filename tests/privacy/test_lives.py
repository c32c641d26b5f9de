"""An agent that loses its memory begins anew; a unit is part of one of its lives, so the worst life counts."""

from dataclasses import replace
from math import sqrt

import pytest

from netbandit.checks.check import check
from netbandit.learners.elimination import Elimination
from netbandit.learners.feducb import FedUcb
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.pfcb_schedule import round_epsilon, sharing_slots
from netbandit.privacy.gaussian import exact_epsilon, noise_multiplier
from netbandit.privacy.mechanisms import block_mean_scale
from netbandit.privacy.tree_calibration import OBSERVATION
from netbandit.scenario.load import load

BASE = """
topology = { family = "path", agents = 3 }
faults.nodes = { up_for = "1e9 s", down_for = "1 ns", memory = "lost" }
faults.outages = [
    { nodes = [1], from = "62 ms", until = "70 ms" },
    { nodes = [1], from = "120 ms", until = "125 ms" },
]
"""

FEDUCB = """
run = { horizon = 200, seed = 3 }
bandit = { kind = "linear", dimension = 2, arms = 4 }
learner = { kind = "feducb", schedule = "fixed", every = 20, epsilon = 50.0, calibration = "zcdp" }
protocol = { kind = "flooding" }
"""

PFCB = """
run = { horizon = 200, seed = 3 }
bandit = { kind = "procurement", producers = 3, capacity = [2, 9] }
learner = { kind = "pfcb", start = 10, stop = 190 }
protocol = { kind = "relay" }
"""


ELIMINATION = """
run = { horizon = 20_000, seed = 3, slot = "10 us" }
bandit = { kind = "bernoulli", means = [0.5, 0.5] }
learner = { kind = "elimination", epsilon = 4.0 }
protocol = { kind = "flooding" }
"""


def run(text, base=BASE):
    return check(load("s.toml", (), text=base + text)).points[0].simulation(0).run()


def test_feducb_accounts_for_the_tree_that_was_released_most_often(monkeypatch):
    """Which life releases how often is counted beside it, from what leaves the agent."""
    released, lives = {}, {}
    release, forget = FedUcb._release, FedUcb.forget

    def releasing(self, agent):
        key = agent, lives.get(agent, 0)
        released[key] = released.get(key, 0) + 1
        releasing.deviation = self.noise.deviation
        return release(self, agent)

    def forgetting(self, slot, agents):
        for agent in agents.tolist():
            lives[agent] = lives.get(agent, 0) + 1
        forget(self, slot, agents)

    monkeypatch.setattr(FedUcb, "_release", releasing)
    monkeypatch.setattr(FedUcb, "forget", forgetting)
    # All agents forget at some time, so that no tree has all the releases of its agent.
    everybody = """
faults.outages = [
    { nodes = [1], from = "62 ms", until = "70 ms" },
    { nodes = [0, 2], from = "130 ms", until = "131 ms" },
]
"""
    found = run(FEDUCB, BASE.partition("faults.outages")[0] + everybody)
    assert set(lives) == {0, 1, 2}
    assert found.metrics["epsilon"] > 0
    most = max(released.values())
    totals = [sum(count for (agent, _), count in released.items() if agent == each) for each in range(3)]
    assert most.bit_length() < max(totals).bit_length()  # else nothing would be tested
    nodes = most.bit_length()
    assert found.metrics["epsilon"] == pytest.approx(
        exact_epsilon(0.1, releasing.deviation / (OBSERVATION * sqrt(nodes)))
    )
    assert found.privacy_bound == "exact"


@pytest.mark.parametrize("text", [FEDUCB, PFCB, ELIMINATION], ids=["feducb", "pfcb", "elimination"])
def test_to_lose_memory_spends_no_more(text):
    """The same run with memory kept has one life, and releases at least as often in it."""
    lost, kept = run(text), run(text, BASE.replace('"lost"', '"kept"'))
    assert 0 < lost.metrics["epsilon"] <= kept.metrics["epsilon"]
    assert lost.privacy_bound == kept.privacy_bound == "exact"


def test_pfcb_accounts_for_the_first_round_alone():
    """Its noise is the least, and a quantity is told in one round."""
    metrics, rounds = run(PFCB).metrics, len(sharing_slots("doubling", 10, 190, 200))
    first = round_epsilon(1.0, 200, rounds, 1)
    assert metrics["rounds"] >= 2
    assert metrics["epsilon"] == pytest.approx(exact_epsilon(0.01, noise_multiplier(first, 0.01) / sqrt(2)))


def test_the_likelihood_ratio_of_a_reward_is_that_of_the_one_block_it_is_in(monkeypatch):
    """In each life, of whatever length: so the whole run spends what one block does."""
    blocks = []
    observe = Elimination.observe

    def observing(self, sums, rng):
        pulls = self.cumulative - self._previous
        blocks.append((self.agent, (1 / pulls) / block_mean_scale(3, self.epsilon, pulls), self.epoch))
        observe(self, sums, rng)

    monkeypatch.setattr(Elimination, "observe", observing)
    metrics = run(ELIMINATION).metrics
    assert [epoch for agent, _, epoch in blocks if agent == 1].count(1) == 3  # lives
    assert [ratio for _, ratio, _ in blocks] == [pytest.approx(metrics["epsilon"])] * len(blocks)


@pytest.mark.parametrize(("learner", "text"), [(Elimination, ELIMINATION), (Pfcb, PFCB)])
def test_of_a_unit_of_which_nothing_is_said_epsilon_is_an_upper_bound(monkeypatch, learner, text):
    account = learner.account
    monkeypatch.setattr(
        learner, "account", lambda *given, **facts: replace(account(*given, **facts), within_a_life=False)
    )
    once = run(text, BASE.partition("faults.outages")[0])
    assert once.privacy_bound == "exact"  # nobody goes down
    twice = run(text)
    assert twice.privacy_bound == "upper"
    assert "all lives" in twice.privacy_accountant
    assert twice.metrics["epsilon"] >= once.metrics["epsilon"]


def test_an_agent_that_released_nothing_is_not_the_one_worst_off():
    """The hub shares with most others and adds the least noise, but is down from the start."""
    star = """
run = { horizon = 2000, seed = 3 }
topology = { family = "star", agents = 4 }
bandit = { kind = "bernoulli", means = [0.2, 0.8] }
learner = { kind = "elimination", epsilon = 0.5 }
protocol = { kind = "local", deadline = "5 ms" }
"""
    whole = check(load("s.toml", (), text=star)).points[0].simulation(0).run()
    assert whole.metrics["epsilon"] == 4 * 0.5
    down = 'faults.outages = [{ nodes = [0], from = "0 ms" }]\n'
    assert check(load("s.toml", (), text=star + down)).points[0].simulation(0).run().metrics["epsilon"] == 2 * 0.5
