"""Synchronisations where messages are lost and agents go down: what each agent believes is made of known releases."""

import numpy as np
import pytest

from netbandit.checks.check import check
from netbandit.learners.ellipsoid_learner import EllipsoidLearner
from netbandit.learners.linear import SharedLinUcb
from netbandit.protocols.latest_versions import VersionedSum
from netbandit.scenario.load import load
from netbandit.simulation.drivers import slots

BASE = """
run = { horizon = 300, seed = 5 }
topology = { family = "ring", agents = 5 }
links.peer.latency = "0.4 ms"
bandit = { kind = "linear", dimension = 2, arms = 5 }
learner = { kind = "linucb", every = 10, regularizer = 1.0 }
"""

FAULTS = {
    "losses": ("links.peer.loss=0.05", "links.uplink.loss=0.05"),
    "kept": ('faults.nodes={ up_for = "60 ms", down_for = "15 ms" }',),
    "lost": ('faults.nodes={ up_for = "60 ms", down_for = "15 ms", memory = "lost" }',),
    "cut": ('faults.outages=[{ partition = [[0, 1]], from = "50 ms", until = "120 ms" }]',),
}

PROTOCOLS = {
    "master-worker": ('protocol={ kind = "master-worker", deadline = "4 ms" }',),
    "sink": ('protocol={ kind = "sink", deadline = "4 ms" }',),
    "gis": ('protocol={ kind = "gis", deadline = "4 ms" }',),
    "flooding": ('protocol={ kind = "flooding" }',),
    "gossip": ('protocol={ kind = "gossip", deadline = "9 ms" }',),
    "relay": ('protocol={ kind = "relay", deadline = "4 ms" }',),
    "local": ('protocol={ kind = "local", ttl = 2 }',),
}


class Books:
    """What agents have seen, released and adopted, written down beside them: a matrix each, by agent and life."""

    def __init__(self, monkeypatch):
        self.learners = []
        self.lives = {}
        self.seen = {}
        self.released = {}
        self.names = {}
        self.adopted = {}
        books = self
        start, learn, release = SharedLinUcb.start, SharedLinUcb.learn, SharedLinUcb._release
        adopt, forget, of = EllipsoidLearner.adopt, SharedLinUcb.forget, VersionedSum.of

        def started(self, world, agents, rng):
            books.learners.append(self)
            start(self, world, agents, rng)

        def learnt(self, slot, agents, arms, rewards):
            learn(self, slot, agents, arms, rewards)
            for agent, action in zip(agents.tolist(), self._shown(agents)[np.arange(len(agents)), arms], strict=True):
                key = books.key(self, agent)
                books.seen[key] = books.seen.get(key, 0.0) + np.outer(action, action)

        def releasing(self, agent):
            row = release(self, agent)
            books.released.setdefault(books.key(self, agent), []).append(self._unpacked(row).gram)
            return row

        def adopting(self, slot, agents, combined):
            adopt(self, slot, agents, combined)
            for agent in agents.tolist():
                books.adopted[books.key(self, agent)] = combined

        def forgetting(self, slot, agents):
            forget(self, slot, agents)
            for agent in agents.tolist():
                books.lives[self.world.param_set, agent] = books.key(self, agent)[2] + 1

        def summing(self, releases):
            found = of(self, releases)
            books.names[id(found.value)] = found, {mark: release.number for mark, release in releases.items()}
            return found

        monkeypatch.setattr(slots, "compiled_loop", lambda *_: None)
        monkeypatch.setattr(SharedLinUcb, "start", started)
        monkeypatch.setattr(SharedLinUcb, "learn", learnt)
        monkeypatch.setattr(SharedLinUcb, "_release", releasing)
        monkeypatch.setattr(SharedLinUcb, "adopt", adopting)
        monkeypatch.setattr(SharedLinUcb, "forget", forgetting)
        monkeypatch.setattr(VersionedSum, "of", summing)

    def key(self, learner, agent):
        param_set = learner.world.param_set
        return param_set, agent, self.lives.get((param_set, agent), 0)

    def expected(self, learner, agent):
        """Return what *agent* should believe in: what it adopted last, and all of its own that is not in that."""
        param_set, _, life = key = self.key(learner, agent)
        shared, own = np.eye(2), self.seen.get(key, np.zeros((2, 2)))
        if key in self.adopted:
            _, names = self.names[id(self.adopted[key])]
            for (source, of_life), number in names.items():
                shared = shared + self.released[param_set, source, of_life][number - 1]
            if (agent, life) in names:
                own = own - self.released[key][names[agent, life] - 1]
        return shared, own


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_believed_twice_and_nothing_of_ones_own_is_lost(monkeypatch, protocol, fault):
    books = Books(monkeypatch)
    study = check(load("s.toml", (*PROTOCOLS[protocol], *FAULTS[fault]), text=BASE))
    metrics = study.points[0].simulation(0).run().metrics
    assert metrics["rounds"] > 0
    assert books.adopted
    for learner in books.learners:
        beliefs, param_set = learner.beliefs, learner.world.param_set
        for agent in range(5):
            shared, own = books.expected(learner, agent)
            np.testing.assert_allclose(beliefs.shared_gram[param_set, agent], shared, atol=1e-9)
            np.testing.assert_allclose(beliefs.own_gram[param_set, agent], own, atol=1e-9)


