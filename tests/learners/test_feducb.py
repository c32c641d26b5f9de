from math import inf, log, sqrt

import numpy as np
import pytest
from helpers.one_by_one import OneByOne

from netbandit.checks.check import check
from netbandit.learners.feducb import FedUcb
from netbandit.privacy.gaussian import exact_epsilon
from netbandit.privacy.tree_calibration import DATA_DEPENDENT
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.studies.auditing.whole_runs import HeldWorld

SCENARIO = """\
schema = 1
run = {{ horizon = 100 }}
topology = {{ family = "ring", agents = 4 }}
bandit = {{ kind = "linear", dimension = 2, arms = 3 }}
protocol = {{ kind = "{protocol}"{more} }}
[learner]
kind = "feducb"
{keys}
"""


def learner(*, agents=3, dimension=2, fixed_actions=None, sets=1, horizon=1_000, members=None, **keys):
    facts = {"arms": 4, "dimension": dimension, "fixed_actions": fixed_actions, "horizon": horizon, "members": members}
    return OneByOne(FedUcb(**keys), agents, sets=sets, **facts)


def mistakes(tmp_path, keys, protocol="master-worker", more=""):
    file = tmp_path / "feducb.toml"
    file.write_text(SCENARIO.format(keys=keys, protocol=protocol, more=more))
    try:
        return check(load(file)).notes
    except ScenarioError as error:
        return error.lines


@pytest.mark.parametrize("epsilon", ["1e-9", "1e9", "inf"])
def test_the_budgets_at_the_ends_can_be_had(tmp_path, epsilon):
    assert mistakes(tmp_path, f"epsilon = {epsilon}") == []


@pytest.mark.parametrize(
    ("keys", "place", "text"),
    [
        ('schedule = "fixed"', "6:1: learner.every", 'is missing: schedule = "fixed" needs it'),
        ('threshold = "best"', "8:1: learner.threshold", 'must be "paper", "dislinucb" or a number > 0'),
        ("threshold = 0", "8:1: learner.threshold", 'must be "paper", "dislinucb" or a number > 0'),
        ("epsilon = 0", "8:1: learner.epsilon", "must"),
        ("delta = 1.0", "8:1: learner.delta", "must"),
        ("beta_scales = 0.1", "8:1: learner.beta_scales", 'did you mean "beta_scale"'),
        ("epsilon = inf\ndelta = 0.2", "9:1: learner.delta", "is not used with epsilon = inf"),
        ("every = 5", "8:1: learner.every", "is used only with schedule"),
        ('schedule = "fixed"\nevery = 5\nthreshold = 3', "10:1: learner.threshold", "is not used with schedule"),
        ("regularizer = 2.0", "8:1: learner.regularizer", "is used only where there is no noise"),
        ("epsilon = 1e-300", "8:1: learner.epsilon", "must be inf, or from 1e-09 to 1e+09, not 1e-300"),
        ("epsilon = 1.1e9", "8:1: learner.epsilon", "must be inf, or from 1e-09 to 1e+09, not 1100000000.0"),
        ("every = 10000000000000000000000", "8:1: learner.every", "must be"),
        ("regularizer = 1e-300", "8:1: learner.regularizer", "must be"),
    ],
)
def test_a_mistake_has_a_place_and_a_fix(tmp_path, keys, place, text):
    (line,) = mistakes(tmp_path, keys)
    assert f"feducb.toml:{place}: " in line
    assert text in line


def test_too_small_a_stride_is_a_mistake(tmp_path):
    (line,) = mistakes(tmp_path, "", "local", ", ttl = 3, stride = 2")
    assert line.endswith("protocol.stride: must be at least 3: 3 hops of 1 slot take that long")


