"""Rewards of the user's own: what a table pays, what its regret is, and what is wrong with it."""

import csv
import gzip
import os
import sys
from itertools import pairwise

import networkx
import numpy as np
import pandas
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

import netbandit as nb
from netbandit.bandits import table_sources
from netbandit.bandits.reward_tables import of_frame, read
from netbandit.bandits.table_sources import TableError
from netbandit.checks.check import check
from netbandit.results.run_keys import run_key
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.util.streams import Streams

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
    with pytest.raises(TableError, match=r'some rewards are missing: rows = "laws"'):
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
    with pytest.raises(TableError, match="slot 1: the reward of b of agent 10 is missing"):
        of_frame(long.drop(index=5))
    with pytest.raises(TableError, match="without the column slot has no rows"):
        started(long.drop(columns="slot"), rows="in-order")


def test_the_law_that_learners_are_told():
    binary = pandas.DataFrame({"a": [0, 1], "b": [1, 1]})
    shares = pandas.DataFrame({"a": [0.2, 1.0], "b": [0.5, 0.0]})
    told = [(started(frame, horizon=2).law, started(frame, horizon=2).sub_gaussian) for frame in (binary, shares, WIDE)]
    assert told == [("bernoulli", 0.5), ("other", 0.5), ("gaussian", 4.0)]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "semi.csv", "t.parquet", "t.npz"])
