"""Decisions from a table or a log of the user's own: what is shown and paid, regret, and what is wrong with it."""

from random import Random

import numpy as np
import pandas
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

import netbandit as nb
from netbandit.bandits import table_sources
from netbandit.bandits.table_sources import TableError
from netbandit.checks.check import check
from netbandit.results.run_keys import run_key
from netbandit.simulation.execution import executed
from netbandit.testing.properties import differences
from netbandit.util.streams import Streams

RNG = np.random.default_rng(7)
X, Y = RNG.standard_normal((60, 3)), RNG.random((60, 4)).round(3)
THETA = np.array([0.4, -0.3, 0.2])


def frame(x=X, y=Y, **more):
    return pandas.DataFrame(
        {
            **{f"x{j}": column for j, column in enumerate(x.T)},
            **{f"y_{'abcdefgh'[k]}": column for k, column in enumerate(y.T)},
            **more,
        }
    )


def arms_of(vectors):
    return pandas.DataFrame({"arm": list("abcdefgh")[: len(vectors)], **{f"f{j}": v for j, v in enumerate(vectors.T)}})


def contexts(data=None, **keys):
    given = {"features": "x*", "scores": "y_*"} | keys
    return nb.bandits.Contexts(
        data=frame() if data is None else data, **{key: one for key, one in given.items() if one is not None}
    )


def started(data=None, agents=3, horizon=20, seed=0, **keys):
    made = contexts(data, **keys).fresh()
    made.horizon = horizon
    made.start(agents, Streams(seed, 0).generator)
    made.begin(Streams(seed, 0).generator)
    return made


def scenario(bandit, learner=None, protocol=None, agents=3, horizon=40, **keys):
    return nb.Scenario(
        topology=nb.families.Path(agents=agents),
        bandit=bandit,
        learner=learner or nb.learners.Oful(radius=0.5),
        protocol=protocol or nb.protocols.Silent(),
        run=nb.Run(horizon=horizon, replications=1),
        **keys,
    )


def run(*given, **keys):
    return check(scenario(*given, **keys).document()).points[0].simulation(0).run()


def regret(*given, **keys):
    return run(*given, **keys).metrics["regret"]


class Always(nb.Learner):
    """Pulls one arm."""

    arm: int = 0

    def start(self, world, agents, rng):
        pass

    def choose(self, slot, agents):
        return np.full(len(agents), self.arm)

    def learn(self, slot, agents, arms, rewards):
        pass


class Seen(nb.learners.Oful):
    """OFUL that keeps what it saw, chose and was paid."""

    def choose(self, slot, agents):
        arms = super().choose(slot, agents)
        SEEN.append((self._shown(agents).copy(), arms))
        return arms

    def learn(self, slot, agents, arms, rewards):
        super().learn(slot, agents, arms, rewards)
        PAID.append(rewards)
        LAST[:] = [self]


SEEN, PAID, LAST = [], [], []


def played(bandit, horizon=200, agents=2, **keys):
    """The vectors, arms and rewards of a run of OFUL alone, and the learner."""
    for each in (SEEN, PAID, LAST):
        each.clear()
    run(bandit, Seen(**{"radius": 0.5, **keys}), agents=agents, horizon=horizon)
    vectors, arms = zip(*SEEN, strict=True)
    return np.array(vectors), np.array(arms), np.array(PAID), LAST[0]


def test_regret_is_exact():
    one_row = frame(X[:1], Y[:1])
    for arm in range(4):
        assert regret(contexts(one_row), Always(arm=arm)) == pytest.approx(3 * 40 * (Y[0].max() - Y[0, arm]), abs=1e-12)
    costs = frame(price_a=1.0, price_b=0.5, price_c=0.25, price_d=0.0)
    bandit = started(costs, costs="price_*", cost_weight=2.0)
    everybody, arms = np.arange(3), np.array([0, 1, 3])
    bandit.actions(everybody)
    rewards, regrets = bandit.pull(everybody, arms)
    worth = Y[bandit._row] - 2.0 * np.array([1.0, 0.5, 0.25, 0.0])
    assert rewards.tolist() == worth[everybody, arms].tolist()
    assert regrets.tolist() == (worth.max(axis=1) - worth[everybody, arms]).tolist()
    figures = bandit.figures()
    assert figures["arm_cost"] == 1.5
    assert figures["best_share"] == (regrets == 0).mean()
    assert figures["regret_best_arm"] == pytest.approx(worth.sum(axis=0).max() - rewards.sum(), abs=1e-12)
    found = run(contexts(costs, costs="price_*", cost_weight=2.0), Always(arm=1)).metrics
    assert found["arm_cost"] == 3 * 40 * 0.5
    assert found["regret_best_arm"] <= found["regret"]  # which is against the best arm of each row
    assert found["reward"] == pytest.approx(
        run(contexts(frame(y=Y - [[2.0, 1.0, 0.5, 0.0]])), Always(arm=1)).metrics["reward"], abs=1e-12
    )


