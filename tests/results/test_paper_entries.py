"""Tables for papers: an entry is called the best only where every difference is decided, of all that were compared."""

import csv
import io
import re
import shutil
import subprocess

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from helpers.made_up_runs import made_up, write
from scipy import stats

import netbandit
from netbandit.cli import main
from netbandit.results.paired import CompareError, holm
from netbandit.results.paper_entries import paper_entries
from netbandit.results.paper_formats import comma_separated, frame, html, latex, markdown

LEARNERS = {"ucb": 40.0, "klucb": 20.0, "thompson": 19.0}
LATENCIES = {"0 ms": 0.0, "20 ms": 30.0}


def results(replications=8, metric="regret", noise=3.0, seed=5):
    """Return results in which thompson and klucb are hard to tell apart, but for 20 ms, where klucb is far ahead."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(100, 50, replications)
    records = []
    for learner, level in LEARNERS.items():
        for latency, more in LATENCIES.items():
            far = -15.0 if (learner, latency) == ("klucb", "20 ms") else 0.0
            for number in range(replications):
                value = hard[number] + level + more + far + generator.normal(0, noise)
                keys = {"learner.kind": learner, "links.peer.latency": latency}
                record = {"replication": number, "seed": 0, "metric": metric, "value": value, "run": "x"}
                records.append(keys | record)
    return pandas.DataFrame.from_records(records)


def values(found, learner, latency):
    rows = found[(found["learner.kind"] == learner) & (found["links.peer.latency"] == latency)]
    return rows["value"].to_numpy()


@pytest.fixture(scope="module")
def table():
    return paper_entries(results(), ["learner"], ["latency"], name="three_learners")


def test_the_best_is_bold_only_where_it_is_decided_of_all_comparisons_made(table):
    found = results()
    levels = {}
    for latency in LATENCIES:
        for one, other in (("ucb", "klucb"), ("ucb", "thompson"), ("klucb", "thompson")):
            pair = (values(found, one, latency), values(found, other, latency))
            levels[one, other, latency] = stats.ttest_rel(*pair).pvalue
    corrected = dict(zip(levels, holm(list(levels.values())), strict=True))
    assert table.comparisons == len(levels) == 6
    assert corrected["klucb", "thompson", "0 ms"] > 0.05
    assert corrected["klucb", "thompson", "20 ms"] < 0.05
    best = {(each.values["learner.kind"], each.values["links.peer.latency"]) for each in table.entries if each.best}
    assert best == {("klucb", "20 ms")}
    tidy = frame(table).set_index(["learner.kind", "links.peer.latency"])
    assert tidy.p_holm["thompson", "20 ms"] == pytest.approx(corrected["klucb", "thompson", "20 ms"], rel=1e-4)
    pair = values(found, "ucb", "20 ms") - values(found, "klucb", "20 ms")
    interval = stats.ttest_1samp(pair, 0).confidence_interval(0.95)
    assert tidy.difference["ucb", "20 ms"] == pytest.approx(pair.mean())
    assert tidy.difference_low["ucb", "20 ms"] == pytest.approx(interval.low)
    assert np.isnan(tidy.difference["klucb", "20 ms"])


@pytest.mark.ci
def test_more_comparisons_ask_for_more():
    """With many settings that are alike, Holm's correction takes the bold from what a single comparison would have."""
    one = results(replications=5, noise=6.0)
    many = [one]
    for number in range(30):
        same = results(replications=5, noise=6.0, seed=100 + number)
        same["links.peer.latency"] += f" {number}"
        same["value"] = same["value"].where(same["learner.kind"] == "ucb", 0.0)  # nothing to decide by
        many.append(same)
    alone = paper_entries(one, ["learner"], ["latency"])
    together = paper_entries(pandas.concat(many, ignore_index=True), ["learner"], ["latency"])
    assert together.comparisons > alone.comparisons

    def level(entries):
        found = frame(entries).set_index(["learner.kind", "links.peer.latency"])
        return found.p_holm["ucb", "20 ms"]

    assert level(together) > level(alone)


def test_of_rewards_the_highest_is_the_best_and_of_what_has_no_side_none():
    found = paper_entries(results(metric="reward"), ["learner"], ["latency"], ["reward"])
    best = {(each.values["learner.kind"], each.values["links.peer.latency"]) for each in found.entries if each.best}
    assert best == {("ucb", "0 ms"), ("ucb", "20 ms")}
    assert "the highest" in found.caption
    neither = paper_entries(results(metric="rounds"), ["learner"], ["latency"], ["rounds"])
    assert neither.comparisons == 0
    assert "Bold" not in neither.caption


