import json
import math
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import networkx
import pytest
from helpers.made_up_runs import arranged, made_up, study_of, write

from netbandit.plots import pictures, plot_against, plot_folder
from netbandit.plots.style import encoded, save, subtitle
from netbandit.plots.values import scale, shown
from netbandit.results.numbers import scaled
from netbandit.results.safe_files import StorageError


def stems(runs):
    return [picture.name for picture in pictures(study_of(runs))]


def family_sweep(replications=2, **keys):
    graphs = {"star": networkx.star_graph(7), "ring": networkx.cycle_graph(8), "complete": networkx.complete_graph(8)}
    return [
        made_up(graph, family=family, parameters={"topology.family": family}, replication=replication, **keys)
        for family, graph in graphs.items()
        for replication in range(replications)
    ]


def test_a_single_point_has_its_regret_and_its_network():
    assert stems([made_up(replication=replication) for replication in range(3)]) == ["regret", "network"]


def test_a_sweep_of_topologies():
    expected = ["regret", "diameter", "tradeoff", "delay", "network-star", "network-ring", "network-complete"]
    assert stems(family_sweep()) == expected


def test_a_sweep_of_a_number():
    runs = [made_up(parameters={"links.peer.latency": f"{n} ms"}, metrics={"cost": 10.0}) for n in (0, 1, 5)]
    assert stems(runs) == ["regret", "parameter", "network"]


def test_numbers_that_vary_together_are_no_axis():
    pairs = [("private", 0.1, 10.0), ("private", 10.0, 0.1), ("exact", 10.0, 0.1)]
    keys = ("learner.share", "learner.band", "learner.weight")
    runs = [made_up(parameters=dict(zip(keys, values, strict=True)), metrics={"cost": 10.0}) for values in pairs]
    assert stems(runs) == ["regret", "network"]


def test_other_keys_are_held_fixed_one_picture_each():
    runs = [
        made_up(
            networkx.path_graph(agents),
            parameters={"protocol.kind": kind, "topology.agents": agents, "learner.epsilon": epsilon},
            metrics={"cost": 10.0},
        )
        for kind in ("gis", "flooding")
        for agents in (4, 8, 12)
        for epsilon in (0.5, 1.0)
    ]
    names = stems(runs)
    assert names[:7] == [
        "regret",
        "diameter-gis-0.5",
        "diameter-gis-1",
        "diameter-flooding-0.5",
        "diameter-flooding-1",
        "parameter-0.5",
        "parameter-1",
    ]
    assert names[7] == "privacy"
    assert names[8:] == [f"network-{kind}-{agents}" for kind in ("gis", "flooding") for agents in (4, 8, 12)]
    drawn = {picture.name: picture.figure for picture in pictures(study_of(runs))}
    assert "protocol: gis, privacy budget ε: 0.5" in subtitle(drawn["diameter-gis-0.5"])


def test_what_a_sweep_varies_says_which_frontiers_there_are():
    def runs(key, values, **metrics):
        return [
            made_up(
                parameters={key: value},
                metrics={metric: at[place] for metric, at in metrics.items()},
                replication=replication,
            )
            for place, value in enumerate(values)
            for replication in range(2)
        ]

    cost = {"cost": [10.0] * 3}
    latency = stems(runs("links.peer.latency", ["0 ms", "5 ms", "9 ms"], round_slots=[1, 5, 9], **cost))
    assert latency == ["regret", "parameter", "delay", "network"]
    epsilon = stems(runs("learner.epsilon", [0.5, 1.0, math.inf], epsilon=[4, 8, None], **cost))
    assert epsilon == ["regret", "parameter", "privacy", "network"]
    budget = stems(runs("learner.rounds", [2, 4, 8], bytes=[200, 400, 800], **cost))
    assert budget == ["regret", "parameter", "communication", "network"]


