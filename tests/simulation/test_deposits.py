"""Agents that deposit what they know: against a reference that sends differences, and on networks that fail."""

import json
from math import inf

import numpy as np
import pytest
from helpers.deposits_reference import Setup, one_a_slot, play
from helpers.feducb_reference import World
from helpers.one_by_one import OneByOne
from helpers.worlds import started
from hypothesis import given, settings
from hypothesis import strategies as st

from netbandit.bandits.linear import Linear
from netbandit.learners.ellipsoid import bonus_of
from netbandit.learners.feducb import FedUcb
from netbandit.learners.feducb_radius import radius
from netbandit.learners.keeper import Deposit, Keeper, Own
from netbandit.learners.oful import Oful
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.check import check
from netbandit.streams import Streams

SCENARIO = """
run = { horizon = 300, slot = "1 ms" }
topology = { family = "path", agents = 4 }
bandit = { kind = "linear", dimension = 3, arms = 4, actions = "fresh" }
learner = { kind = "oful", radius = 0.5 }
protocol = { kind = "parameter-server" }
"""


def run(*overrides, replication=0):
    return check(load("scenario.toml", overrides, text=SCENARIO)).points[0].simulation(replication).run()


def metrics(*overrides):
    return run(*overrides).metrics


def theta():
    return started(Linear(dimension=3, arms=4, actions="fresh"), 4, Streams(0, 0).generator).world.theta


@pytest.mark.parametrize("activity", ["every", "one"])
@pytest.mark.parametrize("latency", [0, 3, 40])
@pytest.mark.parametrize(("answer", "decide"), [("uploader", "all"), ("uploader", "received"), ("lagging", "all")])
def test_choices_are_those_of_a_reference_that_sends_differences(activity, latency, answer, decide):
    horizon = 300 if activity == "every" else 900
    found = metrics(
        f'run={{ horizon = {horizon}, activity = "{activity}" }}',
        f'links.uplink.latency="{latency} ms"',
        f'protocol.answer="{answer}"',
        f'learner.decide="{decide}"',
        "learner.upload=1.7",
        "learner.push=1.4",
        'learner.radius="trace"',
    )
    turns = one_a_slot(4, horizon) if activity == "one" else []
    setup = Setup(4, 3, 4, horizon, [latency] * 4, answer, decide, 1.7, 1.4, radius="trace", theta=theta(), turns=turns)
    expected = play(setup)
    assert found["uploads"] == expected["uploads"] > 5
    assert found["downloads"] == expected["downloads"] > 5
    assert found["regret"] == pytest.approx(expected["regret"], rel=1e-9)
    assert found["unseen"] == pytest.approx(expected["unseen"], rel=1e-12)


class WatchedKeeper(Keeper):
    """Knows what each agent has observed, and how much of it is in each total."""

    def absorb(self, deposits):
        newer = super().absorb(deposits)
        held = WATCHED.held
        for agent in range(len(self._observations)):
            kept = self.deposited(agent)
            held[agent, kept.life] = kept.observations
            assert kept.sums == pytest.approx(WATCHED.prefix(agent, kept.life, kept.observations), abs=1e-9)
        WATCHED.totals[id(self.total)] = self.total, dict(held)
        assert self.total.sums == pytest.approx(WATCHED.sums(held), abs=1e-9)
        assert self.total.observations == sum(held.values())
        return newer


