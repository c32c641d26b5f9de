"""Whole runs in which not every agent decides in every slot."""

from collections import Counter

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.learners.slots import Learner
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.drivers import slots
from netbandit.util.streams import Streams

LINEAR = """\
run = { horizon = 240, slot = "1 ms" }
topology = { family = "ring", agents = 5 }
bandit = { kind = "linear", dimension = 3, arms = 4, actions = "fresh" }
learner = { kind = "feducb", epsilon = inf, threshold = 4.0, beta_scale = 0.1 }
protocol = { kind = "master-worker" }
"""
ACTIVITIES = ("one", "{share=0.3}", '{poisson="3 ms"}', '{poisson="0.4 ms"}')
LOG = []


class Noting(Learner):
    """Pulls arm 0, and writes down who decided when, and what it paid."""

    def start(self, world, agents, rng):
        self.world = world

    def choose(self, slot, agents):
        LOG.append(("choose", slot, tuple(agents.tolist())))
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        LOG.extend(("paid", agent, reward) for agent, reward in zip(agents.tolist(), rewards.tolist(), strict=True))


class Telling(Noting):
    """Tells its number and the slot in every slot."""

    def share(self, slot, agents):
        LOG.append(("share", slot, tuple(agents.tolist())))
        return np.stack([agents, np.full(len(agents), slot)], axis=1).astype(float)

    def receive(self, slot, agents, sources, told, said):
        assert told.tolist() == np.stack([sources, said], axis=1).tolist()
        LOG.extend(zip(["hear"] * len(agents), [slot] * len(agents), agents, sources, said, strict=True))


class Rarely(Telling):
    """Tells in every tenth slot."""

    def next_share(self, slot):
        return -(-slot // 10) * 10


class Averaging(Rarely):
    """Shares in every tenth slot, and adopts the mean."""

    receive = Learner.receive

    def adopt(self, slot, agents, combined):
        LOG.append(("adopt", slot, tuple(agents.tolist()), combined.tolist()))


class Asking(Averaging):
    """Agent 2 asks for a synchronisation whenever it has decided."""

    def wants(self, slot, agents):
        return agents == 2


class Mixing(Noting):
    """Mixes its number in every step."""

    def start(self, world, agents, rng):
        self.mine = np.arange(agents, dtype=float)[:, None]

    def share(self, slot, agents):
        LOG.append(("share", slot, tuple(agents.tolist())))
        return self.mine[agents]

    def mix(self, slot, agents, mixed, largest):
        self.mine[agents] = mixed


def _bandit(kind, protocol, **more):
    keys = "".join(f", {key} = {value}" for key, value in more.items())
    return f"""\
run = {{ horizon = 100, slot = "1 ms" }}
topology = {{ family = "complete", agents = 4 }}
bandit = {{ kind = "bernoulli", means = [0.4, 0.6] }}
learner = {{ kind = "{__name__}:{kind}" }}
protocol = {{ kind = "{protocol}"{keys} }}
"""


def _log(tmp_path, activity, text):
    LOG.clear()
    result = run(tmp_path, f"run.activity={activity}", text=text)
    return list(LOG), result


@pytest.mark.sampled(45)
@pytest.mark.parametrize("activity", ACTIVITIES)
@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("bandit.actions=fixed", "links.uplink.latency=7 ms"),
        ("protocol.kind=relay", "protocol.timing=asynchronous", "links.peer.latency=1.3 ms"),
        ("learner.schedule=fixed", "learner.every=20", "links.uplink.latency=0.3 ms"),
        ("protocol.kind=silent",),
    ],
)
def test_the_compiled_loop_plays_as_one_call_a_turn(tmp_path, monkeypatch, activity, overrides):
    given = f"run.activity={activity}", *overrides
    compiled = run(tmp_path, *given, text=LINEAR)
    monkeypatch.setattr(slots, "compiled_loop", lambda *_: None)
    generic = run(tmp_path, *given, text=LINEAR)
    assert compiled.fingerprint == generic.fingerprint
    assert compiled.metrics["regret"] == pytest.approx(generic.metrics["regret"], rel=1e-12)
    assert compiled.curves["regret"].values == pytest.approx(generic.curves["regret"].values, rel=1e-9)
    assert compiled.metrics["decisions"] == generic.metrics["decisions"] > 0


@pytest.mark.ci
@pytest.mark.parametrize("learner", [(), ("learner.schedule=fixed", "learner.every=20")])
@pytest.mark.parametrize("latency", ["0 ms", "4 ms"])
def test_all_of_all_is_everybody_in_every_slot(tmp_path, learner, latency):
    given = *learner, f"links.uplink.latency={latency}"
    every = run(tmp_path, *given, text=LINEAR)
    whole = run(tmp_path, "run.activity={share=1.0}", *given, text=LINEAR)
    assert whole.fingerprint == every.fingerprint
    assert whole.metrics["decisions"] == 5 * 240
    assert whole.metrics["regret"] == pytest.approx(every.metrics["regret"], rel=1e-12)


