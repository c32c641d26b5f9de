"""UCB1, KL-UCB and Thompson sampling against a slow lock-step reference that knows no network and no compiled loop."""

from math import inf, log
from math import log as log_of

import networkx as nx
import numpy as np
import pytest
from helpers.scenes import study
from scipy.optimize import brentq

from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.drivers import slots
from netbandit.util.streams import Streams

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms" }}
topology = {{ family = "{family}", agents = {agents} }}
links.peer.latency = "{latency}"
bandit = {{ kind = "bernoulli", means = {means} }}
learner = {{ kind = "{learner}"{keys} }}
protocol = {{ kind = "{protocol}"{more} }}
"""
MEANS = [0.3, 0.5, 0.45, 0.8]
GRAPHS = {"ring": nx.cycle_graph, "path": nx.path_graph, "complete": nx.complete_graph}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a scenario; return the result, and what each agent chose, as hashes."""
    drivers = []
    finish = slots.Slots.finish
    monkeypatch.setattr(slots.Slots, "finish", lambda driver: (drivers.append(driver), finish(driver))[1])

    def runs(learner, keys="", *, protocol="silent", more="", agents=5, family="ring", latency="0 ms", horizon=300):
        file = tmp_path / "arms.toml"
        written = {"learner": learner, "keys": keys, "protocol": protocol, "more": more, "agents": agents}
        file.write_text(SCENARIO.format(family=family, latency=latency, horizon=horizon, means=MEANS, **written))
        result = check(load(file)).points[0].simulation(0).run()
        return result, drivers[-1].account.digests.tolist()

    return runs


def digests(arms):
    found = []
    for column in np.asarray(arms).T.tolist():
        digest = 0xCBF29CE484222325
        for arm in column:
            digest = ((digest ^ (arm + 1)) * 0x100000001B3) % 2**64
        found.append(digest)
    return found


def upper_mean(p, level):
    """The largest q in [p, 1] with kl(p, q) <= level, by scipy."""

    def excess(q):
        return (p * log(p / q) if p else 0.0) + ((1 - p) * log((1 - p) / (1 - q)) if p < 1 else 0.0) - level

    if p == 1 or excess(1 - 1e-16) < 0:
        return 1.0
    return p if level == 0 else brentq(excess, p, 1 - 1e-16, xtol=1e-15)


def reference(kind, *, agents=5, horizon=300, delay=None, kept=None, **keys):
    """Play slot by slot, agent by agent, recounting everything that is known in each; return the arms, shape (T, M).

    Args:
        delay: For each pair (who hears, source), the slots until an observation is there; inf: never. Absent: alone.
        kept: Returns whether (who hears, source, slot) is used; absent: always.
    """
    streams = Streams(0, 0)
    uniforms = [streams.generator("rewards", agent).random(horizon) for agent in range(agents)]
    thompson = [streams.generator("thompson", agent) for agent in range(agents)]
    delay = np.full((agents, agents), inf) if delay is None else np.array(delay, dtype=float)
    np.fill_diagonal(delay, 0)
    arms, seen = [], []
    discount, use_after = keys.get("discount", 1.0), keys.get("use_after", 1)
    for slot in range(horizon):
        chosen = []
        for agent in range(agents):
            pulls, sums = np.zeros(len(MEANS)), np.zeros(len(MEANS))
            for said in range(slot):
                for source in range(agents):
                    wait = 1 if source == agent else max(delay[agent, source], use_after)
                    if said + wait > slot or (source != agent and kept is not None and not kept[agent, source, said]):
                        continue
                    weight = discount ** (slot - said - wait)  # the newest counts 1
                    pulls[arms[said][source]] += weight
                    sums[arms[said][source]] += weight * seen[said][source]
            if slot < len(MEANS):
                chosen.append(slot)
                continue
            time = log(slot) if discount == 1 else log(max(pulls.sum(), 1.0))
            means = sums / pulls
            if kind == "ucb":
                index = means + 0.5 * np.sqrt(2 * keys.get("exploration", 4.0) * time / pulls)
            elif kind == "klucb":
                level = time + keys.get("log_log", 0.0) * log(max(time, 1.0))
                index = np.array([upper_mean(p, level / n) for p, n in zip(means, pulls, strict=True)])
                index = np.round(index, 9)  # what ties exactly does so here, too
            else:
                index = [thompson[agent].beta(1 + s, 1 + (n - s)) for s, n in zip(sums, pulls, strict=True)]
            chosen.append(int(np.argmax(index)))
        arms.append(chosen)
        seen.append([float(uniforms[agent][slot] < MEANS[arm]) for agent, arm in enumerate(chosen)])
    return np.array(arms)


