import math
import re
from dataclasses import replace

import networkx
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.made_up_runs import arranged, curves, made_up, study_of, write
from matplotlib.colors import to_hex

from netbandit.cli import main
from netbandit.plots import Asked, plot_against
from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import chart_of, communication_chart, delay_chart, privacy_chart
from netbandit.plots.grouping import arrange
from netbandit.plots.heatmap import axis_keys, draw_heatmap, is_map
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import FAINT, encoded, subtitle
from netbandit.results.metrics import METRICS, axis_label
from netbandit.results.results_folder import ResultsFolder


def grid(first, second, replications=2, **metrics):
    """Return a run for each pair of values, with metrics that are functions of the pair."""
    (one, ones), (two, twos) = first, second
    return [
        made_up(
            parameters={one: a, two: b},
            replication=replication,
            metrics={name: of(a, b) for name, of in metrics.items()} | {"regret": 100.0 * (b + 1) + replication},
        )
        for a in ones
        for b in twos
        for replication in range(replications)
    ]


def series(figure):
    return {box[0].get_label(): box[0] for box in figure.axes[0].containers}


def frontier(figure):
    (line,) = [line for line in figure.axes[0].lines if to_hex(line.get_color()) == FAINT.lower()]
    return line


PROTOCOLS = ("protocol.kind", ["gis", "flooding"])


def test_the_delay_frontier_is_the_least_regret_at_that_wait_or_less():
    waits = {("gis", 2): 30, ("gis", 1): 20, ("flooding", 2): 5, ("flooding", 1): 10}
    runs = grid(PROTOCOLS, ("learner.rounds", [1, 2]), round_slots=lambda kind, rounds: waits[kind, rounds])
    arrangement = arranged(runs)
    figure = draw_chart(delay_chart(arrangement))
    line = frontier(figure)
    assert line.get_xdata()[:-1].tolist() == [5, 5, 10, 20, 30]
    assert line.get_ydata().tolist() == [300.5, 300.5, 200.5, 200.5, 200.5, 200.5]
    assert line.get_drawstyle() == "steps-post"
    drawn = series(figure)
    assert drawn["gis"].get_xdata().tolist() == [20, 30]
    assert drawn["flooding"].get_ydata().tolist() == [200.5, 300.5]
    assert "along a line: budget R from 1 to 2" in subtitle(figure)


def test_what_varies_the_world_has_no_frontier():
    arrangement = arranged(
        grid(("bandit.arms", [5, 10, 20]), ("learner.rounds", [1, 2]), round_slots=lambda arms, _: arms)
    )
    assert delay_chart(arrangement) is None


def test_no_line_leads_to_an_epsilon_without_a_bound():
    spent = {0.5: 4, 1.0: 8.5399013, math.inf: None}  # what is measured is not told to the last digit
    runs = grid(PROTOCOLS, ("learner.epsilon", list(spent)), epsilon=lambda _, epsilon: spent[epsilon])
    for run in runs:
        run.metrics["regret"] = 10.0
    arrangement = arranged(runs)
    figure = draw_chart(privacy_chart(arrangement))
    (panel,) = figure.axes
    lines = [box[0].get_xdata().tolist() for box in panel.containers]
    assert lines == [[4, 8.5399013], [pytest.approx(13.0798026)]] * 2
    assert [text.get_text() for text in panel.get_xticklabels()] == ["4", "8.5399", "∞"]
    assert panel.get_xlabel() == "privacy spent ε, worst-off agent"


def test_lines_of_points_that_spend_the_same_stand_side_by_side():
    runs = [
        made_up(
            parameters={"protocol.kind": kind, "learner.share": share, "learner.rounds": rounds},
            metrics={"epsilon": {"private": 0.1, "rarely": 0.3}[share], "regret": 10.0 * rounds},
        )
        for kind in ("gis", "flooding")
        for share in ("private", "rarely")
        for rounds in (1, 2)
    ]
    places = [set(box[0].get_xdata()) for box in draw_chart(privacy_chart(arranged(runs))).axes[0].containers]
    assert [len(some) for some in places] == [1] * 4
    assert len(set.union(*places)) == 4


def test_the_budget_stands_beside_the_points():
    runs = grid(PROTOCOLS, ("learner.rounds", [2, 4, 8]), bytes=lambda _, rounds: 100 * rounds)
    arrangement = arranged(runs)
    figure = draw_chart(communication_chart(arrangement))
    assert [text.get_text() for text in figure.axes[0].texts] == ["2", "4", "8"] * 2
    assert figure.axes[0].get_xlabel() == "data sent (bytes)"
    assert series(figure)["gis"].get_xdata().tolist() == [200, 400, 800]


