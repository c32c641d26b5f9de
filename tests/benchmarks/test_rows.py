"""The table of each benchmark, small, measured in this process."""

import networkx as nx
import numpy as np
import pytest
from helpers.measured import rows_of

import benchmarks
from benchmarks import (
    commands,
    cooperative,
    decisions,
    faults,
    messages,
    million,
    procurement,
    rounds,
    scale,
    slots,
    vertical,
)
from benchmarks.measure import point_of


@pytest.fixture
def small(monkeypatch):
    def change(module, **constants):
        for name, value in constants.items():
            monkeypatch.setattr(module, name, value)

    return change


@pytest.mark.ci
def test_messages_has_a_row_for_each_graph_and_latency(small, monkeypatch):
    monkeypatch.setattr(messages, "GRAPHS", {"ring of 5": lambda: nx.cycle_graph(5)})
    rows = rows_of("messages", times=2)
    assert [tuple(row.values())[:3] for row in rows] == [
        ("ring of 5", latency, "event") for latency in ("random", "equal")
    ]
    assert list(rows[0])[3:] == [
        "ratio", "ratio_noise", "ratio_heap", "ratio_gc", "hops_per_s", "base_hops_per_s", "heap_hops_per_s",
    ]  # fmt: skip
    assert min(row["hops_per_s"] for row in rows) > 0


@pytest.mark.parametrize("latency", ["random", "equal"])
@pytest.mark.parametrize("graph", [nx.cycle_graph(10), nx.complete_graph(9), messages._connected(40, 0.1)])
def test_every_hop_that_ours_has_less_than_a_full_flood_is_known(small, graph, latency):
    """The last arrival ends the round; what came from several neighbours at once goes back to none of them."""
    name = f"{graph.number_of_edges()} links"
    small(messages, GRAPHS={name: lambda: graph})
    net, latencies = messages._graph(name, latency)
    full = len(net) * (2 * net.number_of_edges() - len(net) + 1)
    assert messages._heap(net, latencies).work == messages._process_per_message(net, latencies).work == full
    takes = {**latencies, **{(second, first): time for (first, second), time in latencies.items()}}
    nx.set_edge_attributes(net, latencies, "takes")
    arrivals = dict(nx.all_pairs_dijkstra_path_length(net, weight="takes"))
    senders = {
        (item, node): [other for other in net[node] if at[other] + takes[node, other] == at[node]]
        for item, at in arrivals.items()
        for node in net
    }
    back = sum(len(some) - 1 for some in senders.values() if some)
    end = max(max(at.values()) for at in arrivals.values())
    held_at_the_end = {  # by the node that is the last to take something in: one of these
        sum(len(net[node]) - len(senders[item, node]) for item in net if arrivals[item][node] == end)
        for node in net
        if any(at[node] == end for at in arrivals.values())
    }
    assert full - messages._network(net, latencies).work - back in held_at_the_end


@pytest.mark.ci
def test_every_row_stands_beside_a_hop_where_nothing_goes_wrong(small):
    small(faults, _AGENTS=20)
    rows = rows_of("faults")
    assert [row["faults"] for row in rows] == list(faults._CASES)
    assert all(row["ratio"] == 1.0 for row in rows if row["faults"] == "none")
    assert all(row["us_per_hop"] > 0 for row in rows)


@pytest.mark.ci
def test_rounds_are_timed_and_profiled(small):
    ring = 'topology = { family = "ring", agents = 6 }\nprotocol = { kind = "gis" }'
    small(rounds, CASES=(rounds.Case("gis, ring of 6", ring),))
    (row,) = rows_of("rounds")
    assert (row["round"], row["engine"]) == ("gis, ring of 6", "event")
    assert 0 < row["in_simpy"] < 1
    assert min(row["messages"], row["seconds"], row["peak_mib"]) > 0


@pytest.mark.ci
def test_the_same_run_of_scale_and_million_counts_the_same(small):
    small(scale, COMPONENTS=(1, 2))
    small(million, COMPONENTS=2)
    smaller, larger = rows_of("scale")
    (once,) = rows_of("million")
    assert [row["agents"] for row in (smaller, larger, once)] == [100, 200, 200]
    assert smaller["growth"] == "-"
    assert isinstance(larger["growth"], float)
    assert {**once, "seconds": 0, "peak_mib": 0} == {
        name: 0 if name in ("seconds", "peak_mib") else larger[name] for name in once
    }
    assert min(row["peak_mib"] for row in (smaller, larger, once)) > 10
    assert "million" not in benchmarks.NAMES