def test_noise_is_seen_and_never_counted():
    quiet, loud = started(), started(noise=0.5)
    everybody = np.arange(3)
    for bandit in (quiet, loud):
        bandit.actions(everybody)
    (paid, missed), (seen, counted) = (bandit.pull(everybody, everybody) for bandit in (quiet, loud))
    assert missed.tolist() == counted.tolist()
    assert (paid != seen).all()
    assert (quiet.law, quiet.sub_gaussian, loud.law) == ("other", 0.5, "gaussian")
    assert loud.sub_gaussian == pytest.approx(np.hypot(0.5 * np.ptp(Y), 0.5))
    assert started(sub_gaussian=0.125).sub_gaussian == 0.125
    assert started(frame(y=(Y > 0.5) * 1.0)).law == "bernoulli"


@pytest.mark.parametrize("split", ["parts", "sorted", {"dirichlet": 0.3}, {"dirichlet": 1e-6}])
def test_parts_are_disjoint_and_are_the_table(split):
    bandit = started(split=split, rows="in-order", repeat=True)
    own = np.split(bandit._rows, np.cumsum(bandit._counts)[:-1])
    assert sorted(np.concatenate(own)) == list(range(60))
    assert all(len(rows) and (np.diff(rows) > 0).all() for rows in own)  # in the order of the table
    if split in ("parts", "sorted"):
        assert [len(rows) for rows in own] == [20] * 3
    if split == "sorted":
        best = [set(Y[rows].argmax(axis=1)) for rows in own]
        assert len(best[0] & best[2]) == 0
    met = []
    for _ in range(20):
        bandit.actions(np.arange(3))
        met += bandit._row.tolist()
    if split in ("parts", "sorted"):
        assert sorted(met) == list(range(60))


def test_each_agent_has_an_order_of_its_own_where_rows_are_shared():
    bandit = started(rows="in-order", horizon=60)
    met = []
    for _ in range(60):
        bandit.actions(np.arange(3))
        met.append(bandit._row.tolist())
    each = np.array(met).T.tolist()
    assert [sorted(rows) for rows in each] == [list(range(60))] * 3
    assert len({tuple(rows) for rows in each}) == 3
    bandit.actions(np.arange(3))  # again from the first on
    assert bandit._row.tolist() == met[0]


def test_whose_a_row_is():
    users = frame(user=[f"u{row % 6}" for row in range(60)])
    with pytest.raises(TableError, match=r'has rows of 6 agents.*agents_of = "modulo"'):
        started(users, agent="user")
    bandit = started(users, agent="user", agents_of="modulo")
    assert [set(rows % 3) for rows in np.split(bandit._rows, 3)] == [{0}, {1}, {2}]
    with pytest.raises(TableError, match="has rows of 6 users, but there are 7 agents"):
        started(users, agents=7, agent="user", agents_of="modulo")
    named = contexts(frame(user=["b", "a", "c"] * 20), agent="user", rows="in-order").fresh()
    named.horizon, named.agent_names = 20, lambda: ["a", "b", "c"]
    named.start(3, Streams(0, 0).generator)
    assert [set(rows % 3) for rows in np.split(named._rows, 3)] == [{1}, {0}, {2}]
    with pytest.raises(TableError, match="has rows of 2 agents, but there are 3: not 2"):
        started(frame(user=[0, 1] * 30), agent="user")


def test_rows_and_subsets_do_not_depend_on_what_is_pulled():
    def met(arm, **keys):
        bandit = started(**keys)
        seen = []
        for _ in range(30):
            bandit.actions(np.arange(3))
            seen.append((bandit._row.tolist(), bandit._subset.tolist()))
            bandit.pull(np.arange(3), np.full(3, arm))
        return seen

    assert met(0, shown=2) == met(1, shown=2)
    assert met(0) == met(3)