def test_a_server_that_is_named_no_release_of_an_agent_leaves_it_its_own():
    """Agent 3 is down until slot 35, so the first rounds go on without it; afterwards it is heard, once a round."""
    late = 'faults.outages=[{ nodes = [3], from = "0 ms", until = "35 ms" }]'
    text = BASE.replace("horizon = 300", "horizon = 100")
    server = 'protocol={ kind = "master-worker", deadline = "4 ms" }'
    point = check(load("s.toml", (server, late), text=text)).points[0]
    metrics = point.simulation(0).run().metrics
    assert metrics["absent_slots"] == 35
    assert metrics["rounds"] > 3
    assert metrics["stalled"] == 0


def test_agents_of_rounds_without_a_deadline_wait_for_one_that_is_down_and_are_told_of_by_the_run():
    """Over a server nobody can say that agent 3 will not come: all wait for it, and go on when it is back."""
    text = BASE.replace("horizon = 300", "horizon = 100")
    server = 'protocol={ kind = "master-worker" }'
    gone = 'faults.outages=[{ nodes = [3], from = "5 ms" }]'
    back = 'faults.outages=[{ nodes = [3], from = "5 ms", until = "40 ms" }]'
    stalled = check(load("s.toml", (server, gone), text=text)).points[0].simulation(0).run()
    assert stalled.metrics["rounds"] == 0
    assert stalled.metrics["stalled"] == 4
    assert any("waited at the horizon" in line for line in stalled.remarks)
    healed = check(load("s.toml", (server, back), text=text)).points[0].simulation(0).run()
    assert healed.metrics["rounds"] > 0


def test_an_item_that_comes_again_after_memory_was_lost_is_counted_once():
    """The sender repeats what was acknowledged in vain, and its receiver has forgotten in the meantime that it came."""
    overrides = (
        'topology={ family = "star", agents = 3 }',
        "learner.every=7",
        'protocol={ kind = "relay" }',
        "run={ horizon = 120, seed = 194, activity = { share = 0.5 } }",
        'links.peer={ latency = "0 ms", retry = { timeout = "3 ms", attempts = 3 } }',
        'links.peer.jitter={ exponential = "2 ms" }',
        'faults.nodes={ up_for = "10 ms", down_for = "1 ms", memory = "lost" }',
        'faults.server={ up_for = "20 ms", down_for = "5 ms" }',
    )
    metrics = check(load("s.toml", overrides, text=BASE)).points[0].simulation(0).run().metrics
    assert metrics["duplicates_dropped"] > 0
    assert metrics["rounds"] > 0
