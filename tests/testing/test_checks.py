"""Parts that are right pass all checks, those that are shipped among them; each that is wrong fails the one for it."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import netbandit as nb
from netbandit.parts.registry import BUILT_IN, class_names, part_class
from netbandit.protocols.protocol import CallbackRoundProtocol
from netbandit.testing import CHECKS, CheckError, check_learner, check_protocol, check_world, parametrize_with_checks
from netbandit.testing.checks import Subject
from netbandit.testing.elsewhere import run_elsewhere
from netbandit.testing.properties import differences
from netbandit.testing.scenes import put_over, small

UP, DOWN = nb.Kind("UP"), nb.Kind("DOWN")
STAR = {"topology": {"family": "star", "agents": 4}}


def parts(table, *compiled_for_long):
    return [
        pytest.param(part_class(table, kind, Path()), small(table, kind), id=kind, marks=marks)
        for kind in BUILT_IN[table]
        for marks in [[pytest.mark.slow] if kind in compiled_for_long else []]
    ]


def passes(check, keys, kind):
    # What takes a process of its own is checked of all at once, below.
    check(kind, exclude=["elsewhere"], **{key: value for key, value in keys.items() if key != "kind"})


@pytest.mark.ci
@pytest.mark.parametrize(("kind", "keys"), parts("protocol", "local", "relay", "vertical"))
def test_shipped_protocols_pass(kind, keys):
    passes(check_protocol, keys, kind)


@pytest.mark.ci
@pytest.mark.parametrize(("kind", "keys"), parts("learner"))
def test_shipped_learners_pass(kind, keys):
    passes(check_learner, keys, kind)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "keys"), parts("bandit"))
def test_shipped_worlds_pass(kind, keys):
    passes(check_world, keys, kind)


@pytest.mark.ci
def test_shipped_parts_are_the_same_in_another_process():
    """As the check "elsewhere" has it, all at once: each process takes its time to begin."""
    trials = []
    for table in ("protocol", "learner", "bandit"):
        for kind, keys in [one.values for one in parts(table)]:
            subject = Subject(kind, {key: value for key, value in keys.items() if key != "kind"}, {})
            trials += [trial for _, trial in subject.trials()][:: 2 if table == "protocol" else 4]
    found = run_elsewhere([trial.point for trial in trials], 1)
    assert len(found) > 40
    told = [trial for trial in trials if trial.plain.metrics["messages"]]
    assert {type(one.point.protocol).__name__ for one in told} == set(class_names("protocol")) - {
        "Silent",
        "Pooled",
        "Earliest",
    }
    assert [
        text for trial, one in zip(trials, found, strict=True) for text in differences(trial.plain, one.result)
    ] == []


class Hub(nb.RoundProtocol):
    """All tell agent 0, a neighbour of all, and are told by it."""

    extra: int = 0

    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(UP, from_=me.neighbours)
            answer = self.combined(me, item, items)
            me.send(DOWN, answer, to=me.neighbours)
            return answer
        me.send(UP, self.told(me, item), to=0)
        return (yield me.receive(DOWN))

    def combined(self, me, item, items):
        return self.aggregate([item, *items])

    def told(self, me, item):
        return item


class Greedy(nb.Learner):
    """Pulls what has paid most."""

    def start(self, world, agents, rng):
        self.rng = rng
        self.pulls, self.sums = np.ones((2, agents, world.arms))

    def choose(self, slot, agents):
        return (self.sums[agents] / self.pulls[agents] + self.rng.random((len(agents), 1))).argmax(axis=1)

    def learn(self, slot, agents, arms, rewards):
        self.pulls[agents, arms] += 1
        self.sums[agents, arms] += rewards


class Sharing(Greedy):
    """Tells what it knows in every tenth slot, and adopts the mean."""

    def share(self, slot, agents):
        return self.sums[agents]

    def next_share(self, slot):
        return -(-slot // 10) * 10

    def adopt(self, slot, agents, combined):
        self.sums[agents] = combined


class Steps(nb.ArmBandit):
    """Pays by the number of the arm."""

    def means_at(self, slot):
        return np.array([0.1, 0.5, 0.9])


@pytest.mark.sampled(20)
@parametrize_with_checks([Hub(), Sharing, Steps], exclude=["elsewhere", "runs", "faults", "deadline", "memory"])
def test_parts_of_ones_own_pass(part, check):
    check(part, scene=STAR)


@pytest.mark.ci
def test_a_part_of_ones_own_is_the_same_in_another_process():
    check_protocol(Hub, scene=STAR, checks=["elsewhere"], extra=3)


COUNTER = itertools.count()


class Counting(Hub):
    def told(self, me, item):
        return item._replace(size=8 + next(COUNTER))


class Hashing(Hub):
    """Sends as many bytes as the first of some texts has letters, in the order of a set."""

    def told(self, me, item):
        return item._replace(size=len(next(iter({"a" * length for length in range(1, 40)}))))


class Drawing(Hub):
    def told(self, me, item):
        return item._replace(size=int(np.random.randint(1000)))


class Numbering(Hub):
    def round(self, me, item):
        item = item._replace(size=list(self.network.topology.graph.nodes).index(me.id))
        return (yield from super().round(me, item))


class Forgetting(Hub):
    """Does not tell the last of its neighbours."""

    def round(self, me, item):
        if me.id != 0:
            return (yield from super().round(me, item))
        items = yield me.receive(UP, from_=me.neighbours)
        answer = self.aggregate([item, *items])
        me.send(DOWN, answer, to=me.neighbours[:-1])
        return answer


class Mute(CallbackRoundProtocol):
    """Informs all but agent 2, when all have contributed."""

    def start(self, network, aggregation):
        super().start(network, aggregation)
        self.held = {}

    def contribute(self, round, agent, item):
        event = self.clock.environment.event()
        held = self.held.setdefault(round, {})
        held[agent] = item, event
        if len(held) == self.network.agents:
            told = self.conclude(round, [held[one][0] for one in sorted(held)])
            for one in held.keys() - {2}:
                held[one][1].succeed(told)
        return event

    def receive(self, node, arrivals):
        pass


class Changing(Hub):
    def combined(self, me, item, items):
        answer = self.aggregate([item, *items])
        if isinstance(items[0].value, np.ndarray):
            items[0].value[...] = 0
        return answer


class Backwards(Hub):
    def combined(self, me, item, items):
        return self.aggregate([item, *reversed(items)])


class Knowing(Hub):
    """Agents know what agent 0 has heard, and do not wait for its answer."""

    def round(self, me, item):
        answers = self.__dict__.setdefault("answers", {})
        if me.id == 0:
            items = yield me.receive(UP, from_=me.neighbours)
            answers[me.round] = self.aggregate([item, *items])
            return answers[me.round]
        me.send(UP, item, to=0)
        yield me.wait("1 slots")
        return answers[me.round]


class Halting(Hub):
    def told(self, me, item):
        if me.round == 1 and me.id == 3:
            raise KeyError("three")
        return item


@pytest.mark.parametrize(
    ("kind", "check", "said"),
    [
        (Counting, "repeats", r"Counting\.told \(agent 1, round 1\): it returns Item\(.* and then returns .*\(run"),
        (Drawing, "repeats", r"Drawing\.told \(agent \d, round 1\): it returns Item\("),
        (Hashing, "elsewhere", r"Hashing\.told \(agent 1, round 1\): it returns .* PYTHONHASHSEED=\d"),
        (Numbering, "numbering", r"Numbering\.told \(agent 1, round 1\): it returns .* of the graph in another order"),
        (Forgetting, "runs", r"Forgetting\.round of agent 3 in round 1 never returns: it waits for DOWN"),
        (Mute, "waits", r"Mute: agent 2 waits for the end of round 1 for ever, one of \d, and nothing was lost"),
        (Changing, "items", r"Changing: the item of agent 1 in round 1 is changed after it was handed over"),
        (Backwards, "items", r"Backwards: items are put together in the order of agents 0, 3, 2, 1 in round 1"),
        (Knowing, "heard", r"Knowing: 1 goes on at \d+ ns with what has not reached it: \[\(1, 0\)"),
        (Halting, "runs", r"Halting\.round of agent 3 in round 1 raised KeyError: 'three' in line \d+"),
    ],
)  # fmt: skip
@pytest.mark.sampled(4)
def test_a_protocol_that_is_wrong_fails_the_check_for_it(kind, check, said):
    fails(check_protocol, kind, check, said)


class NotANumber(Sharing):
    def share(self, slot, agents):
        return np.where(agents[:, None] == 1, np.nan, self.sums[agents])


class TooMany(Greedy):
    def choose(self, slot, agents):
        return np.zeros(len(agents) + (slot == 3), dtype=np.int64)


class Everybody(Greedy):
    """Chooses for all agents, whoever decides."""

    def choose(self, slot, agents):
        return np.zeros(len(self.pulls), dtype=np.int64)


class Overwriting(Greedy):
    def learn(self, slot, agents, arms, rewards):
        super().learn(slot, agents, arms, rewards)
        if slot == 4:
            rewards *= 2


PLAYED: list[int] = []


class Remembering(Greedy):
    """Goes on where the run before has stopped."""

    def choose(self, slot, agents):
        PLAYED.append(slot)
        return np.full(len(agents), len(PLAYED) // 7 % 3)


@pytest.mark.parametrize(
    ("kind", "check", "said"),
    [
        (NotANumber, "returns", r"NotANumber\.share must return a row of numbers .*, not NaN for agent 1 \(slot 0\)"),
        (TooMany, "returns", r"TooMany\.choose must return an arm .*, not int64 of shape \(5,\) \(slot 3\)"),
        (Everybody, "faults", r"Everybody\.choose must return an arm .* for each of its 3 agents, .* \(slot \d+\)"),
        (Remembering, "repeats", r"Remembering\.choose \(slot \d+\): it returns \[.*\], and then returns \[.*\] \(run"),
        (Overwriting, "arguments", r"Overwriting\.learn \(slot 4\): its argument rewards is changed"),
    ],
)
def test_a_learner_that_is_wrong_fails_the_check_for_it(kind, check, said):
    fails(check_learner, kind, check, said)


class Misshapen(Steps):
    def pull(self, slot, agents, arms, numbers):
        return np.ones((len(agents), 1))


class Unlucky(Steps):
    def draw(self, rng, slots):
        return np.sort(rng.random(slots))


@pytest.mark.parametrize(
    ("kind", "check", "said"),
    [
        (Misshapen, "returns", r"Misshapen\.pull must return a reward .*, not float64 of shape \(4, 1\) \(slot 0\)"),
        (Unlucky, "luck", r"Unlucky\.draw: 5 and then 7 numbers are other ones than 12 at once"),
    ],
)
def test_a_world_that_is_wrong_fails_the_check_for_it(kind, check, said):
    fails(check_world, kind, check, said)


CALLS = {"bandit": small("bandit", "linear"), "learner": small("learner", "feducb"), **STAR}


def test_agents_that_call_over_a_hub_go_on():
    (trial, *_) = [trial for scene, trial in Subject(Hub, {}, CALLS).trials() if "feducb" in scene.name]
    assert not trial.traced.seen.stalled


@pytest.mark.ci
def test_agents_that_call_a_server_go_on_after_a_deadline():
    faults = {"links": {"uplink": {"loss": 0.2}}, "protocol": {"deadline": "4 ms"}, "run": {"horizon": 400, "seed": 10}}
    (trial, *_) = [trial for _, trial in Subject(nb.protocols.MasterWorker, {}, put_over(CALLS, faults)).trials()]
    assert not trial.traced.seen.stalled


def fails(checker, kind, check, said):
    with pytest.raises(CheckError, match=said) as failed:
        checker(kind, checks=[check], scene=STAR)
    error = failed.value
    assert error.check == check
    assert str(error).startswith(f"check {check} ({kind.__name__}, ")
    assert str(error).endswith(f"; {CHECKS[check].remedy}")
    assert error.tables["topology"] == STAR["topology"]


def test_a_part_that_no_scene_takes_is_told_why():
    with pytest.raises(CheckError, match=r"Hub\): is refused in all scenes: .*extra: must be an integer"):
        check_protocol(Hub, extra="much")


def test_what_cannot_be_checked_is_told():
    with pytest.raises(TypeError, match="Steps is a bandit, not a learner"):
        check_learner(Steps)
    with pytest.raises(TypeError, match="is no class of a protocol, a learner or a world"):
        check_protocol(Path)
    with pytest.raises(TypeError, match="Hub is an object, with keys of its own: give its class with keys"):
        check_protocol(Hub(), extra=3)
    with pytest.raises(ValueError, match=r'a check of a bandit must be one of .*, not "luc" \(did you mean "luck"\?\)'):
        check_world(Steps, checks=["luc"])


def test_every_check_is_in_the_documentation_of_the_package():
    assert [name for name in CHECKS if f"``{name}``" not in nb.testing.__doc__] == []


class Peeking(nb.Learner):
    """Pulls what pays best of all that any agent has seen, which nobody has told it."""

    def start(self, world, agents, rng):
        self.pulls, self.sums = np.zeros((2, agents, world.arms))

    def choose(self, slot, agents):
        pulls = self.seen(self.pulls, agents)
        return np.where(pulls == 0, np.inf, self.seen(self.sums, agents) / np.maximum(pulls, 1)).argmax(axis=1)

    def seen(self, numbers, agents):
        return np.repeat(numbers.sum(axis=0, keepdims=True), len(agents), axis=0)

    def learn(self, slot, agents, arms, rewards):
        self.pulls[agents, arms] += 1
        self.sums[agents, arms] += rewards


class Own(Peeking):
    def seen(self, numbers, agents):
        return numbers[agents]


def test_a_learner_that_peeks_is_caught():
    with pytest.raises(CheckError, match=r"check private \(Peeking.*Peeking.choose: agent 0 chooses otherwise"):
        check_learner(Peeking, checks=["private"])
    check_learner(Own, checks=["private"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "keys"), parts("learner"))
def test_no_learner_of_ours_peeks(kind, keys):
    check_learner(kind, checks=["private"], **{key: value for key, value in keys.items() if key != "kind"})
