import itertools
import math
import os
import subprocess
import sys
from dataclasses import replace

import matplotlib
import networkx
import pytest
from helpers.made_up_runs import arranged, family_sweep, made_up, study_of, write

from netbandit.plots import Asked, UnknownNameError, draw_asked, pictures, planned, plot_folder
from netbandit.plots.estimates import privacy_key
from netbandit.plots.style import encoded, save
from netbandit.plots.values import scale, shown, with_unit
from netbandit.results.numbers import scaled
from netbandit.results.results_folder import ResultsFolder


def stems(runs, every=False):
    return [one.name for one in planned(study_of(runs)) if every or one.answers]


def grid(replications=1, metrics=None, **keys):
    """Return a run for each combination of values; what the metrics are may depend on them."""
    names = [name.replace("__", ".") for name in keys]
    return [
        made_up(
            parameters=dict(zip(names, values, strict=True)),
            metrics={name: of(*values) if callable(of) else of for name, of in (metrics or {}).items()},
            replication=one,
            bend=500.0 + 400 * place,
        )
        for place, values in enumerate(itertools.product(*keys.values()))
        for one in range(replications)
    ]


def test_a_single_point_has_its_regret_and_its_network():
    assert stems([made_up(replication=replication) for replication in range(3)]) == ["regret", "network"]


def test_what_is_measured_in_place_of_an_unknown_regret_gives_the_picture_its_name(tmp_path):
    def of_log(run):
        metrics = {"ctr": 0.5} | {name: value for name, value in run.metrics.items() if "regret" not in name}
        return replace(run, curves={"reward": run.curves["regret"]}, metrics=metrics)

    known = [made_up()]
    log = [of_log(run) for run in known]
    assert stems(log) == ["reward", "network"]
    title = planned(study_of(log))[0].drawn().title
    assert title == "quickstart: click-through rate is 0.5 after 10,000 slots"
    write(tmp_path, known)
    plot_folder(ResultsFolder(tmp_path), kinds=["svg"])
    write(tmp_path, log)
    assert [file.name for file in plot_folder(ResultsFolder(tmp_path))] == ["reward.svg", "network.svg"]
    assert {file.name for file in tmp_path.glob("*.svg")} == {"reward.svg", "network.svg"}
    assert {draw_asked(study_of(log), Asked(name=name)).name for name in ("reward", "regret")} == {"reward"}
    with pytest.raises(UnknownNameError, match=r"there is no picture 'reward' .* here, only regret, network"):
        draw_asked(study_of(known), Asked(name="reward"))


def test_a_sweep_of_a_number():
    runs = [made_up(parameters={"links.peer.latency": f"{n} ms"}, metrics={"cost": 10.0}) for n in (0, 1, 5)]
    assert stems(runs) == ["regret", "parameter", "network"]


def test_numbers_that_vary_together_are_no_axis():
    pairs = [("private", 0.1, 10.0), ("private", 10.0, 0.1), ("exact", 10.0, 0.1)]
    keys = ("learner.share", "learner.band", "learner.weight")
    runs = [made_up(parameters=dict(zip(keys, values, strict=True)), metrics={"cost": 10.0}) for values in pairs]
    assert stems(runs) == ["regret", "network"]


def test_each_key_that_varies_has_the_picture_that_answers_it():
    cost = {"cost": 10.0}
    latency = grid(links__peer__latency=["0 ms", "5 ms", "9 ms"], metrics=cost | {"round_slots": lambda _: 3})
    assert stems(latency) == ["regret", "parameter", "network"]
    epsilon = grid(
        learner__epsilon=[0.5, 1.0, math.inf], metrics=cost | {"epsilon": lambda e: 8 * e if e < 2 else None}
    )
    assert stems(epsilon) == ["regret", "privacy", "network"]
    assert "parameter" in stems(epsilon, every=True)
    budget = grid(learner__rounds=[2, 4, 8], metrics={"cost": lambda n: 10 * n, "bytes": lambda n: 100 * n})
    assert stems(budget) == ["regret", "parameter", "tradeoff", "network"]
    protocols = grid(protocol__kind=["gis", "sink", "flooding"], metrics={"cost": lambda kind: 10 * len(kind)})
    assert stems(protocols) == ["regret", "structure"]
    assert stems(family_sweep()) == ["regret", "diameter"]


