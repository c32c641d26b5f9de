"""Observations that are flooded, under learners that count them: facts that hold exactly."""

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.learners.ucb import Ucb
from netbandit.network.network import Network
from netbandit.scenario.errors import ScenarioError

SCENE = """\
[run]
horizon = 200
slot = "1 ms"
[topology]
family = "complete"
agents = 5
[bandit]
kind = "bernoulli"
means = [0.2, 0.4, 0.5, 0.8]
[learner]
kind = "ucb"
[protocol]
kind = "local"
route = "flood"
"""


def metrics(folder, *overrides):
    return run(folder, *overrides, text=SCENE).metrics


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ttl", [1, 2, 3])
@pytest.mark.parametrize("share", ["observations", "totals"])
def test_on_a_complete_graph_it_is_the_pooled_run_and_paid_for(tmp_path, ttl, share):
    flooded = metrics(tmp_path, f"protocol.ttl={ttl}", f"learner.share={share}")
    pooled = metrics(tmp_path, "protocol.kind=pooled")
    assert flooded["regret"] == pooled["regret"]
    assert flooded["messages"] == 5 * 4 * 200
    assert flooded["activations"] == 10 * 200
    assert pooled["messages"] == pooled["cost"] == 0
    assert pooled["epsilon"] is None
    first = 5 * 4 if ttl == 1 else 5 * 16  # copies of what is told in one slot; of the last slot only the first hop
    assert flooded["items"] == first * 199 + 5 * 4


def test_who_keeps_nothing_is_as_good_as_silent(tmp_path):
    assert metrics(tmp_path, "learner.keep=0.0")["regret"] == metrics(tmp_path, "protocol.kind=silent")["regret"]


@pytest.mark.ci
def test_who_absorbs_all_that_it_hears_is_reached_by_neighbours_alone(tmp_path):
    ring = ["topology.family=ring", "topology.agents=7"]
    near = metrics(tmp_path, *ring, "protocol.ttl=1")
    absorbed = metrics(tmp_path, *ring, "protocol.ttl=4", "protocol.absorb=true")
    assert absorbed["regret"] == near["regret"]
    assert absorbed["items"] == near["items"] == 2 * 7 * 200
    assert metrics(tmp_path, *ring, "protocol.ttl=4")["items"] > 3 * near["items"]


def test_a_tree_brings_the_same_observations_in_more_messages(tmp_path):
    """In fewer copies, but each in a message of its own."""
    grid = ["topology.family=grid", "topology.agents=9", "protocol.ttl=3"]
    flooded, tree = (metrics(tmp_path, *grid, f"protocol.route={route}") for route in ("flood", "tree"))
    assert flooded["regret"] == tree["regret"]
    assert flooded["messages"] < tree["messages"] < flooded["items"]


SHAPES = {
    "ring": (["topology.family=ring", "topology.agents=9"], 3, [6] * 9),
    "complete": (["topology.agents=6"], 2, [25] * 6),
    "star": (["topology.family=star", "topology.agents=50"], 2, [49] * 50),
    "tree": (["topology.family=tree", "topology.agents=15"], 2, [6] + [8] * 2 + [5] * 4 + [3] * 8),
}


@pytest.mark.ci
@pytest.mark.parametrize("shape", SHAPES)
def test_copies_of_an_observation_are_counted(tmp_path, shape):
    """Tree: agents within ttl less 1; ring: 2 ttl; complete: (M - 1)^2; a star of 50: 2,450 a slot.

    Of the last slots only the first hops are made.
    """
    overrides, ttl, copies = SHAPES[shape]
    long, short = (
        metrics(tmp_path, *overrides, f"protocol.ttl={ttl}", f"run.horizon={slots}")["items"] for slots in (40, 30)
    )
    assert long - short == 10 * sum(copies)
    if shape == "star":
        assert sum(copies) == 2_450


