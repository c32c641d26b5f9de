"""Paired differences: what two points have in common is no part of their interval."""

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from helpers.fake_study import FakeStudy, fake_study
from rich.console import Console
from scipy import stats

import netbandit
from netbandit.cli import main
from netbandit.plots.grouping import arrange
from netbandit.results.compare import as_json, compare, comparison, corrected_together, show_comparison
from netbandit.results.numbers import level_text
from netbandit.results.paired import CompareError, value_text
from netbandit.running import sweeps as sweep


def table(rows):
    """Rows of (family, latency, replication, value), all of the metric regret."""
    records = [
        {"topology.family": family, "latency": latency, "replication": number, "seed": 0, "metric": "regret"}
        | {"value": value, "run": f"{family}-{latency}-{number}"}
        for family, latency, number, value in rows
    ]
    return pandas.DataFrame.from_records(records)


def drawn(generator, replications=12):
    common = generator.normal(1000, 300, replications)
    levels = {("star", "0 ms"): 0, ("star", "9 ms"): 5, ("ring", "0 ms"): 20, ("ring", "9 ms"): 90}
    return table(
        (family, latency, number, level + common[number] + generator.normal(0, 2))
        for (family, latency), level in levels.items()
        for number in range(replications)
    )


def values(found, family, latency):
    chosen = found[(found["topology.family"] == family) & (found["latency"] == latency)]
    return chosen["value"].to_numpy()


def test_each_point_is_compared_with_the_one_that_is_like_it_but_for_the_keys_given():
    found = drawn(np.random.default_rng(3))
    result = compare(found, "regret", {"topology.family": "star"})
    assert result[["topology.family", "latency", "pairs"]].values.tolist() == [
        ["ring", "0 ms", 12],
        ["ring", "9 ms", 12],
    ]
    for latency, row in zip(("0 ms", "9 ms"), result.itertuples(index=False), strict=True):
        ring, star = values(found, "ring", latency), values(found, "star", latency)
        expected = stats.ttest_rel(ring, star).confidence_interval(0.95)
        assert row.difference == pytest.approx(np.mean(ring - star))
        assert (row.low, row.high) == pytest.approx((expected.low, expected.high))
        assert (row.value, row.baseline) == pytest.approx((ring.mean(), star.mean()))
        alone = stats.ttest_ind(ring, star).confidence_interval(0.95)
        assert row.high - row.low < (alone.high - alone.low) / 50  # what both have in common is gone


def test_the_first_point_is_the_baseline_of_all_others():
    found = drawn(np.random.default_rng(4))
    result = compare(found)
    assert result["latency"].tolist() == ["9 ms", "0 ms", "9 ms"]
    assert set(result["baseline"]) == {values(found, "star", "0 ms").mean()}


@pytest.mark.ci
def test_the_intervals_cover_as_often_as_they_say():
    """400 tables with a true difference of 20: 95 % of intervals cover it; 5 standard errors are 5.4 %."""
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        row = compare(drawn(generator, 5), against={"topology.family": "star", "latency": "0 ms"}).iloc[1]
        assert (row["topology.family"], row["latency"]) == ("ring", "0 ms")
        covered += row["low"] <= 20 <= row["high"]
    assert covered / 400 > 0.95 - 0.055


def test_only_pairs_count():
    found = table([("star", 1, 0, 1.0), ("star", 1, 1, math.nan), ("star", 1, 2, 3.0), ("star", 1, 3, 4.0)])
    other = table([("ring", 1, 0, 2.0), ("ring", 1, 1, 9.0), ("ring", 1, 3, 6.0), ("ring", 1, 4, 9.0)])
    row = compare(pandas.concat([found, other])).iloc[0]
    assert (row["value"], row["baseline"], row["difference"], row["pairs"]) == (4.0, 2.5, 1.5, 2)
    one = compare(table([("star", 1, 0, 1.0), ("ring", 1, 0, 2.0)])).iloc[0]
    assert (one["difference"], one["pairs"]) == (1.0, 1)
    assert math.isnan(one["low"])
    assert math.isnan(one["high"])


@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0"])
def test_a_number_is_the_same_however_it_is_written(value):
    found = table([("star", 1.0, 0, 1.0), ("star", 2.0, 0, 5.0)])
    assert compare(found, against={"latency": value})["difference"].tolist() == [4.0]