def test_a_network_whose_links_all_carry_as_much_answers_nothing():
    run = made_up()
    run.links.messages[:] = 30
    assert stems([run]) == ["regret"]
    assert stems([run], every=True) == ["regret", "network"]
    in_parts = made_up(parameters={"topology.family": "hybrid"})
    in_parts.links.messages[:] = 30
    assert stems([in_parts]) == ["regret", "network"]


def test_hybrid_networks_are_on_no_axis_of_diameters():
    runs = family_sweep()
    parts = networkx.disjoint_union(networkx.path_graph(4), networkx.path_graph(4))
    hybrid = [made_up(parts, parameters={"topology.family": "hybrid"}, family="hybrid", replication=n) for n in (0, 1)]
    for some, end in ((runs, ""), (runs + hybrid, ", without hybrid networks")):
        (picture,) = (one.drawn() for one in planned(study_of(some)) if one.name == "diameter")
        assert picture.title == f"quickstart: regret is 7,450 at all points{end}"
        asked = draw_asked(study_of(some), Asked(x="diameter"))
        assert asked.title.endswith(end or "at all points")
        panels = [*picture.figure.axes, *asked.figure.axes]
        assert {x for panel in panels for line in panel.lines for x in line.get_xdata()} <= {1, 2, 4}
    with pytest.raises(UnknownNameError, match="diameter: no point is left, without hybrid networks, which have none"):
        draw_asked(study_of(hybrid), Asked(x="diameter", y="regret"))


@pytest.mark.parametrize("changing", [{"topology.family": "mobile"}, {"topology.changes": {"up": 0.5}}])
def test_networks_that_change_are_on_no_axis_of_diameters(changing):
    """All links that ever are up have a smaller one than the network has at any time."""
    runs = [replace(run, parameters={**run.parameters, **changing}) for run in family_sweep()]
    assert not [one for one in planned(study_of(runs)) if one.name.startswith("diameter")]


def test_each_value_of_another_key_has_a_panel_of_the_diameters():
    runs = [
        replace(run, parameters={**run.parameters, "links.peer.latency": latency})
        for latency in ("0 ms", "10 ms", "100 ms")
        for run in family_sweep()
    ]
    (picture,) = (one for one in planned(study_of(runs)) if one.name == "diameter")
    assert picture.answers
    panels = picture.drawn().figure.axes
    assert [panel.get_title("center") for panel in panels] == ["latency 0 ms", "latency 10 ms", "latency 100 ms"]
    for panel in panels:
        means = [box[0].get_xdata().tolist() for box in panel.containers]
        assert sorted(means) == [[1.0], [2.0], [4.0]]
    alone = {"diameter-0-ms", "diameter-10-ms", "diameter-100-ms"}
    assert alone <= set(stems(runs, every=True))
    sizes = [
        replace(run, parameters={"topology.agents": run.topology["agents"] + place, "learner.rounds": rounds})
        for rounds in (2, 4)
        for place, run in enumerate(family_sweep(1))
    ]
    (of_sizes,) = (one for one in planned(study_of(sizes)) if one.name == "diameter")
    assert not of_sizes.answers


def test_two_diameters_make_no_picture():
    two = [run for run in family_sweep() if run.parameters["topology.family"] != "complete"]
    assert not [name for name in stems(two, every=True) if name.startswith("diameter")]
    assert "diameter" in stems(family_sweep(), every=True)