class Watched(Oful):
    """Looks at what each agent decides by, whenever one does, and at all that is deposited and adopted."""

    def start(self, world, agents, rng):
        super().start(world, agents, rng)
        global WATCHED
        WATCHED = self
        self.seen = {}  # by agent and life
        self.held = {}  # how much of that is in the present total
        self.life = [0] * agents
        self.totals = {}
        self.adopted = [{} for _ in range(agents)]
        self.checked = 0

    def forget(self, slot, agents):
        super().forget(slot, agents)
        for agent in agents.tolist():
            self.life[agent] += 1
            self.adopted[agent] = {}

    def keeper(self):
        made = super().keeper()
        made.__class__ = WatchedKeeper
        return made

    def sums(self, counts):
        return sum((self.prefix(*who, count) for who, count in counts.items()), np.zeros(9))

    def prefix(self, agent, life, observations):
        found = np.zeros((3, 3)), np.zeros(3)
        for x, y in self.seen.get((agent, life), [])[:observations]:
            found[0][:] += np.outer(x, x)
            found[1][:] += y * x
        return np.concatenate([found[0][np.triu_indices(3)], found[1]])

    def take(self, agent, total, own):
        took = super().take(agent, total, own)
        counts = self.totals[id(total)][1]
        assert counts.get((agent, own.life), 0) == own.observations
        assert took == (sum(counts.values()) >= sum(self.adopted[agent].values()))
        if took:
            self.adopted[agent] = counts
        return took

    def choose(self, slot, agents):
        arms = super().choose(slot, agents)
        beliefs = self.beliefs
        for agent in agents.tolist():
            received = self.adopted[agent]
            me = agent, self.life[agent]
            counts = received | {me: len(self.seen.get(me, []))}  # each own observation exactly once
            everything = self.sums(counts)
            gram = np.zeros((3, 3))
            gram[np.triu_indices(3)] = everything[:6]
            gram = gram + np.triu(gram, 1).T + np.eye(3)
            assert beliefs.shared_gram[0, agent] + beliefs.own_gram[0, agent] == pytest.approx(gram, abs=1e-9)
            response = beliefs.shared_response[0, agent] + beliefs.own_response[0, agent]
            assert response == pytest.approx(everything[6:], abs=1e-9)
            if self.decide == "received":
                by = self.sums(received)
                gram = np.zeros((3, 3))
                gram[np.triu_indices(3)] = by[:6]
                gram = gram + np.triu(gram, 1).T + np.eye(3)
                counts, everything = received, by
            assert beliefs.inverse[0, agent] == pytest.approx(np.linalg.inv(gram), abs=1e-7)
            assert beliefs.estimate[0, agent] == pytest.approx(np.linalg.solve(gram, everything[6:]), abs=1e-7)
            assert beliefs.held[0, agent] == sum(counts.values())
            self.checked += 1
        return arms

    def learn(self, slot, agents, arms, rewards):
        super().learn(slot, agents, arms, rewards)
        shown = self._shown(agents)
        for row, agent in enumerate(agents.tolist()):
            self.seen.setdefault((agent, self.life[agent]), []).append(
                (shown[row, arms[row]].copy(), float(rewards[row]))
            )


FAULTS = [
    "loss=0.3",
    'jitter="20 ms"\nlinks.{0}.overtaking=true',
    "duplicate=0.4",
    'loss=0.2\nlinks.{0}.retry={{ timeout = "30 ms" }}\nlinks.{0}.duplicate=0.3',
]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1_000),
    latency=st.integers(0, 15),
    spread=st.integers(0, 15),
    faults=st.sampled_from(FAULTS),
    answer=st.sampled_from(["uploader", "lagging"]),
    received=st.booleans(),
    server=st.sampled_from(['"uplink"', '"centre"', "0", "3"]),
    timing=st.sampled_from(["slotted", "asynchronous"]),
    memory=st.sampled_from(["", "kept", "lost"]),
    activity=st.sampled_from(['"every"', '"one"', "{ share = 0.4 }", '{ poisson = "3 ms" }']),
)
def test_each_own_observation_counts_once_whatever_the_network_does(
    seed, latency, spread, faults, answer, received, server, timing, memory, activity
):
    links = "uplink" if server == '"uplink"' else "peer"
    keys = [f"links.{links}.{key}" if place == 0 else key for place, key in enumerate(faults.format(links).split("\n"))]
    found = metrics(
        f'learner.kind="{__name__}:Watched"',
        f"run={{ horizon = 120, seed = {seed}, activity = {activity} }}",
        f'links.{links}.latency={{ uniform = ["{latency} ms", "{latency + spread} ms"] }}',
        *keys,
        f'protocol.answer="{answer}"',
        *(['protocol.deadline="25 ms"'] if answer == "uploader" else []),
        f'learner.decide="{"received" if received and answer == "uploader" else "all"}"',
        "learner.upload=1.2",
        f"protocol.server={server}",
        *([f'faults.nodes={{ up_for = "40 ms", down_for = "10 ms", memory = "{memory}" }}'] if memory else []),
        f'protocol.timing="{"asynchronous" if "poisson" in activity else timing}"',
    )
    assert WATCHED.checked == found.get("decisions", 480 - found["absent_slots"]) > 50
    assert found["uploads"] > 1
    assert found["rounds"] <= found["uploads"]