def test_two_numbers_that_vary_have_a_heat_map():
    runs = [
        made_up(parameters={"learner.rounds": rounds, "bandit.arms": arms}, bend=100 * arms * rounds)
        for rounds in (2, 4, 8)
        for arms in (5, 10, 20)
    ]
    assert "heatmap" in stems(runs)
    assert "heatmap" not in stems(runs[:6])
    assert "heatmap" not in stems(runs[::4])  # a diagonal is no map


def test_heat_maps_beside_each_other_share_their_colours_and_those_of_who_heeds_no_key_are_left_out():
    def regret(kind, rounds, arms):
        return 500.0 if kind == "silent" else arms * rounds * (3 if kind == "sink" else 1)

    runs = [
        made_up(
            parameters={"protocol.kind": kind, "learner.rounds": rounds, "bandit.arms": arms},
            metrics={"regret": regret(kind, rounds, arms)},
        )
        for kind in ("gis", "sink", "silent")
        for rounds in (2, 3, 4)
        for arms in (10, 11, 12)
    ]
    drawn = {picture.name: picture.figure for picture in pictures(study_of(runs)) if picture.name.startswith("heatmap")}
    assert set(drawn) == {"heatmap-gis", "heatmap-sink"}
    for figure in drawn.values():
        (mesh,) = figure.axes[0].collections
        assert (mesh.norm.vmin, mesh.norm.vmax) == (20, 144)
        assert "same colours in all these maps" in subtitle(figure)


def test_pictures_of_a_number_that_is_one_value_everywhere_in_them_are_left_out():
    cases = (("gis", 2), ("gis", 4), ("sink", 6))
    runs = [
        made_up(parameters={"topology.family": "ring", "learner.rounds": rounds, "protocol.kind": kind}, seed=seed)
        for kind, rounds in cases
        for seed in range(2)
    ]
    for run in runs[4:]:
        run.parameters["topology.family"] = run.resolved["topology"]["family"] = "star"
    assert [name for name in stems(runs) if name.startswith("parameter")] == ["parameter-gis"]


def test_networks_that_carried_nothing_are_not_drawn():
    assert stems([made_up(rounds=0, parameters={"protocol.kind": "silent"})]) == ["regret"]
    both = [made_up(parameters={"protocol.kind": "gis"}), made_up(rounds=0, parameters={"protocol.kind": "silent"})]
    assert [name for name in stems(both) if name.startswith("network")] == ["network-gis"]


def test_pictures_of_an_earlier_plot_go_away_and_what_is_not_ours_stays(tmp_path):
    write(tmp_path, family_sweep(1))
    (tmp_path / "mine.png").write_bytes(b"mine")
    before = {file.name for file in plot_folder(tmp_path)}
    asked = {file.name for file in plot_against(tmp_path, x="cost")}
    assert asked == {"regret-against-cost.png", "regret-against-cost.svg"}
    assert {file.name for file in tmp_path.glob("*.*g")} == before | asked | {"mine.png"}
    write(tmp_path, [made_up()])
    after = {file.name for file in plot_folder(tmp_path)}
    assert {file.name for file in tmp_path.glob("*.*g")} == after | {"mine.png"}
    assert after < before | {"network.png", "network.svg"}
    (tmp_path / "pictures.json").write_text('{"files": ["../mine.png", "mine.txt", 3]}')
    plot_folder(tmp_path)
    assert (tmp_path / "mine.png").exists()


def test_scenarios_of_one_folder_have_files_of_their_own():
    names = stems([made_up(name="My ring!"), made_up(name="star")])
    assert names == ["my-ring-regret", "my-ring-network", "star-regret", "star-network"]


def test_twelve_networks_at_most():
    runs = [made_up(networkx.complete_graph(n), parameters={"topology.agents": n}) for n in range(3, 40)]
    networks = [name for name in stems(runs) if name.startswith("network")]
    assert len(networks) == 12
    assert (networks[0], networks[-1]) == ("network-3", "network-39")


