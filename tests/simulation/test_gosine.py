"""GosInE: facts that hold exactly, and a slow lock-step reference that knows no network and no compiled loop."""

from math import inf, log, sqrt

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.learners.gosine import Gosine
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.drivers import slots
from netbandit.util.streams import Streams

MEANS = [0.35, 0.1, 0.5, 0.2, 0.8, 0.3, 0.45, 0.6, 0.15, 0.7, 0.25, 0.55]
SCENE = f"""\
[run]
horizon = 2_300
slot = "1 ms"
[topology]
family = "complete"
agents = 5
[bandit]
kind = "bernoulli"
means = {MEANS}
[learner]
kind = "gosine"
[protocol]
kind = "gossip"
"""
AT_ONCE = "protocol.timing=asynchronous"


@pytest.fixture
def held(monkeypatch):
    """Keep the learner of the run, to look at what its agents hold in the end."""
    learners = []
    start = Gosine.start
    monkeypatch.setattr(Gosine, "start", lambda self, *given: (learners.append(self), start(self, *given))[1])
    return lambda: learners[-1].held.tolist()


def reference(agents, horizon, near, *, wait, seed=0, ends=None):
    """Play slot by slot; return the regret of the group and the set of each agent in the end.

    Args:
        agents: M.
        horizon: T.
        near: The neighbours of each agent.
        wait: Slots until an answer is there.
        seed: The seed of the run.
        ends: Returns the boundary at which a phase of an agent ends; absent: j^3.
    """
    arms, streams = len(MEANS), Streams(seed, 0)
    uniforms = [streams.generator("rewards", agent).random(horizon) for agent in range(agents)]
    choice = [streams.generator("gossip", agent) for agent in range(agents)]
    q = -(-arms // agents)
    sets = [[(i * q + k) % arms for k in range(q + 2)] for i in range(agents)]
    pulls, sums = np.zeros((agents, arms)), np.zeros((agents, arms))
    phase = np.zeros((agents, arms))
    ended = [0] * agents
    recommended = [own[0] for own in sets]
    asked = {}  # boundary at which a question arrives -> (who asks, whom)
    answers = {}  # boundary at which an answer is there -> (who, arm)
    regret = 0.0
    for slot in range(horizon):
        for agent in range(agents):
            end = (ended[agent] + 1) ** 3 if ends is None else ends(agent, ended[agent] + 1)
            if slot == end:
                own = sets[agent]
                recommended[agent] = max(own, key=lambda arm: phase[agent, arm])
                if phase[agent, own[-2]] < phase[agent, own[-1]]:
                    own[-2], own[-1] = own[-1], own[-2]
                phase[agent] = 0
                ended[agent] += 1
                whom = near[agent][int(choice[agent].integers(len(near[agent])))]
                asked.setdefault(slot + wait // 2, []).append((agent, whom))
        for agent, whom in asked.pop(slot, []):
            answers.setdefault(slot + wait // 2, []).append((agent, recommended[whom]))
        for agent, arm in answers.pop(slot, []):
            if arm not in sets[agent]:
                sets[agent][-1] = arm
        for agent in range(agents):
            index = {}
            for arm in sets[agent]:
                n = pulls[agent, arm]
                index[arm] = sums[agent, arm] / n + sqrt(4 * log(max(slot, 1)) / n) if n else inf
            arm = max(sets[agent], key=index.get)
            pulls[agent, arm] += 1
            phase[agent, arm] += 1
            sums[agent, arm] += uniforms[agent][slot] < MEANS[arm]
            regret += max(MEANS) - MEANS[arm]
    return regret, sets


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("overrides", "wait"), [((AT_ONCE,), 0), ((), 2), (("links.peer.latency=2.5 slots",), 6)])
@pytest.mark.parametrize("family", ["complete", "ring"])
def test_agents_do_what_the_reference_does(tmp_path, monkeypatch, held, overrides, wait, family):
    near = [[j for j in range(5) if j != i and (family == "complete" or (i - j) % 5 in (1, 4))] for i in range(5)]
    regret, sets = reference(5, 2_300, near, wait=wait)
    for fast in (True, False):
        if not fast:
            monkeypatch.setattr(slots, "compiled_loop", lambda *_: None)
        metrics = run(tmp_path, f"topology.family={family}", *overrides, text=SCENE).metrics
        assert metrics["regret"] == pytest.approx(regret)
        assert held() == sets
        assert metrics["delay_slots"] == wait


def test_phases_end_at_random_times_where_there_is_slack(tmp_path, held):
    streams = Streams(0, 0)
    drawn = {}
    for agent in range(5):
        rng, end = streams.generator("gosine", agent), 0
        for phase in range(1, 30):
            slots_ = phase**3 - (phase - 1) ** 3
            length = int(rng.integers(slots_, int(np.ceil(1.5 * slots_)), endpoint=True))
            assert slots_ <= length <= np.ceil(1.5 * slots_)
            end += length
            drawn[agent, phase] = end
    near = [[j for j in range(5) if j != i] for i in range(5)]
    regret, sets = reference(5, 2_300, near, wait=0, ends=lambda agent, phase: drawn[agent, phase])
    metrics = run(tmp_path, AT_ONCE, "learner.slack=0.5", text=SCENE).metrics
    assert metrics["regret"] == pytest.approx(regret)
    assert held() == sets


@pytest.mark.ci
@pytest.mark.parametrize("horizon", [29**3 + 1, 29**3 + 2, 30**3])
def test_two_messages_a_phase_and_agent(tmp_path, horizon):
    result = run(tmp_path, AT_ONCE, f"run.horizon={horizon}", text=SCENE)
    assert result.metrics["phases"] == 29
    assert result.metrics["messages"] == 2 * 29 * 5
    assert result.kinds == {"REQ": (29 * 5, 29 * 5 * 20), "ANSWER": (29 * 5, 29 * 5 * 24)}
    slotted = run(tmp_path, f"run.horizon={horizon}", text=SCENE).metrics
    assert slotted["messages"] == 2 * 29 * 5 - 5 * (horizon == 29**3 + 1)  # the answer would be sent at the horizon
    assert run(tmp_path, AT_ONCE, f"run.horizon={29**3}", text=SCENE).metrics["phases"] == 28


@pytest.mark.parametrize("agents", [1, 2, 6])
def test_nobody_asks_where_everybody_holds_every_arm(tmp_path, held, agents):
    """K <= q + 2; then it is UCB with the same exploration, but for ties, which there are none of with these means."""
    few = ["bandit.means=[0.3, 0.5, 0.8]", f"topology.agents={agents}", "run.horizon=500"]
    metrics = run(tmp_path, *few, text=SCENE).metrics
    assert (metrics["messages"], metrics["phases"]) == (0, 0)
    assert held() == [[0, 1, 2]] * agents
    alone = run(tmp_path, *few, "learner.kind=ucb", "learner.exploration=8.0", "protocol.kind=silent", text=SCENE)
    assert metrics["regret"] == alone.metrics["regret"]


@pytest.mark.ci
def test_what_is_lost_or_doubled_needs_no_repair(tmp_path):
    plain = run(tmp_path, text=SCENE).metrics
    doubled = run(tmp_path, "links.peer.duplicate=1.0", text=SCENE).metrics
    assert doubled["regret"] == plain["regret"]
    assert doubled["duplicates_dropped"] == plain["messages"]
    deaf, alone = (
        run(tmp_path, *how, text=SCENE).metrics for how in (["links.peer.loss=1.0"], ["protocol.kind=silent"])
    )
    assert deaf["regret"] == alone["regret"]
    assert (deaf["replaced_arms"], alone["messages"]) == (0, 0)
    assert deaf["messages"] == 5 * 13


def test_the_world_must_not_give_out_the_arms(tmp_path):
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, "bandit.arms_per_agent=3", text=SCENE)
    assert "bandit.arms_per_agent: leave it out: gosine assigns the arms itself" in error.value.lines[0]


def test_who_has_no_neighbour_asks_nobody(tmp_path):
    single = ["topology.agents=1", "bandit.arms=30", "bandit.means=uniform"]
    assert run(tmp_path, *single, text=SCENE).metrics["messages"] == 0
