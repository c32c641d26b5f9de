"""The edges of a run: the horizon at every slot around an event, few agents, few arms, odd means."""

import json
import math

import numpy as np
import pytest
from helpers.scenes import run, run_logged, study

from netbandit.results.safe_files import as_text
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.result import STILL_EXPLORING

CENTRAL = ["protocol.kind=master-worker", "learner.rounds=2", "learner.gap=0.5", "bandit.means=[1.0, 0.0]"]


def two_arms(*more):
    return ["bandit.arms=2", *CENTRAL, *more]


def check_sane(result, horizon):
    metrics = json.loads(as_text(result.metrics), parse_constant=lambda word: pytest.fail(word))
    assert all(isinstance(value, int | float | None) for value in metrics.values())
    assert "inf" not in metrics.values()
    curve = result.curves["regret"]
    assert curve.slots[0] == curve.values[0] == 0
    assert curve.slots[-1] == horizon
    assert curve.values[-1] == result.metrics["regret"]
    assert (curve.values[1:] >= curve.values[:-1]).all()
    assert (curve.slots[1:] > curve.slots[:-1]).all()


def first_phase(folder, monkeypatch, horizon):
    """The length of the first phase, which depends on the horizon."""
    _, phases = run_logged(study(folder, *two_arms(f"run.horizon={horizon}")).points[0], monkeypatch)
    return phases[0][2]


def fixed_point(folder, monkeypatch):
    """A horizon that is the end of the first phase."""
    horizon = 10
    while (length := first_phase(folder, monkeypatch, horizon)) != horizon:
        horizon = horizon + 1 if length > horizon else pytest.fail("stepped over it")
    return horizon


def test_a_phase_that_ends_exactly_at_the_horizon_sends_nothing(tmp_path, monkeypatch):
    horizon = fixed_point(tmp_path, monkeypatch)
    result = run(tmp_path, *two_arms(f"run.horizon={horizon}"))
    assert result.metrics["messages"] == result.metrics["rounds"] == result.metrics["cost"] == 0
    assert result.metrics["regret"] == 4 * horizon // 2
    check_sane(result, horizon)
    after = run(tmp_path, *two_arms(f"run.horizon={horizon + 4}"))
    assert after.metrics["messages"] == 8
    assert after.metrics["rounds"] == 1


def test_a_round_cut_by_the_horizon_costs_but_does_not_count(tmp_path, monkeypatch):
    horizon = 300
    first = first_phase(tmp_path, monkeypatch, horizon)
    wait = horizon - first
    assert wait > 10
    overrides = two_arms(f"run.horizon={horizon}")
    cut = run(tmp_path, *overrides, f'links.uplink.latency="{wait} ms"')
    assert (cut.metrics["rounds"], cut.metrics["round_slots"]) == (0, None)  # a wait that did not end is none of zero
    assert cut.kinds == {"UPLOAD": (4, 4 * 36)}
    assert cut.metrics["cost"] == 100
    # Each agent has pulled the bad arm in half of the phase, and the good one while it waited.
    assert cut.metrics["regret"] == 4 * first // 2
    check_sane(cut, horizon)


def test_a_round_that_ends_exactly_at_the_horizon_counts(tmp_path, monkeypatch):
    horizon = 300
    first = first_phase(tmp_path, monkeypatch, horizon)
    half = (horizon - first) * 500
    for late, rounds in ((-1, 1), (0, 1), (1, 0)):
        result = run(tmp_path, *two_arms(f"run.horizon={horizon}"), f'links.uplink.latency="{half + late} us"')
        assert result.metrics["rounds"] == rounds
        assert result.kinds["ANSWER"] == (4, 4 * 24)
        assert result.metrics["round_slots"] == (horizon - first if rounds else None)
        check_sane(result, horizon)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("protocol", ["master-worker", "gis", "sink", "flooding", "silent"])
