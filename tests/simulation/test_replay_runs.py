import numpy as np
import pytest
from helpers.criteo_logs import write_log
from helpers.gathering import played
from helpers.made_up_runs import study_of
from helpers.worlds import started

from netbandit.bandits.replay import RANDOM_SEEDS
from netbandit.checks.check import check
from netbandit.plots import pictures
from netbandit.results.run_keys import run_key
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.studies.papers.figures import papers_folder
from netbandit.util.streams import Streams

SCENARIO = """
schema = 1
[run]
horizon = 2_000
slot = "1 ms"
[topology]
family = "star"
agents = 5
[bandit]
kind = "replay"
[learner]
kind = "linucb"
[protocol]
kind = "vertical"
timing = "asynchronous"
"""


def study(tmp_path, *overrides):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return check(load(file, overrides))


def point(tmp_path, *overrides):
    return study(tmp_path, *overrides).points[0]


def lines_of(tmp_path, *overrides):
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, *overrides)
    return error.value.lines


@pytest.mark.ci
@pytest.mark.parametrize("learner", ["linucb", "lints"])
@pytest.mark.parametrize("combine", ["sum", "product"])
def test_masked_and_central_runs_choose_the_same_arms(tmp_path, learner, combine):
    common = [f"learner.kind={learner}", f"bandit.combine={combine}", "bandit.participants=[6, 3, 9, 0, 12]"]
    common += ["run.horizon=1_200"]
    central, same = played(point(tmp_path, *common, "protocol.masks=false"))
    for secure in ("false", "true"):
        masked, outcome = played(point(tmp_path, *common, f"protocol.secure_sum={secure}"))
        np.testing.assert_array_equal(np.concatenate(masked.arms), np.concatenate(central.arms))
        parameter = masked.mask.T @ masked.learner.parameter
        np.testing.assert_allclose(parameter, central.learner.parameter, atol=1e-9, rtol=0)
        assert outcome.metrics["kept"] == same.metrics["kept"] > 20
        assert outcome.metrics["relative_ctr"] == same.metrics["relative_ctr"]


@pytest.mark.ci
@pytest.mark.parametrize("learner", ["linucb", "lints"])
def test_a_file_is_replayed_as_the_scenario_that_it_was_made_from(tmp_path, learner):
    write_log(tmp_path / "log.txt.gz", 2_000, seed=3, combine="product")
    common = ["run.seed=3", "bandit.combine=product", f"learner.kind={learner}"]
    made = point(tmp_path, *common).simulation(0).run()
    read = point(tmp_path, *common, "bandit.path=log.txt.gz").simulation(0).run()
    assert read.fingerprint == made.fingerprint
    for metric in ("kept", "ctr", "random_ctr", "relative_ctr", "reward"):
        assert read.metrics[metric] == made.metrics[metric]
    assert made.metrics["regret"] > 0
    assert made.curves["regret"].values[-1] == made.metrics["regret"]
    assert [line[:5] for line in made.remarks] == ["masks", "masks"]
    unknown = ["regret", "regret_per_agent", "regret_per_s", "true_ctr"]
    assert [read.metrics[metric] for metric in unknown] == [None] * 4
    assert list(read.curves) == ["relative_ctr"]
    assert read.curves["relative_ctr"].values[-1] == read.metrics["relative_ctr"]
    assert "not state whether its arms were shown uniformly" in read.remarks[0]


@pytest.mark.ci
def test_more_columns_are_worth_more(tmp_path):
    """Ten paired logs, of which the first fifth of the columns or all are seen: differences beyond t(9) at 1e-3."""
    found = {}
    for partial in ("0.2", "1.0"):
        common = ["bandit.arms=5", "bandit.combine=product", "protocol.masks=false", "learner.alpha=1.0"]
        parts = point(tmp_path, *common, "run.horizon=20000", f"bandit.partial={partial}")
        runs = [parts.simulation(log).run() for log in range(10)]
        names = ("regret", "relative_ctr", "true_ctr")
        found[partial] = {name: np.array([run.metrics[name] for run in runs]) for name in names}
    for name, sign in (("regret", -1), ("relative_ctr", 1), ("true_ctr", 1)):
        gain = sign * (found["1.0"][name] - found["0.2"][name])
        assert gain.mean() / (gain.std(ddof=1) / np.sqrt(10)) > 4.3, name


