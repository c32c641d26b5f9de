import csv
import io
import math
import re
from dataclasses import replace

import pytest
from helpers.fake_study import FakePoint, FakeStudy, fake_result, fake_study, resolved
from rich.console import Console

from netbandit.results.columns import column, main_metric, metrics_with_columns, show
from netbandit.results.intervals import MEAN, Statistic
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import Estimate, estimates
from netbandit.results.tables import write_table
from netbandit.results.varied_keys import short_names
from netbandit.running import sweeps as sweep


def study(parameters, metrics, replications=2):
    """A study with one point for each entry of *parameters* and *metrics*."""
    points = []
    for chosen, figures in zip(parameters, metrics, strict=True):
        runs = []
        for replication in range(replications):
            values = {
                name: None if value is None else value * (1 + replication / 100) for name, value in figures.items()
            }
            runs.append(replace(fake_result(chosen, resolved(), replication), metrics=values))
        points.append(PointResult(chosen, keys=[f"{number:020x}" for number in range(replications)], runs=runs))
    return StudyResult("star", points)


def shown(found, width=80, encoding="utf-8", everything=False, statistic=MEAN):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    show(found, Console(file=stream, width=width, force_terminal=False), statistic, everything=everything)
    stream.flush()
    return raw.getvalue().decode(encoding)