def test_the_bandwidth_of_links_counts_among_the_slots_that_hops_take(tmp_path):
    # A release of 3 + 2 numbers, a label and a header: 64 bytes, 5.12 ms at 100 kbit/s, and 0.9 ms of latency.
    links = 'links.peer = {{ bandwidth = "{}", latency = "0.9 ms" }}'
    text = SWEPT.replace('kind = "master-worker"', 'kind = "local", ttl = 2, stride = 13')
    (line,) = told(tmp_path, f"{links.format('100 kbit/s')}\n{text}")
    assert line.endswith("protocol.stride: must be at least 14: 2 hops of 7 slots take that long")
    assert told(tmp_path, f"{links.format('100 kbit/s')}\n{text.replace('13', '14')}") == []
    (line,) = told(tmp_path, f"{links.format('1 bit/s')}\n{text.replace(', stride = 13', '')}")
    assert "protocol.ttl: asks for 1,024,002 sets of parameters, 2 hops of 512,001 slots" in line


def test_the_radius_is_that_of_the_formulas():
    exact = learner(epsilon=inf, regularizer=2.0)
    assert exact.radii[0].least == exact.radii[0].most == 2 / 3
    expected = 0.5 * sqrt(2 * log(20) + 2 * log(1 + 50 / (2 * 2 / 3))) + sqrt(2)
    assert exact.radii[0].beta(50) == pytest.approx(expected)
    private = learner(epsilon=1.0)
    noise = private.noise
    assert private.radii[0].most == 3 * private.radii[0].least == 3 * noise.shift
    assert private.radii[0].offset == pytest.approx(sqrt(3 * 3 * noise.shift) + sqrt(3) * noise.kappa(2))
    paper = learner(epsilon=1.0, beta="paper")
    assert paper.radii[0].offset == pytest.approx(3 * sqrt(3 * noise.shift) + 3 * noise.paper_kappa(2, 1.0))


def test_thresholds_are_those_of_the_papers():
    exact = learner(epsilon=inf)
    assert exact.thresholds[0] == pytest.approx(2 * 1_000 * 2 / (log(1 + 1_000 * 3 / 2) + 1))
    assert learner(epsilon=inf, threshold="dislinucb").thresholds[0] == pytest.approx(1_000 * log(3_000) / 6)
    assert learner(epsilon=inf, threshold=7.5).thresholds[0] == 7.5
    assert learner(epsilon=inf, schedule="fixed", every=3).thresholds[0] == inf


def test_several_sets_share_the_budget_of_time_and_not_that_of_privacy():
    one, four = learner(epsilon=1.0), learner(epsilon=1.0, sets=4)
    assert one.noise.depth == 1 + 10
    assert four.noise.depth == 1 + 8
    assert four.noise.log_term == pytest.approx(log(2 * 1_000 * 3 * 4 / 0.1))


@pytest.mark.parametrize("fixed", [True, False])
def test_of_equal_arms_the_first_is_chosen(fixed):
    actions = np.array([[0.1, 0.2], [0.6, 0.7], [0.6, 0.7], [0.6, 0.7]])
    exact = learner(epsilon=inf, fixed_actions=actions if fixed else None)
    assert exact.choose(0, 0, 0, actions) == 1
    exact.learn(0, 0, actions[1], 0.9)
    assert exact.choose(0, 0, 1, actions) == 1


def test_a_release_bounds_what_enters_the_noise_and_holds_all_that_was_seen():
    private, exact = learner(epsilon=1e9, alpha=0.5), learner(epsilon=inf)
    seen = [((0.6, 0.3), 4.0), ((0.1, -0.9), -2.5), ((0.0, 0.2), 0.25)]
    for one in (private, exact):
        for action, reward in seen[:2]:
            one.learn(0, 0, np.array(action), reward)
        one.release(0, 0)
        one.adopt(0, 0, one.combine([one.release(agent, 0) for agent in (1, 2)]))
        one.learn(0, 0, np.array(seen[2][0]), seen[2][1])
    actions = np.array([action for action, _ in seen])
    gram = actions.T @ actions
    shifted = gram + 2 * private.noise.shift * np.eye(2)
    hidden, plain = private.release(0, 0), exact.release(0, 0)
    assert plain[:3] == pytest.approx(gram[np.triu_indices(2)])
    assert plain[3:] == pytest.approx(actions.T @ [4.0, -2.5, 0.25])
    assert hidden[:3] == pytest.approx(shifted[np.triu_indices(2)], abs=1e-6)
    assert hidden[3:] == pytest.approx(actions.T @ [1.0, -1.0, 0.25], abs=1e-6)