def test_too_few_replications_for_runs_that_can_fail_decide_nothing():
    found = results()
    drops = found.assign(metric="best_lost", value=0.0)
    open_ = paper_entries(pandas.concat([found, drops]), ["learner"], ["latency"])
    assert open_.comparisons == 0
    assert not any(each.best for each in open_.entries)
    assert "8 replications can miss failures" in open_.caption


def test_of_runs_that_are_wrong_or_not_the_interval_is_that_of_a_share():
    table = paper_entries(results(20, "wrong_any").assign(value=0.0), ["learner"], ["latency"], ["wrong_any"])
    for each in (markdown(table), latex(table)):
        assert "0.0 [0.0, 16.8]" in each  # 1 - 0.025 ** (1 / 20)
        assert "is not decidedly worse than" in each  # nor can it be: no pair differs
        assert "too few" not in each
    assert "mean [ends of its 95 % interval] over 20" in markdown(table)


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_one_replication_is_too_few_to_compare(statistic):
    table = paper_entries(results(1), ["learner"], ["latency"], statistic=statistic)
    assert "too few replications in common" in table.caption


def test_what_differs_by_one_number_always_is_not_compared():
    table = paper_entries(results(noise=0.0).assign(value=lambda all: all["value"].round()), ["learner"], ["latency"])
    assert "all pairs of replications differ alike" in table.caption


def test_a_point_at_which_agents_stalled_is_marked_and_never_the_best():
    found = results(replications=40)
    stalled = found.assign(metric="stalled", value=(found["learner.kind"] == "klucb").astype(float))
    table = paper_entries(pandas.concat([found, stalled]), ["learner"], ["latency"])
    assert not any(each.best for each in table.entries if each.values["learner.kind"] == "klucb")
    text = markdown(table)
    assert re.search(r"^\| klucb .* \* +\|", text, re.MULTILINE)
    assert "* agents stalled" in text