def test_some_arms_are_shown():
    bandit = started(shown=2)
    vectors = bandit.actions(np.arange(3))
    assert (bandit.arm_count, bandit.dimension, vectors.shape) == (2, 12, (3, 2, 12))
    for agent, (subset, row) in enumerate(zip(bandit._subset, bandit._row, strict=True)):
        assert len(set(subset.tolist())) == 2
        scaled = X[row] / np.linalg.norm(X, axis=1).max()
        for place, arm in enumerate(subset):
            assert vectors[agent, place].reshape(4, 3)[arm] == pytest.approx(scaled, abs=1e-15)
            assert np.count_nonzero(vectors[agent, place]) == 3
    rewards, regrets = bandit.pull(np.arange(3), np.zeros(3, dtype=int))
    worth = Y[bandit._row[:, None], bandit._subset]
    assert (rewards.tolist(), regrets.tolist()) == (worth[:, 0].tolist(), (worth.max(axis=1) - worth[:, 0]).tolist())
    assert "regret_best_arm" not in bandit.figures()
    assert bandit.arm_names() is None


def test_no_vector_is_longer_than_1_and_one_is_as_long():
    features = RNG.standard_normal((4, 2))
    for vectors, d in (("blocks", 12), ("arm", 2), ("outer", 6), ("joint", 5)):
        keys = {"vectors": vectors, "arms_data": arms_of(features) if vectors != "blocks" else None}
        bandit = started(rows="in-order", horizon=60, features="x*" if vectors != "arm" else None, **keys)
        norms = np.array([np.linalg.norm(bandit.actions(np.arange(3)), axis=2) for _ in range(60)])
        assert bandit.dimension == d
        assert norms.max() == pytest.approx(1, abs=1e-12)
        raw = started(scale=False, features="x*" if vectors != "arm" else None, **keys).actions(np.arange(3))
        assert np.linalg.norm(raw, axis=2).max() > 1


def test_blocks_are_a_regression_for_each_arm():
    vectors, arms, paid, learner = played(contexts(rows="drawn"))
    for agent in range(2):
        for arm in range(4):
            mine = arms[:, agent] == arm
            x = vectors[mine, agent, arm].reshape(-1, 4, 3)[:, arm]
            ridge = np.linalg.solve(np.eye(3) + x.T @ x, x.T @ paid[mine, agent])
            found = learner.beliefs.estimate[0, agent].reshape(4, 3)[arm]
            assert found == pytest.approx(ridge, abs=1e-12)


def test_one_hot_features_of_arms_are_blocks():
    blocks = played(contexts())
    outer = played(contexts(vectors="outer", arms_data=arms_of(np.eye(4))))
    for one, other in zip(blocks[:3], outer[:3], strict=True):
        assert (one == other).all()


def test_scores_that_are_linear_in_the_arms_are_the_linear_world():
    keys = {"dimension": 3, "arms": 4, "draw": "cube", "rewards": "gaussian", "deviation": 1e-9, "actions": "fixed"}
    linear = nb.bandits.Linear(**keys).fresh()
    linear.start(2, Streams(0, 0).generator)
    scores = pandas.DataFrame([linear.fixed_actions @ linear.vector], columns=[f"y_{arm}" for arm in "abcd"])
    table = contexts(
        scores,
        features=None,
        vectors="arm",
        arms_data=arms_of(linear.fixed_actions),
        scale=False,
        sub_gaussian=1e-9,
        noise=1e-9,
    )
    mine, theirs = (run(bandit, Seen(), agents=2, horizon=200) for bandit in (table, nb.bandits.Linear(**keys)))
    assert mine.metrics["regret"] == pytest.approx(theirs.metrics["regret"], abs=1e-12)
    assert mine.fingerprint == theirs.fingerprint  # the same choices


def test_the_order_of_the_columns_changes_nothing():
    data = frame()
    mixed = data[[*data.columns[::-1][4:], *data.columns[3:]]]
    assert list(mixed.columns) != list(data.columns)
    assert regret(contexts(data)) == pytest.approx(regret(contexts(mixed)), abs=1e-12)
    order = np.random.default_rng(1).permutation(60)
    plain, permuted = started(data), started(data.iloc[order])
    for bandit in (plain, permuted):
        bandit.actions(np.arange(3))
    assert plain._row.tolist() == permuted._row.tolist()
    assert (permuted.table_of_contexts.contexts == X[order]).all()