@pytest.mark.parametrize("who", [0, 1])
def test_who_adopts_what_another_has_adopted_does_not_adopt_what_that_has_learnt_since(who):
    exact = learner(epsilon=inf, agents=2)
    for agent, action in ((0, [0.6, 0.3]), (1, [-0.2, 0.9])):
        exact.learn(agent, 0, np.array(action), 0.5)
    combined = exact.combine([exact.release(agent, 0) for agent in (0, 1)])
    first, second = who, 1 - who
    exact.adopt(first, 0, combined)
    exact.learn(first, 0, np.array([0.1, 0.7]), 1.0)
    exact.adopt(second, 0, combined)
    shared = np.eye(2) + np.outer([0.6, 0.3], [0.6, 0.3]) + np.outer([-0.2, 0.9], [-0.2, 0.9])
    assert exact.beliefs.inverse[0, second] == pytest.approx(np.linalg.inv(shared))
    whole = shared + np.outer([0.1, 0.7], [0.1, 0.7])
    assert exact.beliefs.inverse[0, first] == pytest.approx(np.linalg.inv(whole))


def test_what_is_spent_is_told_with_its_limits():
    private = learner(epsilon=1.0, calibration="zcdp", delta=0.01)
    assert private.account(0).epsilon == 0
    spent = private.account(100)
    assert 0 < spent.epsilon <= 1
    assert spent.epsilon_claimed == 1
    assert DATA_DEPENDENT in spent.caveats
    ahead = learner(epsilon=1.0, calibration="zcdp", delta=0.01, schedule="fixed", every=10)
    assert DATA_DEPENDENT not in ahead.account(100).caveats
    assert learner(epsilon=inf).account(3).epsilon == inf


def test_what_is_longer_than_one_enters_the_noise_as_if_it_were_one():
    private = learner(epsilon=1e9, alpha=0.5)
    private.learn(0, 0, np.array([3.0, 4.0]), 2.0)
    private.learn(0, 0, np.array([0.5, 0.0]), 0.5)
    actions = np.array([[0.6, 0.8], [0.5, 0.0]])
    shifted = actions.T @ actions + 2 * private.noise.shift * np.eye(2)
    released = private.release(0, 0)
    assert released[:3] == pytest.approx(shifted[np.triu_indices(2)], abs=1e-6)
    assert released[3:] == pytest.approx(actions.T @ [1.0, 0.5], abs=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("sets", "every"), [(1, 1), (1, 7), (4, 16), (16, 16), (16, 3), (5, 7)])
def test_a_fixed_schedule_spends_no_more_than_its_budget(sets, every):
    horizon = 500
    private = learner(
        epsilon=1.0, delta=1e-6, calibration="zcdp", schedule="fixed", every=every, sets=sets, horizon=horizon
    )
    releases = 0
    for _ in range(0, horizon, sets):
        if private.learn(0, 0, np.array([0.5, 0.5]), 1.0):
            private.release(0, 0)
            private.adopt(0, 0, np.concatenate([np.eye(2)[np.triu_indices(2)], np.zeros(2)]))
            releases += 1
    assert releases > 0
    assert 0 < private.account(releases).epsilon <= 1.0


def told(tmp_path, text, *overrides):
    file = tmp_path / "feducb.toml"
    file.write_text(text)
    try:
        return check(load(file, overrides)).notes
    except ScenarioError as error:
        return error.lines


SWEPT = SCENARIO.format(keys="", protocol="master-worker", more="")