CASES = [
    ("ucb", {}),
    ("ucb", {"exploration": 1.5}),
    ("ucb", {"discount": 0.97}),
    ("ucb", {"discount": 0.5}),
    ("ucb", {"discount": 0.1}),
    ("klucb", {"discount": 0.95}),
    ("klucb", {}),
    ("klucb", {"log_log": 3.0}),
    ("thompson", {}),
    ("thompson", {"discount": 0.9}),
]


def written(keys):
    return "".join(f", {key} = {value}" for key, value in keys.items())


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("kind", "keys"), CASES)
def test_alone_agents_choose_what_the_reference_chooses(run, kind, keys):
    result, chosen = run(kind, written(keys), agents=3, horizon=200)
    arms = reference(kind, agents=3, horizon=200, **keys)
    assert chosen == digests(arms)
    gaps = 0.8 - np.array(MEANS)
    assert result.metrics["regret"] == pytest.approx(gaps[arms].sum())
    assert result.metrics["regret_worst_agent"] == pytest.approx(gaps[arms].sum(axis=0).max())
    assert (result.metrics["messages"], result.metrics["epsilon"]) == (0, 0)


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["ucb", "klucb", "thompson"])
def test_the_compiled_loop_chooses_what_one_call_a_slot_does(run, monkeypatch, kind):
    """Over more slots than are drawn at once; for Thompson sampling numba draws what numpy does, number for number."""
    fast, chosen = run(kind, agents=3, horizon=2_500)
    monkeypatch.setattr(slots, "compiled_loop", lambda *_: None)
    slow, one_by_one = run(kind, agents=3, horizon=2_500)
    assert chosen == one_by_one
    assert fast.metrics["regret_worst_agent"] == slow.metrics["regret_worst_agent"]
    assert (fast.curves["regret"].values == slow.curves["regret"].values).all()


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("kind", "keys"),
    [("ucb", {}), ("ucb", {"use_after": 4}), ("ucb", {"discount": 0.95}), ("klucb", {}), ("thompson", {})],
)
@pytest.mark.parametrize(("family", "ttl", "hop"), [("ring", 1, 1), ("path", 2, 1), ("complete", 1, 3)])
def test_what_others_have_seen_counts_when_it_is_there(run, kind, keys, family, ttl, hop):
    graph = GRAPHS[family](5)
    away = dict(nx.all_pairs_shortest_path_length(graph))
    delay = [[hop * away[agent][source] if away[agent][source] <= ttl else inf for source in graph] for agent in graph]
    result, chosen = run(
        kind,
        written(keys),
        protocol="local",
        more=f", ttl = {ttl}",
        family=family,
        latency=f"{hop - 0.5} ms",
        horizon=90,
    )
    assert chosen == digests(reference(kind, delay=delay, horizon=90, **keys))
    assert result.metrics["epsilon"] is None


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["ucb", "klucb", "thompson"])
def test_a_complete_network_of_one_slot_hops_is_as_good_as_pooling(run, kind):
    pooled, known = run(kind, protocol="pooled")
    assert known == digests(reference(kind, delay=np.ones((5, 5))))
    if kind != "thompson":
        assert len(set(known)) == 1  # all know the same
    assert pooled.metrics["messages"] == 0
    for protocol, more in (
        ("local", ", ttl = 1"),
        ("local", ', ttl = 3, route = "flood"'),
        ("relay", ""),
        ("flooding", ""),
    ):
        near, chosen = run(kind, protocol=protocol, more=more, family="complete")
        assert chosen == known
        assert near.metrics["regret"] == pooled.metrics["regret"]
        if protocol in ("local", "relay"):
            assert near.metrics["messages"] == 5 * 4 * 300
            # Beyond one hop everybody passes each on, but not back: (M - 1)^2 copies, in the same messages.
            items = 5 * (4 * 300 + (12 * 299 if "3" in more else 0))
            assert near.metrics["bytes"] == 20 * near.metrics["messages"] + 28 * items
            assert near.metrics.get("items", items) == items
    served, chosen = run(kind, protocol="master-worker")
    assert chosen == known
    assert served.metrics["messages"] == 2 * 5 * 300


