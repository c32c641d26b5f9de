"""Rewards of the user's own: what a table pays, what its regret is, and what is wrong with it."""

import gzip
from itertools import pairwise

import numpy as np
import pandas
import pytest

import netbandit as nb
from netbandit.bandits.reward_tables import RewardTableError, of_frame, read
from netbandit.results.run_keys import run_key
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.check import check
from netbandit.streams import Streams

WIDE = pandas.DataFrame({"red": [0.0, 1.0, 0.0, 1.0], "blue": [2.0, 4.0, 6.0, 8.0]})


def started(frame=WIDE, agents=2, horizon=4, seed=0, **keys):
    made = nb.bandits.Table(data=frame, **keys).fresh()
    made.horizon = horizon
    made.start(agents, Streams(seed, 0).generator)
    return made


def pulled(bandit, slot, arms, numbers=(0.0, 0.0)):
    agents = np.arange(len(arms))
    return bandit.pull(slot, agents, np.array(arms), np.array(numbers)).tolist()


def test_rows_in_order_pay_what_stands_there_and_regret_is_that_of_hindsight():
    bandit = started()
    assert [pulled(bandit, slot, [0, 1]) for slot in range(4)] == [[0, 2], [1, 4], [0, 6], [1, 8]]
    misses = [bandit.regrets(slot, np.arange(2), np.array([0, 1])).tolist() for slot in range(4)]
    assert misses == [[2, 0], [3, 0], [6, 0], [7, 0]]


def test_the_best_arm_in_hindsight_is_that_of_the_rows_played():
    early = pandas.DataFrame({"a": [1.0, 1.0, 0.0, 0.0, 0.0], "b": [0.0, 0.0, 1.0, 1.0, 1.0]})
    assert started(early, horizon=3).regrets(0, np.array([0]), np.array([1])).tolist() == [1.0]
    assert started(early, horizon=5).regrets(0, np.array([0]), np.array([0])).tolist() == [-1.0]
    repeated = started(early, horizon=7, repeat=True)
    assert pulled(repeated, 5, [0]) == pulled(repeated, 0, [0]) == [1.0]


def test_a_random_beginning_goes_round_the_table():
    firsts = set()
    for seed in range(20):
        bandit = started(begin="random", seed=seed)
        paid = [pulled(bandit, slot, [1])[0] for slot in range(4)]
        assert sorted(paid) == [2, 4, 6, 8]
        assert {(one - other) % 8 for other, one in pairwise(paid)} == {2}
        firsts.add(paid[0])
    assert firsts == {2, 4, 6, 8}


def test_drawn_rows_are_drawn_by_the_agents_numbers():
    bandit = started(rows="drawn")
    assert pulled(bandit, 0, [1, 1], [0.3, 0.99]) == [4, 8]
    assert bandit.means_at(0).tolist() == [0.5, 5.0]
    assert bandit.regrets(0, np.arange(2), np.array([0, 1])).tolist() == [4.5, 0.0]


def test_laws_take_what_each_arm_has():
    gaps = pandas.DataFrame({"red": [3.0, None, 1.0, None], "blue": [2.0, 4.0, 6.0, 8.0]})
    bandit = started(gaps, rows="laws")
    assert pulled(bandit, 0, [0, 0], [0.49, 0.5]) == [1, 3]
    assert pulled(bandit, 0, [1, 1], [0.0, 0.9]) == [2, 8]
    assert bandit.means_at(0).tolist() == [2.0, 5.0]
    with pytest.raises(RewardTableError, match=r'some rewards are missing: rows = "laws"'):
        started(gaps)


def test_a_long_table_may_tell_agents_apart():
    long = pandas.DataFrame(
        {
            "agent": [10, 10, 9, 9] * 2,
            "arm": ["a", "b"] * 4,
            "slot": [0] * 4 + [1] * 4,
            "reward": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        }
    )
    bandit = started(long, horizon=2)
    assert pulled(bandit, 1, [0, 1]) == [7, 6]  # agents by number: 9 comes before 10
    assert bandit.regrets(0, np.arange(2), np.array([0, 1])).tolist() == [1.0, 0.0]  # by the mean over agents
    laws = started(long.drop(columns="slot"), horizon=2)
    assert laws.means_at(0).tolist() == [[5.0, 6.0], [3.0, 4.0]]
    assert pulled(laws, 0, [0, 1], [0.9, 0.0]) == [7, 2]
    with pytest.raises(RewardTableError, match="slot 1: the reward of b of agent 10 is missing"):
        of_frame(long.drop(index=5))
    with pytest.raises(RewardTableError, match="without the column slot has no rows"):
        started(long.drop(columns="slot"), rows="in-order")


def test_the_law_that_learners_are_told():
    binary = pandas.DataFrame({"a": [0, 1], "b": [1, 1]})
    shares = pandas.DataFrame({"a": [0.2, 1.0], "b": [0.5, 0.0]})
    told = [(started(frame, horizon=2).law, started(frame, horizon=2).sub_gaussian) for frame in (binary, shares, WIDE)]
    assert told == [("bernoulli", 0.5), ("other", 0.5), ("gaussian", 4.0)]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "semi.csv", "t.parquet"])
