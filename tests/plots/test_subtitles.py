"""What is said below the title of a picture, and of its numbers elsewhere."""

from helpers.made_up_runs import arranged, made_up, study_of

from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import chart_of
from netbandit.plots.style import subtitle
from netbandit.plots.subtitles import batteries_note
from netbandit.results.remarks import comparison_notes, trouble_lines


def delays(*under_way, metric="delay_slots"):
    """Runs at 0 ms, 1 ms and so on: so many of 100 messages are under way at the end, and the others have a delay."""
    return [
        made_up(
            parameters={"links.peer.latency": f"{place} ms"},
            replication=number,
            metrics={metric: 3.0 + place + number, "delivered": 100 - late, "in_flight": late, "handed": 100},
        )
        for place, late in enumerate(under_way)
        for number in range(2)
    ]


def noted(runs, metric="delay_slots"):
    drawn = subtitle(draw_chart(chart_of(arranged(runs), "rounds", metric)))
    return next((note for note in drawn.split("; ") if "arrived" in note), "")


def test_a_delay_of_what_arrived_is_called_that_where_much_did_not():
    some = delays(5, 20, 34)
    line = "at latency = 1 ms or 2 ms: delay_slots is the mean delay of what arrived: 20 or 34 % of messages had not"
    assert f"{line} by the end" in trouble_lines(study_of(some))
    assert comparison_notes(study_of(some), ["delay_slots"]) == [f"{line} by the end"]
    assert comparison_notes(study_of(some), ["regret"]) == []
    picture = "delay is that of what arrived: up to 34 % of messages had not by the end at 1 ms and 2 ms"
    assert [noted(some, metric) for metric in ("delay_slots", "lateness", "regret")] == [picture, picture, ""]
    assert noted(delays(34)) == "delay is that of what arrived: 34 % of messages had not by the end"


def test_empty_batteries_are_noted_where_half_of_the_agents_have_one():
    def note(*metrics):
        return batteries_note([study_of([made_up(metrics=one)]).points[0] for one in metrics])

    half, all_empty = {"alive": 0.5, "half_dead": 203.4}, {"alive": 0.0, "half_dead": 208.2}
    assert note(all_empty) == "empty batteries: half of the agents by slot 208, 100 % at the end"
    assert note(half, all_empty) == "empty batteries: half of the agents by slot 203 to 208, 50 to 100 % at the end"
    assert note(half, {"alive": 1.0, "half_dead": None}) == "empty batteries: 0 to 50 % at the end"
    assert note({"alive": 0.6, "half_dead": None}) == note({}) == ""


def test_a_delay_of_nearly_all_is_called_nothing_else_nor_is_another_metric():
    for calm in (delays(5, 10), delays(34, 34, metric="round_slots")):
        assert not any("what arrived" in line for line in trouble_lines(study_of(calm)))
        assert noted(calm, "lateness") == ""