ONE = 'run={ horizon = 1_500, activity = "one" }'
LAGGING = 'protocol.answer="lagging"'
EVERYTHING = ("learner.upload=1", LAGGING)


def regret(*overrides):
    return metrics(*overrides)["regret"]


def test_without_latency_each_upload_is_answered_at_once():
    for activity in ("every", "one"):
        found = metrics(f'run={{ horizon = 600, activity = "{activity}" }}')
        assert found["messages"] == 2 * found["uploads"] == 2 * found["downloads"] > 20
        assert found["rounds"] == found["uploads"]
        assert found["round_slots"] == 0
        numbers = 3 * 4 // 2 + 3
        assert found["bytes"] == found["uploads"] * (20 + 8 * (numbers + 1) + 20 + 8 * (numbers + 2))


def test_where_one_decides_an_upload_makes_all_others_lag_whatever_push_is():
    found = [metrics(ONE, LAGGING, "learner.upload=3", f"learner.push={push}") for push in (3, 2, 1)]
    assert {one["regret"] for one in found} == {found[0]["regret"]}
    for one in found:
        assert one["messages"] == 4 * one["uploads"] > 40
    rarely = metrics(ONE, LAGGING, "learner.upload=3", "learner.push=9")
    assert rarely["messages"] < 4 * rarely["uploads"]
    every = metrics('run={ horizon = 1_500, activity = "every" }', LAGGING, "learner.upload=3", "learner.push=3")
    assert every["messages"] != 4 * every["uploads"]  # two may upload in one slot


def test_everything_to_everybody_is_one_learner_that_sees_everything():
    found = metrics(ONE, *EVERYTHING)
    setup = Setup(4, 3, 4, 1_500, [0] * 4, "lagging", "all", 1.0, 1.0, theta=theta(), turns=one_a_slot(4, 1_500))
    assert found["messages"] == 4 * 1_500
    assert found["unseen"] == 0
    # One learner: whoever is active decides by all that was ever observed.
    alone = Setup(4, 3, 4, 1_500, [0] * 4, theta=setup.theta, turns=setup.turns)
    assert found["regret"] == pytest.approx(one_that_sees_everything(alone), rel=1e-9)


def one_that_sees_everything(setup):
    world, regret = World(setup), 0.0
    gram, response = np.eye(setup.dimension), np.zeros(setup.dimension)
    for (agent,) in setup.turns:
        shown = world.show(agent)
        inverse = np.linalg.inv(gram)
        scores = [x @ inverse @ response + setup.radius * np.sqrt(x @ inverse @ x) for x in shown]
        arm = int(np.argmax(scores))
        means = shown @ setup.theta
        regret += means.max() - means[arm]
        gram = gram + np.outer(shown[arm], shown[arm])
        response = response + world.pay(agent, means[arm]) * shown[arm]
    return regret


def test_who_never_uploads_is_alone():
    silent = metrics(ONE, 'protocol.kind="silent"')
    for answer in ("uploader", "lagging"):
        found = metrics(ONE, "learner.upload=inf", f'protocol.answer="{answer}"')
        assert (found["messages"], found["uploads"]) == (0, 0)
        assert found["regret"] == silent["regret"]
        assert found["round_slots"] is None


def test_one_agent_that_hears_its_own_is_alone():
    one = "topology.agents=1"
    found = metrics(one, "learner.upload=1", 'learner.decide="received"')
    assert found["messages"] == 2 * 300
    assert found["regret"] == pytest.approx(regret(one, 'protocol.kind="silent"'), rel=1e-12)


def test_a_threshold_of_zero_is_a_synchronisation_a_slot():
    found = metrics('protocol.kind="master-worker"', "learner.threshold=0")
    assert found["rounds"] == 300
    # All decide in a slot and then hear all of it: as where everything is deposited and pushed at once.
    assert found["regret"] == pytest.approx(regret(*EVERYTHING), rel=1e-12)


