import itertools

import pytest
from helpers.made_up_runs import arranged, made_up, study_of

from netbandit.plots import pictures
from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import learners_chart, learners_vary
from netbandit.plots.style import lay_out, subtitle

CASES = {  # learner, protocol -> regret, bytes, energy, delay
    ("ucb", "silent"): (6_765.0, 0, 0.0, 0.0),
    ("ucb", "local"): (3_920.0, 2_000_000, 4.0, 1.0),
    ("thompson", "pooled"): (243.0, 0, 0.0, 0.0),
    ("coop-ucb2", "consensus"): (891.0, 180_000, 2.0, 1.0),
    ("dducb", "consensus"): (1_399.0, 180_000, 2.0, 9.0),
}


def runs(cases=CASES, replications=3):
    return [
        made_up(
            parameters={"learner.kind": learner, "protocol.kind": protocol},
            replication=one,
            metrics={
                "regret": regret * (1 + 0.1 * one),
                "bytes": size,
                "energy_j": energy,
                "round_slots": 0.0,
                "delay_slots": delay,
            },
        )
        for (learner, protocol), (regret, size, energy, delay) in cases.items()
        for one in range(replications)
    ]


def marks(panel):
    return [(box[0].get_label(), box[0]) for box in panel.containers]


def test_many_learners_have_a_picture_of_what_they_pay_for_their_regret():
    figure = draw_chart(learners_chart(arranged(runs())))
    assert [panel.get_xlabel() for panel in figure.axes] == [
        "data sent (bytes)",
        "energy (J)",
        "delay of received items (slots)",
    ]
    best = "quickstart: the least regret is 267 (thompson, pooled), the least data sent 0 (ucb, silent);"
    assert " ".join(figure.get_suptitle().split()) == f"{best} 4 others may be as good in regret"
    assert len({panel.get_ylim() for panel in figure.axes}) == 1
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["ucb", "thompson", "coop-ucb2", "dducb", "silent", "local", "pooled", "consensus"]


def test_each_learner_is_a_mark_of_its_own_and_none_is_left_out():
    for panel in draw_chart(learners_chart(arranged(runs()))).axes:
        found = {(line.get_color(), line.get_marker()) for _, line in marks(panel)}
        edge = [text.get_text() for text in panel.texts]
        assert len(found) + len(edge) == len(CASES)
        assert "thompson, pooled" in dict(marks(panel))  # who is best is drawn where it stands


@pytest.mark.ci
def test_nothing_sent_stands_at_zero_also_beside_what_is_far_apart():
    cases = CASES | {("klucb", "local"): (2_000.0, 900_000_000, 5.0, 1.0)}
    figure = draw_chart(learners_chart(arranged(runs(cases))))
    lay_out(figure)
    panel = figure.axes[0]
    assert panel.get_xscale() == "log"
    pooled = dict(marks(panel))["thompson, pooled"].get_xdata()[0]
    assert 0 < pooled < 180_000
    assert panel.xaxis.get_major_formatter()(pooled) == "0"
    labels = [text.get_window_extent() for text in panel.get_xticklabels() if text.get_text()]
    assert len(labels) >= 4
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(sorted(labels, key=lambda box: box.x0)))


def test_two_learners_or_such_as_pay_nothing_have_none():
    assert not learners_vary(arranged(runs({key: CASES[key] for key in list(CASES)[:3]})))
    free = {key: (regret, 0, 0.0, 0.0) for key, (regret, *_) in CASES.items()}
    assert not learners_vary(arranged(runs(free)))


@pytest.mark.ci
def test_the_picture_is_among_the_few_and_says_what_differs_in_privacy():
    assert "learners" in [one.name for one in pictures(study_of(runs()))]
    some = runs()
    for run in some:
        run.metrics["epsilon"] = {"ucb": 1.0, "dducb": 2.5}.get(run.parameters["learner.kind"])
    assert "privacy spent differs: ε 1 to ∞" in subtitle(draw_chart(learners_chart(arranged(some))))