def test_a_sweep_of_three_keys_has_a_few_pictures_and_all_of_them_when_asked():
    runs = grid(
        topology__family=["star", "ring", "random", "file"],
        links__peer__latency=[f"{n} slots" for n in (0, 1, 2, 3, 5)],
        protocol__ttl=[0, 1, 2, 3],
    )
    for run in runs:
        run.metrics["regret"] = 100 + 7 * run.parameters["protocol.ttl"] + int(run.parameters["links.peer.latency"][0])
    assert stems(runs) == ["regret", "heatmap"]
    every = stems(runs, every=True)
    assert len(every) > 12
    assert {"parameter", "parameter-0", "heatmap-star", "network-star-0"} <= set(every)
    assert len(set(every)) == len(every)


@pytest.mark.ci
def test_other_keys_stand_side_by_side_and_one_by_one_when_every_picture_is_asked_for():
    runs = grid(
        protocol__kind=["gis", "sink"], links__peer__latency=["0 ms", "1 ms", "5 ms"], learner__share=["a", "b"]
    )
    assert stems(runs)[:2] == ["regret", "parameter"]
    together = {one.name: one.figure for one in pictures(study_of(runs))}["parameter"]
    assert [axes.get_title() for axes in together.axes] == ["a", "b"]
    alone = {one.name: one for one in pictures(study_of(runs), every=True)}
    assert "sharing: a" in alone["parameter-a"].subtitle


def test_points_of_different_privacy_are_not_compared_by_their_cost_alone():
    runs = grid(
        protocol__kind=["gis", "sink", "flooding"],
        learner__epsilon=[0.1, 1.0],
        metrics={"epsilon": lambda _, epsilon: 4 * epsilon, "cost": lambda kind, _: len(kind)},
    )
    assert "privacy" in stems(runs)
    assert not {"structure", "tradeoff"} & set(stems(runs))
    drawn = {one.name: one for one in pictures(study_of(runs), every=True)}
    assert "privacy spent differs: ε 0.4 to 4" in drawn["structure"].subtitle


@pytest.mark.ci
def test_maps_share_their_colours_and_those_of_who_heeds_no_key_are_left_out():
    def regret(kind, rounds, arms):
        return 500.0 if kind == "silent" else arms * rounds * (3 if kind == "sink" else 1)

    runs = grid(
        protocol__kind=["gis", "sink", "silent"],
        learner__rounds=[2, 3, 4],
        bandit__arms=[10, 11, 12],
        metrics={"regret": regret},
    )
    (drawn,) = [one for one in pictures(study_of(runs)) if one.name == "heatmap"]
    maps = [axes for axes in drawn.figure.axes if axes.get_label() != "<colorbar>" and axes.get_visible()]
    assert [axes.get_title() for axes in maps] == ["gis", "sink"]
    assert {(axes.collections[0].norm.vmin, axes.collections[0].norm.vmax) for axes in maps} == {(20, 144)}
    assert "one scale of colours for all maps; without silent" in drawn.subtitle


def test_pictures_of_a_number_that_is_one_value_everywhere_in_them_are_left_out():
    cases = (("gis", 2, "ring"), ("gis", 4, "ring"), ("sink", 6, "star"))
    keys = ("protocol.kind", "learner.rounds", "topology.family")
    runs = [made_up(parameters=dict(zip(keys, case, strict=True))) for case in cases]
    (drawn,) = [one for one in pictures(study_of(runs)) if one.name == "parameter"]
    assert "protocol: gis" in drawn.subtitle
    assert len(drawn.figure.axes) == 1


def test_twelve_networks_at_most():
    runs = [made_up(networkx.complete_graph(n), parameters={"topology.agents": n}) for n in range(3, 40)]
    networks = [name for name in stems(runs, every=True) if name.startswith("network")]
    assert len(networks) == 12
    assert (networks[0], networks[-1]) == ("network-3", "network-39")
    assert not [name for name in stems(runs) if name.startswith("network")]


def test_points_that_differ_in_the_seed_are_replications_of_one():
    runs = [made_up(seed=seed, replication=one, parameters={"run.seed": seed}) for seed in (1, 0) for one in (0, 1)]
    arrangement = arranged(runs)
    (point,) = arrangement.points
    assert [(run.seed, run.replication) for run in point.finished] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert arrangement.keys == ()