@pytest.mark.parametrize("latency", [0, 7])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_more_is_uploaded_than_the_determinants_allow(latency, seed):
    decisions, upload, push = 1_500, 1.5, 2.5
    most = 3 * np.log(1 + decisions / 3)
    keys = (f'run={{ horizon = {decisions}, activity = "one", seed = {seed} }}', f"learner.upload={upload}")
    late = f'links.uplink.latency="{latency} ms"'
    lagging = metrics(*keys, LAGGING, f"learner.push={push}", late)
    assert 0 < lagging["uploads"] <= 4 * most / np.log(upload)
    assert 0 < lagging["downloads"] <= 4 * most / np.log(push)
    if not latency:
        found = metrics(*keys)
        assert 0 < found["uploads"] <= (4 + np.ceil(1 / (upload - 1)) + 1) * (1 + most / np.log(2))


def test_where_one_decides_there_are_as_many_decisions_as_slots():
    assert metrics(ONE)["decisions"] == 1_500


def test_the_trace_is_never_less_than_the_determinant():
    widths = []
    for law in ("logdet", "trace"):
        learner = OneByOne(Oful(radius=law), 1, arms=3, dimension=3, isolated=True)
        rng = np.random.default_rng(0)
        of_this = []
        for _ in range(40):
            action = rng.standard_normal(3)
            learner.learn(0, 0, action / np.linalg.norm(action), rng.random())
            of_this.append(bonus_of(learner.beliefs, 0, 0, learner.bonus_terms[0], 0))
        widths.append(of_this)
    assert (np.array(widths[1]) >= np.array(widths[0])).all()


def test_radii_are_those_of_the_papers():
    actions = np.random.default_rng(1).standard_normal((20, 3)) / 2
    gram = 2.0 * np.eye(3) + actions.T @ actions
    expected = {
        "logdet": 0.5 * np.sqrt(np.linalg.slogdet(gram)[1] - 3 * np.log(2) + 2 * np.log(1 / 0.05)) + np.sqrt(2),
        "trace": 0.5 * np.sqrt(3 * np.log(1 + 20 / (3 * 2)) + 2 * np.log(1 / 0.05)) + np.sqrt(2),
        0.7: 0.7,
    }
    for law, value in expected.items():
        keys = Oful(radius=law, regularizer=2.0, delta=0.05, radius_scale=0.3)
        learner = OneByOne(keys, 1, arms=3, dimension=3, isolated=True)
        for action in actions:
            learner.learn(0, 0, action, 0.5)
        assert bonus_of(learner.beliefs, 0, 0, learner.bonus_terms[0], 9) == pytest.approx(0.3 * value, rel=1e-12)


PATH_OF_5 = ("topology.agents=5", 'protocol.server="centre"', LAGGING, "learner.upload=inf")