@pytest.mark.slow  # a dozen processes, half a minute
def test_commands_are_beside_a_python_that_does_nothing(small):
    small(commands, LONG="star.toml", REPLICATIONS=2)
    nothing, *rows = rows_of("commands")
    assert nothing["ratio"] == 1
    assert len(rows) == 8
    assert all(row["ratio"] > 0.5 and row["seconds"] > 0 for row in rows)


@pytest.mark.ci
def test_each_figure_is_measured_in_three_ways(small):
    small(cooperative, AGENTS=6, HORIZON=40, CYCLE=8, LONG_HORIZON=60, FEW=2)
    rows = rows_of("cooperative")
    assert [row["what"].split(": ")[0] for row in rows[::3]] == ["RCL, 1 hop", "RCL, 3 hops", "DDUCB"]
    assert [row["slots"] for row in rows] == [40, 30, 40] * 2 + [60, 30, 60]
    assert all(row["seconds"] == pytest.approx(row["µs a slot"] * row["slots"] / 1e6) for row in rows)
    assert [row["of numpy"] for row in rows[2::3]] == [1.0] * 3


@pytest.mark.ci
def test_every_loop_is_beside_the_bare_one_and_numpy(small):
    scenario = decisions._SCENARIO.replace("10000", "300").replace("agents = 100", "agents = 4")
    cases = {"shared": (), "silent": ("protocol.kind=silent",)}
    small(decisions, HORIZON=2_000, AGENTS=4, NUMPY_AGENTS=2, NUMPY_HORIZON=30, _SCENARIO=scenario, _CASES=cases)
    shared, silent, bare, numpy = rows_of("decisions")
    assert shared["syncs"] > 0
    assert (silent["syncs"], bare["syncs"]) == (0, "")
    assert (bare["of bare"], numpy["faster"]) == (1, 1)
    assert min(numpy["µs"], bare["µs"]) > 0


@pytest.mark.ci
def test_the_parts_of_a_simulation_add_up_and_each_choice_is_timed(small):
    small(procurement, _SCENARIO=procurement._SCENARIO.replace("100_000", "3_000"), CALLS=100, PROGRAMMES=3)
    whole, *rows = rows_of("procurement")
    parts = {row["what"]: row["value"] for row in rows}
    assert whole["value"] == pytest.approx(sum(parts[name] for name in ("drawing", "oracle", "all else")))
    for threshold in procurement.THRESHOLDS:
        assert min(parts[f"one {how} choice, threshold {threshold}"] for how in ("greedy", "exact")) > 0
    assert [benchmarks.text(row, "share") for row in rows[3:]] == [""] * 4


@pytest.mark.ci
def test_what_is_taken_out_of_the_loop_leaves_the_decisions_much_as_they_were():
    point = point_of(procurement._SCENARIO.replace("100_000", "3_000"))
    _, learner = procurement.played(point)
    for variant, draws in (("undrawn", False), ("unchosen", True)):
        _, other = procurement.played(point, variant, draws=draws)
        assert other.good.sum() / other.units.sum() == pytest.approx(learner.good.sum() / learner.units.sum(), rel=0.1)
        assert np.abs(other.units - learner.units).sum() < 0.1 * learner.units.sum()


def test_what_sharing_costs_stands_beside_what_is_done_alone(small):
    small(slots, AGENTS=4, HORIZON=40, COMPLETE_HORIZON=20, COMPILED_HORIZON=90)
    rows = rows_of("slots")
    assert [row["messages"] for row in rows] == [0, 4 * 2 * 40, 0, 4 * 3 * 20, 0, 0]
    assert [row["µs a message"] == "" for row in rows] == [True, False, True, False, True, True]
    costs = [1e6 * (rows[at]["seconds"] - rows[at - 1]["seconds"]) / rows[at]["messages"] for at in (1, 3)]
    assert [rows[at]["µs a message"] for at in (1, 3)] == pytest.approx(costs)


@pytest.mark.ci
def test_each_learner_is_measured_plain_and_gathered(small):
    small(vertical, SLOTS=300)
    rows = rows_of("vertical")
    assert [(row["learner"], row["with"]) for row in rows] == [
        (learner, way) for learner in ("linucb", "lints") for way in ("plain", *vertical._WAYS)
    ]
    assert [row["times"] for row in rows if row["with"] == "plain"] == [1.0, 1.0]
    assert min(row["slots_per_s"] for row in rows) > 0
