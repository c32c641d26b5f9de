"""What parts of one's own return is refused with class, method and slot where it is not what it must be."""

import math

import numpy as np
import pytest
from helpers.own_learners import Forgetless

import netbandit as nb
from netbandit.bandits.bandit import Outline
from netbandit.learners.learner import Commit, Phase
from netbandit.network.message import Message
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.return_validation import OF_EVERY_RUN, checked

REPORT = nb.Kind("REPORT")


class Learner(Forgetless):
    """Tells its number in every slot."""

    def share(self, slot, agents):
        return np.ones((len(agents), 1))

    def adopt(self, slot, agents, combined):
        pass


class Teller(Forgetless):
    def share(self, slot, agents):
        return np.ones((len(agents), 1))

    def receive(self, slot, agents, sources, told, said):
        pass


class Asker(Teller):
    def ask(self, slot, agents):
        return np.ones(len(agents), dtype=bool)

    def answer(self, slot, agents):
        return np.ones((len(agents), 1))


class World(nb.ArmBandit):
    def means_at(self, slot):
        return np.array([0.2, 0.8])


class Settled(nb.FiniteBandit):
    def start(self, agents, generator):
        self.settle(np.array([0.2, 0.8]), agents)

    def pull_blocks(self, rng, agents, arms, pulls):
        return np.ones((len(agents), len(arms)), dtype=np.int64)


class Vectors(nb.ActionSetBandit):
    def start(self, agents, generator):
        self.agents, self.arm_count, self.dimension, self.sub_gaussian = agents, 2, 2, 0.5

    def begin(self, generator):
        pass

    def actions(self, agents):
        return np.ones((len(agents), 2, 2))

    def pull(self, agents, arms):
        return np.ones(len(agents)), np.zeros(len(agents))


class Epochs(nb.EpochLearner):
    def begin(self, epoch):
        return Phase(1, np.arange(2), 3) if epoch == 1 else Commit(1)

    def observe(self, sums, rng):
        self.releases, self.best_arms = sums / 3, np.zeros(len(sums), dtype=np.int64)

    def conclude(self, means):
        pass


class Hub(nb.RoundProtocol):
    """All send their items to agent 0."""

    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(REPORT, from_=me.neighbours)
            me.send(REPORT, self.aggregate([item, *items]), to=me.neighbours)
            return self.aggregate([item, *items])
        me.send(REPORT, item, to=0)
        answer = yield me.receive(REPORT)
        return answer


GOOD = {"bandit": World, "learner": Learner, "protocol": nb.protocols.Gis, "topology": nb.families.Star(agents=3)}


def run(folder, **parts):
    scenario = nb.Scenario(**(GOOD | parts), run=nb.Run(horizon=12))
    return scenario.run(out=folder)


def liar(kind, **methods):
    """A class like *kind* with other methods, or values that methods return."""
    return type("Liar", (kind,), {"__module__": __name__} | {name: method(what) for name, what in methods.items()})


def method(what):
    return what if callable(what) or isinstance(what, property) else lambda *_, **__: what


def test_those_that_do_not_lie_are_heard(tmp_path):
    for number, parts in enumerate(
        (
            {},
            {"learner": Teller, "protocol": nb.protocols.Relay},
            {"learner": Asker, "protocol": nb.protocols.Gossip},
            {"bandit": Settled, "learner": Epochs},
            {"bandit": Vectors},
            {"protocol": Hub},
        )
    ):
        assert run(tmp_path / str(number), **parts).value.notna().any()


def unmade(self, sums, rng):
    self.releases = sums[0]