def test_a_varied_key_that_no_kind_has_is_a_mistake(tmp_path):
    linucb = 'learner.kind="linucb"'
    (line,) = told(tmp_path, SWEPT, linucb, "sweep.learner.epsilon=[1.0, 2.0]")
    assert "sweep.learner.epsilon: unknown key" in line
    base = SCENARIO.format(keys="epsilon = 3.0", protocol="master-worker", more="")
    (tmp_path / "base.toml").write_text(base + "\n[sweep]\nlearner.epsilon = [1.0, 2.0]\n")
    (line,) = told(tmp_path, 'extends = "base.toml"\n[learner]\nkind = "linucb"\n')
    assert 'base.toml:11:9: sweep.learner.epsilon: is not a key of the learner "linucb": it would change' in line


def test_a_varied_key_that_some_kinds_do_not_have_is_noted(tmp_path):
    both = 'sweep.learner.kind=["linucb", "feducb"]'
    notes = told(tmp_path, SWEPT, both, "sweep.learner.epsilon=[1.0, 2.0]")
    assert [note.rpartition("learner.epsilon: ")[2] for note in notes] == [
        'is not a key of the learner "linucb": there, points that differ in nothing else have equal results'
    ]


def test_a_missing_network_is_told_with_all_other_mistakes(tmp_path):
    text = SWEPT.replace('family = "ring", agents = 4', 'family = "file", file = "nowhere.graphml"')
    lines = told(tmp_path, text, "learner.delta=3.0")
    assert len(lines) == 2
    assert "nowhere.graphml is not there" in lines[0]


def test_noise_that_outweighs_all_observations_is_told():
    (remark,) = learner(epsilon=1.0).remarks()
    assert "outweighs all observations of an agent" in remark
    assert learner(epsilon=1e6, horizon=10_000).remarks() == ()
    assert learner(epsilon=inf).remarks() == ()


@pytest.mark.parametrize(
    ("epsilon", "place", "text"),
    [
        ("[1.0, 2.0]", "", "must have a budget for each of 4 agents, not 2 budgets"),
        ("[1.0, 2.0, inf, 1.0]", "[2]", "must be from 1e-09 to 1e+09, not inf"),
        ("[1.0, 2.0, 0.0, 1.0]", "", "must be a number > 0, inf, a list of numbers, one for each agent, or"),
        ("{ uniform = [2.0, 1.0] }", ".uniform", "must have the smallest budget first"),
        ("{ uniform = [1.0, inf] }", ".uniform[1]", "must be from 1e-09 to 1e+09, not inf"),
        (
            "{ normal = [1.0, 2.0] }",
            "",
            "must be a number > 0, inf, a list of numbers, one for each agent, or",
        ),
        ('[1.0, 2.0, 3.0, 4.0]\nrobust = "median"', "", 'must be "mean" with an epsilon'),
    ],
)
def test_a_mistake_in_budgets_of_their_own_has_one_line(tmp_path, epsilon, place, text):
    (line,) = mistakes(tmp_path, f"epsilon = {epsilon}")
    assert text in line
    assert f"learner.{'robust' if 'robust' in epsilon else f'epsilon{place}'}: " in line


@pytest.mark.parametrize("budgets", ["[1.0, 2.0, 3.0, 4.0]", "{ uniform = [0.5, 4.0] }"])
def test_budgets_of_their_own_can_be_had(tmp_path, budgets):
    assert mistakes(tmp_path, f"epsilon = {budgets}") == []
    assert mistakes(tmp_path, f"epsilon = {budgets}", "silent") == []


def test_bounds_hold_for_the_largest_and_the_smallest_budget():
    own = learner(epsilon=[4.0, 0.5, 2.0], calibration="zcdp")
    alike = {epsilon: learner(epsilon=epsilon, calibration="zcdp").noise for epsilon in (0.5, 4.0)}
    assert own.radii[0].least == alike[4.0].shift
    assert own.radii[0].most == 3 * alike[0.5].shift
    assert own.radii[0].offset == pytest.approx(sqrt(3 * 3 * alike[0.5].shift) + sqrt(3) * alike[0.5].kappa(2))
    assert own.radii == 3 * own.radii[:1]


def test_each_agent_adds_the_noise_of_its_own_budget():
    budgets = [1e9, 1.0, 1e5]
    own, alike = learner(epsilon=budgets), [learner(epsilon=epsilon) for epsilon in budgets]
    for agent, one in enumerate(alike):
        for each in (own, one):
            each.learn(agent, 0, np.array([0.6, 0.3]), 0.5)
        assert own.release(agent, 0) == pytest.approx(one.release(agent, 0))