def test_files_of_each_kind(tmp_path, name):
    path = tmp_path / name
    text = WIDE.to_csv(index=False, sep=";" if name == "semi.csv" else "\t" if name == "t.tsv" else ",")
    if name.endswith(".parquet"):
        WIDE.to_parquet(path)
    elif name.endswith(".npz"):
        np.savez(path, **WIDE)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text + "\n\n")
    found = read(path)
    assert found.arms == ("red", "blue")
    assert found.rows.tolist() == WIDE.to_numpy().tolist()
    assert read(path, ["blue"]).rows.tolist() == WIDE[["blue"]].to_numpy().tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv: is empty: the names of the columns must stand in its first line"),
        ("# nothing\n", "t.csv: is empty"),
        ("# from the lab\na,b\n1,x\n", ":3: 'x' in the column b"),
        ("a,b\n", "it has no rows of rewards"),
        (
            "a,b\n1,2\n\n3,x\n",
            ":4: 'x' in the column b is no number: columns that are no arms are left out by arms",
        ),
        ("a,b\n1,inf\n", ":2: 'inf' in the column b is no number"),
        ("arm,reward\na,1\nb,\n", ":3: the reward is missing"),
        ("arm,reward\na,1\n,2\n", ":3: the arm is missing"),
        ("slot,arm,reward\n0,a,1\n0,a,2\n", "slot 0: the reward of a is there 2 times"),
        ("slot,arm,reward\n0,a,1\n1,a,2\n1,b,2\n", "slot 0: the reward of b is missing"),
        ("slot,arm,reward\n0,a,1\n0,b,1\n1,a,2\n", "slot 1: the reward of b is missing"),
        ("agent,arm,reward\n0,a,1\n0,b,1\n1,b,2\n", "a of agent 1 has no reward"),
        ("slot,arm,reward\n1,a,1\n1.0,b,1\n", "one slot is written in two ways: 1 and 1.0"),
        (
            "slot,arm,reward\nday 2,a,1\nday 10,a,1\nday 10,b,2\nday 2,b,1\n",
            "rows have them in different orders: day 2 before and after day 10",
        ),
        ("red,green\n0,1,7\n", ":2: has 3 fields, but line 1 names 2 columns"),
        ("red,green\n0,1\n1,0,\n", ":3: has 3 fields, but line 1 names 2 columns: it ends with a separator"),
        ("red,red\n0,1\n", ":1: the column red is there twice"),
        ("red,,green\n0,1,1\n", "column 2 has no name"),
        (",red\nMonday,1\nTuesday,0\n", "the first column has no name, and does not count the rows"),
        ("0,1\n1,1\n", "the first line has numbers only, and may be rewards: a line of names must come first"),
        ("red,Time\n1,1\n0,2\n", "the column Time is no arm by its name: arms = "),
        ("Arm,Reward\n1,1\n2,0\n", "the column Arm is no arm by its name: arms = "),
        ("arm,reward,Slot\na,1,0\na,0,1\n", "the column Slot must be called slot"),
        ("when,red\n2010,1\n2011,0\n2012,1\n", "the column when ascends from row to row, as times do"),
        (
            "red,when\n" + "".join(f"{row % 3},{row * row}\n" for row in range(10)),
            "the column when ascends from row to row, as times do",
        ),
        ("red;green\n0,5;1,5\n", ":2: '0,5' in the column red is no number, with a point in place of the comma"),
        ("red\n1_0\n", "'1_0' in the column red is no number"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("text", "arms", "rows", "notes"),
    [
        # What has the form of a number, or of nothing, is a name where names stand.
        (
            "1.1,1.10,01,1,1e2,100,NA,x\n1,2,3,4,5,6,7,8\n",
            "1.1 1.10 01 1 1e2 100 NA x",
            [[1, 2, 3, 4, 5, 6, 7, 8]],
            None,
        ),
        ("\ufeff# a\nred;green;\n0;True;\n1;FALSE;\n;;\n", "red green", [[0, 1], [1, 0]], "arms: red, green"),
        (",red\n0,5\n1,6\n", "red", [[5], [6]], "arms: red|1 column not used: one without a name"),
        ('"","red"\n"1",5\n"2",6\n', "red", [[5], [6]], "arms: red|1 column not used: one without a name"),
        (
            'arm,reward,note\nNA,1,x\n"#",2,\n01,3,\n1,4,\n',
            "NA # 01 1",
            None,
            "1 column not used: note",
        ),
        # Slots in the order of what they are.
        ("slot,arm,reward\n10.5,a,3\n.5,a,1\n1.5,a,2\n", "a", [[1], [2], [3]], ""),
        ("slot,arm,reward\n10,a,3\n9,a,1\n10,b,2\n9,b,0\n", "a b", [[1, 0], [3, 2]], ""),
        ("slot,arm,reward\n2024-11-02,a,2\n2024-01-10,a,1\n", "a", [[1], [2]], ""),
        (
            "slot,arm,reward\nday 9,a,1\nday 10,a,2\n",
            "a",
            [[1], [2]],
            "slots in the order of the rows: day 9, day 10",
        ),
        ("slot,arm,reward\n1700000000000000002,a,2\n1700000000000000001,a,1\n", "a", [[1], [2]], ""),
    ],
)
def test_names_are_names_and_slots_have_their_order(tmp_path, text, arms, rows, notes):
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = read(path)
    assert found.arms == tuple(arms.split())
    assert (None if found.rows is None else found.rows.tolist()) == rows
    assert notes is None or found.notes == tuple(filter(None, notes.split("|")))