def test_files_of_each_kind(tmp_path, name):
    path = tmp_path / name
    text = WIDE.to_csv(index=False, sep=";" if name == "semi.csv" else "\t" if name == "t.tsv" else ",")
    if name.endswith(".parquet"):
        WIDE.to_parquet(path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text + "\n\n")
    found = read(path)
    assert found.arms == ("red", "blue")
    assert found.rows.tolist() == WIDE.to_numpy().tolist()
    assert read(path, ["blue"]).rows.tolist() == WIDE[["blue"]].to_numpy().tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        ("# nothing\n", "cannot be read"),
        ("# from the lab\na,b\n1,x\n", "line 3: 'x' in the column b"),
        ("a,b\n", "it has no rows of rewards"),
        (
            "a,b\n1,2\n\n3,x\n",
            "line 4: 'x' in the column b is no number: columns that are no arms are left out by arms",
        ),
        ("a,b\n1,inf\n", "line 2: 'inf' in the column b is no number"),
        ("arm,reward\na,1\nb,\n", "line 3: the reward is missing"),
        ("arm,reward\na,1\n,2\n", "line 3: the arm is missing"),
        ("slot,arm,reward\n0,a,1\n0,a,2\n", "slot 0: the reward of a is there 2 times"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(RewardTableError, match=message):
        read(path)


def scenario(bandit, agents=3, horizon=4, **keys):
    return nb.Scenario(
        topology=nb.families.Ring(agents=agents),
        bandit=bandit,
        learner=nb.learners.Ucb(),
        protocol=nb.protocols.Local(),
        run=nb.Run(horizon=horizon, replications=2),
        **keys,
    )


@pytest.mark.parametrize(
    ("bandit", "sizes", "message"),
    [
        (nb.bandits.Table(data=WIDE), {"horizon": 5}, "is 5, but the table has 4 rows: at most so many slots"),
        (nb.bandits.Table(), {}, "path: is missing"),
        (nb.bandits.Table(data=3), {}, "data: must be a pandas DataFrame"),
        (nb.bandits.Table(data=WIDE, arms=["green"]), {}, "there is no column green; there are red, blue"),
        (
            nb.bandits.Table(data=pandas.DataFrame({"agent": [0, 1], "arm": ["a", "a"], "reward": [1, 2]})),
            {},
            "has rewards of 2 agents, but there are 3",
        ),
        (
            nb.bandits.Table(data=pandas.DataFrame({"agent": ["x", "y", "2"], "arm": ["a"] * 3, "reward": [1, 2, 3]})),
            {},
            "names agents, but not those of the network: x, y",
        ),
    ],
)
def test_mistakes_are_told_by_check(bandit, sizes, message):
    lines = scenario(bandit, **sizes).check()
    assert len(lines) == 1
    assert message in lines[0]


def test_a_file_and_pandas_give_the_same_numbers_and_runs_are_known_again(tmp_path):
    frame = pandas.DataFrame(np.random.default_rng(1).random((50, 3)).round(3), columns=list("abc"))
    frame.to_csv(tmp_path / "rewards.csv", index=False)
    keys = {"rows": "drawn"}
    first = scenario(nb.bandits.Table(data=frame, **keys), horizon=40).run(out=tmp_path / "one")
    again = scenario({"kind": "table", "path": str(tmp_path / "rewards.csv"), **keys}, horizon=40).run(
        out=tmp_path / "two"
    )
    for found in (first, again):
        assert len(found) > 20
    pandas.testing.assert_series_equal(*(found[found.metric != "wall_s"].value for found in (first, again)))
    made = {file.stat().st_mtime_ns for file in (tmp_path / "one" / "runs").glob("*/result.json")}
    scenario(nb.bandits.Table(data=frame.copy(), **keys), horizon=40).run(out=tmp_path / "one")
    assert {file.stat().st_mtime_ns for file in (tmp_path / "one" / "runs").glob("*/result.json")} == made
    points = [
        check(scenario(nb.bandits.Table(data=one, **keys), horizon=40).document()).points[0]
        for one in (frame, frame.copy(), frame + 0.001)
    ]
    assert [run_key(point, 0) == run_key(points[0], 0) for point in points] == [True, True, False]


def test_a_scenario_with_a_table_can_be_written(tmp_path):
    made = scenario(nb.bandits.Table(data=WIDE))
    assert "a table of 4 rows and 2 columns" in repr(made)
    with pytest.raises(ValueError, match="a table is written beside the file of its scenario"):
        made.to_toml()
    made.to_toml(tmp_path / "mine.toml")
    assert nb.Scenario.from_toml(tmp_path / "mine.toml").check() == []
    assert nb.bandits.Table(data=WIDE) == nb.bandits.Table(data=WIDE.copy())
    assert nb.bandits.Table(data=WIDE) != nb.bandits.Table(data=WIDE + 1)


def test_whoever_pulls_in_blocks_is_refused():
    made = nb.Scenario(
        topology=nb.families.Ring(agents=3),
        bandit=nb.bandits.Table(data=WIDE),
        learner=nb.learners.Elimination(),
        protocol=nb.protocols.Gis(),
        run=nb.Run(horizon=4),
    )
    with pytest.raises(ScenarioError, match="pulls arms in blocks"):
        made.run(out="never")