def test_two_numbers_that_vary_have_a_heat_map():
    runs = [
        made_up(parameters={"learner.rounds": rounds, "bandit.arms": arms}, bend=100 * arms * rounds)
        for rounds in (2, 4, 8)
        for arms in (5, 10, 20)
    ]
    assert "heatmap" in stems(runs)
    assert "heatmap" not in stems(runs[:6])
    assert "heatmap" not in stems(runs[::4])  # a diagonal is no map


def test_networks_that_carried_nothing_are_not_drawn():
    assert stems([made_up(rounds=0, parameters={"protocol.kind": "silent"})]) == ["regret"]
    both = [made_up(parameters={"protocol.kind": "gis"}), made_up(rounds=0, parameters={"protocol.kind": "silent"})]
    assert [name for name in stems(both) if name.startswith("network")] == ["network-gis"]


def test_nothing_drawn_without_runs():
    assert stems([]) == []


@pytest.mark.ci
def test_every_degenerate_result_is_drawn(tmp_path):
    nothing = dict.fromkeys(("round_slots", "rounds", "epsilon"), None)
    cases = [
        made_up(networkx.path_graph(1), name="one agent", horizon=1, bend=1, rounds=0, metrics=nothing),
        made_up(networkx.path_graph(2), name="two agents", family="path", rounds=0),
        made_up(name="a name of very many words, " * 8, metrics=dict.fromkeys(("regret", "cost"), None)),
        made_up(name="$x_1$ and $"),
    ]
    for run in cases:
        for picture in pictures(study_of([run])):
            assert len(save(picture.figure, tmp_path / picture.name)) == 2


@pytest.mark.ci
def test_the_users_own_settings_change_nothing_and_stay():
    run = made_up()
    plain = [encoded(picture.figure, "svg") for picture in pictures(study_of([run]))]
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "black", "savefig.dpi": 30, "axes.grid": False}):
        assert [encoded(picture.figure, "svg") for picture in pictures(study_of([run]))] == plain
        assert matplotlib.rcParams["font.size"] == 20


@pytest.mark.ci
def test_importing_draws_on_no_matplotlib_and_drawing_on_no_pyplot():
    code = "import sys, netbandit.plots; assert 'matplotlib' not in sys.modules; "
    code += "from helpers.made_up_runs import made_up, study_of; from netbandit.plots import pictures; "
    code += "list(pictures(study_of([made_up()]))); "
    code += "assert 'matplotlib.pyplot' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize(
    ("until", "last", "title"),
    [
        ("answered", 400, "time to the last answer grows 4-fold as latency of a peer link goes from 0 ms to 10 ms"),
        ("answered", None, "regret"),
        ("horizon", 400, "regret"),
    ],
)
def test_runs_that_end_with_the_last_answer_are_compared_by_when_it_comes(until, last, title):
    latencies = ("0 ms", "4 ms", "10 ms")
    runs = [
        made_up(
            parameters={"links.peer.latency": latency, "run.until": until},
            metrics={"stop_slot": slot and slot + one, "samples": 8 * (slot or 500)},
            replication=one,
        )
        for latency, slot in zip(latencies, (100, 200, last), strict=True)
        for one in range(4)
    ]
    (drawn,) = (one.drawn() for one in planned(study_of(runs)) if one.name == "parameter")
    assert " ".join(drawn.figure._suptitle.get_text().split()).startswith(f"quickstart: {title}")
    labels = [axes.get_ylabel() for axes in drawn.figure.axes]
    assert (labels == ["last answer (slot)", "samples (decisions)"]) == (last is not None and until == "answered")


def test_a_parameter_that_does_not_vary_is_no_series():
    runs = [made_up(parameters={"learner.epsilon": 1.0, "learner.rounds": rounds}) for rounds in (2, 3)]
    assert arranged(runs).keys == ("learner.rounds",)


