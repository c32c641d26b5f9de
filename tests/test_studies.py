"""What the README says of the three studies is so: the same scenarios, with as many replications as it takes."""

import tomllib
from pathlib import Path

import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def points(name, replications, *overrides):
    """Return (parameters, topology, mean of each metric) of every point."""
    found = []
    for point in check(load(SCENARIOS / name, [f"run.replications={replications}", *overrides])).points:
        runs = [point.simulation(number).run() for number in range(replications)]
        means = {metric: sum(run.metrics[metric] or 0 for run in runs) / replications for metric in runs[0].metrics}
        found.append((point.parameters, runs[0].topology, means))
    return found


@pytest.mark.ci
def test_kilometres_count_where_decisions_are_fast():
    found = {
        (Path(parameters["topology.file"]).stem, parameters["run.slot"]): (topology, means)
        for parameters, topology, means in points("continents.toml", 5, 'sweep.run.slot=["100 ms", "10 ms", "100 us"]')
    }
    networks = ("internet2", "geant", "redclara")
    assert max(networks, key=lambda name: found[name, "10 ms"][0]["diameter"]) == "internet2"
    waits = [found[name, "100 us"][1]["round_slots"] for name in networks]
    assert 800 < waits[0] < waits[1] < waits[2] < 2_300
    for name in networks:
        at_leisure, ten, fast = (found[name, slot][1]["regret"] for slot in ("100 ms", "10 ms", "100 us"))
        assert ten < 1.01 * at_leisure  # the same luck in all three, so the difference is exact
        assert fast > 1.3 * at_leisure


@pytest.mark.ci
def test_cost_grows_with_links_and_ways_and_regret_with_ways():
    found = {
        parameters["topology.family"]: (topology, means)
        for parameters, topology, means in points("cost_vs_diameter.toml", 3, "sweep.topology.agents=[80]")
    }
    assert len(found) == 11
    cost = {family: means["cost"] for family, (_, means) in found.items()}
    assert min(cost, key=cost.get) == "star"
    assert set(sorted(cost, key=cost.get)[-3:]) == {"path", "ring", "complete"}
    assert 15 < cost["complete"] / cost["star"] < 25
    assert 25 < cost["path"] / cost["star"] < 35
    fixed = ["complete", "star", "tree", "grid", "ring", "path"]  # the others are drawn afresh in every replication
    assert sorted(fixed, key=lambda family: found[family][0]["diameter"]) == fixed
    assert sorted(fixed, key=lambda family: found[family][1]["regret"]) == fixed


@pytest.mark.ci
def test_the_best_split_of_a_budget_at_equal_privacy():
    regret = {}
    for total in (6.4, 1.6):
        found = points(
            "budget.toml",
            10,
            f"learner.epsilon_total={total}",
            "sweep.learner.rounds=[2, 4, 8]",
            "sweep.learner.participation=[0.125, 0.25, 0.5]",
        )
        assert [means["epsilon"] for _, _, means in found] == pytest.approx([total] * len(found))
        for parameters, _, means in found:
            if parameters["learner.rounds"] * parameters["learner.participation"] == 1:
                regret[total, parameters["learner.rounds"]] = means["regret"]
    assert 0.85 < regret[6.4, 2] / regret[6.4, 4] < 1.15
    assert 1.4 * max(regret[6.4, 2], regret[6.4, 4]) < regret[6.4, 8]
    assert 1.1 * regret[1.6, 2] < regret[1.6, 4] < regret[1.6, 8]


@pytest.mark.ci
def test_cheap_links_beat_every_split_at_equal_cost_and_privacy():
    found = points("equal_cost.toml", 10, "sweep.learner.epsilon_total=[1.6, 6.4]")
    by_way = {}
    for parameters, _, means in found:
        total = parameters["learner.epsilon_total"]
        assert means["cost"] <= 1600
        assert means["epsilon"] == pytest.approx(total)
        way = "server" if parameters.get("protocol.kind", "master-worker") == "master-worker" else "cheap"
        by_way.setdefault((total, way), []).append(means["regret"])
    assert max(by_way[6.4, "cheap"]) < 0.7 * min(by_way[6.4, "server"])
    assert max(by_way[1.6, "cheap"]) < 0.9 * min(by_way[1.6, "server"])


def test_no_claim_compares_rates_of_participation_without_saying_what_they_spend():
    claims = tomllib.loads((SCENARIOS / "papers" / "dpmab" / "claims.toml").read_text())["claims"]
    told = [claim["id"] for claim in claims if "spends" in claim.get("note", "")]
    assert {"fig5-order", "fig7-trade-off"} <= set(told)


@pytest.mark.ci
def test_listening_to_neighbours_pays_until_the_latency_that_the_scenario_says():
    study = check(load(SCENARIOS / "feducb_delay.toml"))
    wanted = [("ring", "1 slots", 1), ("ring", "3 slots", 1), ("star", "2 slots", 2), ("star", "1 slots", 1)]
    found = {
        key: [point.simulation(number).run().metrics["regret"] for number in range(4)]
        for point in study.points
        if (key := tuple(point.parameters[name] for name in ("topology.family", "links.peer.latency", "protocol.ttl")))
        in [*wanted, ("ring", "1 slots", 0)]
    }
    alone = sum(found["ring", "1 slots", 0])
    assert sum(found["ring", "1 slots", 1]) < 0.9 * alone
    assert sum(found["star", "2 slots", 2]) < 0.9 * alone
    assert sum(found["ring", "3 slots", 1]) > 1.3 * alone
    assert sum(found["star", "1 slots", 1]) > alone