def test_nothing_drawn_without_runs():
    assert stems([]) == []


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


def test_a_folder_gets_a_png_and_an_svg_of_each(tmp_path):
    write(tmp_path, family_sweep())
    files = plot_folder(tmp_path)
    assert [file.name for file in files[:4]] == ["regret.png", "regret.svg", "diameter.png", "diameter.svg"]
    assert all(file.parent == tmp_path and file.stat().st_size > 1_000 for file in files)
    elsewhere = plot_folder(tmp_path, tmp_path / "pictures", kinds=["svg"])
    assert [file.read_bytes() for file in elsewhere] == [file.read_bytes() for file in files[1::2]]


def test_a_folder_without_results_is_a_clear_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="not a results folder"):
        plot_folder(tmp_path)
    write(tmp_path, [made_up()])
    for result in tmp_path.glob("runs/*/result.json"):
        result.unlink()
    with pytest.raises(ValueError, match="no run that has come to its end"):
        plot_folder(tmp_path)
    assert list(tmp_path.glob("*.png")) == []


def test_a_full_disk_leaves_the_old_pictures_whole(tmp_path, monkeypatch):
    write(tmp_path, [made_up()])
    before = {file.name: file.read_bytes() for file in plot_folder(tmp_path)}
    write(tmp_path, [made_up(bend=900)])
    write_bytes = Path.write_bytes

    def full(path, content):
        write_bytes(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageError, match="No space left on device"):
        plot_folder(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.*g")} == before
    assert not list(tmp_path.glob(".*"))


def test_the_same_results_give_the_same_bytes_in_another_process(tmp_path):
    write(tmp_path, family_sweep(1))
    here = {file.name: file.read_bytes() for file in plot_folder(tmp_path)}
    code = "import sys; from pathlib import Path; from netbandit.plots import plot_folder; "
    code += "plot_folder(Path(sys.argv[1]), Path(sys.argv[2]))"
    there = tmp_path / "there"
    environment = {**os.environ, "PYTHONHASHSEED": "17", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, tmp_path, there], check=True, env=environment)
    assert json.loads((there / "pictures.json").read_text()) == {"files": sorted(here)}
    assert {file.name: file.read_bytes() for file in there.iterdir() if file.name != "pictures.json"} == here
    for name, content in here.items():
        assert b"atplotlib v" not in content, name
        assert b"<dc:date>" not in content
        assert b"Software" not in content


def test_the_users_own_settings_change_nothing_and_stay():
    run = made_up()
    plain = [encoded(picture.figure, "svg") for picture in pictures(study_of([run]))]
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "black", "savefig.dpi": 30, "axes.grid": False}):
        assert [encoded(picture.figure, "svg") for picture in pictures(study_of([run]))] == plain
        assert matplotlib.rcParams["font.size"] == 20


def test_importing_draws_on_no_matplotlib_and_drawing_on_no_pyplot():
    code = "import sys, netbandit.plots; assert 'matplotlib' not in sys.modules; "
    code += "from helpers.made_up_runs import made_up; from netbandit.plots import pictures; list(pictures(study_of([made_up()]))); "
    code += "assert 'matplotlib.pyplot' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_runs_that_differ_in_the_seed_are_replications():
    arrangement = arranged([made_up(seed=seed, replication=one) for seed in (0, 1) for one in (1, 0)])
    (point,) = arrangement.points
    assert [(run.seed, run.replication) for run in point.runs] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert arrangement.keys == ()


def test_an_edited_scenario_is_told_apart_by_what_was_edited():
    plain, edited = made_up(), made_up()
    edited.resolved["links"]["peer"]["cost"] = 2
    arrangement = arranged([plain, edited])
    assert arrangement.keys == ("links.peer.cost",)
    assert [point.values for point in arrangement.points] == [{"links.peer.cost": 1}, {"links.peer.cost": 2}]


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