def test_one_decides_as_often_as_there_are_slots(tmp_path):
    found = run(tmp_path, "run.activity=one", text=LINEAR).metrics
    assert found["decisions"] == 240
    assert found["regret_per_decision"] == pytest.approx(found["regret"] / 240)
    assert found["regret_per_agent"] == pytest.approx(found["regret"] / 5)


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_who_does_not_decide_draws_nothing(tmp_path, activity):
    log, result = _log(tmp_path, activity, _bandit("Noting", "silent"))
    paid = {agent: [reward for what, who, reward in log if (what, who) == ("paid", agent)] for agent in range(4)}
    for agent, rewards in paid.items():
        numbers = Streams(0, 0).generator("rewards", agent).random(len(rewards))
        assert rewards == (numbers < 0.4).astype(float).tolist()
    assert result.metrics["decisions"] == sum(map(len, paid.values()))
    assert result.metrics["regret"] == pytest.approx(0.2 * result.metrics["decisions"])


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_those_alone_tell_that_have_decided(tmp_path, activity):
    log, _ = _log(tmp_path, activity, _bandit("Telling", "pooled"))
    decided = Counter((slot, agent) for what, slot, agents in _of(log, "choose") for agent in agents)
    told = Counter((slot, agent) for what, slot, agents in _of(log, "share") for agent in agents)
    assert told == decided
    heard = Counter((said, source) for _, _, _, source, said in _of(log, "hear"))
    last = max(slot for slot, _ in decided)  # nobody decides after it, so nobody hears of it
    assert {what: 3 * count for what, count in told.items() if what[0] < last - 1}.items() <= heard.items()


@pytest.mark.parametrize("activity", ACTIVITIES)
@pytest.mark.parametrize(("kind", "protocol"), [("Rarely", "pooled"), ("Telling", "master-worker")])
def test_all_tell_in_slots_that_all_know(tmp_path, activity, kind, protocol):
    log, _ = _log(tmp_path, activity, _bandit(kind, protocol))
    expected = range(0, 100, 10 if kind == "Rarely" else 1)
    assert [(slot, agents) for _, slot, agents in _of(log, "share")] == [(slot, (0, 1, 2, 3)) for slot in expected]


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_rounds_known_ahead_are_everybodys(tmp_path, activity):
    log, result = _log(tmp_path, activity, _bandit("Averaging", "master-worker"))
    shared = Counter((slot, agent) for _, slot, agents in _of(log, "share") for agent in agents)
    assert shared == Counter((slot, agent) for slot in range(0, 100, 10) for agent in range(4))
    assert result.metrics["rounds"] == 10
    adopted = [combined for _, _, _, combined in _of(log, "adopt")]
    assert {tuple(combined) for combined in adopted} == {(1.5, slot) for slot in range(0, 100, 10)}


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_who_has_decided_may_call_for_all(tmp_path, activity):
    log, result = _log(tmp_path, activity, _bandit("Asking", "master-worker"))
    turns = [slot for _, slot, agents in _of(log, "choose") if 2 in agents]
    assert result.metrics["rounds"] == len(turns) > 5
    shared = Counter((slot, agent) for _, slot, agents in _of(log, "share") for agent in agents)
    assert shared == Counter((slot, agent) for slot in turns for agent in range(4))


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_exchanges_go_on_whoever_decides(tmp_path, activity):
    timing = {"timing": '"asynchronous"'} if "poisson" in activity else {}
    log, result = _log(tmp_path, activity, _bandit("Mixing", "consensus", **timing))
    assert result.metrics["rounds"] >= 98
    assert {agents for _, _, agents in _of(log, "share")} == {(0, 1, 2, 3)}


def _of(log, what):
    return [entry for entry in log if entry[0] == what]