def test_what_is_not_kept_might_as_well_not_have_been_told(run):
    alone, chosen = run("ucb")
    deaf, same = run("ucb", ", keep = 0.0", protocol="local")
    assert same == chosen
    assert (alone.metrics["messages"], deaf.metrics["messages"]) == (0, 2 * 5 * 300)
    whole = run("ucb", protocol="local")[1]
    assert run("ucb", ", keep = 1.0", protocol="local")[1] == whole != chosen


@pytest.mark.parametrize(("power", "degrees"), [(None, [2, 3, 4, 3, 2]), (1, [1, 2, 2, 2, 1])])
def test_an_observation_is_kept_with_the_probability_of_the_degrees(run, power, degrees):
    """Of a path, two hops far; one number a receiver and observation, by boundary, source and slot."""
    keys = ', keep = "degree"' + (f", keep_power = {power}" if power else "")
    horizon, away = 80, np.abs(np.subtract.outer(range(5), range(5)))
    kept = np.zeros((5, 5, horizon), dtype=bool)
    for agent in range(5):
        rng = Streams(0, 0).generator("keep", agent)
        for slot in range(1, horizon):
            for source in range(5):
                if 0 < away[agent, source] <= min(2, slot):
                    said = slot - away[agent, source]
                    kept[agent, source, said] = rng.random() < min(degrees) / degrees[agent]
    delay = np.where(away <= 2, away, inf)
    chosen = run("ucb", keys, protocol="local", more=", ttl = 2", family="path", horizon=horizon)[1]
    assert chosen == digests(reference("ucb", horizon=horizon, delay=delay, kept=kept))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["ucb", "klucb"])
@pytest.mark.parametrize("latency", ["0 ms", "2.5 ms"])
def test_totals_say_the_same_as_observations(run, kind, latency):
    given = {"protocol": "local", "more": ', ttl = 2, route = "flood"', "latency": latency}
    one, chosen = run(kind, **given)
    other, same = run(kind, ', share = "totals"', **given)
    assert same == chosen
    for result, size in ((one, 28), (other, 16 * 4 + 16)):
        assert result.metrics["messages"] == 2 * 5 * 300
        assert result.metrics["bytes"] == 20 * result.metrics["messages"] + size * result.metrics["items"]


@pytest.mark.ci
def test_the_compiled_loop_has_the_same_law_as_numpy(run, monkeypatch):
    for kind, keys in (("ucb", ""), ("klucb", ""), ("klucb", ", log_log = 3.0")):
        fast, chosen = run(kind, keys, horizon=2_500)
        with monkeypatch.context() as patch:
            patch.setattr(slots, "compiled_loop", lambda *_: None)
            slow, same = run(kind, keys, horizon=2_500)
        assert same == chosen
        assert (slow.curves["regret"].values == fast.curves["regret"].values).all()
        assert slow.metrics["regret_worst_agent"] == fast.metrics["regret_worst_agent"]


