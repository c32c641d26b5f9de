"""Learners of other libraries in ``examples/learners``: alone, each agent does what the library does by itself."""

import sys
from importlib import import_module
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.util.blas_threads import one_blas_thread
from netbandit.util.streams import Streams

FOLDER = Path(__file__).parents[1] / "examples" / "learners"


@pytest.fixture(autouse=True)
def _found(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])


def point_of(name, *overrides):
    return check(load(FOLDER / f"{name}.toml", overrides)).points[0]


def run(name, *overrides):
    return point_of(name, *overrides).simulation(0).run()


def played(name, kind, monkeypatch, *overrides, slots=40, agents=4):
    """Run an example alone; return its metrics, and what each agent saw, in order."""
    point = point_of(name, "protocol.kind=silent", f"run.horizon={slots}", *overrides)
    learner = getattr(sys.modules[name], kind)
    histories = []
    make = learner.make

    def watched(self, world, agent, rng):
        made, history = make(self, world, agent, rng), []
        histories.append(history)
        choose, learn = made.choose, made.learn
        made.choose = lambda slot, actions: (history.append([actions, choose(slot, actions)]), history[-1][1])[1]
        made.learn = lambda slot, arm, reward, vector: (history[-1].append(reward), learn(slot, arm, reward, vector))
        return made

    monkeypatch.setattr(learner, "make", watched)
    metrics = point.simulation(0).run().metrics
    assert metrics["messages"] == 0
    assert [len(history) for history in histories] == [slots] * agents
    return metrics, histories


def test_mabwiser_chooses_the_same_in_a_loop_of_its_own(monkeypatch):
    mab = pytest.importorskip("mabwiser.mab")
    _, histories = played("mabwiser_agents", "MabWiser", monkeypatch)
    for agent, history in enumerate(histories):
        seed = int(Streams(0, 0).generator("learner.agent", agent).integers(2**31))
        alone = mab.MAB(list(range(4)), mab.LearningPolicy.EpsilonGreedy(epsilon=0.1), seed=seed)
        for slot, (_, arm, reward) in enumerate(history):
            assert arm == (slot if slot < 4 else alone.predict())
            alone.partial_fit([arm], [reward])


def test_scikit_learn_is_fitted_as_by_hand(monkeypatch):
    linear = pytest.importorskip("sklearn.linear_model")
    _, histories = played("scikit_learn", "Models", monkeypatch)
    for agent, history in enumerate(histories):
        rng = Streams(0, 0).generator("learner.agent", agent)
        alone = linear.SGDRegressor(alpha=0.0, learning_rate="constant", eta0=0.1, random_state=0)
        for slot, (actions, arm, reward) in enumerate(history):
            random = not slot or rng.random() < 0.1
            assert arm == (rng.integers(6) if random else alone.predict(actions).argmax())
            alone.partial_fit(actions[arm][np.newaxis], [reward])


@pytest.mark.parametrize("example", ["mabwiser_agents", "scikit_learn"])
def test_agents_that_tell_each_other_run_as_well(example):
    pytest.importorskip({"mabwiser_agents": "mabwiser", "scikit_learn": "sklearn"}[example])
    metrics = run(example, "run.horizon=20", "protocol.kind=relay").metrics
    assert metrics["messages"] > 0
    assert metrics["reward"] != 0


def test_channels_collide_as_often_as_they_must():
    channels = import_module("channels").Channels(means=[0.9, 0.5, 0.2]).fresh()
    channels.start(3, Streams(0, 0).generator)
    for profile in product(range(3), repeat=3):
        arms = np.array(profile)
        paid = channels.pull(0, np.arange(3), arms, np.full(3, 0.5))
        alone = [profile.count(arm) == 1 for arm in profile]
        assert paid == pytest.approx(alone * np.array([0.9, 0.5, 0.2])[arms], abs=1e-12)
        assert channels.regrets(0, np.arange(3), arms).sum() == pytest.approx(1.6 - paid.sum(), abs=1e-12)
    assert channels.figures()["collisions"] == pytest.approx(1 - (1 - 1 / 3) ** 2, abs=1e-12)