def test_markdown_lines_up(table):
    lines = [line for line in markdown(table).splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split("|")[1:4] == [
        " learner  ",
        *(f" latency {each} ".rjust(len(one)) for each, one in zip(LATENCIES, lines[0].split("|")[2:4], strict=True)),
    ]
    assert [line.count("**") for line in lines] == [0, 0, 0, 2, 0]


def test_the_caption_says_what_was_done(table):
    assert table.caption == (
        "Regret: mean ± half-width of its 95 % interval over 8 replications. Bold: the lowest among the values of "
        "learner with the same latency, where it differs from every other at the 5 % level. Test: pairs of "
        "replications with the same seed, Holm's correction for all 6 comparisons. In a setting without bold, an entry "
        "may still be decidedly worse than the best, which the table of differences shows."
    )


def test_a_caption_of_latex_is_short_and_details_are_comments():
    found = results()
    drops = found[found["learner.kind"] == "klucb"].assign(metric="best_lost", value=0.0)
    text = latex(paper_entries(pandas.concat([found, drops]), ["learner"], ["latency"]))
    (caption,) = re.findall(r"\\caption{(.*)}", text)
    assert caption == (
        r"Regret: mean $\pm$ half-width of its 95 \% interval over 8 replications. No entry is bold: klucb is not "
        "compared: 8 of 29 replications."
    )
    comments = [line for line in text.splitlines() if line.startswith("% ")]
    assert any("--statistic median" in line for line in comments)
    assert any("Holm's correction for all 2 comparisons" in line for line in comments)
    alike = paper_entries(found[found["learner.kind"] != "ucb"], ["learner"], [], where={"latency": "0 ms"})
    assert "No entry is bold: klucb is not decidedly worse than thompson." in alike.caption
    some = pandas.concat([found, drops[drops["links.peer.latency"] == "20 ms"]])
    assert (
        "klucb is not compared: 8 of 29 replications at latency 20 ms"
        in paper_entries(some, ["learner"], ["latency"]).caption
    )


def test_each_best_names_the_setting_in_which_it_is_the_best():
    text = markdown(paper_entries(results(), ["learner", "latency"]), differences=True)
    assert sorted(re.findall(r"best of latency \d+ ms", text)) == ["best of latency 0 ms", "best of latency 20 ms"]
    assert "difference from the best learner with the same latency, mean" in text


def test_a_learner_that_has_its_own_protocol_is_compared_with_all_others():
    found = results()
    found = found[found["links.peer.latency"] == "0 ms"].drop(columns="links.peer.latency")
    found["protocol.kind"] = found["learner.kind"].map({"ucb": "flooding", "klucb": "gossip", "thompson": "gossip"})
    apart = paper_entries(found, ["learner", "protocol"])
    assert apart.comparisons == 3
    assert markdown(apart, differences=True).count("best |") == 1
    assert "the best learner and protocol, mean" in apart.caption_of_differences
    more = found[found["learner.kind"] == "thompson"].assign(**{"protocol.kind": "flooding"})
    crossed = paper_entries(pandas.concat([found, more]), ["learner", "protocol"])
    assert crossed.comparisons == 2
    assert {*re.findall(r"best of protocol \w+", markdown(crossed, differences=True))} == {
        "best of protocol flooding",
        "best of protocol gossip",
    }
    more = found[found["learner.kind"] == "thompson"].assign(**{"protocol.kind": "relay"})
    text = markdown(paper_entries(pandas.concat([found, more]), ["learner", "protocol"]), differences=True)
    assert text.count("best of protocol") == 1  # flooding and relay have one learner each


def test_latex_is_what_the_packages_take(table):
    text = latex(table)
    assert text.startswith("% netbandit ")
    assert [text.count(word) for word in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{table}")] == [1, 1, 1, 1]
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") + line.count("&  ") // 2 for line in rows[-3:]} == {2}
    assert text.count(r"\textbf{") == 1
    assert r"95 \% interval" in text
    assert "±" not in text
    assert r"\label{tab:three-learners}" in text


FORMS = {
    "rows by columns": {"rows": ["learner"], "columns": ["latency"]},
    "rows alone": {"rows": ["learner", "latency"]},
    "columns alone": {"columns": ["learner", "latency"], "rows": []},
    "two metrics": {"rows": ["learner"], "columns": ["latency"], "metrics": ("regret", "cost")},
    "two metrics in rows": {"rows": ["learner", "latency"], "metrics": ("regret", "cost")},
    "medians": {"rows": ["latency"], "columns": ["learner"], "statistic": "median"},
    "one column": {"rows": ["learner"], "columns": [], "where": {"latency": "20 ms"}},
}


def read_latex(text):
    """Return the cells of each row of a table: columns, braces and environments must match."""
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    begun = re.findall(r"\\(begin|end){(\w+)}", text)
    assert begun == [("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table")]
    (layout,) = re.findall(r"\\begin{tabular}{([lr]+)}", text)
    body = text[text.index(layout) + len(layout) + 1 : text.index(r"\end{tabular}")]
    lines = [
        line for line in body.strip().splitlines() if not re.fullmatch(r"\\(top|mid|bottom)rule|\\cline{.*}", line)
    ]
    rows = []
    for line in lines:
        assert line.endswith(r" \\"), line
        cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
        spans = [re.match(r"\s*\\multicolumn{(\d+)}", cell) for cell in cells]
        assert sum(int(span[1]) if span else 1 for span in spans) == len(layout), line
        rows.append([cell.strip() for cell in cells])
    return rows


@pytest.mark.parametrize("differences", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_latex_of_each_form_is_a_table_of_texts(form, differences, tmp_path):
    both = pandas.concat([results(), results(metric="cost", seed=7)])
    text = latex(paper_entries(both, **FORMS[form]), differences=differences)
    rows = read_latex(text)
    cells = [cell for row in rows for cell in row]
    assert not any(cell.startswith("(") or "',)" in cell for cell in cells)
    shown = {re.sub(r".*{\*?}?{?([\w ]+)}+$", r"\1", cell) for cell in cells}
    assert {*LEARNERS} <= shown
    assert form == "one column" or {*LATENCIES} <= shown
    engine = shutil.which("tectonic") or shutil.which("pdflatex")
    if engine:
        document = ["\\documentclass{article}", "\\usepackage{booktabs,multirow}", "\\begin{document}", text]
        (tmp_path / "table.tex").write_text("\n".join([*document, "\\end{document}"]))
        subprocess.run([engine, "table.tex"], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def test_hostile_values_stay_text():
    found = results()
    names = {"ucb": "a_b & 50%|<b>", "klucb": r"\end{table}", "thompson": "{x}^~#$"}
    found["learner.kind"] = found["learner.kind"].map(names)
    table = paper_entries(found, ["learner"], ["latency"])
    assert r"a\_b \& 50\%|$<$b$>$ &" in latex(table)
    assert latex(table).count(r"\end{table}") == 1
    assert "<b>&" not in html(table)
    assert r"50%\|" in markdown(table)
    assert {row[0] for row in list(csv.reader(io.StringIO(comma_separated(table))))[1:]} == set(names.values())


def test_differences_have_their_levels(table):
    text = markdown(table, differences=True)
    assert re.search(r"^\| klucb .*\*\*best\*\* \|$", text, re.MULTILINE)
    assert re.search(r"\*\*[\d.]+ ± [\d.]+ \(p [=<] 0\.\d+\)\*\*", text)
    assert "Intervals are not corrected." in text


def test_what_no_row_and_no_column_holds_must_be_chosen():
    found = results()
    with pytest.raises(CompareError, match=r"^links.peer.latency varies too: name it in --rows or --columns"):
        paper_entries(found, ["learner"], [])
    assert len(paper_entries(found, ["learner"], [], where={"latency": "0 ms"}).entries) == 3
    with pytest.raises(CompareError, match=r"no point has links.peer.latency = 7 ms; there are 0 ms, 20 ms"):
        paper_entries(found, ["learner"], where={"latency": "7 ms"})
    with pytest.raises(CompareError, match=r"learner.kind stands twice"):
        paper_entries(found, ["learner"], ["learner"])
    with pytest.raises(CompareError, match=r"there is no metric regrett"):
        paper_entries(found, metrics=["regrett"])
    with pytest.raises(CompareError, match=r'--rows: there is no lerner here \(did you mean "learner.kind'):
        paper_entries(found, ["lerner"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    kinds = {"gis": 2_500.0, "relay": 1_500.0}
    runs = [
        made_up(parameters={"protocol.kind": kind, "links.peer.latency": latency}, replication=number, bend=bend)
        for kind, bend in kinds.items()
        for latency in ("0 ms", "5 ms")
        for number in range(6)
    ]
    write(folder, runs)
    return folder


def test_the_command_and_python_print_the_same_table(folder):
    done = CliRunner().invoke(main, ["table", str(folder), "--rows", "protocol", "--latex"])
    assert done.exit_code == 0, done.output
    results = netbandit.load_results(folder)
    assert done.stdout == results.table("protocol").to_latex()
    assert r"relay & \textbf{" in done.stdout
    tidy = CliRunner().invoke(main, ["table", str(folder), "--columns", "protocol,latency", "--csv"]).stdout
    read = pandas.read_csv(io.StringIO(tidy))
    assert read["best"].sum() == 2
    assert len(results.table().to_frame()) == len(read) == 4
    assert results.table(columns="protocol, latency").to_csv() == tidy
    several = CliRunner().invoke(main, ["table", str(folder), "--metric", "regret,cost"]).stdout
    assert several == results.table(metric=["regret", "cost"]).to_markdown()
    assert "<caption>" in results.table()._repr_html_()


def test_several_values_of_a_key_are_taken_together(folder):
    def shown(*words):
        done = CliRunner().invoke(main, ["table", str(folder), *words, "--csv"])
        assert done.exit_code == 0, done.output
        return pandas.read_csv(io.StringIO(done.stdout))

    both = shown("protocol=gis", "protocol=relay", "latency=0 ms")
    assert [*both["protocol.kind"]] == ["gis", "relay"]
    assert both["best"].sum() == 1
    assert len(shown("protocol=relay")) == 2
    results = netbandit.load_results(folder)
    chosen = results.table(where={"protocol": ["gis", "relay"], "latency": "0 ms"})
    assert [*chosen.to_frame()["protocol.kind"]] == ["gis", "relay"]
    assert "at latency 0 ms" in chosen.caption
    assert "protocol gis" not in chosen.caption
    with pytest.raises(ValueError, match=r"no point has protocol.kind = gosip; there are gis, relay"):
        results.table(where={"protocol": ["gis", "gosip"]})
    once = CliRunner().invoke(main, ["compare", str(folder), "protocol=gis", "protocol=relay"])
    assert once.exit_code == 2
    assert "Give protocol once: gis, relay" in once.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "nothing"], "Error: --rows: there is no nothing here"),
        (["--metric", "cash"], "Error: there is no metric cash"),
        (["--metric", "regret per agent"], 'there is no metric regret per agent (did you mean "regret_per_agent"?)'),
        (["--metric", "round (slots)"], 'there is no metric round (slots) (did you mean "round_slots"?)'),
        (["latency"], "Give which points to show as KEY=VALUE"),
        (["--csv", "--differences"], "leave out --differences"),
    ],
)
def test_mistakes_are_one_line(folder, arguments, message):
    done = CliRunner().invoke(main, ["table", str(folder), *arguments])
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_python_names_its_arguments(folder):
    with pytest.raises(ValueError, match=r"^rows=\.\.\.: there is no nothing"):
        netbandit.load_results(folder).table(rows="nothing")
    with pytest.raises(ValueError, match="metric must be a text, or several, not 3"):
        netbandit.load_results(folder).table(metric=3)
