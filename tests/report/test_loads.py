"""The load on links and nodes in the report, on the terminal and in a picture."""

import csv
import io
from dataclasses import replace

import pytest
from click.testing import CliRunner

import netbandit as nb
from netbandit.cli import main
from netbandit.plots.study_pictures import planned
from netbandit.report.loads import BATTERY, battery_line, busiest_links, duration, loads, thirstiest_nodes
from netbandit.report.page import page
from netbandit.results.loads import node_names
from netbandit.results.results_folder import ResultsFolder


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Named agents that collect towards the gateway in their middle; c hands on what d and e say."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "path.csv").write_text("source,target\na,b\nb,gateway\ngateway,c\nc,d\nc,e\n")
    (folder / "path.toml").write_text(
        """schema = 1
name = "path"
topology = { family = "file", file = "path.csv" }
links.peer = { latency = "2 ms", bandwidth = "2 kbit/s", energy = { per_message = "1 mJ", sender_share = 0.8 } }
bandit = { kind = "bernoulli", means = [0.2, 0.7] }
learner.kind = "elimination"
protocol.kind = "sink"
run = { horizon = 4000, replications = 2 }
"""
    )
    nb.Scenario.from_toml(folder / "path.toml").sweep({"protocol.kind": ["sink", "silent"]}, out=folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def study(path):
    return ResultsFolder(path).study()


def invoke(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def texts(table):
    return [dict(zip([name for name, _ in table.headings], row, strict=True)) for row in table.rows]


def test_the_busiest_link_comes_first_in_its_busier_direction(study):
    rows = texts(busiest_links(study.points[0]))
    assert rows[0]["link"].text == "c → gateway"
    shares = [row["occupied"].key for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0
    assert {row["class"].text for row in rows} == {"peer", "uplink"}
    assert len(busiest_links(study.points[0], rows=2).rows) == 2


def test_the_node_that_spends_most_is_the_first_to_run_out(study):
    rows = texts(thirstiest_nodes(study.points[0]))
    assert rows[0]["node"].text == "c"
    line = battery_line(study.points[0])
    assert line.startswith("1,000 J last the median agent ")
    assert f"the first to run out {rows[0]['1,000 J last'].text} (c)" in line
    half = battery_line(study.points[0], BATTERY / 2)
    assert half.startswith("500 J last")
    assert half.partition(" last")[2] != line.partition(" last")[2]
    assert battery_line(study.points[1]) == ""  # it is silent: nobody spends any


def test_how_often_each_node_is_the_first_to_run_out_is_counted(study, monkeypatch):
    """The most frequent comes first, wherever its replications are."""
    first = iter([2, 0, 1, 2])
    monkeypatch.setattr("netbandit.report.loads.battery_life", lambda run, battery: (9.0, 5.0, next(first)))
    run = study.points[0].finished[0]
    a, b, c = node_names(run)[:3]
    point = replace(study.points[0], keys=["k"] * 4, runs=[run] * 4)
    assert f"({c} in 2 of 4 replications; {a} in 1; {b} in 1)" in battery_line(point)


def test_batteries_that_run_out_first_come_first_and_what_is_not_recorded_has_no_column(tmp_path):
    """On the air of a star the gateway, on the mains, spends most; of what sending takes only the sum is known."""
    (tmp_path / "air.toml").write_text(
        """topology = { family = "star", agents = 4 }
bandit = { kind = "bernoulli", means = [0.2, 0.7] }
learner.kind = "elimination"
protocol = { kind = "sink", deadline = "200 s" }
links.peer.radio = { preset = "lora-eu868-sf7", access = { aloha = "5 s" } }
links.uplink.bandwidth = "10 Mbit/s"
energy = { preset = "sx1272", capacity = "1 kJ", mains = "sinks" }
run = { horizon = 2000, slot = "1 s" }
"""
    )
    nb.Scenario.from_toml(tmp_path / "air.toml").run(out=tmp_path / "out")
    (point,) = ResultsFolder(tmp_path / "out").study().points
    table = thirstiest_nodes(point)
    rows = texts(table)
    assert table.caption.startswith("The nodes whose batteries run out first")
    lives = [row["battery lasts"].key for row in rows if row["battery lasts"].key is not None]
    assert lives == sorted(lives)
    assert len(lives) == 3
    (energy,) = [name for name in rows[0] if name.startswith("energy")]
    assert max(rows, key=lambda row: row[energy].key)["node"].text == "0"
    assert rows[-1]["node"].text in ("0", "server")
    assert not [name for name in rows[0] if name.startswith(("energy sending", "receiving"))]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "500 ms"), (90, "1.5 min"), (86_400 * 12.345, "12.3 days"), (86_400 * 800, "2.19 years")],
)
def test_lives_are_told_in_a_unit_that_suits(seconds, text):
    assert duration(seconds) == text
    assert duration(float("inf")) == "for ever"