@pytest.mark.parametrize("family", ["star", "complete"])
@pytest.mark.parametrize("agents", [1, 2])
@pytest.mark.parametrize("horizon", [1, 2, 700])
def test_few_agents_and_short_lives(tmp_path, protocol, family, agents, horizon):
    result = run(
        tmp_path,
        f"protocol.kind={protocol}",
        f"topology.family={family}",
        f"topology.agents={agents}",
        f"run.horizon={horizon}",
        "bandit.arms=2",
        "bandit.means=[1.0, 0.0]",
        "learner.rounds=3",
        "learner.gap=0.9",
    )
    check_sane(result, horizon)
    assert result.metrics["regret_per_agent"] == result.metrics["regret"] / agents
    if horizon == 1:
        assert result.metrics["messages"] == result.metrics["rounds"] == 0
        assert result.metrics["regret"] == 0
    if agents == 1 and protocol in ("gis", "flooding", "silent"):
        assert result.metrics["messages"] == 0


def test_one_arm_is_played_without_a_word(tmp_path):
    result = run(tmp_path, "bandit.arms=1")
    assert result.metrics["regret"] == result.metrics["rounds"] == result.metrics["messages"] == 0
    assert result.metrics["epsilon"] == 0
    check_sane(result, 400)


def test_equal_means_cost_nothing(tmp_path):
    result = run(tmp_path, "bandit.means=[0.5, 0.5, 0.5]", "run.horizon=3000")
    assert result.metrics["regret"] == 0
    check_sane(result, 3000)


def test_a_budget_ends_the_talk(tmp_path):
    short = run(tmp_path, "run.horizon=20000", "bandit.means=[0.5, 0.5, 0.5]", "learner.rounds=2", "learner.gap=0.5")
    assert short.metrics["rounds"] == 2


@pytest.mark.parametrize("epsilon", ["1e-320", "1e-9", "1e308", "inf"])
def test_any_epsilon(tmp_path, epsilon):
    result = run(tmp_path, f"learner.epsilon={epsilon}", "run.horizon=2000")
    check_sane(result, 2000)
    if epsilon in ("1e-320", "1e-9"):
        assert result.metrics["rounds"] == 0  # the first phase outlasts the horizon
        assert result.metrics["epsilon"] == 0
    if epsilon == "inf":
        assert result.metrics["epsilon"] is result.metrics["epsilon_claimed"] is None


def test_what_is_infinite_is_null(tmp_path):
    result = run(tmp_path, "links.peer.cost=1e308", "run.horizon=3000")
    assert result.metrics["activations"] > 1
    assert result.metrics["cost"] is None


def test_the_longest_horizon(tmp_path):
    result = run(tmp_path, "run.horizon=1_000_000_000_000", "bandit.means=[0.9, 0.5, 0.1]", 'run.slot="10 h"')
    assert result.metrics["rounds"] >= 1
    assert math.isfinite(result.metrics["regret"])
    assert result.curves["regret"].slots[-1] == 10**12


def test_agents_that_lag_behind_are_told_all_the_same(tmp_path, monkeypatch):
    point = study(
        tmp_path,
        "topology.family=star",
        "topology.agents=2",
        "protocol.kind=master-worker",
        "learner.participation=0.5",
        "learner.rounds=8",
        "learner.gap=0.5",
        "bandit.means=[0.5, 0.5, 0.5]",
        'links.uplink.latency={ uniform = ["0 ms", "2.5 ms"] }',
        "run.horizon=6000",
    ).points[0]
    result, phases = run_logged(point, monkeypatch)
    assert result.metrics["rounds"] == result.metrics["broadcasts"] == 8
    assert [sum(agent == who for _, who, _ in phases) for agent in range(2)] == [8, 8]


DRAWN = ["protocol.kind=master-worker", "topology.agents=20", "learner.participation=0.2"]