def test_a_learner_derived_from_ours_is_not_played_by_our_loop(run):
    own = run("helpers.own_learners:Stubborn")[0]
    assert own.metrics["regret"] == pytest.approx(5 * (0.5 + 0.3 + 0.35 + 296 * 0.5))


def test_an_upper_mean_is_that_of_the_divergence():
    from netbandit.learners.klucb import divergence, upper_mean

    for p in (0.0, 1e-9, 0.2, 0.5, 0.999):
        for level in (0.0, 1e-6, 0.01, 1.0, 20.0):
            found = upper_mean(p, level)
            assert p <= found < 1
            # Near p the divergence is as flat as a parabola, and no better known than its rounding errors.
            assert divergence(p, found) <= level * (1 + 1e-12) + 1e-15
            assert found + 1e-11 >= 1 or divergence(p, found + 1e-11) > level * (1 - 1e-12) - 1e-15
    assert upper_mean(1.0, 3.0) == 1.0
    for mean in (1 - 2**-53, np.float64(1 - 2**-53), np.nextafter(1 - 2**-53, 0)):  # halfway to 1 may be 1
        assert mean <= upper_mean(mean, 0.1) <= 1.0


@pytest.mark.ci
def test_sharing_helps(run):
    """Pooled below neighbours below alone, here on each of three networks; the seed is fixed."""
    for family in ("ring", "path", "complete"):
        regrets = [
            run("ucb", family=family, protocol=protocol, horizon=1_000)[0].metrics["regret"]
            for protocol in ("pooled", "local", "silent")
        ]
        assert regrets[0] <= regrets[1] < regrets[2]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (", exploration = -1.0", "learner.exploration: must be a number of at least 0"),
        (", discount = 0.0", "learner.discount: must be a number above 0"),
        (', keep = "most"', 'learner.keep: must be "all", "degree" or a number from 0 to 1'),
        (', keep = 0.5, share = "totals"', 'learner.keep: must be "all" with share = "totals"'),
        (', use_after = 2, share = "totals"', 'learner.use_after: must be 1 with share = "totals"'),
        (', discount = 0.5, share = "totals"', 'learner.discount: must be 1.0 with share = "totals"'),
    ],
)
def test_a_mistake_is_one_line(run, keys, line):
    with pytest.raises(ScenarioError) as error:
        run("ucb", keys)
    (found,) = error.value.lines
    assert line in found


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ('learner = { kind = "ucb", discount = 0.5 }', "at most 2 pulls at a time, of 3 arms"),
        ('learner = { kind = "thompson", discount = 0.6 }', "at most 2.5 pulls at a time, of 3 arms"),
        ('learner = { kind = "klucb", discount = 0.7 }', None),
        ('learner = { kind = "ucb", discount = 0.4 }\nprotocol = { kind = "local" }', None),
        ('learner = { kind = "ucb", discount = 0.9 }\nfeedback = { delay = "5 slots" }', None),
        ('learner = { kind = "ucb", discount = 0.9 }\nfeedback = { delay = "30 slots" }', "an agent counts 0.47 pulls"),
        ('learner = { kind = "ucb", discount = 0.9 }\nfeedback.by_agent = ["0 ms", "1 slot", "40 ms"]', "0.16 pulls"),
        (
            'learner = { kind = "ucb", discount = 0.9 }\nfeedback = { delay = "30 slots" }\nprotocol.kind = "relay"',
            None,
        ),
        ('learner = { kind = "coop-ucb2", discount = 0.5 }\nprotocol.kind = "consensus"', None),
        (
            'learner = { kind = "coop-ucb2", discount = 0.5 }\nprotocol.kind = "consensus"\n'
            'links.peer.latency = "3 slots"',
            "is 1 pulls when all have mixed it",
        ),
    ],
)
def test_a_discount_that_leaves_nothing_to_go_by_is_noted(tmp_path, text, noted):
    protocol = "" if "protocol" in text else 'protocol = { kind = "silent" }\n'
    world = 'bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.7] }\ntopology = { family = "ring", agents = 3 }\n'
    notes = study(tmp_path, text=f"run = {{ horizon = 50 }}\n{world}{protocol}{text}\n").notes
    found = [note for note in notes if "learner.discount: " in note]
    assert len(found) == (noted is not None)
    assert noted is None or noted in found[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("log", ["pulls", "slots"])
@pytest.mark.parametrize("kind", ["ucb", "klucb"])
def test_one_after_the_other_is_one_agent_that_pulls_as_often_as_all(run, kind, log):
    """Every pull is decided by all before it; nobody waits for the end of the slot."""
    agents, horizon = 3, 150
    result, chosen = run(
        kind, protocol="pooled", more=f', when = "pull", log = "{log}"', agents=agents, horizon=horizon
    )
    uniforms = [Streams(0, 0).generator("rewards", agent).random(horizon) for agent in range(agents)]
    pulls, sums, arms = np.zeros(len(MEANS)), np.zeros(len(MEANS)), []
    for pull in range(agents * horizon):
        slot, agent = divmod(pull, agents)
        if pull < len(MEANS):
            arm = pull
        else:
            time = log_of(max(pull if log == "pulls" else slot, 1))
            means = sums / pulls
            if kind == "ucb":
                index = means + 0.5 * np.sqrt(8 * time / pulls)
            else:
                index = np.round([upper_mean(p, time / n) for p, n in zip(means, pulls, strict=True)], 9)
            arm = int(np.argmax(index))
        pulls[arm] += 1
        sums[arm] += uniforms[agent][slot] < MEANS[arm]
        arms.append(arm)
    assert chosen == digests(np.reshape(arms, (horizon, agents)))
    assert result.metrics["regret"] == pytest.approx((0.8 - np.array(MEANS))[arms].sum())
    assert (result.metrics["messages"], result.metrics["epsilon"]) == (0, None)


GAUSSIAN = """\
run = {{ horizon = 400, slot = "1 ms" }}
topology = {{ family = "ring", agents = 3 }}
bandit = {{ kind = "gaussian", means = {means}, sigma = 0.7 }}
learner = {{ kind = "{learner}"{keys} }}
protocol = {{ kind = "{protocol}" }}
"""


@pytest.mark.parametrize(("kind", "keys"), [("ucb", ", exploration = 1.0"), ("klucb", ""), ("thompson", "")])
def test_gaussian_rewards_have_indices_of_their_own(tmp_path, monkeypatch, kind, keys):
    drivers = []
    finish = slots.Slots.finish
    monkeypatch.setattr(slots.Slots, "finish", lambda driver: (drivers.append(driver), finish(driver))[1])
    file = tmp_path / "gaussian.toml"
    file.write_text(GAUSSIAN.format(means=MEANS, learner=kind, keys=keys, protocol="silent"))
    result = check(load(file)).points[0].simulation(0).run()
    noise = [Streams(0, 0).generator("rewards", agent).standard_normal(400) for agent in range(3)]
    thompson = [Streams(0, 0).generator("thompson", agent) for agent in range(3)]
    pulls, sums, arms = np.zeros((3, 4)), np.zeros((3, 4)), []
    for slot in range(400):
        chosen = []
        for agent in range(3):
            arm = slot
            if slot >= 4:
                means, spread = sums[agent] / pulls[agent], 0.7 / np.sqrt(pulls[agent])
                draws = thompson[agent].standard_normal(4) if kind == "thompson" else np.full(4, np.sqrt(2 * log(slot)))
                arm = int(np.argmax(means + spread * draws))
            pulls[agent, arm] += 1
            sums[agent, arm] += MEANS[arm] + 0.7 * noise[agent][slot]
            chosen.append(arm)
        arms.append(chosen)
    assert drivers[-1].account.digests.tolist() == digests(arms)
    assert result.metrics["regret"] == pytest.approx((0.8 - np.array(MEANS))[np.array(arms)].sum())