@pytest.mark.ci
def test_a_report_has_the_loads_of_each_network_that_is_used(path, study):
    (found,) = loads(study)
    assert found.title == "protocol: sink"
    html = page(path, study)
    assert "Load and energy" in html
    assert found.battery in html


def test_agents_that_never_send_spend_too(tmp_path):
    """Agents idle at 1 mW: a battery of 60 J lasts 1,000 minutes."""
    (tmp_path / "silent.toml").write_text(
        """topology = { family = "ring", agents = 3 }
bandit = { kind = "bernoulli", means = [0.2, 0.7] }
learner.kind = "ucb"
protocol.kind = "silent"
energy = { idle = "1 mW", capacity = "60 J" }
run = { horizon = 2000, slot = "1 s" }
"""
    )
    silent = nb.Scenario.from_toml(tmp_path / "silent.toml")
    silent.run(out=tmp_path / "out")
    shown = invoke("nodes", tmp_path / "out")
    assert shown.exit_code == 0
    assert "a battery lasts the median agent 16.7 h" in shown.output
    assert "left out" not in shown.output
    assert "1 point left out: nothing was sent" in invoke("links", tmp_path / "out").output
    (found,) = loads(ResultsFolder(tmp_path / "out").study())
    assert (found.links.rows, len(found.nodes.rows)) == ([], 3)


def test_a_picture_shows_where_the_bottleneck_is(study):
    there = {one.name: one for one in planned(study)}
    assert "bottleneck-silent" not in there
    (name,) = [name for name in there if name.startswith("bottleneck")]
    drawn = there[name].drawn()
    (left,) = drawn.figure.axes
    assert left.get_yticklabels()[0].get_text() == "c → gateway"
    assert left.patches[0].get_width() == max(patch.get_width() for patch in left.patches)
    assert drawn.title.endswith("and no message waits for one")


def test_commands_show_links_and_nodes_of_the_points_that_are_meant(path):
    shown = invoke("links", path, "protocol=sink")
    assert shown.exit_code == 0
    assert "c → gateway" in shown.output
    assert "gateway → server" in shown.output
    shown = invoke("nodes", path, "--battery", "2 kJ", "--rows", 1)
    assert "2,000 J last the median agent" in shown.output
    assert "1 point left out: nothing was sent" in shown.output
    lines = invoke("nodes", path, "protocol=sink", "--csv").output
    rows = list(csv.DictReader(io.StringIO(lines)))
    assert {row["node"] for row in rows} == {"a", "b", "c", "d", "e", "gateway", "server"}
    assert {row["protocol.kind"] for row in rows} == {"sink"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["links", "protocol=gis"], "protocol=gis: protocol.kind has no such value here, only sink, silent"),
        (["nodes", "--battery", "0"], "above 0"),
        (["nodes", "--battery", "1 kg"], "must be a number of joule"),
    ],
)
def test_a_mistake_is_one_line(path, arguments, message):
    command, *rest = arguments
    shown = invoke(command, path, *rest)
    assert shown.exit_code == 2
    assert message in shown.output