def deposits_of(agent, tmp_path, *more):
    """Return what is put on links by one deposit of *agent* in slot 10, as (slot, kind, from, to); and the metrics."""
    trace = tmp_path / "trace.jsonl"
    point = check(
        load(
            "scenario.toml",
            [*PATH_OF_5[:2], f'learner.kind="{__name__}:Once"', f"learner.who={agent}", *more],
            text=SCENARIO,
        )
    ).points[0]
    found = point.simulation(0).run(trace).metrics
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    return [(line["start"] // 10**6, line["kind"], line["from"], line["to"]) for line in lines if "kind" in line], found


class Once(Oful):
    """One agent deposits after its decision of slot 10, and nobody ever else."""

    who: int = 0

    def wants(self, slot, agents):
        return (slot == 10) & (agents == self.who)


def test_what_is_hosted_by_an_agent_goes_hop_by_hop(tmp_path):
    hops, found = deposits_of(0, tmp_path)
    assert hops == [(10, "UPLOAD", 0, 1), (11, "UPLOAD", 1, 2), (12, "ANSWER", 2, 1), (13, "ANSWER", 1, 0)]
    assert (found["messages"], found["uploads"], found["downloads"]) == (4, 1, 1)
    assert found["round_slots"] == 4
    hops, found = deposits_of(2, tmp_path)
    assert hops == []
    assert (found["messages"], found["uploads"], found["round_slots"]) == (0, 1, 0)
    hops, found = deposits_of(4, tmp_path, 'protocol.timing="asynchronous"', 'links.peer.latency="0.25 ms"')
    assert len(hops) == 4
    assert found["round_slots"] == 1


def test_a_lost_answer_stops_the_test_until_the_deadline():
    lossy = ("links.uplink.loss=1.0", "run.horizon=400")
    found = metrics(*lossy, 'protocol.deadline="20 ms"', "learner.upload=1")
    assert found["uploads"] == 4 * 400 / 20
    assert found["downloads"] == 0


def test_a_number_as_radius_is_linucb_with_that_alpha_choice_by_choice():
    """The fingerprint takes in all choices and all messages."""
    for protocol in ("master-worker", "gossip", "local", "silent", "parameter-server"):
        same = [
            run(f'protocol.kind="{protocol}"', *keys).fingerprint
            for keys in (
                ('learner={ kind = "linucb", alpha = 0.5, every = 20 }',),
                ('learner={ kind = "oful", radius = 0.5, schedule = "fixed", every = 20 }',),
            )
        ]
        assert same[0] == same[1]


class FedUcbRadius(Oful):
    """DisLinUCB with the radius that FedUCB has: t M for the observations in V, and 2 ln(2 / alpha)."""

    def _bonus_terms(self):
        return FedUcb(epsilon=inf)._bonus_terms(feducb_radius(self.world))


def feducb_radius(world):
    return radius(
        members=world.agents,
        dimension=world.dimension,
        alpha=0.1,
        sub_gaussian=world.sub_gaussian,
        regularizer=1.0,
        noise=None,
        paper_beta=False,
        epsilon=inf,
    )


def test_feducb_without_noise_is_dislinucb_but_for_the_radius():
    over = ('protocol.kind="master-worker"', 'links.uplink.latency="2 ms"')
    feducb = run(*over, f'learner={{ kind = "feducb", epsilon = {inf}, threshold = "dislinucb" }}')
    same = run(*over, f'learner.kind="{__name__}:FedUcbRadius"')
    assert feducb.metrics["rounds"] == same.metrics["rounds"] > 1
    assert feducb.fingerprint == same.fingerprint
    other = run(*over)
    assert other.fingerprint != same.fingerprint


@pytest.mark.parametrize("learner", ["linucb", "lints"])
def test_linear_learners_deposit_too(learner):
    keys = f'learner={{ kind = "{learner}", upload = 1.5 }}'
    found = metrics(keys, 'links.uplink.latency="4 ms"')
    assert found["uploads"] > 10
    assert found["regret"] != regret(keys, 'protocol.kind="silent"')
    assert found["epsilon"] is None


def problems(*overrides):
    with pytest.raises(ScenarioError) as error:
        check(load("scenario.toml", overrides, text=SCENARIO))
    return error.value.lines


@pytest.mark.parametrize(
    ("keys", "key", "text"),
    [
        ([LAGGING, 'learner.decide="received"'], "protocol.answer", 'must be "uploader"'),
        (['faults.server={ up_for = "90 ms", down_for = "9 ms" }'], "protocol.deadline", "is missing"),
        (
            ["protocol.server=0", 'faults.nodes={ up_for = "90 ms", down_for = "9 ms" }'],
            "protocol.deadline",
            "is missing",
        ),
        (["links.uplink.loss=0.1"], "protocol.deadline", "is missing"),
        (['protocol.server="centre"', "links.peer.loss=0.1"], "protocol.deadline", "is missing"),
        (["protocol.server=4"], "protocol.server", "must be an agent, from 0 to 3"),
        (['protocol.server="middle"'], "protocol.server", 'must be "uplink", "centre" or the number of an agent'),
        (['learner.radius="big"'], "learner.radius", 'must be "logdet", "trace" or a number >= 0'),
        (["learner.threshold=-1"], "learner.threshold", 'must be "dislinucb" or a number >= 0'),
        (["learner.upload=0.5"], "learner.upload", "1"),
        (['learner.schedule="fixed"'], "learner.every", "is missing"),
        (['learner={ kind = "feducb" }'], "protocol.kind", "offers no calls"),
        (
            ['topology={ family = "hybrid", components = [2, 2] }', 'protocol.server="centre"'],
            "protocol.server",
            "2 components",
        ),
    ],
)
def test_what_cannot_be_is_refused(keys, key, text):
    (line,) = problems(*keys)
    assert f"{key}: " in line
    assert text in line


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        (["learner.push=3"], "learner.push"),
        (["learner.threshold=3"], "learner.threshold"),
        (["learner.delta=0.2"], "learner.delta"),
        ([LAGGING, 'protocol.deadline="3 ms"'], "protocol.deadline"),
        (['protocol.kind="gis"', "learner.upload=3"], "learner.upload"),
        (['protocol.kind="silent"', 'learner.decide="received"'], "learner.decide"),
        (['learner={ kind = "linucb", every = 3 }'], "learner.every"),
    ],
)
def test_what_has_no_effect_is_noted(keys, key):
    (note,) = check(load("scenario.toml", keys, text=SCENARIO)).notes
    assert f"{key}: " in note