@pytest.mark.parametrize(
    ("values", "numbers", "unit"),
    [
        (["0 ms", "1 ms", "0.1 s"], (0, 1, 100), "ms"),
        (["0 ms", "5 slots"], (0, 5), "slots"),
        (["2 slots", "0.5 slots"], (2, 0.5), "slots"),
        (["1 slot", "30 ms"], (10, 30), "ms"),
        (["500 us", "250 us"], (500, 250), "µs"),
        (["2 s", "1 min"], (2, 60), "s"),
    ],
)
def test_durations_are_numbers_in_one_unit(values, numbers, unit):
    found = scale("links.peer.latency", values, slot="10 ms")
    assert found.numbers == numbers
    assert found.label == f"latency of a peer link ({unit})"


@pytest.mark.parametrize(
    ("key", "values", "numbers", "label"),
    [
        ("topology.range", ["50 m", "0.2 km"], (50, 200), "range (m)"),
        ("faults.nodes.down_for", ["10 ms", "500 ms"], (10, 500), "time an agent is down (mean, ms)"),
        ("energy.idle", ["500 uW", "56.4 mW", "1 mW"], (0.5, 56.4, 1), "idle power of an agent (mW)"),
        ("energy.idle", [0.001, 0.0564], (1, 56.4), "idle power of an agent (mW)"),
        ("energy.capacity", ["20 J", "1 J"], (20, 1), "capacity of a battery (J)"),
    ],
)
def test_lengths_powers_and_energies_are_numbers_in_one_unit(key, values, numbers, label):
    found = scale(key, values)
    assert found.numbers == pytest.approx(numbers)
    assert found.label == label


def test_a_plain_number_of_watts_has_its_unit_in_a_sentence():
    assert with_unit("energy.idle", 1e-5) == "10 µW"
    assert with_unit("energy.capacity", 20) == "20 J"
    assert with_unit("energy.idle", "1 mW") == "1 mW"
    assert with_unit("links.peer.loss", 0.1) == "0.1"
    assert with_unit("links.peer.latency", "1 slots") == "1 slot"


@pytest.mark.parametrize(("spent", "claimed", "private"), [(None, None, False), (2.0, 8.0, True), (0.0, 0.0, False)])
def test_an_epsilon_of_a_learner_that_states_no_privacy_is_no_budget_of_it(spent, claimed, private):
    runs = [
        made_up(parameters={"learner.epsilon": e}, metrics={"epsilon": spent, "epsilon_claimed": claimed})
        for e in (0.1, 0.2, 0.4)
    ]
    assert privacy_key(arranged(runs)) == ("learner.epsilon" if private else None)
    assert ("privacy" in stems(runs, every=True)) == private


def test_bandwidths_and_plain_numbers():
    bandwidths = scale("links.peer.bandwidth", ["1 Mbit/s", "10 Mbit/s"])
    assert (bandwidths.numbers, bandwidths.label) == ((1, 10), "bandwidth of a peer link (Mbit/s)")
    assert scale("learner.epsilon", [0.1, 1, "inf"]).numbers == (0.1, 1, math.inf)
    assert scale("learner.step", [1, 2]).label == "learner.step"


@pytest.mark.parametrize(
    "values", [[], [True, False], ["gis", "sink"], ["geographic", "1 ms"], [[1, 2], [3]], [None, 1]]
)
def test_what_is_no_number(values):
    assert scale("links.peer.latency", values) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10_000, "10,000"),
        (2_500_000, "2.5M"),
        (0.1, "0.1"),
        (1e-6, "1e−06"),
        (float("inf"), "∞"),
        (True, "yes"),
        ([20] * 5, "5 × 20"),
        ([60], "1 × 60"),
        ([63, 24, 6], "{63, 24, 6}"),
        ({"uniform": ["1 ms", "5 ms"]}, "1 ms to 5 ms"),
        ("topologies/nsfnet.graphml", "nsfnet"),
        ("mypackage.module:Class", "mypackage.module:Class"),
        ("–", "–"),
    ],
)
def test_values_are_shown_as_a_person_writes_them(value, text):
    assert shown(value) == text


def test_numbers_on_axes():
    assert [scaled(value) for value in (0, 1_250, 3_000_000, -2.5)] == ["0", "1,250", "3M", "−2.5"]