def test_arms_say_what_is_an_arm(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("time,red,2\n1,5,0\n2,6,0\n")
    found = read(path, ["2", "red"])
    assert (found.rows.tolist(), found.notes) == ([[0, 5], [0, 6]], ("1 column not used: time",))
    assert read(path, ["time"]).rows.tolist() == [[1], [2]]
    path.write_text("0,1\n5,6\n")
    assert read(path, ["0", "1"]).rows.tolist() == [[5, 6]]


def test_arms_that_pandas_takes_for_one_stay_apart_in_a_frame():
    frame = pandas.DataFrame({"arm": ["1", "01", "1.0", "NA"], "reward": [1, 2, 3, 4]})
    assert of_frame(frame).arms == ("1", "01", "1.0", "NA")
    with pytest.raises(TableError, match="row 1: the arm 1 is there as a text and as a number"):
        of_frame(pandas.DataFrame({"arm": [1, "1"], "reward": [1, 2]}))
    with pytest.raises(TableError, match="slot is in the index, which is not read"):
        of_frame(pandas.DataFrame({"slot": [0], "arm": ["a"], "reward": [1]}).set_index("slot"))
    numbered = pandas.DataFrame(np.array([[5.0, 1.0], [6.0, 0.0]]))
    assert (of_frame(numbered).arms, of_frame(numbered).rows.tolist()) == (("0", "1"), [[5, 1], [6, 0]])
    read_by_pandas = pandas.DataFrame({"Unnamed: 0": [0, 1], "red": [3, 4]})
    assert (of_frame(read_by_pandas).arms, of_frame(read_by_pandas).rows.tolist()) == (("red",), [[3], [4]])


def test_a_frame_is_written_so_that_it_is_read_as_it_was(tmp_path):
    long = pandas.DataFrame({"agent": [0.0, 1.0, 2.0], "arm": ["#1"] * 3, "reward": [1, 2, 3]})
    for frame in (pandas.DataFrame(np.array([[5.0, 1.0], [6.0, 0.0]])), long):
        scenario(nb.bandits.Table(data=frame, rows=None), horizon=2).to_toml(tmp_path / "s.toml")
        again = nb.Scenario.from_toml(tmp_path / "s.toml")
        assert again.check() == []
        table = check(again.document()).points[0].bandit
        wrote = read(tmp_path / "s.rewards.csv", table.arms)
        assert (wrote.arms, wrote.agents) == (of_frame(frame).arms, of_frame(frame).agents)


def test_each_agent_has_the_rewards_of_its_name(tmp_path):
    (tmp_path / "rewards.csv").write_text("agent,arm,reward\na9,x,9\na10,x,10\nb,x,1\n")
    bandit = nb.bandits.Table(path=str(tmp_path / "rewards.csv")).fresh()
    bandit.horizon, bandit.agent_names = 1, lambda: ["b", "a9", "a10"]
    bandit.start(3, Streams(0, 0).generator)
    assert bandit.means_at(0).tolist() == [[1], [9], [10]]
    (tmp_path / "rewards.csv").write_text("agent,arm,reward\n1,x,9\n2,x,10\n0,x,1\n")
    numbered = nb.bandits.Table(path=str(tmp_path / "rewards.csv")).fresh()
    numbered.horizon, numbered.agent_names = 1, bandit.agent_names
    numbered.start(3, Streams(0, 0).generator)
    assert numbered.means_at(0).tolist() == [[1], [9], [10]]
    slots = pandas.DataFrame({"agent": ["b", "a"], "slot": [0, 0], "arm": ["x", "x"], "reward": [1, 2]})
    assert of_frame(slots).of_agents(["b", "a"]).rows.tolist() == [[[1], [2]]]
    assert of_frame(slots).of_agents(["a", "b"]).rows.tolist() == [[[2], [1]]]


def test_a_blank_line_between_the_rewards_of_a_single_arm_is_a_reward_that_is_missing(tmp_path):
    (tmp_path / "one.csv").write_text("red\n1\n\n0\n\n")
    found = read(tmp_path / "one.csv")
    assert (found.rows, [one.tolist() for one in found.values]) == (None, [[0, 1]])
    (tmp_path / "one.csv").write_text("red\n1\n0\n\n\n")  # rows at the end that hold nothing are those of a spreadsheet
    assert read(tmp_path / "one.csv").rows.tolist() == [[1], [0]]


def test_files_are_read_without_pandas(tmp_path, monkeypatch):
    WIDE.to_csv(tmp_path / "t.csv", index=False)
    WIDE.to_parquet(tmp_path / "t.parquet")
    WIDE.set_axis([3, 5, 8, 9]).to_parquet(tmp_path / "index.parquet")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name in ("t.csv", "t.parquet", "index.parquet"):
        assert read(tmp_path / name).rows.tolist() == [[0, 2], [1, 4], [0, 6], [1, 8]]


def test_a_table_is_refused_before_more_memory_is_taken_than_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(table_sources, "MOST_CELLS", 6)
    WIDE.to_csv(tmp_path / "t.csv", index=False)
    WIDE.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(TableError, match="has more than 6 fields, which is the most that is read"):
            read(tmp_path / name)
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.parquet")
    for name in ("pipe.csv", "pipe.parquet"):
        with pytest.raises(TableError, match=r"pipe.* is a pipe, must be a file"):
            read(tmp_path / name)


@examples(100)
@given(
    st.lists(st.text(st.sampled_from('01.eN#A "a,;'), min_size=1, max_size=3), min_size=1, max_size=4, unique=True),
    st.integers(1, 5),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_a_long_table_in_any_order_of_its_rows_is_one_table(tmp_path_factory, arms, slots, agents, rng):
    arms = list(dict.fromkeys(arm.strip() for arm in arms if arm.strip()))
    if not arms:
        return
    moments = sorted(rng.sample(range(-20, 200), slots))
    paid = {
        (agent, slot, arm): float(rng.randrange(100)) for agent in range(agents) for slot in moments for arm in arms
    }
    rows = [(str(agent), f"{slot / 10}", arm, value) for (agent, slot, arm), value in paid.items()]
    rng.shuffle(rows)
    path = tmp_path_factory.getbasetemp() / f"t{rng.getrandbits(60)}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("agent", "slot", "arm", "reward"), *rows])
    found = read(path, arms)
    assert (found.arms, found.agents) == (tuple(arms), tuple(map(str, range(agents))))
    assert found.rows.tolist() == [
        [[paid[agent, slot, arm] for arm in arms] for agent in range(agents)] for slot in moments
    ]


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
            "names agents, but not those of the network: x, y; its agents are 0, 1, 2",
        ),
        (
            nb.bandits.Table(data=pandas.DataFrame({"agent": [2, 3, 4], "arm": ["a"] * 3, "reward": [1, 2, 3]})),
            {},
            "names agents, but not those of the network: 3, 4; its agents are 0, 1, 2",
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


def eliminating(frame, horizon=4, **keys):
    return nb.Scenario(
        topology=nb.families.Ring(agents=3),
        bandit=nb.bandits.Table(data=frame, **keys),
        learner=nb.learners.Elimination(),
        protocol=nb.protocols.Gis(),
        run=nb.Run(horizon=horizon, replications=2),
    )


def test_blocks_of_pulls_need_rows_that_are_drawn_and_rewards_from_0_to_1():
    rewards, rows = (str(each) for each in eliminating(WIDE).check())
    assert "bandit.data: has rewards from 0 to 8: elimination pulls each arm in blocks" in rewards
    assert 'bandit.rows: must be "drawn" or "laws", not "in-order": elimination pulls each arm in blocks' in rows
    assert eliminating(WIDE / 8, rows="drawn").check() == []


@pytest.mark.parametrize("rows", ["drawn", "laws"])
def test_agents_eliminate_arms_of_a_table(rows, tmp_path):
    frame = pandas.DataFrame({"bad": [0.0, 1.0, 0.0, 0.0], "good": [1.0, 1.0, 1.0, 0.0], "worst": [0.0, 0.0, 0.0, 0.0]})
    found = eliminating(frame, 20_000, rows=rows).run(out=tmp_path)
    regret = found[found["metric"] == "regret"]["value"]
    assert (regret < 0.1 * 3 * 20_000 * (0.75 - 0.25)).all()  # that of choosing among the best two by chance
    assert (found[found["metric"] == "best_lost"]["value"] == 0).all()


@pytest.mark.parametrize("pulls", [3, 4, 5, 1_000])
def test_a_block_of_pulls_pays_what_as_many_single_ones_do(pulls):
    """In mean and variance, at four standard errors of each."""
    frame = pandas.DataFrame({"a": [0.0, 0.2, 0.9, 1.0], "b": [0.5, 0.5, 0.5, 0.5]})
    bandit, rng = started(frame, rows="laws"), np.random.default_rng(3)
    sums = np.array([bandit.pull_blocks(rng, np.array([0, 1]), np.array([1, 0]), pulls) for _ in range(2_000)])
    assert sums[..., 0] == pytest.approx(pulls / 2)
    mean, variance = frame["a"].mean(), frame["a"].var(ddof=0)
    drawn = sums[..., 1].ravel()
    assert abs(drawn.mean() - pulls * mean) < 4 * np.sqrt(pulls * variance / len(drawn))
    assert drawn.var() == pytest.approx(pulls * variance, rel=4 * np.sqrt(2 / len(drawn)))


def test_a_block_pays_each_agent_what_is_its_own():
    frame = pandas.DataFrame({"agent": [0, 0, 1, 1], "arm": ["x", "y"] * 2, "reward": [0.1, 0.2, 0.3, 0.4]})
    bandit = started(frame)
    sums = bandit.pull_blocks(np.random.default_rng(0), np.array([1, 0]), np.array([0, 1]), 10)
    assert sums == pytest.approx(np.array([[3.0, 4.0], [1.0, 2.0]]))


def test_a_run_gives_agents_the_rewards_of_their_names(tmp_path, monkeypatch):
    graph = networkx.path_graph(2)
    networkx.set_node_attributes(graph, {0: "b", 1: "a"}, "label")
    networkx.write_graphml(graph, tmp_path / "net.graphml")
    (tmp_path / "rewards.csv").write_text("agent,arm,reward,time\na,x,1,5\nb,x,2,6\n")
    started = []
    start = nb.bandits.Table.start
    monkeypatch.setattr(nb.bandits.Table, "start", lambda self, *given: (start(self, *given), started.append(self)))
    made = nb.Scenario(
        topology={"family": "file", "file": str(tmp_path / "net.graphml")},
        bandit=nb.bandits.Table(path=str(tmp_path / "rewards.csv")),
        learner=nb.learners.Ucb(),
        protocol=nb.protocols.Local(),
        run=nb.Run(horizon=4),
    )
    made.run(out=tmp_path / "out")
    assert {tuple(one.means_at(0).ravel()) for one in started} == {(2, 1)}
    (note,) = check(made.document()).notes
    assert note.endswith("bandit.path: 1 column not used: time")


def test_learners_that_share_totals_are_checked_without_knowing_how_many_arms_there_are(tmp_path):
    WIDE.to_csv(tmp_path / "rewards.csv", index=False)
    (tmp_path / "totals.toml").write_text(
        'run = { horizon = 3 }\ntopology = { family = "ring", agents = 4 }\n'
        'bandit = { kind = "table", path = "rewards.csv" }\nlearner = { kind = "ucb", share = "totals" }\n'
        'protocol = { kind = "local" }\n'
    )
    assert len(check(load(str(tmp_path / "totals.toml"))).points) == 1


@pytest.mark.parametrize(
    ("feedback", "text"),
    [
        ('by_arm = ["1 ms"]', "feedback.by_arm: has 1 entries, but the bandit has 2 arms"),
        ('delay = "1 ms"\nnever = [0.1, 0.2, 0.3]', "feedback.never: has 3 entries, but the bandit has 2 arms"),
        ('by_arm = ["1 ms", "2 ms"]', None),
    ],
)
def test_keys_of_each_arm_are_as_many_as_the_arms_of_the_table(tmp_path, feedback, text):
    WIDE.to_csv(tmp_path / "rewards.csv", index=False)
    file = tmp_path / "scene.toml"
    file.write_text(
        'run = { horizon = 3 }\ntopology = { family = "ring", agents = 3 }\nlearner = { kind = "ucb" }\n'
        'protocol = { kind = "silent" }\nbandit = { kind = "table", path = "rewards.csv" }\n'
        f"[feedback]\n{feedback}\n"
    )
    if text is None:
        assert check(load(file, [])).points[0].simulation(0).run().metrics["regret"] is not None
        return
    with pytest.raises(ScenarioError) as error:
        check(load(file, []))
    assert text in str(error.value)