def test_random_radios_collide_as_often_as_they_must(monkeypatch):
    metrics, _ = played("channels", "Anywhere", monkeypatch, slots=400, agents=3)
    # The share of a slot is in [0, 1], so its standard deviation is at most 0.5.
    assert metrics["collisions"] == pytest.approx(1 - (1 - 1 / 6) ** 2, abs=4 * 0.5 / 400**0.5)


@pytest.mark.parametrize("kind", ["MusicalChairs", "MCTopM"])
def test_radios_find_the_best_channels_one_each(monkeypatch, kind):
    metrics, histories = played("channels", kind, monkeypatch, f"learner.kind=channels:{kind}", slots=1500, agents=3)
    for slot in range(1400, 1500):
        assert sorted(history[slot][1] for history in histories) == [0, 1, 2]
    collided = [reward == 0 for history in histories for _, _, reward in history]
    assert metrics["collisions"] == sum(collided) / len(collided)
    if kind == "MusicalChairs":  # who has a chair stays
        assert all(len({arm for _, arm, reward in history[300:] if reward}) == 1 for history in histories)


def test_agents_that_are_never_linked_learn_alone():
    keys = "run.horizon=60", "learner.alpha=0.0"
    served, alone = run("clusters", *keys), run("clusters", *keys, "protocol.kind=silent")
    assert served.fingerprint != alone.fingerprint  # messages
    assert served.metrics["messages"] > 0
    assert served.metrics["regret"] == alone.metrics["regret"]


def test_agents_that_stay_linked_are_one_linucb_with_the_data_of_all(monkeypatch):
    keys = "run.horizon=60", "learner.alpha=100.0", "learner.growth=1.0001", "protocol.kind=pooled", "topology.agents=3"
    point, chosen = point_of("clusters", *keys), []
    clusters = sys.modules["clusters"].Clusters
    choose, learn = clusters.choose, clusters.learn

    def watched(self, slot, agents):
        chosen.append([self.actions(agents).copy(), choose(self, slot, agents)])
        return chosen[-1][1]

    monkeypatch.setattr(clusters, "choose", watched)
    monkeypatch.setattr(clusters, "learn", lambda *given: (chosen[-1].append(given[-1].copy()), learn(*given))[1])
    point.simulation(0).run()
    assert len(chosen) == 60
    matrix, sums = np.eye(8), np.zeros(8)
    for shown, arms, rewards in chosen:
        bounds = shown @ np.linalg.solve(matrix, sums) + 0.5 * np.sqrt(
            np.einsum("nki,ij,nkj->nk", shown, np.linalg.inv(matrix), shown)
        )
        assert (arms == bounds.argmax(axis=1)).all()
        x = shown[np.arange(3), arms]
        matrix += x.T @ x
        sums += rewards @ x


def test_a_link_is_cut_where_estimates_are_farther_apart_than_they_are_unsure():
    learner = import_module("clusters").Clusters(alpha=0.5).fresh()
    learner.start(SimpleNamespace(actions=None, dimension=1), 3, None)
    # Of three decisions each is unsure by sqrt((1 + ln 4) / 4) = 0.7724; the estimates are 0.75, -0.02 and -0.03.
    learner.serve(np.array([0, 1, 2]), np.array([[3.0, 3.0, 3.0], [3.0, -0.08, 3.0], [3.0, -0.12, 3.0]]))
    assert learner.linked.tolist() == [[True, True, False], [True, True, True], [False, True, True]]
    assert learner.answer_for(0).tolist() == [6.0, -0.2, 6.0]  # over agent 1 agent 2 is of the cluster
    assert learner.figures() == {"clusters": 1}


def test_an_outside_ucb_is_ucb(tmp_path):
    pytest.importorskip("pettingzoo")
    zoo = import_module("petting_zoo")
    env = zoo.Network(FOLDER / "petting_zoo.toml")
    inside = nb.run(FOLDER / "petting_zoo.toml", run__seed=5, run__replications=1, out=tmp_path)
    seen, _ = env.reset(seed=5)
    paid, slot = 0.0, 0
    while env.agents:
        seen, rewards, _, _, _ = env.step({agent: zoo.ucb(seen[agent], slot) for agent in env.agents})
        paid, slot = paid + sum(rewards.values()), slot + 1
    assert slot == 200
    mine, theirs = (dict(zip(table.metric, table.value, strict=True)) for table in (env.results, inside))
    for metric in ("regret", "reward", "messages", "bytes", "delivered"):
        assert mine[metric] == theirs[metric]
    assert paid == mine["reward"]