@pytest.mark.sampled(7)
@pytest.mark.parametrize("learner", ["linucb", "lints", "feducb", "oful", "ucb", "thompson", "otflinucb"])
def test_each_execution_gives_the_same_numbers(learner):
    keys = {"linucb": {"every": 5}, "lints": {"every": 5}, "feducb": {"threshold": 1.0}, "oful": {"threshold": 1.0}}
    alone = learner == "otflinucb"
    given = {
        "topology": {"family": "ring", "agents": 4},
        "bandit": contexts(noise=0.1),
        "learner": {"kind": learner, **keys.get(learner, {})},
        "protocol": {"kind": "silent" if alone else "gis"},
        "run": {"horizon": 30},
        **({"feedback": {"delay": "2 slots", "window": "5 slots"}} if alone else {}),
    }
    point = check(nb.Scenario(**given).document()).points[0]
    found = []
    for how in ("plain", "compiled"):
        with executed(how):
            found.append(point.simulation(0).run())
    assert next(differences(*found, digits=10), None) is None
    assert (found[0].metrics["messages"] > 0) != alone


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.npz"])
def test_files_of_each_kind_and_tables_of_python_give_the_same_numbers(tmp_path, name):
    data, arms = frame(user=[2, 0, 1] * 20, price_a=0.1, price_b=0.2, price_c=0.3, price_d=0.4), arms_of(np.eye(4))
    for file, table in ((tmp_path / name, data), (tmp_path / f"arms_{name}", arms)):
        if name.endswith(".parquet"):
            table.to_parquet(file)
        elif name.endswith(".npz"):
            wide = {"x": X} if table is data else {}
            np.savez(file, **wide, **{key: table[key].to_numpy() for key in table if not wide or key[0] != "x"})
        else:
            table.to_csv(file, index=False, sep="\t" if "tsv" in name else ",")
    if name == "t.npz":  # texts of arrays are texts, no objects
        np.savez(tmp_path / f"arms_{name}", **{**arms, "arm": arms["arm"].to_numpy().astype(str)})
    keys = {"agent": "user", "costs": "price_*", "cost_weight": 1.0, "vectors": "outer", "noise": 0.1}
    of_files = nb.bandits.Contexts(
        path=str(tmp_path / name), arms_path=str(tmp_path / f"arms_{name}"), features="x*", scores="y_*", **keys
    )
    mine, theirs = run(of_files), run(contexts(data, arms_data=arms, **keys))
    assert mine.metrics["regret"] > 0
    assert next(differences(mine, theirs, digits=12), None) is None


def test_arrays_are_columns(tmp_path):
    arrays = {"x": X, "y": Y, "user": np.arange(60) % 3, "price": np.full((60, 4), 0.25)}
    keys = {"features": "x*", "scores": "y*", "costs": "price*", "agent": "user", "vectors": "outer"}
    np.savez(tmp_path / "t.npz", **arrays)
    np.savez(tmp_path / "arms.npz", arm=np.arange(4), f=np.eye(4))
    bandit = nb.bandits.Contexts(data=arrays, arms_data={"arm": range(4), "f": np.eye(4)}, **keys)
    files = nb.bandits.Contexts(path=str(tmp_path / "t.npz"), arms_path=str(tmp_path / "arms.npz"), **keys)
    assert bandit.arm_names() == files.arm_names() == ("0", "1", "2", "3")
    mine, theirs = run(bandit), run(files)
    assert next(differences(mine, theirs, digits=12), None) is None
    with pytest.raises(ValueError, match=r"data=...\): arrays have different numbers of rows: x0 has 2, y has 3"):
        nb.bandits.Contexts(data={"x": np.eye(2), "y": [1, 2, 3]})
    np.savez(tmp_path / "objects.npz", x=np.eye(3), arm=np.array(["a", "b", "c"], dtype=object))
    (tmp_path / "text.npz").write_text("x1,y_a\n")
    for name in ("objects", "text"):
        (line,) = scenario(nb.bandits.Contexts(path=str(tmp_path / f"{name}.npz"), features="x*", scores="y*")).check()
        assert f"{name}.npz: is no file of numpy.savez with numbers and texts (astype(str)): " in line
    with pytest.raises(ValueError, match=r"data=...\): the array x has 3 dimensions: must be one or two"):
        nb.bandits.Contexts(data={"x": np.zeros((1, 1, 1))})


def test_a_scenario_with_tables_can_be_written_and_is_known_again(tmp_path):
    data = frame(user=[2.0, 0.0, 1.0] * 20)
    made = scenario(contexts(data, arms_data=arms_of(np.eye(4)), vectors="outer", agent="user"))
    assert "a table of 60 rows and 8 columns" in repr(made)
    made.to_toml(tmp_path / "mine.toml")
    again = nb.Scenario.from_toml(tmp_path / "mine.toml")
    assert {file.name for file in tmp_path.iterdir()} == {"mine.toml", "mine.rewards.csv", "mine.arms.csv"}
    first, second = (check(one.document()).points[0] for one in (made, again))
    assert next(differences(first.simulation(0).run(), second.simulation(0).run(), digits=12), None) is None
    keys = [run_key(check(scenario(contexts(one)).document()).points[0], 0) for one in (data, data.copy(), data + 1e-9)]
    assert [key == keys[0] for key in keys] == [True, True, False]
    assert contexts(data) == contexts(data.copy())
    assert contexts(data) != contexts(data + 1e-9)