@pytest.mark.sampled(4)
@pytest.mark.parametrize("latency", ["0 ms", "2.5 ms", '{ uniform = ["0 ms", "4 ms"] }'])
@pytest.mark.parametrize("ttl", [1, 3])
def test_what_an_agent_has_counted_is_what_was_pulled_within_reach_in_time(tmp_path, monkeypatch, latency, ttl):
    """N before slot t: all own pulls, and those of the others that fewest hops, and of these the fastest, brought."""
    point = study(
        tmp_path, "topology.family=grid", "topology.agents=9", f"protocol.ttl={ttl}", "run.horizon=40",
        f"links.peer.latency={latency}", text=SCENE,
    ).points[0]  # fmt: skip
    pulled, counted = [], []
    choose, learn = Ucb.choose, Ucb.learn

    def chosen(self, slot, agents):
        found = choose(self, slot, agents)
        counted.append(self.known.pulls.copy())
        return found

    def learnt(self, slot, agents, arms, rewards):
        pulled.append(np.eye(4)[arms])
        learn(self, slot, agents, arms, rewards)

    monkeypatch.setattr(Ucb, "choose", chosen)
    monkeypatch.setattr(Ucb, "learn", learnt)
    networks = []
    attached = Network.__init__
    monkeypatch.setattr(Network, "__init__", lambda self, *a, **k: (networks.append(self), attached(self, *a, **k))[1])
    point.simulation(0).run()
    delays = np.full((9, 9), 10**6)
    for channels in networks[0].channels:
        for channel in channels:
            delays[channel.receiver, channel.sender] = max(1, -(-channel.latency // 1_000_000))
    np.fill_diagonal(delays, 0)
    waits = np.where(np.eye(9, dtype=bool), 0, 10**6)
    for _ in range(ttl):
        waits = np.minimum(waits, (delays[:, :, None] + waits[None]).min(axis=1))
    np.fill_diagonal(waits, 1)
    for slot in range(40):
        for agent in range(9):
            expected = sum(
                (
                    pulled[said][source]
                    for source in range(9)
                    for said in range(max(0, slot + 1 - waits[agent, source]))
                ),
                np.zeros(4),
            )
            assert (counted[slot][agent] == expected).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("learner", ["ucb", "klucb", "thompson"])
def test_doubled_and_late_copies_change_nothing(tmp_path, learner):
    kind = f"learner.kind={learner}"
    for ttl in (1, 2):
        plain = metrics(tmp_path, kind, f"protocol.ttl={ttl}")
        doubled = metrics(tmp_path, kind, f"protocol.ttl={ttl}", "links.peer.duplicate=1.0")
        assert doubled["regret"] == plain["regret"]
        assert doubled["duplicates_dropped"] == plain["messages"] == doubled["messages"]
    still = metrics(tmp_path, kind, "links.peer.jitter=0 ms", "links.peer.overtaking=true")
    assert still["regret"] == metrics(tmp_path, kind)["regret"]


def test_nothing_comes_through(tmp_path):
    deaf = metrics(tmp_path, "links.peer.loss=1.0", "protocol.ttl=3")
    assert deaf["regret"] == metrics(tmp_path, "protocol.kind=silent")["regret"]
    assert (deaf["delivered"], deaf["lost"], deaf["messages"]) == (0, 4_000, 4_000)


@pytest.mark.ci
def test_with_delays_each_observation_counts_when_it_comes(tmp_path):
    """RCL-SD: geometric delays of 4 slots in the mean, 12 at most, on top of the hop."""
    late = metrics(
        tmp_path, "run.horizon=3000", "links.peer.latency=1 slots", "links.peer.overtaking=true",
        'links.peer.jitter={ geometric = ["4 slots", "12 slots"] }',
    )  # fmt: skip
    unheard = 13 * 12 / 3_000  # those that are under way at the end
    assert abs(late["delay_slots"] - 5) < 4 * 4 / (20 * 3_000) ** 0.5 + unheard


def test_what_is_used_later_is_as_good_as_what_comes_later(tmp_path):
    """Delayed MP-UCB over hops of a slot is MP-UCB over hops of three slots."""
    later = metrics(tmp_path, "learner.use_after=3", "protocol.ttl=2")
    slower = metrics(tmp_path, "links.peer.latency=3 slots", "protocol.ttl=1")
    assert later["regret"] == slower["regret"]


def test_totals_are_not_absorbed(tmp_path):
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, "learner.share=totals", "protocol.absorb=true", text=SCENE)
    assert "protocol.absorb: must be false with learner.share" in error.value.lines[0]
