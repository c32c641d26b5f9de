"""An agent that loses its memory begins anew, and its privacy loss is the sum over its lives."""

from math import sqrt

import pytest

from netbandit.learners.feducb import FedUcb
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.pfcb_schedule import round_epsilon
from netbandit.privacy.accountant import account_statistics
from netbandit.privacy.gaussian import exact_epsilon, noise_multiplier
from netbandit.privacy.tree_calibration import OBSERVATION, account_tree
from netbandit.scenario.load import load
from netbandit.simulation.check import check

BASE = """
run = { horizon = 200, seed = 3 }
topology = { family = "path", agents = 3 }
faults.nodes = { up_for = "1e9 s", down_for = "1 ns", memory = "lost" }
faults.outages = [
    { nodes = [1], from = "62 ms", until = "70 ms" },
    { nodes = [1], from = "120 ms", until = "125 ms" },
]
"""

FEDUCB = """
bandit = { kind = "linear", dimension = 2, arms = 4 }
learner = { kind = "feducb", schedule = "fixed", every = 20 }
protocol = { kind = "flooding" }
"""

PFCB = """
bandit = { kind = "procurement", producers = 3, capacity = [2, 9] }
learner = { kind = "pfcb", start = 10, stop = 190 }
protocol = { kind = "relay" }
"""


def run(text):
    return check(load("s.toml", (), text=BASE + text)).points[0].simulation(0).run()


def test_nodes_of_all_trees_of_an_agent_add_up():
    one = account_tree(40.0, 0.1, releases=6, claimed=1.0, trigger_is_private=True)
    two = account_tree(40.0, 0.1, releases=6, claimed=1.0, trigger_is_private=True, nodes=5)
    assert one.epsilon == pytest.approx(exact_epsilon(0.1, 40.0 / (OBSERVATION * sqrt(3))))
    assert two.epsilon == pytest.approx(exact_epsilon(0.1, 40.0 / (OBSERVATION * sqrt(5))))


def test_the_largest_round_of_each_life_adds_up():
    epsilons, delta = [0.5, 0.3, 0.2], 0.01
    alike = account_statistics(epsilons, delta, claimed=1.0, lives=[[0.2], [0.3, 0.2]])
    assert alike.epsilon == account_statistics(epsilons, delta, claimed=1.0).epsilon
    more = account_statistics(epsilons, delta, claimed=1.0, lives=[[0.5, 0.3]])
    signal = noise_multiplier(0.5, delta) ** -2 + noise_multiplier(0.3, delta) ** -2
    assert more.epsilon == pytest.approx(exact_epsilon(delta, 1 / sqrt(signal) / sqrt(2)))
    assert more.epsilon > alike.epsilon


def test_feducb_accounts_for_the_trees_of_all_lives(monkeypatch):
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
    metrics = run(FEDUCB).metrics
    assert lives == {1: 2}
    of_one = [count for (agent, _), count in released.items() if agent == 1]
    assert len(of_one) == 3
    others = max(count for (agent, _), count in released.items() if agent != 1)
    nodes = max(sum(count.bit_length() for count in of_one), others.bit_length())
    assert metrics["epsilon"] == pytest.approx(exact_epsilon(0.1, releasing.deviation / (OBSERVATION * sqrt(nodes))))


def test_pfcb_accounts_for_the_rounds_of_all_lives(monkeypatch):
    told = {}
    share = Pfcb.share

    def sharing(self, slot, agents):
        found = share(self, slot, agents)
        told[self._rounds] = slot, agents.tolist()
        sharing.rounds = len(self.slots)
        return found

    monkeypatch.setattr(Pfcb, "share", sharing)
    metrics = run(PFCB).metrics
    lives = [range(62), range(70, 120), range(125, 200)]
    firsts = [
        min((number for number, (slot, agents) in told.items() if 1 in agents and slot in life), default=None)
        for life in lives
    ]
    epsilons = [round_epsilon(1.0, 200, sharing.rounds, number) for number in firsts if number]
    assert len(epsilons) >= 2
    signal = sum(noise_multiplier(epsilon, 0.01) ** -2 for epsilon in epsilons)
    assert metrics["epsilon"] == pytest.approx(exact_epsilon(0.01, 1 / sqrt(signal) / sqrt(2)))