ASKED = {"protocol": nb.protocols.Gossip}
RELAYED = {"protocol": nb.protocols.Relay}
LEARNERS = [
    (Learner, {"choose": np.zeros(3)}, {}, "an arm from 0 to 1 for each of its 3 agents, ", "slot 0"),
    (Teller, {"next_share": math.nan}, RELAYED, "return an integer of at least 0, or None, not nan", ""),
    (Teller, {"next_share": math.inf}, RELAYED, "not inf", "slot 0"),
    (Teller, {"next_share": -3}, RELAYED, "not -3", "slot 0"),
    (Teller, {"next_share": lambda self, slot: min(slot, 4)}, RELAYED, "at least 5, or None, not 4", "slot 5"),
    (Teller, {"next_share": 2.0}, RELAYED, "not 2.0", ""),
    (Asker, {"next_ask": -1}, ASKED, "return an integer of at least 0, or None, not -1", "slot 0"),
    (Teller, {"item_bytes": -460_672}, RELAYED, "return a number of bytes, an integer of at ", "slot 0"),
    (Teller, {"item_bytes": math.nan}, RELAYED, "least 0, not nan", "slot 0"),
    (Teller, {"item_bytes": 2**70}, RELAYED, "not an integer of many digits", "slot 0"),
    (Learner, {"item_bytes": True}, {}, "not bool", ""),
    (Asker, {"item_bytes": "8"}, ASKED, "not str", "slot 1"),
    (Learner, {"figures": {"regret": -5}}, {}, "figures must give its figures names of their own: regret is", ""),
    (Learner, {"figures": {"availability": 9}}, {}, "availability is one of the run's", ""),
    (Learner, {"figures": {"regret_worst_agent": 9}}, {}, "regret_worst_agent is one of the run's", ""),
    (Teller, {"figures": {"delay_slots": 9}}, RELAYED, "delay_slots is one of the run's", ""),
    (Learner, {"figures": {"x": 2**70}}, {}, "figures must give numbers of at most 64 bits: x is an integer of", ""),
    (Learner, {"figures": {"x": "much"}}, {}, "figures must give numbers, or None: x is str", ""),
    (Learner, {"figures": {"x": True}}, {}, "x is bool", ""),
    (Learner, {"figures": {"\x1b[31m": 1}}, {}, "a name, a printable text, not '\\x1b[31m'", ""),
    (Learner, {"figures": {1: 1}}, {}, "a printable text, not 1", ""),
    (Learner, {"figures": [1]}, {}, "figures must return a dictionary of numbers, not list", ""),
    (Learner, {"remarks": (3,)}, {}, "return a tuple of remarks, each a text of one line, not one with 3", ""),
    (Learner, {"remarks": "text"}, {}, "not str", ""),
    (Learner, {"remarks": ("\x1b[2J",)}, {}, "not '\\x1b[2J'", ""),
    (Learner, {"account": None}, {}, "return a PrivacySpent with epsilon of at least 0", ""),
    (Learner, {"account": nb.PrivacySpent(math.nan, 0, 0, "one")}, {}, "not one with epsilon = nan", ""),
    (Learner, {"account": nb.PrivacySpent(1.0, 2, 0, "one")}, {}, "not one with delta = 2", ""),
    (Learner, {"account": nb.PrivacySpent(1.0, 0, 0, "one", bound="x")}, {}, "not one with bound", ""),
    (Teller, {"explored_slots": [1]}, RELAYED, "explored_slots must return slots, integers of shape (3,), or None", ""),
    (Epochs, {"begin": 3}, {}, "begin must return a Phase of some arms from 0 to 1, ascending, each with a pull", ""),
    (Epochs, {"begin": Commit(2)}, {}, "not one to arm 2", ""),
    (Epochs, {"begin": Phase(1, np.array([1, 0]), 3)}, {}, "not one of the arms [1, 0]", ""),
    (Epochs, {"begin": Phase(1, np.array([], dtype=int), 3)}, {}, "not one of the arms []", ""),
    (Epochs, {"begin": Phase(1, np.arange(2), 0)}, {}, "not one with pulls = 0", ""),
    (Epochs, {"observe": unmade}, {}, "make releases, numbers of shape (3, 2), not int64 of shape (2,)", ""),
    (Epochs, {"participants": 4}, {}, "participants must return an integer from 1 to 3, not 4", ""),
    (Epochs, {"combine": math.nan}, {}, "combine must return a row of numbers, not nan", ""),
    (Epochs, {"remarks": (None,)}, {}, "not one with NoneType", ""),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "wrong", "parts", "said", "slot"), LEARNERS)
def test_what_learners_return(tmp_path, kind, wrong, parts, said, slot):
    world = {"bandit": Settled} if kind is Epochs else {}
    with pytest.raises((nb.RunsFailedError, ScenarioError)) as failed:  # some are asked by the check already
        run(tmp_path, learner=liar(kind, **wrong), **parts, **world)
    (method,) = wrong
    assert f": Liar.{method} must " in str(failed.value)
    assert said in str(failed.value)
    assert slot in str(failed.value)


def miscounted(world, agents, generator):
    world.agents = agents - 1


def started(self, agents, generator):
    self.agents = agents


def growing(self, slot):
    return np.zeros(2 + (slot > 4))


def last_nan(self, slot, agents, arms, *numbers):
    return np.where(agents == 2, math.nan if slot == 7 else 1, 0.0)


WORLDS = [
    (World, {"means_at": np.zeros(0)}, "the mean of each arm, numbers of shape (3, K) or (K,) with", ""),
    (World, {"means_at": np.zeros((3, 0))}, "not float64 of shape (3, 0)", "slot 0"),
    (World, {"means_at": np.zeros((4, 2))}, "not float64 of shape (4, 2)", "slot 0"),
    (World, {"means_at": [0.2, 0.8]}, "not list", "slot 0"),
    (World, {"means_at": np.array([0.2, math.nan])}, "not NaN", "slot 0"),
    (World, {"means_at": growing}, "numbers of shape (2,), not float64 of shape (3,)", "slot 5"),
    (World, {"pull": last_nan}, "numbers of shape (3,), not NaN for agent 2", "slot 7"),
    (World, {"pull": np.ones(2)}, "not float64 of shape (2,)", "slot 0"),
    (World, {"regrets": last_nan}, "a regret for each of its 3 agents, numbers of shape (3,), not NaN", "slot 7"),
    (World, {"draw": np.zeros(3)}, "a number for each of 12 slots, shape (12,), not float64 of shape (3,)", ""),
    (World, {"start": miscounted}, "must set agents to the number of agents, 3, not 2", ""),
    (World, {"law": property(lambda self: 3)}, "law must be a text, not 3", ""),
    (World, {"sub_gaussian": property(lambda self: math.nan)}, "sub_gaussian must be a number above 0, not nan", ""),
    (World, {"own_arms": property(lambda self: np.zeros((3, 2), dtype=bool))}, "be booleans of shape (3, 2)", ""),
    (Settled, {"start": started}, "start must settle(means, agents), not leave the means open", ""),
    (Settled, {"pull_blocks": np.full((3, 2), math.nan)}, "the sum of the rewards of each agent and arm", ""),
    (Vectors, {"actions": np.ones((3, 2))}, "action vectors, numbers of shape (3, 2, 2), not", "slot 0"),
    (Vectors, {"pull": np.ones(3)}, "pull must return rewards and regrets, two arrays, not float64", "slot 0"),
    (Vectors, {"pull": (np.ones(3), np.full(3, math.nan))}, "a regret for each of its 3 agents", "slot 0"),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "wrong", "said", "slot"), WORLDS)