def test_who_is_silent_is_drawn_at_no_cost():
    runs = grid(
        ("protocol.kind", ["gis", "silent"]),
        ("learner.rounds", [2, 4, 8]),
        bytes=lambda kind, rounds: 0 if kind == "silent" else rounds,
        cost=lambda kind, _: 0 if kind == "silent" else 5,
    )
    arrangement = arranged(runs)
    figure = draw_chart(communication_chart(arrangement))
    assert set(series(figure)) == {"gis", "silent"}
    assert series(figure)["silent"].get_xdata().tolist() == [0, 0, 0]
    assert series(figure)["silent"].get_ydata().tolist() == series(figure)["gis"].get_ydata().tolist()
    assert "not shown" not in subtitle(figure)


def test_silence_alone_makes_no_frontier():
    def silent(kind, _):
        return 0 if kind == "silent" else 5

    runs = grid(("protocol.kind", ["gis", "silent"]), ("bandit.arms", [5, 10]), cost=silent, epsilon=silent)
    arrangement = arranged(runs)
    assert privacy_chart(arrangement) is None


def test_a_series_has_the_same_look_as_in_every_other_picture():
    arrangement = arranged(grid(PROTOCOLS, ("learner.rounds", [2, 4, 8])))
    colours = [to_hex(line.get_color()) for line in curves(draw_regret(arrangement).axes[0])]
    found = draw_chart(chart_of(arrangement, "learner.rounds", color="protocol.kind"))
    assert [to_hex(line.get_color()) for line in series(found).values()] == colours


def test_values_that_are_no_numbers_stand_side_by_side():
    arrangement = arranged(grid(PROTOCOLS, ("learner.rounds", [2, 4])))
    figure = draw_chart(chart_of(arrangement, "protocol.kind", "cost", "learner.rounds"))
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.get_xticklabels()] == ["gis", "flooding"]
    assert panel.get_ylabel() == "cost (weighted link activations)"
    assert all(line.get_linestyle() == "None" for line in series(figure).values())


def test_names_are_aslant_where_panels_side_by_side_leave_no_room_for_them():
    kinds = ("protocol.kind", ["first protocol", "second protocol", "third protocol"])
    arrangement = arranged(grid(kinds, ("learner.rounds", [2, 4, 8])))

    def slants(**panels):
        figure = draw_chart(chart_of(replace(arrangement, **panels), "protocol.kind", "cost"))
        return {text.get_rotation() for panel in figure.axes for text in panel.get_xticklabels()}

    assert slants() == {0.0}
    assert slants(columns="learner.rounds") == {40.0}


def test_error_bars_are_the_interval_of_the_mean():
    runs = [made_up(parameters={"learner.rounds": rounds}, replication=r) for rounds in (1, 2) for r in range(5)]
    for place, run in enumerate(runs[5:]):
        run.metrics["regret"] += 3 * place
    panel = draw_chart(chart_of(arrange(study_of(runs), bands="mean"), "learner.rounds")).axes[0]
    table = np.array([[run.metrics["regret"] for run in some] for some in (runs[:5], runs[5:])])
    half = 2.7764451 * np.std(table[0], ddof=1) / math.sqrt(5)
    (bars,) = panel.containers[0][2]
    np.testing.assert_allclose(bars.get_segments()[0][:, 1], [table[0].mean() - half, table[0].mean() + half])
    # Of two points, half of each difference is theirs; Morey's correction is the root of two.
    within = 2.7764451 * np.std((table[0] - table[1]) / 2, ddof=1) * math.sqrt(2) / math.sqrt(5)
    panel = draw_chart(chart_of(arrange(study_of(runs), bands="comparison"), "learner.rounds")).axes[0]
    (bars,) = panel.containers[0][2]
    np.testing.assert_allclose(bars.get_segments()[0][:, 1], [table[0].mean() - within, table[0].mean() + within])


@pytest.mark.ci
def test_each_cell_of_a_heat_map_is_the_mean_of_its_pair():
    runs = grid(("learner.rounds", [8, 2, 4, 16]), ("bandit.arms", [5, 20, 10]))
    arrangement = arranged([run for run in runs if run.parameters != {"learner.rounds": 4, "bandit.arms": 20}])
    assert axis_keys(arrangement) == ("learner.rounds", "bandit.arms")
    figure = draw_heatmap(arrangement, *axis_keys(arrangement))
    panel, bar = figure.axes
    (mesh,) = panel.collections
    table = np.ma.masked_invalid(mesh.get_array()).reshape(3, 4)
    assert table.filled(-1).tolist() == [[600.5] * 4, [1100.5] * 4, [2100.5, -1, 2100.5, 2100.5]]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["2", "4", "8", "16"]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["5", "10", "20"]
    assert len(panel.texts) == 11
    assert panel.texts[0].get_text().startswith("600\n± ")
    assert bar.get_ylabel() == "regret of all agents (reward)"
    assert encoded(figure, "png") == encoded(draw_heatmap(arrangement, *axis_keys(arrangement)), "png")


