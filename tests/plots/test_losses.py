"""The picture of what became of a hundred messages, by cause."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
from helpers.made_up_runs import made_up, study_of

from netbandit.plots.grouping import arrange
from netbandit.plots.losses import are_lost, draw_losses
from netbandit.plots.network import draw_network
from netbandit.plots.study_pictures import pictures
from netbandit.plots.style import subtitle


def fleet(queue, dropped, **metrics):
    run = made_up(parameters={"links.peer.queue": queue})
    links = replace(run.links, dropped=np.where(np.arange(len(run.links.first)) < 1, dropped, 0))
    return replace(run, links=links, metrics=run.metrics | {"delivered": 100 - dropped, "dropped": dropped} | metrics)


def test_the_worst_point_is_the_title_and_each_bar_ends_at_a_hundred():
    study = study_of([fleet(1, 79, stalled=2), fleet(9, 20)])
    drawn = draw_losses(arrange(study))
    assert drawn.get_suptitle() == "quickstart: 79 of 100 messages do not arrive (queue 1)"
    assert "up to 2 agents stalled" in subtitle(drawn)
    points, links = drawn.axes
    ends = {}
    for bar in points.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        ends[row] = max(ends.get(row, 0), bar.get_x() + bar.get_width())
    assert ends == {0: pytest.approx(100), 1: pytest.approx(100)}
    assert [text.get_text() for text in points.texts] == ["79", "20"]
    assert len(links.get_yticks()) == 1
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["delivered", "found a full queue"]


def test_the_worst_link_is_that_of_the_largest_share_here_and_in_the_picture_of_the_network():
    runs = []
    for number, carried in enumerate(([10, 1_000], [90, 1_000])):
        run = made_up(
            networkx.path_graph(3), family="path", replication=number, metrics={"delivered": 1_500, "lost": 600}
        )
        links = replace(run.links, messages=np.array(carried), lost=np.array([5, 300]) * (1 + 8 * number, 1))
        runs.append(replace(run, links=links))
    arrangement = arrange(study_of(runs))
    links = draw_losses(arrangement).axes[1]
    assert [label.get_text() for label in links.get_yticklabels()] == ["0 – 1", "1 – 2"]
    assert [text.get_text() for text in links.texts] == ["50", "30"]
    title = draw_network(arrangement, arrangement.points[0], "lost").get_suptitle()
    assert "50 % of what 0 – 1 is given does not arrive, the most of all links" in " ".join(title.split())


@pytest.mark.parametrize("down", [{}, {"absent_slots": 3.0}, {"first_death": 5.0}])
def test_nodes_that_go_down_are_named_where_messages_are_lost_at_them(down):
    run = fleet(1, 0, lost=30, **down)
    run = replace(run, links=replace(run.links, lost=np.where(np.arange(len(run.links.first)) < 1, 30, 0)))
    arrangement = arrange(study_of([run]))
    (legend,) = draw_losses(arrangement).legends
    network = draw_network(arrangement, arrangement.points[0], "lost")
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["delivered", f"lost on the way{' or at a node that was down' if down else ''}"]
    assert ("what comes to a node that is down does not arrive either" in subtitle(network)) is bool(down)


def test_what_links_do_not_tell_apart_is_said():
    study = study_of([fleet(1, 20, lost=30, collided=30), fleet(9, 0)])
    said = "there, what collided on the air is among what was lost on the way"
    assert said in subtitle(draw_losses(arrange(study)))
    assert "there," not in subtitle(draw_losses(arrange(study_of([fleet(1, 20), fleet(9, 0)]))))


def test_a_point_without_messages_is_named():
    silent = fleet(5, 0, delivered=0)
    assert "without 5" in subtitle(draw_losses(arrange(study_of([fleet(1, 79), silent, fleet(9, 20)]))))


@pytest.mark.parametrize(("dropped", "there"), [(0, False), (5, True)])
def test_it_is_drawn_where_messages_do_not_arrive(dropped, there):
    study = study_of([fleet(1, dropped), fleet(9, 0)])
    assert any(map(are_lost, study.points)) == there
    assert ("losses" in [one.name for one in pictures(study)]) == there


def test_where_links_repeat_messages_attempts_are_counted_and_what_was_given_up_is_said():
    run = fleet(1, 20)
    again = replace(run, metrics={**run.metrics, "retransmissions": 20, "given_up": 3})
    drawn = draw_losses(arrange(study_of([again])))
    assert "20 of 100 attempts do not arrive" in drawn._suptitle.get_text()
    assert "up to 3 messages given up" in subtitle(drawn)
    assert "20 of 100 messages do not arrive" in draw_losses(arrange(study_of([run])))._suptitle.get_text()