def test_the_content_of_the_log_decides_the_key_of_a_run(tmp_path):
    for name, seed in (("log.txt", 0), ("same.txt", 0), ("other.txt", 1)):
        write_log(tmp_path / name, 2_000, seed=seed)
    first, same, other, made = (
        run_key(point(tmp_path, *keys), 0)
        for keys in (["bandit.path=log.txt"], ["bandit.path=same.txt"], ["bandit.path=other.txt"], [])
    )
    assert first == same
    assert len({first, other, made}) == 3


def test_a_missing_log_is_told_with_its_place_beside_other_mistakes(tmp_path):
    (tmp_path / "folder").mkdir()
    file = tmp_path / "scenario.toml"
    text = SCENARIO.replace('kind = "replay"', 'kind = "replay"\npath = "none.txt"').replace("2_000", "0")
    file.write_text(text)
    with pytest.raises(ScenarioError) as error:
        check(load(file))
    lines = error.value.lines
    assert len(lines) == 2
    assert lines[0].startswith(f"{file}:4:")
    assert lines[1] == (
        f"{file}:11:1: bandit.path: {tmp_path / 'none.txt'} is not there; "
        "a relative path starts at the folder of the file it is written in"
    )
    assert "is not a file" in lines_of(tmp_path, "bandit.path=folder")[0]


def test_a_bad_line_is_told_with_its_place_and_the_way_out(tmp_path):
    path = tmp_path / "log.txt"
    write_log(path, 3_000)
    lines = path.read_text().splitlines()
    lines[1234] = lines[1234].replace("\t", "\tten", 1)
    path.write_text("\n".join(lines))
    (told,) = lines_of(tmp_path, "bandit.path=log.txt")
    assert told.startswith(f"--set bandit.path: bandit.path: {path}:1235: I1 must be an integer")
    assert told.endswith('set bandit.bad_rows = "skip"')
    run = point(tmp_path, "bandit.path=log.txt", "bandit.bad_rows=skip").simulation(0).run()
    assert run.remarks[1].startswith("1 of 3,000 lines of log.txt were skipped; the first is line 1235: I1 must be")
    swept = lines_of(tmp_path, "sweep.bandit.path=['none.txt', 'log.txt']")
    assert [line.split(": ")[1] for line in swept] == ["sweep.bandit.path[0]", "sweep.bandit.path[1]"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["bandit.path=log.txt", "run.horizon=2501"], "run.horizon: is 2501, but the log has 2500 events to replay"),
        (["bandit.path=log.txt", "bandit.lines=1999"], "run.horizon: is 2000, but the log has 1999 events to replay"),
        (["bandit.path=log.txt", "bandit.participants=[6, 6, 6, 6, 5]"], "lists 29 columns, but there are 30"),
        (["bandit.path=log.txt", "topology.agents=31"], "is not one for each of 31 agents"),
        (["bandit.participants=[6, 6, 6, 6, 5]"], "lists 29 columns, but there are 30"),
        (["bandit.participants=4"], "makes 4 participants, but the topology has 5 agents"),
        (["topology.agents=31"], "is not one for each of 31 agents"),
        (["bandit.format=digits", "bandit.participants=[60, 1, 1, 1]"], "lists 63 columns, but there are 64"),
        (["bandit.format=digits", "bandit.path=log.txt"], "bandit.path: has no meaning"),
        (["bandit.arms=254"], "bandit.arms: is 254, but a synthetic log has at most 253"),
        (["bandit.format=parquet"], 'must be one of "criteo", "digits"'),
        (["learner.kind=elimination", "learner.gap=0.1"], "pulls arms in blocks"),
    ],
)
def test_mistakes(tmp_path, overrides, text):
    write_log(tmp_path / "log.txt", 2_500)
    assert text in "\n".join(lines_of(tmp_path, *overrides))