def test_a_heat_map_says_which_key_made_no_difference():
    arrangement = arranged(grid(("learner.rounds", [2, 4, 8]), ("bandit.arms", [5, 10, 20])))
    figure = draw_heatmap(arrangement, *axis_keys(arrangement))
    assert subtitle(figure).endswith("; budget R made no difference")
    assert is_map(arrangement, *axis_keys(arrangement), "regret")


def test_epsilons_stand_on_a_logarithmic_axis_with_short_ticks_at_all_of_them():
    spent = {1.0: 0.1563961, 10.0: 6.1190053, 100.0: 79.4410992, math.inf: None}
    runs = [
        made_up(parameters={"learner.epsilon": asked}, metrics={"epsilon": found}) for asked, found in spent.items()
    ]
    arrangement = arranged(runs)
    (panel,) = draw_chart(privacy_chart(arrangement)).axes
    assert [text.get_text() for text in panel.get_xticklabels()] == ["0.1564", "6.119", "79.44", "∞"]
    arrangement = arranged(grid(PROTOCOLS, ("learner.epsilon", [4.0, 8.0, 16.0, 64.0])))
    (panel,) = draw_chart(chart_of(arrangement, "learner.epsilon")).axes
    assert [text.get_text() for text in panel.get_xticklabels()] == ["4", "8", "16", "64"]
    np.testing.assert_allclose(panel.get_xticks(), np.log10([4, 8, 16, 64]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write(folder, grid(PROTOCOLS, ("learner.rounds", [2, 4, 8]), bytes=lambda _, rounds: 100 * rounds))
    return folder


def plot(folder, *options):
    return CliRunner().invoke(main, ["plot", str(folder), *options])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("options", "stem"),
    [
        (["--x", "rounds"], "regret-against-rounds"),
        (["--y", "bytes"], "bytes-against-learner.rounds"),
        (["--x", "cost", "--y", "diameter"], "diameter-against-cost"),
        (["--x", "protocol", "--color", "learner.rounds"], "regret-against-protocol.kind-by-learner.rounds"),
        (["--color", "rounds"], "regret-against-protocol.kind-by-learner.rounds"),
    ],
)
def test_what_the_user_asks_for_is_drawn(folder, options, stem):
    done = plot(folder, *options)
    assert done.exit_code == 0, done.output
    assert done.stdout == "".join(f"{folder / stem}.{kind}\n" for kind in ("png", "svg"))
    assert (folder / f"{stem}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--x", "regrets"], r'--x: there is no regrets here \(did you mean "regret"\?\); the keys that vary are '),
        (["--y", "learner.rounds"], r"--y: there is no learner.rounds here.*; the metrics are regret, "),
        (["--color", "cost"], r"--color: there is no cost here; the keys that vary are protocol.kind, learner.rounds$"),
    ],
)
def test_an_unknown_name_is_one_line_that_says_what_there_is(folder, options, line):
    before = sorted(folder.iterdir())
    done = plot(folder, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.match(f"Error: {line}", done.stderr)
    assert done.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_point_alone_needs_an_axis(tmp_path):
    write(tmp_path, [made_up(networkx.path_graph(4))])
    done = plot(tmp_path, "--y", "cost")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --x: must be given, one of slot, regret, ")
    assert [file.name for file in plot_against(ResultsFolder(tmp_path), Asked(x="diameter"), ["png"])] == [
        "regret-against-diameter.png"
    ]


def test_the_points_to_draw_can_be_chosen(tmp_path):
    runs = grid(PROTOCOLS, ("learner.rounds", [1, 2]))
    write(tmp_path, runs)
    done = CliRunner().invoke(main, ["plot", str(tmp_path), "protocol=gis", "--x", "learner.rounds"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "regret-against-learner.rounds-protocol-gis.png").is_file()
    for wrong, text in [
        ("protocol=sink", "protocol=sink: protocol.kind has no such value here, only gis, flooding"),
        ("colour=red", "colour=red: there is no colour here"),
        ("gis", "There is no picture gis; there are regret, reward, structure"),
    ]:
        done = CliRunner().invoke(main, ["plot", str(tmp_path), wrong])
        assert done.exit_code == 2
        assert text in done.output


def test_an_axis_has_the_unit_of_its_metric():
    assert axis_label("energy_j") == "energy (J)"
    assert axis_label("parameter_error") == "parameter error"
    assert axis_label("regret_unserved") == "regret unserved (reward)"
    assert axis_label("messages") == "messages"
    assert axis_label("of_my_own") == "of my own"
    units = {name: entry.unit for name, entry in METRICS.items() if entry.unit}
    for name, unit in units.items():
        said = axis_label(name)
        assert unit in said or unit.split()[0].rstrip("s") in said, (name, unit, said)