def test_who_is_drawn_among_agents_that_differ_is_remarked_where_the_width_leaves_it_out(tmp_path):
    def remarks(*overrides):
        return run(tmp_path, *DRAWN, *overrides).remarks

    (line,) = remarks("bandit.heterogeneity=0.3")
    assert line.startswith("4 of 20 agents are drawn for a round, and their means differ by up to 0.")
    assert "which the width C(r) does not cover" in line
    assert remarks() == ()  # all are alike
    assert remarks("bandit.heterogeneity=0.3", "learner.difference=0.6") == ()
    assert remarks("bandit.heterogeneity=0.3", "learner.participation=1.0") == ()
    assert remarks("bandit.heterogeneity=0.3", "protocol.kind=silent") == (STILL_EXPLORING,)


def test_the_best_arm_stays_where_the_width_covers_who_is_drawn(tmp_path):
    """Each agent prefers another arm; the mean over all agents is what counts. Two of these twelve runs lost it."""
    overrides = [*DRAWN, "bandit.arms=2", "bandit.means=[0.55, 0.45]", "bandit.heterogeneity=0.4", "run.horizon=20000"]

    def lost(difference):
        point = study(tmp_path, *overrides, f"learner.difference={difference}").points[0]
        curves = [point.simulation(number).run().curves["regret"] for number in range(12)]
        slopes = [np.diff(curve.values)[-1] / np.diff(curve.slots)[-1] for curve in curves]
        return sum(slope > 1.0 for slope in slopes)  # 20 agents at the worse arm to the end

    assert lost(0.0) == 2
    assert lost(0.8) == 0


def test_what_a_run_spends_can_be_given_instead(tmp_path):
    """6.4 of four agents, and of the two that upload in a round: what is spent is the same, epsilon is not."""

    def played(*overrides):
        return run(tmp_path, "protocol.kind=master-worker", "run.horizon=20000", *overrides)

    whole, half = (played("learner.epsilon_total=6.4", f"learner.participation={p}") for p in (1.0, 0.5))
    assert whole.metrics["epsilon"] == half.metrics["epsilon"] == 6.4
    assert whole.metrics["epsilon_claimed"] == 6.4
    assert half.metrics["epsilon_claimed"] == 12.8  # the paper has it for M, whoever uploads
    assert whole.fingerprint == played("learner.epsilon=1.6").fingerprint
    assert half.fingerprint == played("learner.epsilon=3.2", "learner.participation=0.5").fingerprint
    assert played("learner.epsilon_total=inf").fingerprint == played().fingerprint
    with pytest.raises(ScenarioError, match=r"epsilon_total: cannot be given with epsilon"):
        played("learner.epsilon_total=6.4", "learner.epsilon=1.6")


@pytest.mark.parametrize("protocol", ["gis", "silent", "gis with a deadline"])
def test_the_best_arm_is_lost_where_regret_goes_on_growing(tmp_path, protocol):
    """After a budget of one round everybody pulls one arm: the curve is level at the end if it is the best for all."""
    kind, _, deadline = protocol.partition(" with a ")
    keys = ["run.horizon=3000", "bandit.means=[0.5, 0.54, 0.53]", "learner.rounds=1", "learner.gap=1.0"]
    keys += [f"protocol.kind={kind}"] + (['protocol.deadline="30 ms"'] if deadline else [])
    point = study(tmp_path, *keys).points[0]
    lost = []
    for replication in range(12):
        result = point.simulation(replication).run()
        late = result.curves["regret"].at(np.array([2_500, 3_000]))
        lost.append(result.metrics["best_lost"])
        assert lost[-1] == int(late[1] > late[0])
    assert set(lost) == {0, 1}


def test_one_of_several_best_arms_is_enough(tmp_path):
    found = run(tmp_path, "bandit.means=[0.7, 0.7, 0.7]", "learner.rounds=1", "learner.gap=1.0")
    assert found.metrics["best_lost"] == 0
