import json
from dataclasses import replace

import pytest
from helpers.made_up_runs import made_up, trace, write
from matplotlib.colors import to_hex
from matplotlib.quiver import Quiver

from netbandit.plots import plot_folder
from netbandit.plots.style import encoded, subtitle
from netbandit.plots.timeline import MOST_MESSAGES, MOST_NODES, draw_timeline, first_round
from netbandit.report import write_report
from netbandit.results.results_folder import RUNS, ResultsFolder
from netbandit.simulation.result import Nodes
from netbandit.trace.read import Lines, Phase, Transfer

MS = 10**6


def message(sender, receiver, start, arrival, kind="DATA", round=1):
    return Transfer(kind, round, sender, receiver, 24, start * MS, start * MS, arrival * MS)


def wait(agent, begin, end, round=1, name="exploit"):
    return Phase(name, agent, round, begin * MS, end * MS, {})


EXCHANGE = Lines(
    [message(1, "server", 4, 6, "UPLOAD"), message("server", 0, 6, 9, "ANSWER"), message(0, 1, 30, 40, round=2)],
    [wait(0, 0, 4, name="explore"), wait(0, 4, 9), wait(1, 4, 10), wait(1, 20, 25, round=2)],
)


def arrows(figure):
    """Return the arrows as (begin, from, end, to)."""
    found = [one for one in figure.axes[0].collections if isinstance(one, Quiver)]
    return [
        (*map(float, place), float(place[0] + across), float(place[1] + up))
        for one in found
        for place, across, up in zip(one.XY, one.U, one.V, strict=True)
    ]


def bars(figure):
    """Return the bars as (colour, row, begin, end)."""
    return [
        (to_hex(one.get_facecolor()), one.get_y() + one.get_height() / 2, one.get_x(), one.get_x() + one.get_width())
        for one in figure.axes[0].patches
    ]


def test_messages_are_arrows_in_slots_and_waits_are_bars():
    run = made_up()
    figure = draw_timeline(run, first_round(EXCHANGE), {"protocol.kind": "master-worker"})
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.get_yticklabels()] == ["server", "0", "1"]
    assert arrows(figure) == [(4, 2, 6, 0), (6, 0, 9, 1)]
    (explore,) = {colour for colour, _, begin, _ in bars(figure) if begin == 0}
    assert [bar[1:] for bar in bars(figure) if bar[0] != explore] == [(1, 4, 9), (2, 4, 10)]
    assert panel.get_xlabel() == "time (slots)"
    assert panel.get_ylim()[0] > panel.get_ylim()[1]
    assert panel.get_xlim()[0] < 4
    assert 10 < panel.get_xlim()[1] < 20
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["explores", "waits, and exploits", "UPLOAD", "ANSWER"]
    assert figure.get_suptitle() == "quickstart: round 1 takes 2 messages, and agents wait up to 6 slots"
    assert subtitle(figure) == "replication 0; protocol: master-worker"


def test_a_wait_for_late_rewards_is_a_bar_of_its_own():
    lines = Lines([message(0, 1, 5, 6), message(1, 0, 5, 6)], [wait(0, 5, 8), wait(1, 5, 8)])
    lines.phases.append(lines.phases[0]._replace(name="feedback", begin=2 * MS, end=5 * MS))
    figure = draw_timeline(made_up(), first_round(lines))
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == [
        "waits for rewards",
        "waits, and exploits",
    ]


def test_the_length_of_a_slot_is_the_scenarios():
    run = made_up(parameters={"run.slot": "2 ms"})
    assert arrows(draw_timeline(run, first_round(EXCHANGE))) == [(2, 2, 3, 0), (3, 0, 4.5, 1)]


def test_places_have_their_names():
    run = made_up(nodes=Nodes(("Delft", "A city with a very long name")))
    labels = draw_timeline(run, first_round(EXCHANGE)).axes[0].get_yticklabels()
    assert [text.get_text() for text in labels] == ["server", "Delft", "A city with a v…"]


def test_a_trace_without_a_round_has_no_picture():
    assert first_round(Lines([message(0, 1, 1, 2, round=0)], [wait(0, 1, 2)])) is None


@pytest.mark.ci
def test_of_many_agents_and_messages_the_first_are_shown_and_the_subtitle_says_so():
    many = [message(n % 40, (n + 1) % 40, n, n + 1) for n in range(1000)]
    found = first_round(Lines(many, [wait(agent, 0, 2000) for agent in range(40)]))
    assert found.nodes == list(range(MOST_NODES))
    assert len(found.messages) == MOST_MESSAGES
    assert {one.sender for one in found.messages} == set(range(MOST_NODES - 1))
    assert found.end == max(one.arrival for one in found.messages)
    figure = draw_timeline(made_up(), found)
    assert subtitle(figure) == "replication 0; the first 24 of 40 agents; 400 of 1,000 messages"
    assert encoded(figure, "png")


def test_messages_that_take_no_time_are_drawn():
    figure = draw_timeline(made_up(), first_round(Lines([message(0, 1, 5, 5), message(1, 0, 5, 5)], [])))
    assert arrows(figure) == [(5, 0, 5, 1), (5, 1, 5, 0)]
    low, high = figure.axes[0].get_xlim()
    assert low < 5 < high
    assert encoded(figure, "svg") == encoded(
        draw_timeline(made_up(), first_round(Lines([message(0, 1, 5, 5), message(1, 0, 5, 5)], []))), "svg"
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("damage", ["", "not a trace\n", None])
def test_a_folder_with_a_trace_has_a_picture_of_a_round_and_so_has_its_report(tmp_path, damage):
    runs = [
        made_up(parameters={"protocol.kind": kind}, replication=replication)
        for kind in ("gis", "flooding")
        for replication in range(2)
    ]
    write(tmp_path, runs)
    lines = [
        {"kind": "DATA", "round": 1, "from": 0, "to": "server", "bytes": 24, "sent": 0, "start": 0, "arrival": MS},
        {"phase": "exploit", "agent": 0, "round": 1, "begin": 0, "end": 2 * MS, "arm": 3},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines) if damage is None else damage
    trace(tmp_path / RUNS / ResultsFolder(tmp_path).study().points[1].keys[1], text)
    names = {file.name for file in plot_folder(ResultsFolder(tmp_path), kinds=["png"])}
    assert ("round-flooding.png" in names) == (damage is None)
    assert not any(name.startswith("round-gis") for name in names)
    if damage is None:
        page = write_report(tmp_path).read_text(encoding="utf-8")
        assert (
            'aria-label="quickstart: round 1 takes 1 message, and agents wait up to 2 slots; replication 1; protocol: '
            'flooding"' in page
        )


def test_a_run_that_is_not_there_is_passed_over(tmp_path):
    write(tmp_path, [replace(made_up(), replication=replication) for replication in range(2)])
    study = ResultsFolder(tmp_path).study()
    (tmp_path / RUNS / study.points[0].keys[0] / "result.json").unlink()
    (tmp_path / RUNS / study.points[0].keys[0] / "trace.jsonl").write_text("{}\n")
    assert not any(file.name.startswith("round") for file in plot_folder(ResultsFolder(tmp_path), kinds=["png"]))