@pytest.mark.parametrize(
    ("text", "keys", "message"),
    [
        (
            "x1,y_a\n1,2\n",
            {"features": "z*"},
            "bandit.path: {}: there is no column z*, as features says; there are x1, y_a",
        ),
        ("x1,y_a\n1,2\n", {"scores": ["y_b"]}, "bandit.path: {}: there is no column y_b, as scores says"),
        ("x1,y_a\n1,2\n", {"agent": "user"}, "bandit.path: {}: there is no column user, as agent says"),
        ("x1,y_a\n1,2\n1,high\n", {}, "bandit.path: {}:3: 'high' in the column y_a is no number: features, scores and"),
        ("x1,y_a\n1,2\n\n,3\n", {}, "bandit.path: {}:4: the number in the column x1 is missing"),
        ("x1,y_a\n1,nan\n", {}, "bandit.path: {}:2: the number in the column y_a is missing"),
        ("x1,y_a\n1,2\n0,3\n", {}, "bandit.path: {}:3: all features are 0: such a row cannot be told from others"),
        ("x1,y_a\n", {}, "bandit.path: {}: it has no rows"),
        ("x1,x1,y_a\n1,1,2\n", {}, "bandit.path: {}:1: the column x1 is there twice"),
        (
            "x1,x_y\n1,1\n",
            {"scores": "x_*"},
            "bandit.path: {}: the column x_y is used twice: each is one of features",
        ),
        ("x1,y_a,z_a\n1,1,1\n", {"scores": ["y_*", "z_*"]}, "bandit.path: {}: scores names an arm twice"),
        (
            "x1,y_a,c_b\n1,1,1\n",
            {"costs": "c_*"},
            "bandit.path: {}: scores and costs are those of different arms: a, b",
        ),
        ("x1,y_a,y_b,c\n1,1,1,1\n", {"costs": ["c"]}, "bandit.path: {}: costs names 1 column, and scores 2"),
        ("x1,y_a,user\n1,2,\n", {"agent": "user"}, "bandit.path: {}:2: the user is missing"),
        (
            "x1,y_a,user\n1,2,0\n1,2,1\n",
            {"agent": "user"},
            "bandit.path: {}: has rows of 2 agents, but there are 3: not 2",
        ),
        (
            "x1,y_a\n1,2\n1,2\n",
            {"split": "parts"},
            "bandit.path: {}: has 2 rows, which is not one for each of 3 agents",
        ),
        (
            "x1,y_a\n1,2\n1,2\n",
            {"rows": "in-order"},
            "run.horizon: is 40, but an agent may have only 2 rows: at most so many slots, or ",
        ),
        ("x1,y_a\n1,2\n", {"shown": 2}, "bandit.shown: is 2, more than the 1 arm there are"),
        ("x1,y_a\n1,2\n", {"scores": None}, "bandit.scores: is missing: the columns of what arms pay, or else logged"),
        ("x1,y_a\n1,2\n", {"features": None}, 'bandit.features: is missing: vectors = "blocks" are made of it'),
        ("x1,y_a\n1,2\n", {"vectors": "arm"}, 'bandit.arms_path: is missing: vectors = "arm" are made of it'),
        (
            "x1,y_a\n1,2\n",
            {"split": "half"},
            'bandit.split: must be "shared", "parts", "sorted" or { dirichlet = 0.3 }',
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, keys, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    given = {"kind": "contexts", "path": str(path), "features": "x*", "scores": "y_*", **keys}
    lines = scenario({key: one for key, one in given.items() if one is not None}).check()
    assert any(part.replace("{}", str(path)) in line for line in lines for part in message.split("|")), lines
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,f\na,1\n", "{}: has features of 1 arms, but there are 2: not b"),
        ("arm,f\na,1\nc,1\n", "{}: names arms, but not those of the table: c; its arms are a, b"),
        ("arm,f\na,1\nb,1\na,2\n", "{}:4: the arm a is there twice"),
        ("arm,f\na,1\nb,\n", "{}:3: the number in the column f is missing"),
        (
            "arm,f\na,1\nb,long\n",
            "{}:3: 'long' in the column f is no number: arm_features names the columns of numbers",
        ),
        ("arm,f\na,1\nb,0\n", "all features of the arm b are 0"),
        ("name,f\na,1\nb,0\n", "{}: there is no column arm, as a table of arms says; there are name, f"),
    ],
)
def test_what_is_wrong_with_arms_is_said_with_its_place(tmp_path, text, message):
    path = tmp_path / "arms.csv"
    path.write_text(text)
    given = {"kind": "contexts", "scores": "y_*", "vectors": "arm", "data": frame(Y[:, :0], Y[:, :2])}
    (line,) = scenario({**given, "arms_path": str(path)}).check()
    assert "bandit.arms_path: " + message.format(path) in line


def test_a_table_is_refused_before_more_memory_is_taken_than_there_is(tmp_path, monkeypatch):
    frame().to_csv(tmp_path / "t.csv", index=False)
    frame().to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", x=X, y=Y)
    monkeypatch.setattr(table_sources, "exceeded", lambda size: 100 if size > 1000 else None)
    monkeypatch.setattr(table_sources, "_LOOKED", 16)
    for name in ("t.csv", "t.parquet", "t.npz"):
        bandit = nb.bandits.Contexts(path=str(tmp_path / name), features="x*", scores="y*")
        (line,) = scenario(bandit).check()
        assert "of memory; 0.0001 MB is available here: fewer rows or columns fit" in line


def test_check_says_what_is_ignored_and_assumed():
    def notes(bandit, learner=None):
        return " ".join(check(scenario(bandit, learner).document()).notes)

    longest = np.linalg.norm(X, axis=1).max()
    assert f"bandit.scale: vectors are divided by {longest:.6g}, which no norm exceeds" in notes(contexts())
    assert "is false, and vectors may be as long as" in notes(contexts(scale=False))
    assert "bandit.features: are ignored: ucb does not look at vectors" in notes(contexts(), nb.learners.Ucb())
    assert "1 column not used: note" in notes(contexts(frame(note="x")))
    (line,) = scenario(contexts(shown=2), nb.learners.Ucb()).check()
    assert "bandit.shown: must be absent: ucb knows arms by their numbers" in line


def log_of(rows=40_000, law=None, seed=0):
    """A log of a full table: the arm of each row drawn uniformly, or by a law that the context decides."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, 3))
    y = 1 / (1 + np.exp(-x @ np.array([[1.0, 0, -1], [0, 1, 0], [0, -0.5, 1]]).T))
    chances = np.full((rows, 3), 1 / 3) if law is None else np.array(law)[(x[:, 0] > 0).astype(int)]
    arms = (rng.random(rows)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    click = (rng.random(rows) < y[np.arange(rows), arms]) * 1.0
    columns = {f"x{j}": column for j, column in enumerate(x.T)}
    p = chances[np.arange(rows), arms]
    return pandas.DataFrame({**columns, "item": np.array(list("abc"))[arms], "click": click, "p": p}), x, y


LOGGED = {"arm": "item", "reward": "click"}
UNLIKE = [[0.7, 0.2, 0.1], [0.15, 0.05, 0.8]]


@pytest.mark.ci
@pytest.mark.parametrize("law", [None, UNLIKE])
def test_a_policy_is_worth_in_a_log_what_it_is_worth_in_the_table(law):
    data, _, y = log_of(law=law)
    logged = LOGGED if law is None else {**LOGGED, "propensity": "p"}
    for arm in range(3):
        found = run(contexts(data, scores=None, logged=logged), Always(arm=arm), horizon=10_000, agents=4).metrics
        share = 1 / 3 if law is None else 0.05
        assert found["kept"] == pytest.approx(40_000 * share, abs=3 * np.sqrt(40_000 * share))
        assert found["ctr"] == pytest.approx(y[:, arm].mean(), abs=3 * np.sqrt(0.25 / found["kept"]))
        assert found["reward"] == pytest.approx(found["ctr"] * found["kept"])
        assert found["regret"] is None
        assert not {"outstanding", "censored", "best_share"} & found.keys()
    if law is not None:  # which is needed
        biased = run(contexts(data, scores=None, logged=LOGGED), Always(arm=0), horizon=10_000, agents=4).metrics
        assert abs(biased["ctr"] - y[:, 0].mean()) > 10 * np.sqrt(0.25 / biased["kept"])


@pytest.mark.ci
def test_a_learner_learns_in_a_log_as_in_a_table_of_the_kept_decisions():
    data, x, y = log_of(rows=20 * 900)
    logs = run(contexts(data, scores=None, logged=LOGGED), agents=20, horizon=900).metrics
    clicks = pandas.DataFrame(
        {**{f"x{j}": c for j, c in enumerate(x.T)}, **{f"y_{arm}": c for arm, c in zip("abc", y.T, strict=True)}}
    )
    table = run(contexts(clicks, noise=0.45), agents=20, horizon=300).metrics
    assert logs["kept"] == pytest.approx(6_000, abs=3 * np.sqrt(6_000))
    assert logs["ctr"] == pytest.approx(table["reward"] / 6_000, abs=3 * np.sqrt(0.5 / 6_000))
    assert logs["ctr"] > y.mean(axis=0).max() + 0.1


def test_where_all_choices_were_logged_a_log_is_a_table():
    data = frame(X, Y[:, :1])
    log = data.rename(columns={"y_a": "click"}).assign(item="a")
    mine = run(contexts(log, scores=None, logged=LOGGED), Seen(radius=0.5), agents=1, horizon=60)
    paid, estimate = np.concatenate(PAID[-60:]).copy(), LAST[0].beliefs.estimate.copy()
    theirs = run(contexts(data, rows="in-order", split="parts"), Seen(radius=0.5), agents=1, horizon=60)
    assert mine.metrics["kept"] == 60
    assert paid.tolist() == Y[:, 0].tolist()
    assert (LAST[0].beliefs.estimate == estimate).all()
    assert mine.metrics["reward"] == theirs.metrics["reward"]


def test_what_a_log_discards_is_neither_learned_nor_told():
    data, *_ = log_of(rows=600)
    bandit = contexts(data, scores=None, logged=LOGGED)
    told = run(bandit, nb.learners.Ucb(share="observations"), nb.protocols.Local(), agents=3, horizon=150)
    assert 0 < told.metrics["kept"] < 450
    kept = run(bandit, Counted(), agents=3, horizon=150).metrics["kept"]
    assert kept == sum(COUNTED)
    assert told.metrics["kept"] < told.metrics["messages"] <= 2 * told.metrics["kept"]  # to one neighbour, or to two


class Counted(nb.Learner):
    """Pulls arms in turn, and counts what it learns."""

    def start(self, world, agents, rng):
        COUNTED[:] = [0] * agents

    def choose(self, slot, agents):
        return np.full(len(agents), slot % 3)

    def learn(self, slot, agents, arms, rewards):
        assert (arms == slot % 3).all()
        assert np.isin(rewards, [0.0, 1.0]).all()
        for agent in agents:
            COUNTED[agent] += 1


COUNTED = []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("learner", "protocol"),
    [
        ({"kind": "linucb", "every": 5}, "gis"),
        ({"kind": "lints"}, "parameter-server"),
        ({"kind": "oful", "threshold": 1.0}, "master-worker"),
        ({"kind": "ucb"}, "relay"),
        ({"kind": "klucb", "share": "totals"}, "local"),
        ({"kind": "coop-ucb2"}, "consensus"),
        ({"kind": "queued"}, "silent"),
    ],
)
def test_each_execution_of_a_log_gives_the_same_numbers(learner, protocol):
    data, *_ = log_of(rows=400)
    given = contexts(data, scores=None, logged=LOGGED)
    point = check(scenario(given, learner, {"kind": protocol}, agents=4, horizon=60).document()).points[0]
    found = []
    for how in ("plain", "compiled"):
        with executed(how):
            found.append(point.simulation(0).run())
    assert next(differences(*found, digits=10), None) is None
    assert 0 < found[0].metrics["kept"] < 240


@pytest.mark.parametrize(
    ("text", "keys", "message"),
    [
        (
            "x1,item,click,p\n1,a,1,0\n",
            {"propensity": "p"},
            "{}:2: 0 in the column p is no probability: must be above 0",
        ),
        ("x1,item,click,p\n1,a,1,1\n1,a,0,1.5\n", {"propensity": "p"}, "{}:3: 1.5 in the column p is no probability"),
        ("x1,item,click\n1,a,1\n", {"propensity": "p"}, "{}: there is no column p, as logged says"),
        ("x1,item,click\n1,,1\n", {}, "{}:2: the item is missing"),
        ("x1,item,click\n1,a,\n", {}, "{}:2: the number in the column click is missing"),
        ("x1,item\n1,a\n", {}, "{}: there is no column click, as logged says; there are x1, item"),
    ],
)
def test_what_is_wrong_with_a_log_is_said_with_its_place(tmp_path, text, keys, message):
    path = tmp_path / "log.csv"
    path.write_text(text)
    (line,) = scenario(nb.bandits.Contexts(path=str(path), features="x*", logged={**LOGGED, **keys})).check()
    assert "bandit.path: " + message.replace("{}", str(path)) in line


def test_what_cannot_be_with_a_log():
    data, *_ = log_of(rows=400)

    def lines(learner=None, horizon=40, **keys):
        made = {"kind": "contexts", "data": data, "features": "x*", "logged": LOGGED, **keys}
        return [line.partition(": ")[2] for line in scenario(made, learner, horizon=horizon).check()]

    assert lines() == []
    assert lines(rows="drawn") == ["bandit.rows: cannot be so with logged: an event can be kept once only"]
    assert lines(repeat=True) == ["bandit.repeat: cannot be so with logged: an event can be kept once only"]
    assert lines(split="sorted") == ["bandit.split: cannot be so with logged: nobody knows which arm is best"]
    assert lines(noise=0.1, shown=2)[0] == "bandit.noise: cannot be so with logged: a reward is what the log says"
    assert lines(scores="y_*") == ["bandit.scores: excludes logged: give one of the two"]
    assert lines(horizon=134) == ["run.horizon: is 134, but an agent may have only 133 rows: at most so many slots"]
    (line,) = lines({"kind": "gosine"})
    assert line.startswith('bandit.logged: cannot be with learner.kind = "gosine": what it would make of decisions')
    made = scenario(contexts(data, scores=None, logged=LOGGED))
    assert "without propensity arms are taken to have been shown uniformly at random" in " ".join(
        check(made.document()).notes
    )


@pytest.mark.parametrize("vectors", ["blocks", "arm"])
def test_what_is_made_is_linear_in_the_vectors(vectors):
    sizes = {"queries": 300, "features": 3, "arms": 40 if vectors == "arm" else 4}
    bandit = nb.bandits.Contexts(made={**sizes, "spread": 2.0}, vectors=vectors, rows="in-order").fresh()
    bandit.horizon = 100
    bandit.start(3, Streams(0, 0).generator)
    bandit.begin(Streams(0, 0).generator)
    everybody = np.arange(3)
    shown = []
    for _ in range(100):
        vectors_of = bandit.actions(everybody).copy()
        assert np.linalg.norm(vectors_of, axis=2).max() <= 1 + 1e-12
        shown.append((vectors_of, bandit.table_of_contexts.scores[bandit._row]))
    thetas = []
    for agent in range(3):
        x, y = (np.concatenate([each[place][agent] for each in shown]) for place in (0, 1))
        theta, *_ = np.linalg.lstsq(x, y, rcond=None)
        assert x @ theta == pytest.approx(y, abs=1e-12)
        thetas.append(theta)
    assert not np.allclose(thetas[0], thetas[1])
    assert bandit.outline() == nb.Outline(arms=sizes["arms"], dimension=bandit.dimension)


def test_what_cannot_be_with_a_made_table():
    def lines(**keys):
        made = {"kind": "contexts", "made": {"queries": 9, "features": 2, "arms": 3}, **keys}
        return [line.partition(": ")[2] for line in scenario(made).check()]

    assert lines() == []
    assert lines(vectors="outer") == ['bandit.vectors: must be "blocks" or "arm" with made, not "outer"']
    assert lines(path="t.csv") == ["bandit.path: excludes made: give one of the two"]
    assert lines(made={"queries": 2, "features": 2, "arms": 3}) == [
        "bandit.made: has 2 rows, which is not one for each of 3 agents"
    ]


@examples(60)
@given(st.integers(0, 10**6))
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path_factory, seed):
    rng = Random(seed)
    text = bytearray(frame(X[:6], Y[:6], user=[0, 1, 2] * 2).to_csv(index=False).encode())
    signs = [b",", b'"', b"\n", b";", b"x", b"-", b"\xff", b"\0", b"1e999"]
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text))
        text[place : place + rng.randint(0, 2)] = rng.choice(signs)
    path = tmp_path_factory.getbasetemp() / f"damaged{seed}.csv"
    path.write_bytes(text)
    bandit = nb.bandits.Contexts(path=str(path), features="x*", scores="y_*", agent="user").fresh()
    refused = None
    try:
        bandit.start(3, Streams(0, 0).generator)
    except TableError as error:
        refused = str(error)
    if refused is None:
        found = bandit.table_of_contexts
        assert np.isfinite(found.contexts).all()
        assert np.isfinite(found.scores).all()
    else:
        assert refused.startswith(str(path))
        assert "\n" not in refused