def test_each_agent_is_accounted_for_with_its_own_noise_and_its_own_releases():
    own = learner(epsilon=[0.5, 4.0, 2.0], calibration="zcdp", delta=0.01, schedule="fixed", every=100)
    for agent, releases in enumerate((10, 1, 3)):
        for _ in range(releases):
            own.learn(agent, 0, np.array([0.6, 0.3]), 0.5)
            own.release(agent, 0)
    deviations = [
        learner(epsilon=epsilon, calibration="zcdp", delta=0.01, schedule="fixed", every=100).noise.deviation
        for epsilon in (0.5, 4.0, 2.0)
    ]
    expected = [
        exact_epsilon(0.01, deviation / (2 * sqrt(nodes)))
        for deviation, nodes in zip(deviations, (4, 1, 2), strict=True)
    ]
    worst = int(np.argmax(expected))
    spent = own.account(10)
    assert (spent.epsilon, spent.epsilon_claimed) == (expected[worst], [0.5, 4.0, 2.0][worst])
    assert own.figures()["epsilon_best_off"] == min(expected)
    assert all(one <= claimed for one, claimed in zip(expected, (0.5, 4.0, 2.0), strict=True))
    assert "epsilon_best_off" not in learner(epsilon=1.0).figures()


@pytest.mark.parametrize(("protocol", "more"), [("master-worker", ""), ("local", ", ttl = 2")])
def test_equal_budgets_are_one_budget_and_drawing_them_disturbs_nothing(tmp_path, protocol, more):
    keys = 'calibration = "zcdp"\nschedule = "fixed"\nevery = 8'
    (tmp_path / "own.toml").write_text(SCENARIO.format(keys=keys, protocol=protocol, more=more))

    def run(epsilon):
        (point,) = check(load(tmp_path / "own.toml", [f"learner.epsilon={epsilon}"])).points
        return point.simulation(0).run()

    one = run("2.0")
    for epsilon in ("[2.0, 2.0, 2.0, 2.0]", "{ uniform = [2.0, 2.0] }"):
        own = run(epsilon)
        assert own.fingerprint == one.fingerprint
        assert own.metrics.pop("epsilon_best_off") == one.metrics["epsilon"]
        assert {**own.metrics, "wall_s": 0} == {**one.metrics, "wall_s": 0}
    drawn = run("{ uniform = [0.5, 4.0] }")
    assert 0 < drawn.metrics["epsilon_best_off"] < drawn.metrics["epsilon"] <= drawn.metrics["epsilon_claimed"] < 4


def test_drawn_budgets_are_those_of_all_sets_and_of_the_world_that_an_audit_holds_still():
    several = learner(epsilon={"uniform": [0.5, 4.0]}, sets=3)
    assert [one.budgets for one in several.sets] == 3 * [several.budgets]
    assert len(set(several.budgets)) == 3
    streams = [HeldWorld(5, afresh) for afresh in (1, 2)]
    first, second = (one.generator("budgets").random(4).tolist() for one in streams)
    assert first == second
    assert streams[0].generator("tree.0").random() != streams[1].generator("tree.0").random()


def test_peers_spend_the_same_on_every_graph_and_no_more_than_their_budget(tmp_path):
    """Remark 5: there is no dependence on the network, as privatization is done at the source itself."""
    keys = 'calibration = "zcdp"\nschedule = "fixed"\nevery = 8\nepsilon = 2.0'
    (tmp_path / "peers.toml").write_text(SCENARIO.format(keys=keys, protocol="local", more=", ttl = 1"))
    spent = set()
    for family in ("complete", "ring", "path", "star"):
        (point,) = check(load(tmp_path / "peers.toml", [f"topology.family={family}"])).points
        spent.add(point.simulation(0).run().metrics["epsilon"])
    assert len(spent) == 1
    assert 0 < spent.pop() <= 2.0
