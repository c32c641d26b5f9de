"""HDP-MAB end to end: the cases of Li & Song's table 2, exact costs, and means that differ between agents."""

import numpy as np
import pytest
from helpers.examples import examples
from helpers.scenes import run, study
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.topology import describe

# Gaps so wide that every run commits long before its horizon: no round is cut.
HYBRID = """\
[run]
horizon = 4_000
[topology]
family = "hybrid"
components = [20, 20, 20, 20, 20]
[links.uplink]
cost = 50
[bandit]
kind = "bernoulli"
arms = 4
means = [0.9, 0.4, 0.3, 0.1]
[learner]
kind = "elimination"
epsilon = 1.0
[protocol]
kind = "sink"
"""

CASES = {
    1: ("topology.components=[20,20,20,20,20]",),
    2: ("topology.components=[63,24,6,4,3]",),
    3: ("topology.components=[100]",),
    4: ("topology.components=[20,20,20,20,20]", "topology.inside=random", "topology.p=0.3"),
    5: ("topology.components=[20,20,20,20,20]", "topology.inside=star"),
    6: ("topology.components=[" + ",".join(["1"] * 100) + "]",),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("case", "collect", "cost_of_a_round"),
    [
        (1, "sink", 345),
        (2, "sink", 345),
        (3, "sink", 149),
        (5, "sink", 345),
        (6, "sink", 5000),
        (1, "gis", 1200),
        (2, "gis", 2503),
        (3, "gis", 5000),
        (5, "gis", 440),
        (6, "gis", 5000),
    ],
)
def test_costs_of_the_cases(tmp_path, case, collect, cost_of_a_round):
    result = run(tmp_path, *CASES[case], f"protocol.collect={collect}", text=HYBRID)
    rounds = result.metrics["rounds"]
    assert rounds >= 1
    assert result.metrics["cost"] == cost_of_a_round * rounds
    slots = {("sink", 6): 0, ("gis", 6): 0, ("gis", 5): 2}.get((collect, case), 1)
    assert result.metrics["round_slots"] == slots
    assert result.metrics["broadcasts"] == (rounds if case != 6 else 0)


@pytest.mark.parametrize("replication", range(3))
def test_random_components_cost_what_the_depths_of_their_trees_say(tmp_path, replication):
    point = study(tmp_path, *CASES[4], text=HYBRID).points[0]
    result = point.simulation(replication).run()
    topology = point.topology(replication)
    parents = topology.sink_parents.tolist()
    slots_used = {node: set() for node in range(100)}
    for node in range(100):
        hop, here = 0, node
        while parents[here] >= 0:  # the item of node uses the link above here in slot hop
            slots_used[here].add(hop)
            here, hop = parents[here], hop + 1
    activations = sum(map(len, slots_used.values()))
    rounds = result.metrics["rounds"]
    assert result.metrics["cost"] == (activations + 5 * 50) * rounds
    assert result.metrics["round_slots"] == max(part.radius for part in topology.extremes)
    synchronised = run(tmp_path, *CASES[4], "protocol.collect=gis", text=HYBRID, replication=replication)
    assert synchronised.metrics["cost"] == (describe(topology)["links_per_round"] + 250) * rounds


def test_the_cases_learn_the_same_where_they_wait_as_long(tmp_path):
    # The noise, the rewards and the average are the same; only the waiting can differ.
    regrets = {case: run(tmp_path, *CASES[case], text=HYBRID).metrics["regret"] for case in (1, 2, 3, 5)}
    assert len(set(regrets.values())) == 1


@pytest.mark.parametrize(("p", "participants"), [(1.0, 30), (0.1, 3), (0.35, 11)])
def test_master_worker_costs_an_uplink_for_each_participant(tmp_path, p, participants):
    changes = (
        "topology.family=star",
        "topology.agents=30",
        "protocol.kind=master-worker",
        f"learner.participation={p}",
    )
    text = HYBRID.replace("components = [20, 20, 20, 20, 20]\n", "")
    result = run(tmp_path, *changes, text=text)
    assert result.metrics["cost"] == 50 * participants * result.metrics["rounds"] > 0