@pytest.mark.parametrize(
    ("metric", "against", "text"),
    [
        ("radius", None, "radius is of the network, and in run --json; plot --x radius draws metrics against it; the"),
        ("regrets", None, r'there is no metric regrets \(did you mean "regret"\?\); the metrics are regret'),
        ("regret", {"shape": "star"}, "there is no shape here; the keys that vary are topology.family, latency"),
        ("regret", {"topology.family": "grid"}, "no point has topology.family = grid; there are star, ring"),
        ("regret", {"topology.family": "star", "latency": 2}, "nothing can be compared"),
    ],
)
def test_what_is_not_there_is_told(metric, against, text):
    found = table([("star", 1, 0, 1.0), ("ring", 2, 0, 2.0)])
    if text == "nothing can be compared":
        found = found[found["latency"] == 2].assign(**{"topology.family": "star"})
    with pytest.raises(CompareError, match=text):
        compare(found, metric, against)


@pytest.mark.parametrize("words", [[], ["topology.agents=3"]])
def test_where_no_key_varies_that_is_said(tmp_path, words):
    sweep.run(fake_study(3, replications=4), tmp_path)
    done = CliRunner().invoke(main, ["compare", str(tmp_path), *words])
    text = "no key varies in these results, so nothing can be compared; [sweep] of a scenario varies keys"
    assert (done.exit_code, done.stderr) == (2, f"Error: {text}\n")


def test_the_command_and_the_package_say_the_same(tmp_path):
    sweep.run(fake_study(3, 4, replications=4), tmp_path)
    result = netbandit.compare(netbandit.load_results(tmp_path), "cost")
    first = result.values.tolist()
    assert (first[0][:4], first[0][6]) == ([4, 401.5, 301.5, 100.0], 4)
    assert all(map(math.isnan, first[0][4:6]))  # four pairs that are all alike: no interval
    done = CliRunner().invoke(main, ["compare", str(tmp_path), "topology.agents=3", "--metric", "cost"])
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["cost,", "with", "topology.agents", "=", "3", "as", "the", "baseline"]
    assert ["4", "401.5", "301.5", "100"] in lines
    assert "no ± where all pairs differ alike" in done.stdout
    assert "over 4 pairs of replications" in done.stdout
    short = CliRunner().invoke(main, ["compare", str(tmp_path), "agents=3", "--metric", "cost"])
    assert (short.exit_code, short.stdout) == (0, done.stdout)
    short = netbandit.compare(netbandit.load_results(tmp_path), "cost", {"agents": 3})
    assert short.equals(result)


