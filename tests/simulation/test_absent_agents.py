"""Learners that decide in slots, when their agents go down: scripted outages against tables made by hand; the law."""

from math import sqrt

import numpy as np
import pytest
from helpers.diary import Diary

from netbandit.checks.check import check
from netbandit.learners.ucb import Ucb
from netbandit.protocols.local import Local
from netbandit.protocols.local_flood import LocalFlood
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.drivers import slots

BASE = """
run = { horizon = 8, seed = 3 }
topology = { family = "path", agents = 3 }
links.peer.latency = "0.4 ms"
bandit = { kind = "bernoulli", means = [0.1, 0.9] }
learner = { kind = "helpers.diary:Diary" }
protocol = { kind = "relay" }
"""

LOST = 'faults.nodes={ up_for = "1e9 s", down_for = "1 ns", memory = "lost" }'
"""Nothing goes down at random, but memory is lost where it does as scripted."""


def run(*overrides):
    return check(load("scenario.toml", overrides, text=BASE)).points[0].simulation(0).run()


def outage(node, begin, end):
    return f'faults.outages=[{{ nodes = [{node}], from = "{begin} ms", until = "{end} ms" }}]'


def table(agent, source):
    """Return in which slot *agent* heard what *source* said, by the slot in which it was said."""
    return {said: slot for slot, hearer, teller, said in Diary.heard if (hearer, teller) == (agent, source)}


def test_an_agent_that_is_down_neither_decides_nor_tells_nor_hears_on_a_path():
    """Path 0-1-2 over a relay, 1 down in slots 2, 3, 4: what reaches it then is lost, for 2 as well."""
    result = run(outage(1, 2, 5))
    assert [slot for slot, agent in Diary.decided if agent == 1] == [0, 1, 5, 6, 7]
    assert [slot for slot, agent in Diary.decided if agent == 0] == list(range(8))
    # 0's words of slot 1 are there at 1.4 ms, and would be taken in at 2 ms: that is done when 1 is back.
    assert table(1, 0) == {0: 1, 1: 5, 5: 6, 6: 7}
    # What 1 hears at 5 it passes on at 5, so 2 has it at 6.
    assert table(2, 0) == {0: 2, 1: 6, 5: 7}
    assert table(0, 1) == table(2, 1) == {0: 1, 1: 2, 5: 6, 6: 7}
    assert (result.metrics["absent_slots"], result.metrics["availability"]) == (3, 21 / 24)
    assert Diary.forgot == []


def test_what_an_agent_had_and_did_not_use_is_gone_with_its_memory():
    """The same, but what was at 1 and not yet taken in is forgotten."""
    run(outage(1, 2, 5), LOST)
    assert Diary.forgot == [(5, 1)]
    assert table(1, 0) == {0: 1, 5: 6, 6: 7}
    assert table(2, 0) == {0: 2, 5: 7}


def test_memory_is_lost_within_a_slot_too():
    run('faults.outages=[{ nodes = [1], from = "2.5 ms", until = "2.7 ms" }]', LOST)
    assert Diary.forgot == [(3, 1)]
    assert [slot for slot, agent in Diary.decided if agent == 1] == list(range(8))
    assert table(1, 0) == {0: 1, 1: 2, 3: 4, 4: 5, 5: 6, 6: 7}  # what came at 2.4 ms waited for the boundary


def test_a_flood_goes_round_an_agent_that_is_down_on_a_ring():
    """Ring 0-1-2-3-0, floods of 3 hops, 1 down in slots 2, 3, 4: 2 hears 0's words over 3."""
    run(
        'topology={ family = "ring", agents = 4 }',
        'protocol={ kind = "local", ttl = 3, route = "flood" }',
        outage(1, 2, 5),
    )
    assert table(2, 0) == {said: said + 2 for said in range(6)}
    assert table(1, 0) == {0: 1, 1: 5, 3: 6, 4: 7, 5: 6, 6: 7}  # 0's words of slots 3 and 4 come the long way
    assert table(0, 1) == {0: 1, 1: 2, 5: 6, 6: 7}