@pytest.mark.parametrize("family", ["star", "ring", "complete", "tree", "grid"])
def test_gis_costs_its_activations(tmp_path, family):
    changes = (f"topology.family={family}", "topology.agents=30", "protocol.kind=gis", "links.peer.cost=3")
    point = study(tmp_path, *changes, text=HYBRID.replace("components = [20, 20, 20, 20, 20]\n", "")).points[0]
    result = point.simulation(0).run()
    assert result.metrics["cost"] == 3 * describe(point.topology(0))["links_per_round"] * result.metrics["rounds"] > 0


@examples(15)
@given(seed=st.integers(0, 10**6), agents=st.integers(2, 25), kind=st.sampled_from(["gis", "sink"]))
def test_never_more_than_the_bound_of_the_theorem(tmp_path_factory, seed, agents, kind):
    changes = (f"topology.agents={agents}", f"run.seed={seed}", f"protocol.kind={kind}")
    text = HYBRID.replace('family = "hybrid"\ncomponents = [20, 20, 20, 20, 20]', 'family = "random"\np = 0.4')
    result = run(tmp_path_factory.mktemp("bound"), *changes, text=text)
    bound = result.topology["diameter"] * result.topology["links"] + (50 if kind == "sink" else 0)
    assert result.metrics["cost"] <= bound * result.metrics["rounds"]


def test_aggregates_weigh_components_by_their_size_or_not(tmp_path):
    # Unweighted, the three agents of the smallest component count as much as the 63 of the largest.
    changes = ("bandit.heterogeneity=0.3", "bandit.means=[0.55,0.5,0.45,0.4]", "run.horizon=20_000")
    sizes = "topology.components=[63,24,6,4,3]"
    weighted = run(tmp_path, *changes, sizes, text=HYBRID)
    paper = run(tmp_path, *changes, sizes, 'learner.aggregate="paper"', text=HYBRID)
    assert weighted.fingerprint != paper.fingerprint
    alike = [run(tmp_path, *changes, f"learner.aggregate={name}", text=HYBRID) for name in ("weighted", "paper")]
    assert alike[0].fingerprint == alike[1].fingerprint  # of equal sizes both are the same


def test_a_participation_below_one_needs_a_server_that_chooses(tmp_path):
    from netbandit.scenario.errors import ScenarioError

    with pytest.raises(ScenarioError, match=r"--set learner.participation: .*master-worker"):
        study(tmp_path, "learner.participation=0.5", text=HYBRID)


HETEROGENEOUS = """\
[run]
horizon = 8_000_000
[topology]
family = "star"
agents = 30
[bandit]
kind = "bernoulli"
arms = 3
means = [0.6, 0.4, 0.4]
heterogeneity = 0.3
[learner]
kind = "elimination"
epsilon = 1.0
[protocol]
kind = "master-worker"
"""


@pytest.mark.parametrize("seed", range(3))
def test_with_means_that_differ_only_those_who_share_find_the_best_arm(tmp_path, seed):
    quarters = {}
    for kind in ("master-worker", "silent"):
        curve = run(tmp_path, f"protocol.kind={kind}", f"run.seed={seed}", text=HETEROGENEOUS).curves["regret"]
        at = curve.at(np.arange(0, 8_000_001, 2_000_000))
        quarters[kind] = np.diff(at)
    assert quarters["master-worker"][0] > 0
    assert quarters["master-worker"][1:] == pytest.approx([0, 0, 0], abs=1e-3)
    # Each agent alone settles on its own best arm: regret goes on growing, about as fast in each quarter.
    assert quarters["silent"][-1] > 0.9 * quarters["silent"][2] > 0
    assert quarters["silent"][-1] > quarters["master-worker"].sum()