@pytest.mark.parametrize("cut", [1, 3])
def test_a_longer_run_begins_as_a_shorter_one(tmp_path, cut):
    whole, _ = _log(tmp_path, '{poisson="2 ms"}', _bandit("Noting", "silent"))
    short, _ = _log(tmp_path, '{poisson="2 ms"}', _bandit("Noting", "silent").replace("100", str(100 // cut)))
    assert short == whole[: len(short)]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("learner.kind=elimination", "bandit.kind=bernoulli", "protocol.kind=gis"), 'learner.kind = "elimination"'),
        (("learner.kind=pfcb", "bandit.kind=procurement"), 'learner.kind = "pfcb"'),
        (("learner.kind=ucb", "bandit.kind=bernoulli", "protocol.kind=pooled"), 'learner.kind = "ucb"'),
        (("learner.kind=dducb", "bandit.kind=bernoulli", "protocol.kind=consensus"), 'learner.kind = "dducb"'),
        (("protocol.kind=local", "protocol.ttl=1"), 'protocol.kind = "local"'),
        (("learner.kind=linucb", "bandit.kind=vertical", "protocol.kind=vertical"), 'protocol.kind = "vertical"'),
    ],
)
def test_what_counts_slots_needs_every_agent_in_each(tmp_path, overrides, said):
    with pytest.raises(ScenarioError) as raised:
        study(tmp_path, "run.activity=one", *overrides, text=LINEAR)
    here = [line for line in raised.value.lines if "run.activity" in line]
    assert len(here) == 1
    assert f'run.activity: must be "every" with {said}, which counts slots that every agent plays' in here[0]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("protocol.kind=relay",), 'users arrive between slots, which needs protocol.timing = "asynchronous"'),
        (("learner.epsilon=1.0",), "a private feducb counts its releases in slots"),
        (('run.activity={poisson="1 ns"}', "run.slot=2 ms"), "2,000,000 users of an agent per slot"),
    ],
)
def test_users_fit_what_needs_no_slots(tmp_path, overrides, said):
    study(tmp_path, 'run.activity={poisson="3 ms"}', text=LINEAR)
    with pytest.raises(ScenarioError, match=r"run\.activity") as raised:
        study(tmp_path, 'run.activity={poisson="3 ms"}', *overrides, text=LINEAR)
    assert said in raised.value.lines[0]


def test_skew_without_choice_is_a_note(tmp_path):
    assert study(tmp_path, "run.activity=one", "run.skew=1.0", text=LINEAR).notes == []
    (note,) = study(tmp_path, "run.activity={share=0.5}", "run.skew=1.0", text=LINEAR).notes
    assert 'run.skew: is used only with activity = "one" or { poisson = ... }' in note


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "evry",
            'must be "every", "one", { share = 0.2 } or { poisson = "20 ms" }, not "evry" (did you mean "every"?)',
        ),
        ("{share=1.5}", "share: must be a number above 0 and of at most 1, not 1.5"),
        ("{poisson=3}", 'poisson: must be a duration such as "10 ms"'),
        ("{}", "share: is missing"),
    ],
)
def test_an_activity_that_is_none(tmp_path, written, said):
    with pytest.raises(ScenarioError) as raised:
        study(tmp_path, f"run.activity={written}", text=LINEAR)
    assert f"run.activity: {said}" in raised.value.lines[0]


@pytest.mark.parametrize("protocol", ["{kind='parameter-server', answer='lagging'}", "{kind='master-worker'}"])
def test_what_is_updated_decision_by_decision_is_what_a_fresh_solution_gives(tmp_path, monkeypatch, protocol):
    """Inverse, estimate and determinants after hundreds of rank-one updates, of which none was made afresh since."""
    drivers = []

    class Kept(slots.Slots):
        def start(self):
            drivers.append(self)
            super().start()

    monkeypatch.setattr(slots, "Slots", Kept)
    learner = "learner={kind='oful', upload=100, threshold=400.0}"
    given = "run.activity=one", "run.horizon=3000", f"protocol={protocol}", learner
    assert run(tmp_path, *given, text=LINEAR).metrics["rounds"] > 0
    (driver,) = drivers
    beliefs, everybody = driver.learners[0].beliefs, np.arange(5)
    driver.learners[0].settle(0, everybody)
    assert beliefs.updates.max() > 100
    for agent in everybody:
        before = beliefs.shared_gram[0, agent]
        gram = before + beliefs.own_gram[0, agent]
        response = beliefs.shared_response[0, agent] + beliefs.own_response[0, agent]
        assert beliefs.inverse[0, agent] == pytest.approx(np.linalg.inv(gram), rel=1e-9, abs=1e-12)
        assert beliefs.estimate[0, agent] == pytest.approx(np.linalg.solve(gram, response), rel=1e-9, abs=1e-12)
        fresh = np.linalg.slogdet(gram)[1]
        assert beliefs.log_det[0, agent] == pytest.approx(fresh, rel=1e-11)
        assert beliefs.log_ratio[0, agent] == pytest.approx(fresh - np.linalg.slogdet(before)[1], abs=1e-10)


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_who_is_down_when_its_turn_comes_is_absent(tmp_path, activity):
    down = "faults.outages=[{nodes=[1, 3], from='20 ms', until='60 ms'}]"
    LOG.clear()
    result = run(tmp_path, f"run.activity={activity}", down, text=_bandit("Noting", "silent"))
    decided = [(slot, agent) for what, slot, agents in _of(LOG, "choose") for agent in agents]
    assert {agent for slot, agent in decided if 20 <= slot < 60} == {0, 2}
    everybody = run(tmp_path, f"run.activity={activity}", text=_bandit("Noting", "silent")).metrics["decisions"]
    assert result.metrics["decisions"] == len(decided) == everybody - result.metrics["absent_slots"]