def test_nobody_hears_of_another_while_the_centre_of_a_star_is_down():
    run('topology={ family = "star", agents = 4 }', outage(0, 2, 5))
    for leaf in (1, 2, 3):
        for other in {1, 2, 3} - {leaf}:
            assert table(leaf, other) == {0: 2, 1: 6, 5: 7}
        assert table(leaf, 0) == {0: 1, 1: 2, 5: 6, 6: 7}
        assert table(0, leaf) == {0: 1, 1: 5, 5: 6, 6: 7}


@pytest.mark.parametrize("when", ["slot", "pull"])
def test_who_is_down_hears_nothing_of_what_all_know(when):
    run(f'protocol={{ kind = "pooled", when = "{when}" }}', outage(1, 2, 5))
    if when == "slot":  # heard at the next boundary by all that are up then
        assert table(1, 0) == {0: 1, 4: 5, 5: 6, 6: 7}
        assert table(0, 1) == {0: 1, 1: 2, 5: 6, 6: 7}
        assert table(0, 2) == {said: said + 1 for said in range(7)}
    else:
        assert table(1, 0) == table(0, 1) == {slot: slot for slot in (0, 1, 5, 6, 7)}
        assert table(0, 2) == {slot: slot for slot in range(8)}


def test_a_learner_that_cannot_begin_anew_keeps_its_memory():
    with pytest.raises(ScenarioError, match="needs a learner with a method forget"):
        run(LOST, 'learner.kind="helpers.own_learners:Forgetless"')