def test_the_network_is_an_environment_of_pettingzoo():
    test = pytest.importorskip("pettingzoo.test")
    env = import_module("petting_zoo").Network(FOLDER / "petting_zoo.toml")
    test.parallel_api_test(env, num_cycles=250)  # an episode and a part of the next
    env.close()
    assert not env.thread.is_alive()


def by_hand(theta, x):
    """What a network with a hidden layer of 20 expects of a vector of 10, and its gradient."""
    weights, biases, out = theta[:200].reshape(20, 10), theta[200:220], theta[220:240]
    hidden = np.maximum(weights @ x + biases, 0)
    back = out * (hidden > 0)
    return hidden @ out + theta[240], np.concatenate([np.outer(back, x).ravel(), back, hidden, [1.0]])


def test_fn_ucb_is_as_by_hand(monkeypatch):
    pytest.importorskip("torch")
    overrides = "protocol.kind=pooled", "topology.agents=2", "run.horizon=12", "learner.mixing=8", "learner.steps=5"
    point, first, slots = point_of("neural", *overrides), [], []
    fn_ucb = sys.modules["neural"].FnUcb
    start, choose, learn = fn_ucb.start, fn_ucb.choose, fn_ucb.learn

    def started(self, *given):
        start(self, *given)
        first[:] = self.first.tolist()

    def watched(self, slot, agents):
        slots.append([self.actions(agents).copy(), choose(self, slot, agents)])
        return slots[-1][1]

    monkeypatch.setattr(fn_ucb, "start", started)
    monkeypatch.setattr(fn_ucb, "choose", watched)
    monkeypatch.setattr(fn_ucb, "learn", lambda *given: (slots[-1].append(given[-1].copy()), learn(*given))[1])
    point.simulation(0).run()
    with one_blas_thread():
        compare_by_hand(np.array(first), slots)


def compare_by_hand(first, slots):
    networks, matrices, sums = [first, first], np.tile(0.1 * np.eye(241), (2, 1, 1)), np.zeros(241)
    for slot, (shown, arms, rewards) in enumerate(slots):  # a round after every slot
        weight = min(max(slot - 3, 0) / 8, 1)
        known, mean = np.linalg.inv(matrices.sum(axis=0) - 0.1 * np.eye(241)), np.linalg.inv(matrices).mean(axis=0)
        network, estimate = np.mean(networks, axis=0), known @ sums
        for agent, arm in enumerate(arms):
            g = np.array([by_hand(first, x)[1] for x in shown[agent]])
            values = np.array([by_hand(network, x)[0] for x in shown[agent]])
            linear, neural = (
                each + 0.1 * np.sqrt(0.1 * np.einsum("ki,ij,kj->k", g, inverse, g))
                for each, inverse in ((g @ estimate, known), (values, mean))
            )
            assert arm == ((1 - weight) * linear + weight * neural).argmax()
            matrices[agent] += np.outer(g[arm], g[arm])
            sums = sums + rewards[agent] * g[arm]
            xs, ys = [one[0][agent, one[1][agent]] for one in slots[: slot + 1]], [one[2][agent] for one in slots]
            for _ in range(5):
                found = [by_hand(networks[agent], x) for x in xs]
                steps = [2 * (value - y) * gradient for (value, gradient), y in zip(found, ys, strict=False)]
                networks[agent] = networks[agent] - 0.01 * (np.mean(steps, axis=0) + 0.1 / len(xs) * networks[agent])


def test_a_round_of_fn_ucb_moves_its_matrices():
    pytest.importorskip("torch")
    overrides = "run.horizon=3", "topology.agents=2"
    metrics = run("neural", *overrides, "protocol.kind=master-worker").metrics
    row = 20 + 4 * (2 * 241**2 + 2 * 241)
    assert row == 466_596
    assert metrics["rounds"] == 3
    assert metrics["bytes"] == 3 * 2 * 2 * row + (metrics["messages"] - 3 * 2 * 2) * 20
    assert run("neural", *overrides, "protocol.kind=parameter-server").metrics["bytes"] == 3 * 2 * 2 * row