def test_no_way_out_is_told_where_there_is_none(tmp_path):
    (tmp_path / "log.txt").write_text("")
    (told,) = lines_of(tmp_path, "bandit.path=log.txt")
    assert "the file is empty" in told
    assert "skip" not in told


@pytest.mark.ci
def test_results_without_regret_are_drawn(tmp_path):
    write_log(tmp_path / "log.txt", 2_000)
    overrides = ["bandit.path=log.txt", "sweep.bandit.partial=[0.2, 0.5, 1.0]", "run.replications=2"]
    runs = [each.simulation(number).run() for each in study(tmp_path, *overrides).points for number in range(2)]
    drawn = {picture.name: picture for picture in pictures(study_of(runs), every=True)}
    assert list(drawn) == ["reward", "parameter", "tradeoff", "network"]
    assert drawn["reward"].title.startswith("scenario: relative click-through rate is between ")
    assert drawn["parameter"].title.startswith("scenario: relative click-through rate ")
    for name in ("reward", "parameter", "tradeoff"):
        axes = drawn[name].figure.axes[0]
        assert axes.get_ylabel() == "click-through rate relative to chance"
        assert len(axes.lines) >= 3


def test_a_log_without_a_click_has_no_empty_pictures(tmp_path):
    write_log(tmp_path / "log.txt", 500)
    lines = (tmp_path / "log.txt").read_text().splitlines()
    (tmp_path / "log.txt").write_text("".join(f"0{line[1:]}\n" for line in lines))
    overrides = ["bandit.path=log.txt", "run.horizon=500", "sweep.bandit.partial=[0.2, 0.5, 1.0]"]
    runs = [each.simulation(0).run() for each in study(tmp_path, *overrides).points]
    assert [run.metrics["relative_ctr"] for run in runs] == [None] * 3
    assert [picture.name for picture in pictures(study_of(runs), every=True)] == ["network"]


def test_what_has_no_effect_is_noted(tmp_path):
    found = study(tmp_path, "bandit.lines=5", "bandit.logging=uniform").notes
    assert found == [
        "--set bandit.lines: bandit.lines: has no effect without path: the log is synthetic",
        "--set bandit.logging: bandit.logging: has no effect without path: the log is synthetic",
    ]
    assert len(study(tmp_path, "bandit.format=digits", "bandit.combine=sum", "bandit.arms=10").notes) == 2


def test_digits_run_through_the_protocol(tmp_path):
    run = point(tmp_path, "bandit.format=digits", "run.horizon=1000").simulation(0).run()
    assert run.metrics["kept"] == run.metrics["rounds"] == 1000
    assert run.metrics["regret"] == 1000 - run.metrics["reward"]
    assert run.metrics["relative_ctr"] > 3


def test_the_figure_of_the_real_log_takes_its_path(tmp_path):
    """As the paper replays it: 40 items, sums, five random partitions, five shares, a random policy of five seeds."""
    log = tmp_path / "train.txt"
    write_log(log, 3_000)
    figure = load(papers_folder() / "vertical" / "fig6-criteo.toml", [f"bandit.path={log}", "run.horizon=3_000"])
    points = check(figure).points
    assert [one.resolved["bandit"]["partial"] for one in points] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert RANDOM_SEEDS == 5
    parts = set()
    for share, one in enumerate(points, 1):
        assert one.resolved["run"]["replications"] == 5
        for number in range(5):
            world = started(one.bandit.fresh(), 5, Streams(one.scenario.run.seed, number).generator)
            assert (world.arm_count, world.source.dimension) == (40, 30)
            assert [len(columns) for columns in world.columns] == [6] * share + [0] * (5 - share)
            parts.add((number, tuple(world.shown[:6])))
    assert len(parts) == 5  # other ones in each replication, the same for all shares
    run = points[0].simulation(4).run()
    assert run.metrics["kept"] > 20
    assert run.metrics["relative_ctr"] == pytest.approx(run.metrics["ctr"] / run.metrics["random_ctr"])