def rows(found):
    with open(found, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_table_has_a_row_for_each_point_replication_and_metric(tmp_path):
    result = sweep.run(fake_study(10, 20, replications=2), tmp_path)
    found = rows(tmp_path / "table.csv")
    assert list(found[0]) == ["topology.agents", "replication", "seed", "metric", "value", "run"]
    metrics = list(result.study.points[0].finished[0].metrics)
    assert [(row["topology.agents"], row["replication"], row["metric"]) for row in found] == [
        (agents, replication, metric) for agents in ("10", "20") for replication in ("0", "1") for metric in metrics
    ]
    assert {row["seed"] for row in found} == {"0"}
    assert [row["value"] for row in found if row["metric"] == "cost"] == ["1000", "1001", "2000", "2001"]
    assert {row["value"] for row in found if row["metric"] == "epsilon"} == {""}
    assert {row["run"] for row in found} == {key for point in result.study.points for key in point.keys}


def test_the_table_is_the_same_whatever_was_run_before(tmp_path):
    sweep.run(fake_study(10, 20, replications=3), tmp_path / "at once")
    sweep.run(fake_study(10, 20, replications=1), tmp_path / "bit by bit")
    sweep.run(fake_study(10, replications=3), tmp_path / "bit by bit")
    sweep.run(fake_study(10, 20, replications=3), tmp_path / "bit by bit")
    assert (tmp_path / "at once" / "table.csv").read_bytes() == (tmp_path / "bit by bit" / "table.csv").read_bytes()


def test_values_are_written_so_that_they_come_back_exactly(tmp_path):
    value = 0.1 + 0.2
    write_table(tmp_path, study([{}], [{"regret": value}], replications=1))
    assert float(rows(tmp_path / "table.csv")[0]["value"]) == value


def test_parameters_of_every_kind_are_one_cell_each(tmp_path):
    parameters = {"a.text": 'a, "b"', "a.list": [1, 2], "a.flag": True, "a.number": math.inf}
    write_table(tmp_path, study([parameters], [{"regret": 1.0}], replications=1))
    row = rows(tmp_path / "table.csv")[0]
    assert [row[key] for key in parameters] == ['a, "b"', "[1, 2]", "true", "inf"]


def test_a_point_per_line_with_the_swept_parameters_first():
    text = shown(study([{"topology.agents": 10}, {"topology.agents": 100}], [{"regret": 123.0}, {"regret": 4567.0}]))
    lines = text.splitlines()
    assert lines[0] == "star, 2 points, 2 replications each"
    assert [line.split() for line in lines if line.strip()[:1].isdigit()] == [
        ["10", "123.6", "±", "7.8"],
        ["100", "4,589.8", "±", "290.1"],
    ]
    assert "mean ± half-width of the 95 % interval over replications" in text


def test_columns_line_up():
    parameters = [{"topology.agents": 10**power} for power in range(1, 6)]
    text = shown(study(parameters, [{"regret": 3.7 * 10**power, "cost": 25 * 9**power} for power in range(1, 6)]))
    lines = [line for line in text.splitlines() if "±" in line and line.strip()[:1].isdigit()]
    assert len(lines) == 5
    places = [[match.start() for match in re.finditer("±", line)] for line in lines]
    assert all(place == places[0] for place in places)
    assert len({len(line) for line in lines}) == 1


WIDE = {
    "regret": 123456789.0,
    "regret_per_agent": 1234.5,
    "rounds": 4,
    "round_slots": 25.5,
    "cost": 98765432,
    "activations": 98765,
    "messages": 1234567,
    "bytes": 123456789012,
    "energy_j": 0.00123,
    "simulated_s": 1000.0,
    "epsilon": 50.0,
    "delta": 1e-6,
    "own_metric": 17.0,
    "wall_s": 1.5,
}


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(width):
    parameters = [
        {"topology.family": family, "links.peer.latency": latency, "learner.epsilon": epsilon}
        for family in ("complete", "small-world")
        for latency in ("0 ms", "100 ms")
        for epsilon in (0.1, math.inf)
    ]
    figures = [{name: value * (1 - place / 100) for name, value in WIDE.items()} for place in range(8)]
    text = shown(study(parameters, figures), width)
    assert all(len(line) <= width for line in text.splitlines()[1:])
    assert sum("±" in line for line in text.splitlines()) == 8 + 1
    if width < 100:
        assert "…" not in text
    assert "124,074,073" in text


def test_a_list_of_equal_entries_says_how_many():
    sizes = [{"topology.components": [6] * 10}, {"topology.components": [30, 30]}]
    text = shown(study(sizes, [{"regret": 1.0}] * 2))
    assert "10 x 6" in text
    assert "2 x 30" in text


def test_a_long_parameter_is_cut_and_a_number_is_not():
    long = [{"topology.components": [7, 8] * 25}, {"topology.components": [8, 7] * 25}]
    text = shown(study(long, [{"regret": 123456.0}] * 2))
    assert "[7, 8, 7, 8, 7, 8, 7, 8, 7,…" in text
    assert "124,073 ± 7,843" in text


def test_one_point_is_a_list_of_its_metrics():
    text = shown(study([{"topology.agents": 10}], [WIDE]), everything=True)
    lines = text.splitlines()
    assert lines[0] == "star, 2 replications, topology.agents = 10"
    found = {line.split("  ")[0].strip(): line for line in lines[3:] if line.strip()}
    for name in ("regret", "regret per agent", "round", "cost", "messages", "data", "energy", "own metric"):
        assert name in found, name
    assert found["round"].rstrip().endswith("slots")
    assert found["data"].rstrip().endswith("GB")
    assert found["energy"].rstrip().endswith("mJ")
    assert all(len(line) <= 80 for line in lines)


def test_what_does_not_exist_is_left_out_of_the_list():
    assert "epsilon" not in shown(study([{}], [{"regret": 1.0, "epsilon": None}]))


def test_one_replication_has_no_interval():
    text = shown(study([{}], [{"regret": 1234.5678, "rounds": 4}], replications=1))
    assert "±" not in text
    assert "1,235" in text
    text = shown(study([{"a.b": 1}, {"a.b": 2}], [{"regret": 1234.5678}] * 2, replications=1))
    assert "±" not in text
    assert "star, 2 points, 1 replication each" in text


def test_a_screen_that_knows_only_ascii_gets_only_ascii():
    text = shown(study([{"a.b": 1}, {"a.b": 2}], [{"regret": 10.0}] * 2), encoding="ascii")
    assert "10.05 +- 0.64" in text


def test_failed_runs_are_counted_in_the_line_of_their_point():
    found = study([{"a.b": 1}, {"a.b": 2}], [{"regret": 10.0}, {"regret": 20.0}], replications=3)
    found.points[0].runs[1] = None
    text = shown(found)
    assert "2/3" in text
    assert "3/3" in text
    found.points[1].runs[:] = [None] * 3
    assert "0/3" in shown(found)


def test_a_study_in_which_everything_failed_can_be_shown():
    assert "star" in shown(StudyResult("star", [PointResult({}, keys=["0"], runs=[None])]))
    points = [PointResult({"a.b": number}, keys=["0"], runs=[None]) for number in (1, 2)]
    assert "0/1" in shown(StudyResult("star", points))


def test_regret_comes_first_and_last_what_tells_no_point_apart():
    figures = [{"regret": 7.0, "cost": 40.0, "violations": share, "bytes": 9.0 + share} for share in (0.1, 0.7)]
    found = [estimates(point) for point in study([{"a.b": 1}, {"a.b": 2}], figures).points]
    assert metrics_with_columns(found) == ["regret", "violations", "bytes", "cost"]
    lines = shown(study([{"a.b": 1}, {"a.b": 2}], figures), width=45).splitlines()
    assert lines[1] == "at every point: cost 40.2 ± 2.5"
    assert [line.split() for line in lines[3:5]] == [["slots", "below"], ["threshold"]]
    assert lines[5].split() == ["b", "regret", "(%)"]
    notice = shown(study([{"a.b": 1}, {"a.b": 2}], [WIDE] * 2), width=60).splitlines()
    assert notice[1].startswith("at every point: ")
    assert all(len(line) <= 60 for line in notice)


def test_points_are_compared_by_decisions_where_regret_of_some_runs_is_not_counted():
    """Where it is counted at other points only, too, and where half of the runs lack nothing."""
    free, counted = {"unserved": [0, 0, 3]}, {"unserved": [3, 3, 3], "regret_unserved": [0.5, 0.5, 0.5]}
    away, there = {"absent_slots": [0, 0, 9], "availability": [1, 1, 0.9]}, {"availability": [1, 1, 1]}
    for found, metric in (
        ([free, counted], "regret_per_decision"),
        ([counted, counted], "regret"),
        ([away, there], "regret_per_decision"),
        ([away, away], "regret"),
    ):
        assert main_metric([{**each, "regret_per_decision": [0.1] * 3} for each in found]) == metric
        assert main_metric(found) == "regret"  # nobody decided


def test_a_key_that_a_case_leaves_alone_shows_what_the_scenario_says(tmp_path):
    points = [FakePoint({"topology.agents": 3}, resolved(3, 1)), FakePoint({"run.slot": "9 ms"}, resolved(5, 1))]
    points[1].resolved["run"]["slot"] = "9 ms"
    lines = [line.split() for line in shown(sweep.run(FakeStudy(points), tmp_path).study).splitlines()]
    assert ["3", "1", "ms"] in [words[:3] for words in lines]
    assert ["5", "9", "ms"] in [words[:3] for words in lines]


def test_a_table_that_has_no_room_breaks_its_headings_and_no_value():
    keys = ("learner.participation", "topology.components", "protocol.kind", "learner.epsilon", "learner.rounds")
    values = ((0.125, 0.5), ("8 x 8", "2 x 32"), ("master-worker", "sink"), (0.1, 10.0), (12, 4))
    points = [dict(zip(keys, [pair[place] for pair in values], strict=True)) for place in range(2)]
    text = shown(study(points, [{"regret": 66101.6}, {"regret": 7.6}]), width=74)
    assert "…" not in text
    assert "master-worker" in text
    assert [line.split()[0] for line in text.splitlines() if "partici" in line or "pation" in line] == [
        "partici",
        "pation",
    ]


def test_exact_numbers_end_in_no_zeros():
    assert column("epsilon", [Estimate(value, (value, value)) for value in (3.2, 0.8, 64.0)]).values == [
        " 3.2",
        " 0.8",
        "64.0",
    ]
    assert column("epsilon", [Estimate(value) for value in (3.0, 8.0)]).values == ["3", "8"]
    assert column("regret", [Estimate(3.0, (2.0, 4.0)), Estimate(4.0, (4.0, 4.0))]).spreads == ["1.0", "0.0"]


def test_users_who_went_away_stand_beside_the_regret_to_which_they_add_none():
    """The latency at which fewest are served would look best."""
    near = {"regret": 9.0, "cost": 8.0, "round_slots": 0.1, "unserved": 0.0, "decisions_per_s": 100.0}
    far = {"regret": 5.0, "cost": 3.0, "round_slots": 3.5, "unserved": 70.0, "decisions_per_s": 30.0}

    def order(*figures):
        return metrics_with_columns([estimates(each) for each in study([{"a.b": 1}, {"a.b": 2}], list(figures)).points])

    assert order(near, far) == ["regret", "unserved", "cost", "round_slots", "decisions_per_s"]
    assert order(near, {**far, "unserved": 0.0}) == ["regret", "cost", "round_slots", "decisions_per_s"]
    a_decision = {"regret_per_decision": 0.1}, {"regret_per_decision": 0.2}
    near, far = near | a_decision[0], far | a_decision[1]
    assert order(near, far)[:2] == ["regret_per_decision", "unserved"]
    assert "regret" not in order(near, far)
    counted = order(near | {"regret_unserved": 0.0}, far | {"regret_unserved": 7.0})
    assert counted[:2] == ["regret", "unserved"]


@pytest.mark.parametrize(
    ("keys", "first"),
    [
        ({"learner.kind": "halving"}, True),
        ({"learner.kind": "elimination", "run.until": "answered"}, True),
        ({"learner.kind": "elimination"}, False),
        ({"learner.kind": "mine:Own"}, False),
    ],
)
def test_answers_are_shown_where_they_are_what_a_run_is_for(keys, first):
    """Else only with --all, since all agents that explore in phases answer."""
    metrics = {"regret": 9.0, "best_lost": 0.0, "wrong_any": 0.0, "answered": 1.0, "stop_slot": 70.0, "samples": 90.0}
    for points in ([keys], [keys, keys | {"a.b": 2}]):
        text = shown(study(points, [metrics] * len(points)))
        assert ("samples" in text, "runs with a wrong" in text) == (first, first)
        assert "samples" in shown(study(points, [metrics] * len(points)), everything=True)


def test_privacy_stands_beside_the_regret_where_it_differs():
    """What was spent differently is not to be compared as if it were the same."""
    few = {"regret": 9.0, "cost": 8.0, "bytes": 7.0, "messages": 3.0, "rounds": 2.0, "simulated_s": 1.0, "epsilon": 3.2}
    many = {"regret": 8.0, "cost": 9.0, "bytes": 8.0, "messages": 4.0, "rounds": 3.0, "simulated_s": 2.0}

    def order(*figures):
        return metrics_with_columns([estimates(each) for each in study([{"a.b": 1}, {"a.b": 2}], list(figures)).points])

    assert order(few, many | {"epsilon": 6.4})[:2] == ["regret", "epsilon"]
    assert order(few, many | {"epsilon": None})[:2] == ["regret", "epsilon"]
    assert order(few, many | {"epsilon": 3.2})[-1] == "epsilon"


def test_who_asked_for_no_privacy_has_no_hyphen_for_it():
    assert column("epsilon", [Estimate(3.0), Estimate(None)]).values == ["  3", "inf"]


def test_a_column_of_nothing_or_of_zeros_is_not_shown():
    metrics = {"regret": 1.0, "energy_j": 0.0, "epsilon": None}
    text = shown(study([{"a.b": 1}, {"a.b": 2}], [metrics] * 2))
    assert "energy" not in text
    assert "epsilon" not in text


def test_small_numbers_are_not_shown_as_zero():
    text = shown(study([{}], [{"regret": 1.0, "delta": 1e-6}], replications=1), everything=True)
    assert "1.0e-06" in text


def test_what_does_not_exist_at_a_point_is_said_and_one_slot_is_no_plural():
    text = shown(study([{"a.b": 1}, {"a.b": 2}], [{"regret": 1.0}, {"regret": 1.0, "rounds": 3}], replications=1))
    assert "-: does not exist, or not in every replication\n" in text
    text = shown(study([{"a.b": 1}, {"a.b": 2}], [{"regret": 1.0, "round_slots": 1}] * 2, replications=1))
    assert "at every point: round 1 slot\n" in text
    assert "does not exist" not in text


def test_names_are_as_short_as_can_be_told_apart():
    assert short_names(["topology.agents", "learner.epsilon"]) == ["agents", "epsilon"]
    assert short_names(["links.peer.latency", "links.uplink.latency", "topology.agents"]) == [
        "peer.latency",
        "uplink.latency",
        "agents",
    ]
    assert short_names(["protocol.kind", "learner.kind"]) == ["protocol", "learner"]
    assert short_names(["learner.epsilon", "learner.every"], ["epsilon"]) == ["learner.epsilon", "every"]


def test_points_that_differ_in_nothing_can_be_shown(tmp_path):
    same = FakePoint({"a.b": 1}, resolved(3, 1))
    assert "2 points" in shown(sweep.run(FakeStudy([same, same]), tmp_path).study)


def test_energy_has_its_column_on_80_characters_where_it_is_set():
    """Whoever says what a message takes wants to see it, however many keys there are."""
    keys = ("topology.family", "links.peer.latency", "learner.epsilon")
    values = (("small-world", "star"), ("100 ms", "0 ms"), (0.1, 10.0))
    points = [dict(zip(keys, [pair[place] for pair in values], strict=True)) for place in range(2)]
    wide = {**WIDE, "regret": 12345.0, "cost": 4321}
    figures = [{name: value * (1 - place / 100) for name, value in wide.items()} for place in range(2)]
    text = shown(study(points, figures), width=80)
    assert "energy" in text
    assert "(mJ)" in text
    assert "1.24 ± 0.08" in text or "1.236 ± 0.078" in text
    assert all(len(line) <= 80 for line in text.splitlines()[1:])
    without = [{**each, "energy_j": 0.0} for each in figures]
    assert "energy" not in shown(study(points, without), width=80)


def test_medians_and_quantiles_stand_with_both_ends_of_their_intervals():
    found = study([{"topology.agents": 10}, {"topology.agents": 20}], [{"regret": 100.0}, {"regret": 900.0}], 7)
    text = shown(found, statistic=Statistic.named("median"))
    lines = [line.split() for line in text.splitlines()]
    assert ["10", "103.0", "[100.0,", "106.0]"] in lines
    assert ["20", "927.0", "[900.0,", "954.0]"] in lines
    assert "median [ends of its 95 % interval] over replications" in text
    assert "takes 36 replications" in " ".join(shown(found, statistic=Statistic.named("q90")).split())


def test_the_regret_of_points_at_which_agents_stalled_is_marked():
    figures = {"regret": 100.0, "cost": 30.0, "may_stall": 1}
    text = shown(study([{"loss": 0.0}, {"loss": 0.2}], [figures | {"stalled": 0}, figures | {"stalled": 3}], 30))
    (line,) = (line for line in text.splitlines() if line.strip().startswith("0.2"))
    assert re.search(r"114\.5 ± 3\.3 \* +3\.435 ± ", line)
    assert "* agents stalled: " in text
    assert "may stall" not in text
    assert "can miss failures" not in text


@pytest.mark.parametrize("replications", [2, 28, 29])
def test_too_few_replications_of_runs_that_can_fail_are_remarked(replications):
    figures = {"regret": 100.0, "best_lost": 0}
    text = shown(study([{"a": 1}, {"a": 2}], [figures, figures | {"regret": 7.0}], replications))
    assert (f"\n{replications} replications can miss failures" in text) == (replications < 29)


def test_what_holds_in_some_runs_says_in_how_many():
    found = study([{"a": 1}, {"a": 2}], [{"regret": 1.0, "best_lost": 0}, {"regret": 2.0, "best_lost": 0}], 3)
    runs = found.points[1].runs
    runs[0] = replace(runs[0], remarks=("said once",), metrics=runs[0].metrics | {"best_lost": 1})
    text = shown(found)
    assert "at a = 2: said once (in 1 of 3 runs)" in text
    assert "at a = 2: an agent dropped the best arm (in 1 of 3 runs)" in text


def test_the_cause_of_what_does_not_arrive_is_that_of_each_point():
    """It is said to be that of most only where it is, and nodes are named where some go down."""
    points = [
        {"delivered": 60.0, "lost": 40.0, "collided": 30.0},
        {"delivered": 50.0, "lost": 50.0, "collided": 10.0, "absent_slots": 3.0},
        {"delivered": 60.0, "lost": 31.0, "collided": 16.0, "dropped": 10.0},
        {"delivered": 20.0, "lost": 80.0, "collided": 70.0, "first_death": 5.0, "half_dead": 7.0},
    ]
    lines = shown(study([{"a.b": place} for place in range(4)], points, replications=1), 200).splitlines()
    assert [line.strip() for line in lines if "arrive" in line or "half of all" in line] == [
        "at b = 0 or 3: of 100 messages 40 or 80 do not arrive, most collided on the air",
        "at b = 1: of 100 messages 50 do not arrive, most lost on the way or at a node that was down",
        "at b = 2: of 100 messages 41 do not arrive, the largest part collided on the air",
        "at b = 3: batteries do not last: the first is empty in slot 5 of 1,000, half of all by slot 7",
    ]


def test_what_tells_that_the_network_failed_comes_before_all_else():
    """On 80 characters and on 200, with the points it is of."""
    good = {"regret": 9.0, "cost": 8.0, "bytes": 7.0, "messages": 3.0, "alive": 1.0, "delivery_ratio": 0.95}
    bad = {**good, "alive": 0.0, "first_death": 471.0, "delivery_ratio": 0.27, "collided": 5.0, "stalled": 2.0}
    bad |= {"delivered": 27.0, "lost": 73.0}
    found = study([{"a.b": 1}, {"a.b": 2}], [good | {"collided": 0.0}, bad], replications=1)
    order = metrics_with_columns([estimates(point) for point in found.points])
    assert order[:6] == ["regret", "alive", "first_death", "stalled", "delivery_ratio", "collided"]
    for width in (80, 200):
        lines = shown(found, width).splitlines()
        assert lines[1:5] == [
            "at b = 2: of 100 messages 73 do not arrive, most lost on the way or at a node that was down",
            "at b = 2: batteries are empty: 0 % of agents are alive at the horizon",
            "at b = 2: batteries do not last: the first is empty in slot 471 of 1,000",
            "at b = 2: 5 messages collided on the air",
        ]
        (row,) = (line.split() for line in lines if line.strip().startswith("2 "))
        assert row[:7] == ["2", "9", "*", "0", "471", "2", "27"]
    lines = shown(study([{"a.b": 1}, {"a.b": 2}], [good] * 2, 1)).splitlines()
    assert lines[1] == "at every point: cost 8, delivered 95 %, bytes 7, messages 3"


def test_a_table_says_which_metrics_it_does_not_show_and_how_to_see_them():
    figures = [{name: value * (1 - place / 100) for name, value in WIDE.items()} for place in range(2)]
    found = study([{"a.b": 1}, {"a.b": 2}], figures)
    text = " ".join(shown(found).split())
    assert re.search(r"not shown: [a-z, ]*own metric, [a-z, ]*, \d more \(netbandit run with --all shows them\)", text)
    everything = shown(found, everything=True)
    assert "not shown" not in everything
    assert all(word in everything for word in ("own metric", "data", "delta", "computed in"))


def test_a_single_point_shows_the_ten_that_say_most():
    zeros = {f"zero_{place}": 0 for place in range(9)}
    text = shown(study([{}], [{**zeros, **WIDE, "alive": 0.5}]))
    assert len([line for line in text.splitlines() if line.startswith(" ") and "±" in line]) == 10
    assert re.search(r"agents alive +50\.2 +± +3\.2 +%", text)
    assert "zero" not in text
    assert "not shown: 14 metrics (netbandit run with --all shows them)" in text