def test_what_worlds_return(tmp_path, kind, wrong, said, slot):
    learner = Epochs if "pull_blocks" in wrong else Learner
    with pytest.raises(nb.RunsFailedError) as failed:
        run(tmp_path, bandit=liar(kind, **wrong), learner=learner)
    assert "ReturnedError: Liar." in str(failed.value)
    assert said in str(failed.value)
    assert slot in str(failed.value)


CHECKS = [
    ({"bandit": liar(World, outline=None)}, "bandit.kind: Liar.outline must return an Outline, not NoneType"),
    ({"bandit": liar(World, outline=Outline(arms=-3))}, "an Outline whose arms are at least 1, or None, not -3"),
    ({"bandit": liar(World, files=[1])}, "bandit.kind: Liar.files must return a path by the name of its key"),
    ({"bandit": liar(World, check=lambda self: iter([3]))}, "its check yields int: it must be a Mistake or a Note"),
    ({"learner": liar(Teller, check_with=lambda self, others: iter("a"))}, "learner.kind: its check yields str"),
    ({"topology": liar(nb.Family, build=3)}, "topology: Liar.build must return a graph of networkx, not int"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "said"), CHECKS)
def test_what_is_asked_for_by_checks(parts, said):
    (line,) = nb.Scenario(**(GOOD | parts), run=nb.Run(horizon=12)).check()
    assert said in line


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (math.nan, 'waits for nan: give whole nanoseconds, or a text such as "2 slots"'),
        (1.5, "waits for 1.5: give whole"),
        (True, "waits for True: give whole"),
        (-1, "waits for -1 ns: a wait takes some time"),
    ],
)
def test_no_agent_waits_for_what_is_no_time(tmp_path, wait, said):
    def round(self, me, item):
        yield me.wait(wait)
        return item

    with pytest.raises(nb.RunsFailedError, match=f"Liar.round of agent 0 in round 1 {said}"):
        run(tmp_path, protocol=liar(Hub, round=round))


def test_an_item_has_a_size(tmp_path):
    def round(self, me, item):
        me.send(REPORT, item._replace(size=-5), to=me.neighbours)
        return item
        yield

    with pytest.raises(nb.RunsFailedError, match="sends an item of -5 bytes: they must be an integer of at least 0"):
        run(tmp_path, protocol=liar(Hub, round=round))


@pytest.mark.parametrize("size", [-1, math.nan])
def test_a_message_has_a_size(size):
    with pytest.raises(ValueError, match=f"a message of the kind REPORT cannot have {size} bytes"):
        Message(REPORT, size, None, 1)


@pytest.mark.parametrize("name", ["", "\x1b[31m", "a\nb", None])
def test_a_kind_of_message_has_a_name_that_can_be_printed(name):
    with pytest.raises(ValueError, match="a kind of message must have a name that can be printed, not "):
        nb.Kind(name)


def test_no_part_can_replace_a_metric_of_every_run(tmp_path):
    found = run(tmp_path, learner=liar(Learner, figures={"mine": np.float32(2), "none": None, "inf": math.inf}))
    metrics = set(found.metric)
    assert metrics >= {"mine", "none", "inf"}
    assert metrics - {"mine", "none", "inf", "regret_worst_agent", "regret_best_agent"} <= OF_EVERY_RUN
    assert found[found.metric == "mine"].value.item() == 2


def test_what_was_told_stays_as_it_was_said(tmp_path):
    """An array that the learner goes on to change is under way for two slots."""
    heard = []

    class Changing(Teller):
        def start(self, world, agents, rng):
            self.rows = np.zeros((agents, 1))

        def share(self, slot, agents):
            self.rows += 1
            return self.rows

        def receive(self, slot, agents, sources, told, said):
            heard.extend((told[:, 0] - said).tolist())

    run(tmp_path, learner=Changing, protocol=nb.protocols.Relay, links={"peer": {"latency": "2.5 ms"}})
    assert set(heard) == {1.0}


def test_ours_are_left_as_they_are():
    learner = nb.learners.Ucb()
    assert "choose" not in vars(checked(learner))