def test_a_baseline_that_all_points_share_is_said_once(tmp_path):
    sweep.run(fake_study(3, 4, 5, replications=2), tmp_path)
    done = CliRunner().invoke(main, ["compare", str(tmp_path), "--metric", "cost"])
    lines = [line.split() for line in done.stdout.splitlines()]
    assert done.stdout.splitlines()[0] == "cost, with the first point as the baseline (300.5)"
    assert [line for line in lines if line[:1] in (["4"], ["5"])] == [
        ["4", "400.5", "100"],
        ["5", "500.5", "200"],
    ]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["topology.agents"], "KEY=VALUE"),
        (["topology.agents=9"], "no point has topology.agents = 9; there are 3, 4"),
        (["--metric", "joy"], "there is no metric joy; the metrics are"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, words, text):
    sweep.run(fake_study(3, 4), tmp_path)
    done = CliRunner().invoke(main, ["compare", str(tmp_path), *words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr


def shown(found, width=80):
    stream = io.StringIO()
    show_comparison(found, Console(file=stream, width=width))
    return stream.getvalue()


def test_a_difference_of_one_pair_has_no_interval():
    text = shown(comparison(table([("star", 1, 0, 1.0), ("ring", 1, 0, 2.5)]), "regret"))
    assert "1.5" in text.split()
    assert "±" not in text.splitlines()[4]


def with_cases(tmp_path):
    """Points of which one sets the family, and another an epsilon: what a case does not set the scenario says."""
    cases = [{"topology.family": "ring"}, {"topology.family": "star"}, {"learner.epsilon": math.inf}]
    resolved = {"topology": {"family": "ring", "agents": 3}, "learner": {}}
    points = [
        replace(point, parameters=case, resolved=nested(point.resolved | resolved, case))
        for case, point in zip(cases, fake_study(3, 4, 5, replications=2).points, strict=True)
    ]
    sweep.run(FakeStudy(points), tmp_path)
    return tmp_path


def nested(tables, case):
    found = {name: dict(table) if isinstance(table, dict) else table for name, table in tables.items()}
    for key, value in case.items():
        name, last = key.split(".")
        found[name][last] = value
    return found


def test_what_a_case_does_not_set_is_what_the_scenario_says_and_a_key_it_does_not_have_is_empty(tmp_path):
    found = compare(netbandit.load_results(with_cases(tmp_path)), "cost")
    assert found[["topology.family", "learner.epsilon"]].values.tolist() == [["star", ""], ["ring", math.inf]]
    done = CliRunner().invoke(main, ["compare", str(tmp_path), "--metric", "cost"])
    assert "nan" not in done.stdout.lower()
    assert ["star", "300.5", "0"] in [line.split() for line in done.stdout.splitlines()]


def test_points_without_a_partner_are_counted_and_named(tmp_path):
    text = (
        "1 point left out, no point with topology.family = star is like it in all other keys: "
        "topology.family = ring, learner.epsilon = inf"
    )
    table = netbandit.load_results(with_cases(tmp_path))
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        found = compare(table, "cost", {"family": "star"})
    assert [each["topology.family"] for each in found.attrs["left_out"]] == ["ring"]
    words = ["compare", str(tmp_path), "family=star", "--metric", "cost"]
    assert CliRunner().invoke(main, words).stdout.splitlines()[-1] == text
    (whole,) = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)["comparisons"]
    assert whole["against"] == {"topology.family": "star"}
    assert [each["parameters"]["topology.family"] for each in whole["differences"]] == ["ring"]
    assert whole["left_out"][0]["parameters"] == {"topology.family": "ring", "learner.epsilon": None}


def test_a_point_without_the_metric_is_left_out():
    found = table([("star", 1, 0, 1.0), ("ring", 1, 0, 2.0), ("path", 1, 0, 3.0)])
    found.loc[2, "metric"] = "other"
    with pytest.warns(UserWarning, match="1 point left out, no replication has a regret both there .*: .* = path"):
        assert compare(found)["topology.family"].tolist() == ["ring"]


def test_many_points_that_are_left_out_are_not_all_named():
    found = table([("star", 1, 0, 1.0), ("ring", 1, 0, 1.0), *[("ring", latency, 0, 1.0) for latency in range(2, 14)]])
    with pytest.warns(UserWarning, match="12 points left out.*latency = 11; and 2 more$"):
        compare(found, "regret", {"topology.family": "star"})


def labelled(tmp_path):
    """Three labelled cases in two sizes, of which two set the same family."""
    cases = {"as it is": {}, "far": {"topology.family": "path"}, "farther": {"topology.family": "path", "slow": "yes"}}
    points = [
        replace(point, parameters={"size": size, "case": label} | keys, resolved=point.resolved | {"size": size})
        for size, parts in ((1, fake_study(3, 4, 5)), (2, fake_study(6, 7, 8)))
        for (label, keys), point in zip(cases.items(), parts.points, strict=True)
    ]
    sweep.run(FakeStudy(points), tmp_path)
    return tmp_path


def test_a_label_stands_for_what_its_case_sets(tmp_path):
    out = labelled(tmp_path)
    found = compare(netbandit.load_results(out), "cost", {"case": "far"})
    assert found.equals(compare(netbandit.load_results(out), "cost", {"label": "far"}))
    assert found[["size", "case", "difference"]].values.tolist() == [
        [1, "as it is", -100.0], [1, "farther", 100.0], [2, "as it is", -100.0], [2, "farther", 100.0],
    ]  # fmt: skip
    assert "topology.family" not in found.columns
    assert "family" not in CliRunner().invoke(main, ["compare", str(out), "case=far", "--metric", "cost"]).stdout
    assert arrange(netbandit.load_results(out).study).keys == ("case", "size")
    found = netbandit.load_results(out)
    assert {"topology.family", "slow", "case"} <= set(found.columns)  # the table keeps all


def test_what_labelled_cases_set_can_be_compared_too(tmp_path):
    table = netbandit.load_results(labelled(tmp_path))
    with pytest.warns(UserWarning, match="2 points left out.* size = 1, topology.family = star; size = 2, "):
        found = compare(table, "cost", {"slow": "yes", "size": 1})
    assert "case" not in found.columns
    assert found[["size", "slow"]].values.tolist() == [[1, ""], [2, ""], [2, "yes"]]


def failing(rows, **metrics):
    """The rows, and for each run what tells whether it failed: {metric: values by replication}."""
    found = table(rows)
    more = [
        row | {"metric": metric, "value": values[row["replication"]]}
        for row in found.drop_duplicates("run").to_dict("records")
        for metric, values in metrics.items()
    ]
    return pandas.concat([found, pandas.DataFrame(more)])


def test_p_is_that_of_the_pairs_and_holm_s_of_all_rows_while_intervals_stay_as_they_are():
    found = drawn(np.random.default_rng(6), 9)
    result = compare(found)
    expected = [
        stats.ttest_rel(values(found, *point), values(found, "star", "0 ms"))
        for point in zip(result["topology.family"], result["latency"], strict=True)
    ]
    assert result["p"].tolist() == pytest.approx([max(each.pvalue, 1e-9) for each in expected], rel=1e-5)
    assert result["low"].tolist() == pytest.approx([each.confidence_interval().low for each in expected])
    ordered = result.sort_values("p")
    steps = [(3 - place) * p for place, p in enumerate(ordered["p"])]
    assert ordered["p_holm"].tolist() == pytest.approx(np.minimum(1, np.maximum.accumulate(steps)).tolist())


def test_metrics_that_are_compared_together_are_one_family(tmp_path):
    sweep.run(fake_study(3, 4, replications=5), tmp_path)
    generator = np.random.default_rng(7)
    found = pandas.concat(
        [drawn(generator, 5), drawn(generator, 5).assign(metric="cost"), drawn(generator, 5).assign(metric="bytes")]
    )
    alone = [comparison(found, metric) for metric in ("cost", "bytes")]
    both = corrected_together(alone)
    p = [each.p for one in both for each in one.differences]
    assert min(each.p_holm for one in both for each in one.differences) == pytest.approx(6 * min(p))
    assert min(each.p_holm for each in alone[0].differences) == pytest.approx(3 * min(p[:3]))


def test_medians_of_pairs_with_the_sign_test():
    found = drawn(np.random.default_rng(8), 11)
    result = compare(found, against={"topology.family": "star"}, statistic="median").iloc[1]
    differences = np.sort(values(found, "ring", "9 ms") - values(found, "star", "9 ms"))
    assert result["difference"] == np.median(differences)
    assert (result["low"], result["high"]) == (differences[1], differences[9])
    assert result["value"] == np.median(values(found, "ring", "9 ms"))
    assert result["p"] == pytest.approx(stats.binomtest(int((differences > 0).sum()), 11).pvalue)
    with pytest.raises(CompareError, match="by 'q90', but by mean or median"):
        compare(found, statistic="q90")


@pytest.mark.parametrize("count", [28, 29])
def test_a_mean_of_too_few_pairs_that_can_fail_decides_nothing_and_a_median_does(count):
    rows = [(family, 1, run, shift + run) for family, shift in (("star", 0.0), ("ring", 9.5)) for run in range(count)]
    rows = [(*row[:3], row[3] + 0.1 * (row[2] % 3) * (row[0] == "ring")) for row in rows]
    found = failing(rows, best_lost=[0.0] * count)
    result = compare(found)
    assert math.isnan(result["p"].iloc[0]) == (count < 29)
    assert ("28 replications can miss failures" in " ".join(result.attrs["remarks"])) == (count < 29)
    assert result["low"].iloc[0] > 9  # what was seen is told in any case
    assert compare(found, statistic="median")["p"].iloc[0] < 1e-6
    assert compare(failing(rows, may_stall=[0.0] * count))["p"].iloc[0] < 1e-6
    assert math.isnan(compare(failing(rows, may_stall=[1.0] * count))["p"].iloc[0]) == (count < 29)


def test_regrets_of_points_at_which_agents_stalled_are_marked():
    rows = [(family, 1, run, value + run) for family, value in (("star", 5), ("ring", 3)) for run in range(30)]
    found = table(rows)
    stalled = found.assign(metric="stalled", value=[0.0] * 30 + [4.0] + [0.0] * 29)
    cost = found.assign(metric="cost")
    both = pandas.concat([found, stalled, cost])
    lines = shown(comparison(both, "regret"), 90).splitlines()
    assert any(line.split()[:3] == ["ring", "17.5", "*"] for line in lines)
    assert any(line.startswith("* agents stalled: ") and "not an improvement" in line for line in lines)
    assert "*" not in shown(comparison(both, "cost"), 90)  # they did cost less


@pytest.mark.parametrize("width", [30, 60, 200])
def test_no_number_and_no_mark_is_cut_off_where_the_terminal_is_narrow(width):
    values = {"star": 5_000_000.0, "ring": 3.25, "complete": 4.5}
    noise = np.random.default_rng(0)
    rows = [(family, 1, run, value + noise.normal()) for family, value in values.items() for run in range(30)]
    found = table(rows)
    both = pandas.concat([found, found.assign(metric="stalled", value=1.0)])
    asked = comparison(both, "regret")
    text = shown(asked, width)
    assert "…" not in text
    assert text.count(" *") == 2 * len(asked.differences)  # of each point, and of its difference
    assert all(level_text(each.p_holm) in text for each in asked.differences if each.p_holm is not None)
    assert text.split("─")[0].split().count("p") == (2 if width == 200 else 1)


def test_levels_and_remarks_are_in_json(tmp_path):
    sweep.run(fake_study(3, 4, 5, replications=4), tmp_path)
    done = CliRunner().invoke(main, ["compare", str(tmp_path), "--metric", "regret", "--statistic", "median", "--json"])
    (found,) = json.loads(done.stdout)["comparisons"]
    assert (found["statistic"], [each["ci95"] for each in found["differences"]]) == ("median", [None, None])
    assert [each["p"] for each in found["differences"]] == pytest.approx([0.125, 0.125])
    assert [each["p_holm"] for each in found["differences"]] == pytest.approx([0.25, 0.25])


def errors(first, second, others=()):
    """Two points of a learner whose answers are wrong, 1, or right, 0."""
    records = [
        {"case": case, "learner.kind": "race", "run.until": "answered", "replication": number, "seed": 0}
        | {"metric": "wrong_any", "value": float(value), "run": f"{case}-{number}"}
        for case, values in {"one": first, "other": second, **dict(others)}.items()
        for number, value in enumerate(values)
    ]
    return pandas.DataFrame.from_records(records)


def differences(found, metric="wrong_any"):
    return comparison({name: found[name].tolist() for name in found}, metric)


def test_of_two_points_the_key_in_which_they_differ_is_shown():
    text = shown(differences(errors([0, 1, 0, 1], [0, 0, 0, 1])), 90)
    assert re.search(r"^ case  ", text, re.MULTILINE)
    assert re.search(r"^ other  ", text, re.MULTILINE)
    assert "race" not in text  # so have both


@pytest.mark.parametrize(
    ("more", "less", "same"), [(6, 0, 14), (1, 9, 30), (0, 0, 20), (3, 3, 0), (0, 5, 0), (7, 2, 400)]
)
def test_error_rates_are_compared_as_shares_of_pairs(more, less, same):
    """P is that of McNemar's exact test; where no pair differs, what is possible is what Clopper and Pearson leave."""
    value = [1] * more + [0] * less + [1, 0] * (same // 2)
    baseline = [0] * more + [1] * less + [1, 0] * (same // 2)
    row = compare(errors(baseline, value), "wrong_any").iloc[0]
    exact = stats.binomtest(more, more + less, 0.5).pvalue if more + less else 1.0
    assert row["p"] == pytest.approx(exact, rel=1e-5)
    assert row["difference"] == pytest.approx((more - less) / len(value))
    assert -1 <= row["low"] <= row["difference"] <= row["high"] <= 1
    if not more and not less:
        most = stats.binomtest(0, same).proportion_ci(0.95).high
        assert (row["low"], row["high"]) == pytest.approx((-most, most))
    elif more and same:
        weights = np.random.default_rng(1).dirichlet([more, less + 1, same], 200_000)
        assert row["low"] == pytest.approx(np.quantile(weights[:, 0] - weights[:, 1], 0.025), abs=3e-3)


def test_error_rates_have_the_interval_of_clopper_and_pearson():
    text = shown(differences(errors([0, 0, 0, 0, 1], [0] * 5, {"third": [1] * 5}.items())), 90)
    assert "(20 [1, 72] %)" in text
    assert re.search(r"^ other +0 \[ 0,  52\] +-20 \[-72, 45\]", text, re.MULTILINE)
    assert "shares of runs and their difference [ends of the 95 % interval] over 5 pairs" in text
    (one,) = as_json(differences(errors([0, 0], [0, 1])))["differences"]
    assert one["ci95"][0] < 0 < one["ci95"][1]


def test_a_value_is_the_same_however_it_is_written():
    assert value_text("[0.6,0.4]") == value_text([0.6, 0.4]) == "[0.6, 0.4]"
    assert [value_text(each) for each in ("1.0", 1, 1.5, None, math.nan, "nan")] == ["1", "1", "1.5", "", "", ""]