def test_what_is_repeated_needs_no_deadline():
    retry = 'links.uplink.retry={ timeout = "9 ms" }'
    assert metrics("links.uplink.loss=0.2", retry)["uploads"] > 5


def test_a_keeper_takes_the_newest_of_each_agent_and_knows_who_lags():
    keeper = Keeper(3, 2, 1.0, 2.0)
    sums = [np.array([4.0, 0.0, 1.0, 2.0, 3.0]), np.array([9.0, 1.0, 2.0, 2.0, 5.0])]
    assert keeper.absorb([(1, Deposit(sums[1], 7)), (1, Deposit(sums[0], 4))]) == 1
    assert keeper.total.sums == pytest.approx(sums[1])
    assert keeper.absorb([(1, Deposit(sums[1], 7))]) == 0
    assert keeper.lagging() == [0, 2]
    assert keeper.give([0, 2]) == [Own(0), Own(0)]
    assert keeper.lagging() == []
    assert keeper.absorb([(2, Deposit(sums[0], 4))]) == 1
    assert keeper.total.observations == 11
    # det(I + total): 3 for 0, who knows 10 * 3 - 1 of (14 * 4 - 1); 1 too.
    assert keeper.lagging() == []
    assert keeper.absorb([(2, Deposit(sums[0] + [40, 0, 0, 0, 0], 44))]) == 1
    assert keeper.lagging() == [0, 1]
    assert keeper.give([0, 1]) == [Own(0), Own(7)]


def test_what_was_deposited_in_an_earlier_life_stays_and_who_has_forgotten_it_lags():
    keeper = Keeper(2, 2, 1.0, 1.5)
    sums = np.array([4.0, 0.0, 1.0, 2.0, 3.0])
    keeper.absorb([(0, Deposit(sums, 5)), (1, Deposit(sums, 5))])
    keeper.give([0, 1])
    assert keeper.absorb([(0, Deposit(sums, 3, 1))]) == 1
    assert keeper.total.sums == pytest.approx(3 * sums)
    assert keeper.total.observations == 13
    assert keeper.absorb([(0, Deposit(2 * sums, 9, 0))]) == 0  # of a life that is over, and late
    assert keeper.lagging() == [0, 1]
    assert keeper.give([0, 1]) == [Own(3, 1), Own(5)]


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), max_size=30), st.floats(1, 4))
def test_a_total_is_the_sum_of_the_newest_and_lagging_goes_by_determinants(uploads, push):
    rng = np.random.default_rng(0)
    keeper, newest, known = Keeper(4, 2, 1.5, push), np.zeros((4, 5)), np.zeros((4, 5))
    counts, known_counts = np.zeros(4, dtype=int), np.zeros(4, dtype=int)

    def det(packed):
        return (1.5 + packed[0]) * (1.5 + packed[2]) - packed[1] ** 2

    for agent, new in uploads:
        actions = rng.standard_normal((new, 2))
        gram = actions.T @ actions
        sums = newest[agent] + [gram[0, 0], gram[0, 1], gram[1, 1], 1.0, 2.0]
        known[agent] += sums - newest[agent]
        newest[agent], counts[agent] = sums, counts[agent] + new
        known_counts[agent] += new
        assert keeper.absorb([(agent, Deposit(sums, counts[agent]))]) == 1
        total = newest.sum(axis=0)
        assert keeper.total.sums == pytest.approx(total)
        assert keeper.total.observations == counts.sum()
        found = keeper.lagging()
        for other in range(4):
            ratio = det(total) / det(known[other])
            if abs(ratio - push) > 1e-9:
                assert (other in found) == (known_counts[other] < counts.sum() and ratio > push)
        assert keeper.give(found) == [Own(count) for count in counts[found].tolist()]
        known[found], known_counts[found] = total, counts.sum()
