from dataclasses import replace

import numpy as np
from helpers.made_up_runs import arranged, made_up, study_of

from netbandit.plots import pictures
from netbandit.plots.events import outages, world_changes
from netbandit.plots.network import draw_network
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import subtitle

CHANGES = [{"slot": 2_000, "means": [0.1, 0.9]}, {"slot": 6_000, "means": [0.9, 0.1]}]
DOWN = [
    {"links": [[0, 1]], "from": "2 s", "until": "3 s"},
    {"nodes": [3], "from": "9000 slots"},
    {"server": True, "from": "1 min", "until": "2 min"},
]


def labelled(panel, label):
    return [one for one in [*panel.lines, *panel.patches] if one.get_label() == label]


def test_a_picture_over_time_shows_when_the_means_change_and_what_is_down_when():
    figure = draw_regret(arranged([made_up(parameters={"bandit.changes": CHANGES, "faults.outages": DOWN})]))
    (panel,) = figure.axes
    assert [line.get_xdata()[0] for line in labelled(panel, "_change")] == [2_000, 6_000]
    assert [(box.get_x(), box.get_width()) for box in labelled(panel, "_outage")] == [(2_000, 1_000), (9_000, 1_000)]
    assert "dotted: the means change; grey: something is down" in subtitle(figure)
    assert not figure.legends


def test_a_dot_stands_where_all_go_on_after_the_only_outage():
    def drawn(down, *slots):
        runs = [
            made_up(replication=number, parameters={"faults.outages": down}, metrics={"recovery_slots": each})
            for number, each in enumerate(slots)
        ]
        figure = draw_regret(arranged(runs))
        return [line.get_xdata()[0] for line in labelled(figure.axes[0], "_recovered")], subtitle(figure)

    dots, text = drawn(DOWN[:1], 100, 300)
    assert dots == [3_200]
    assert "large dots: all waiting agents have resumed" in text
    for one in (drawn(DOWN[:1], 100, None), drawn(DOWN, 100, 300)):
        assert one[0] == []
        assert "large dots" not in one[1]


def test_what_is_not_the_same_at_all_points_is_not_drawn():
    runs = [made_up(parameters={"faults.outages": down}) for down in (DOWN, DOWN[:1])]
    assert outages(arranged(runs).points) == []
    assert world_changes(arranged(runs).points) == []
    plain = draw_regret(arranged([made_up()]))
    assert not [*labelled(plain.axes[0], "_change"), *labelled(plain.axes[0], "_outage")]


def test_lost_messages_have_a_picture_of_their_own():
    run = made_up()
    lost = np.zeros(len(run.links.messages), dtype=np.int64)
    lost[4] = run.links.messages[4] // 2
    losing = replace(run, links=replace(run.links, lost=lost))
    assert [one.name for one in pictures(study_of([losing]))] == ["regret", "network", "lost"]
    assert "lost" not in [one.name for one in pictures(study_of([run]), every=True)]
    arrangement = arranged([losing])
    figure = draw_network(arrangement, arrangement.points[0], "lost")
    assert figure.axes[1].get_ylabel() == "share lost on a link (dotted: none)"
    busy = figure.axes[0].collections[1].get_array()
    assert busy.tolist() == [lost[4] / run.links.messages[4]]
