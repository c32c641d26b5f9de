"""Protocols of the user's own, under learners of every pattern of communication."""

import sys

import pytest
from helpers.scenes import run

from netbandit.protocols.rounds import ProtocolError

OWN = """\
import netbandit as nb
from netbandit.network.message import Message
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.protocol import Item

REPORT, RESULT, ASK, PART = nb.Kind("REPORT"), nb.Kind("RESULT"), nb.Kind("ASK"), nb.Kind("PART")

class Hub(nb.RoundProtocol):
    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(REPORT, from_=me.neighbours)
            answer = self.aggregate([item, *items])
            me.send(RESULT, answer, to=me.neighbours)
        else:
            me.send(REPORT, item, to=0)
            answer = yield me.receive(RESULT)
        return answer

class Patient(DeadlineKey, Hub):
    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(REPORT, from_=me.neighbours, deadline=self.deadline)
            answer = self.aggregate([item, *items])
            me.send(RESULT, answer, to=me.neighbours)
            return answer
        me.send(REPORT, item, to=0)
        answer = yield me.receive(RESULT, deadline="10 slots")
        return item if answer is None else answer

class Selfish(Hub):
    def round(self, me, item):
        yield from super().round(me, item)
        return item

class Direct(GatherProtocol):
    '''Every agent of a star sends its part to agent 0, its neighbour, in every second slot.'''
    def serve(self):
        self.missing = {}
        self.clock.environment.process(self.users())
    def users(self):
        for user in range(0, self.clock.horizon, 2):
            yield self.clock.wait_until(user)
            senders = [agent for agent in range(1, self.network.agents) if self.part_bytes[agent]]
            self.missing[user] = len(senders)
            for agent in senders:
                size = 20 + self.part_bytes[agent]
                self.network.send(Message(PART, size, None, user), [self.network.channel(agent, 0)])
    def receive(self, node, arrivals):
        for _, _, message in arrivals:
            self.missing[message.round] -= 1
            if not self.missing[message.round]:
                self.complete(message.round)
"""

SCENE = """\
[run]
horizon = 100_000
[topology]
family = "star"
agents = 5
[links.peer]
latency = "0.5 slots"
[bandit]
kind = "bernoulli"
arms = 10
[learner]
kind = "elimination"
[protocol]
kind = "own:Hub"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "own", raising=False)
    return tmp_path


def test_elimination_over_a_hub(place):
    metrics = run(place, text=SCENE).metrics
    assert metrics["rounds"] >= 3
    assert metrics["messages"] == 8 * metrics["rounds"]
    assert metrics["activations"] == 8 * metrics["rounds"]  # reports in one slot, the answer in the next
    # From the second round on the hub, informed a slot earlier, also contributes a slot earlier.
    first, later = (1 + 4 * 2) / 5, 2
    assert metrics["round_slots"] == pytest.approx((first + (metrics["rounds"] - 1) * later) / metrics["rounds"])


def test_an_asynchronous_hub_has_everybody_go_on_in_the_next_slot(place):
    metrics = run(place, "protocol.timing=asynchronous", text=SCENE).metrics
    assert metrics["round_slots"] == 1  # the hub after half a slot, the others after a whole one
    assert metrics["messages"] == 8 * metrics["rounds"]


def test_the_hub_learns_what_everybody_learns(place):
    """With hops that take as long as those of a star's flooding, the same arms are left after each round."""
    hub, flood = (run(place, f"protocol.kind={kind}", text=SCENE).metrics for kind in ("own:Hub", "flooding"))
    assert hub["rounds"] == flood["rounds"]
    assert hub["epsilon"] == flood["epsilon"]


def test_calls_go_before_the_rounds_of_a_hub(place):
    linear = ["bandit.kind=linear", "bandit.arms=4", "bandit.dimension=3", "learner.kind=feducb", "learner.epsilon=inf"]
    metrics = run(place, *linear, "run.horizon=300", text=SCENE).metrics
    assert metrics["rounds"] > 0
    # Called by the hub everybody waits for 2 slots; called by another, that one waits for 4.
    assert (2 + 4 * 2) / 5 <= metrics["round_slots"] <= (2 + 4 + 3 * 2) / 5


@pytest.mark.ci
def test_broadcasts_are_heard_when_a_round_of_a_hub_ends(place):
    market = ["bandit.kind=procurement", "bandit.producers=4", "learner.kind=pfcb", "learner.epsilon=inf"]
    metrics = run(place, *market, text=SCENE).metrics
    assert metrics["rounds"] > 0
    assert metrics["messages"] == 8 * metrics["rounds"]
    assert 1 <= metrics["delay_slots"] <= 2


def test_agents_that_conclude_differently_are_refused_where_all_go_on_alike(place):
    with pytest.raises(ProtocolError, match=r"Selfish\.round of agent \d in round 1 returns what nothing follows from"):
        run(place, "protocol.kind=own:Selfish", text=SCENE)


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_over_a_hub_with_a_deadline_each_agent_concludes_for_itself(place, loss):
    """Who hears no answer goes on with its own item; nobody waits for ever."""
    keys = ["protocol.kind=own:Patient", "protocol.deadline=4 slots", f"links.peer.loss={loss}", "run.horizon=20_000"]
    metrics = run(place, *keys, text=SCENE).metrics
    assert metrics["rounds"] >= 3
    assert metrics["stalled"] == 0
    assert (metrics["round_slots"] > 3) == (loss > 0)


def test_gathers_of_ones_own(place):
    vertical = ["bandit.kind=vertical", "bandit.dimension=10", "bandit.arms=3", "learner.kind=linucb"]
    result = run(place, *vertical, "run.horizon=100", "protocol.kind=own:Direct", "protocol.masks=false", text=SCENE)
    metrics = result.metrics
    assert metrics["rounds"] == 50
    assert metrics["messages"] == 4 * 50
    assert metrics["round_slots"] == 0.5
    assert metrics["bytes"] == 50 * (4 * 20 + 8 * 3 * 8)
    assert metrics["unserved"] == 0