LOOPS = {
    "ucb": ('learner={ kind = "ucb" }', 'protocol={ kind = "silent" }'),
    "klucb": ('learner={ kind = "klucb" }', 'protocol={ kind = "silent" }'),
    "thompson": ('learner={ kind = "thompson" }', 'protocol={ kind = "silent" }'),
    "feducb": (
        'bandit={ kind = "linear", dimension = 2, arms = 4 }',
        'learner={ kind = "feducb", threshold = 2.0 }',
        'protocol={ kind = "local" }',
    ),
    "pfcb": (
        'bandit={ kind = "procurement", producers = 3, capacity = [1, 9] }',
        'learner={ kind = "pfcb", start = 20, stop = 100 }',
        'protocol={ kind = "relay" }',
    ),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("memory", ["kept", "lost"])
@pytest.mark.parametrize("loop", LOOPS)
def test_compiled_loops_leave_out_the_same_slots(monkeypatch, loop, memory):
    churn = f'faults.nodes={{ up_for = "40 ms", down_for = "10 ms", memory = "{memory}" }}'
    compiled = run(*LOOPS[loop], churn, "run.horizon=300")
    monkeypatch.setattr(slots, "compiled_loop", lambda *_: None)
    generic = run(*LOOPS[loop], churn, "run.horizon=300")
    assert compiled.fingerprint == generic.fingerprint
    assert compiled.metrics["absent_slots"] == generic.metrics["absent_slots"] > 0
    np.testing.assert_allclose(compiled.curves["regret"].values, generic.curves["regret"].values, rtol=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("loop", LOOPS)
def test_an_outage_of_nobody_changes_nothing(loop):
    late = 'faults.outages=[{ nodes = [1], from = "1 s" }]'
    assert run(*LOOPS[loop], late, "run.horizon=150").fingerprint == run(*LOOPS[loop], "run.horizon=150").fingerprint


@pytest.mark.parametrize("loop", ["ucb", "pfcb"])
def test_an_absent_slot_costs_no_regret(loop):
    """Who is down from the beginning on and alone for good has played nothing, and missed nothing."""
    result = run(*LOOPS[loop], 'topology={ family = "path", agents = 1 }', outage(0, 0, 10**6), "run.horizon=50")
    assert (result.metrics["regret"], result.metrics["availability"]) == (0.0, 0.0)
    assert result.metrics["regret_per_decision"] is None


@pytest.mark.ci
def test_availability_is_that_of_the_law():
    """Share of time up: mean 80 / 100; the variance of a two-state chain over T is 2 p q / ((a + b) T) at most.

    Within 4.4 standard deviations but once in 90,000 runs.
    """
    up, down, horizon, agents = 80, 20, 20_000, 10
    share = up / (up + down)
    result = run(
        *LOOPS["ucb"],
        f'topology={{ family = "path", agents = {agents} }}',
        f"run.horizon={horizon}",
        f'faults.nodes={{ up_for = "{up} ms", down_for = "{down} ms" }}',
    )
    variance = 2 * share * (1 - share) / ((1 / up + 1 / down) * horizon * agents)
    assert abs(result.metrics["availability"] - share) < 4.4 * sqrt(variance)


@pytest.mark.parametrize("memory", [(), (LOST,)])
def test_totals_of_an_earlier_life_stay_counted(monkeypatch, memory):
    """Agent 1 tells totals and forgets: what 0 has of its first life stays, and its second life adds to it."""
    known = {}
    original = Ucb.receive

    def receive(self, slot, *told):
        original(self, slot, *told)
        known[slot] = self.known.pulls.sum(axis=1).tolist()

    monkeypatch.setattr(Ucb, "receive", receive)
    run('learner={ kind = "ucb", share = "totals" }', "run.horizon=20", outage(1, 8, 12), *memory)
    # 0 before slot 19: its own 19, 15 of 1 up to slot 18 (4 were absent), 18 of 2 up to slot 17, by way of 1.
    assert known[19][0] == 19 + 15 + 18
    assert known[19][1] == (7 if memory else 15) + 19 + 19


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "fault",
    [
        "links.peer.loss=0.3",
        'faults.links={ up_for = "20 ms", down_for = "5 ms" }',
        'faults.nodes={ up_for = "20 ms", down_for = "5 ms" }',
        'links.peer={ latency = "0.4 ms", loss = 0.3, retry = { timeout = "2 ms", attempts = 2 } }',
    ],
)
def test_floods_forget_what_can_be_under_way_no_more(monkeypatch, fault):
    """Three hops take two slots at the most, a retry two or three more: what is older than that is forgotten."""
    kept = []
    original = LocalFlood.broadcast

    def broadcast(self, round, agent, item):
        original(self, round, agent, item)
        rounds = {of for of, _ in self._furthest}
        kept.append((round, min(rounds), len(rounds)))

    monkeypatch.setattr(LocalFlood, "broadcast", broadcast)
    flood = 'protocol={ kind = "local", ttl = 3, route = "flood", timing = "asynchronous" }'
    result = run(
        'learner={ kind = "ucb" }', flood, fault, "run.horizon=400", 'topology={ family = "ring", agents = 6 }'
    )
    assert result.metrics["lost"] > 100
    assert max(length for *_, length in kept) < 25
    assert all(round - oldest < 60 for round, oldest, _ in kept)


@pytest.mark.parametrize("fault", ["links.peer.loss=0.3", 'faults.nodes={ up_for = "20 ms", down_for = "5 ms" }'])
def test_local_synchronisations_forget_what_can_be_under_way_no_more(monkeypatch, fault):
    kept = []
    original = Local.call

    def call(self, agent, param_set):
        original(self, agent, param_set)
        kept.append(len(self._meetings))

    monkeypatch.setattr(Local, "call", call)
    linear = ('bandit={ kind = "linear", dimension = 2, arms = 4 }', 'learner={ kind = "feducb", threshold = 0.1 }')
    result = run(*linear, 'protocol={ kind = "local", ttl = 2 }', fault, "run.horizon=400")
    assert result.metrics["lost"] > 50
    assert len(kept) > 100
    assert max(kept) < 12
