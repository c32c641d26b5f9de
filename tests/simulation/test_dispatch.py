"""Which way each part of a run goes, for a table of scenarios: a replication is started, and never run."""

from unittest.mock import patch

import pytest

from netbandit.checks.check import check
from netbandit.checks.execution_plan import execution_plan
from netbandit.network.clock import Environment
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast
from netbandit.protocols.triggered_rounds import TriggeredRounds
from netbandit.scenario.load import load
from netbandit.simulation import replication
from netbandit.simulation.dispatch.kernel_choice import KernelChoice, chosen, explained
from netbandit.simulation.drivers.epochs import Epochs
from netbandit.simulation.execution import executed

SCENARIO = """\
run = { horizon = 60, slot = "1 ms" }
topology = { family = "ring", agents = 6 }
links.peer = { latency = "0.3 ms" }
bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.9] }
learner = { kind = "ucb" }
protocol = { kind = "local" }
"""
ROUNDS = ["learner.kind=elimination", "learner.rounds=2", "learner.gap=0.5"]
CALLS = ["bandit={ kind = 'linear', dimension = 2, arms = 3 }", "learner={ kind = 'oful', threshold = 0.5 }"]
FIXED = [*CALLS[:1], "learner={ kind = 'oful', schedule = 'fixed', every = 5 }"]
PARTS = [
    "bandit={ kind = 'vertical', dimension = 6, arms = 2 }",
    "learner.kind=linucb",
    "protocol={ kind = 'vertical' }",
]
MIXES = ["learner.kind=coop-ucb2", "protocol.kind=consensus"]
NODES = "faults.nodes={ up_for = '50 ms', down_for = '5 ms' }"
LOST = "faults.nodes={ up_for = '50 ms', down_for = '5 ms', memory = 'lost' }"
LINKS = "faults.links={ up = 0.9 }"
LOSS = "links.peer.loss=0.1"
NARROW = "links.peer.bandwidth=1 Mbit/s"
DEADLINE = "protocol.deadline=9 ms"
ASYNCHRONOUS = "protocol.timing=asynchronous"

TALKING = {
    # what all agents tell in every slot
    "NeighboursInBulk": [[], [LOSS], [LINKS], ["links.peer.jitter=3 ms"]],
    "FloodsInBulk": [["protocol.ttl=2", "protocol.route=flood"], ["protocol.absorb=true", "protocol.route=flood"]],
    "PooledInBulk": [["protocol.kind=pooled"]],
    "TreesInBulk": [
        *([change] for change in (ASYNCHRONOUS, "protocol.ttl=2", "protocol.kind=relay")),
        ["protocol.kind=relay", "links.peer.latency={ uniform = ['0 ms', '9 ms'] }"],
    ],
    "Broadcasts": [
        *([change] for change in (NARROW, NODES, "links.peer.retry={}")),
        *(["protocol.kind=relay", change] for change in (NARROW, NODES, LOSS, LINKS)),
        *([f"protocol.kind={kind}"] for kind in ("silent", "sink", "master-worker", "gis", "gossip", "flooding")),
        ["protocol.kind=gis", NODES],
        ["protocol.ttl=2", "protocol.route=flood", NARROW],
        ["protocol={ kind = 'pooled', when = 'pull' }"],
    ],
    # what agents exchange
    "LockstepInBulk": [MIXES],
    "UnequalMixingInBulk": [[*MIXES, LOSS], [*MIXES, "links.peer.latency={ uniform = ['1 ms', '9 ms'] }"]],
    "Exchanges": [[*MIXES, DEADLINE], [*MIXES, NARROW], [*MIXES, NODES]],
    # what else there is
    "Requests": [["learner.kind=gosine", "protocol.kind=gossip"]],
}

OVER = {
    "Gis": [[*talk, "protocol.kind=gis"] for talk in (ROUNDS, CALLS, FIXED)],
    "Relay": [[*talk, "protocol.kind=relay"] for talk in (ROUNDS, CALLS, FIXED)],
    "PassOn": [[*ROUNDS, "protocol.kind=helpers.own_handlers:PassOn", NODES, NARROW]],
    "Sink": [[*ROUNDS, "protocol={ kind = 'sink', collect = 'gis' }"], [*CALLS, "protocol.kind=sink"]],
    "MasterWorker": [[*ROUNDS, "protocol.kind=master-worker"]],
    "Local": [CALLS, FIXED],
    # the parts of a context
    "Vertical": [PARTS, [*PARTS, NODES]],
}

PLAYED = {
    "compiled_loop": [[], ["learner.kind=klucb"], CALLS, ["learner.kind=thompson"]],
    "vectorized_loop": [["learner.use_after=2"], [*CALLS[:1], "learner.kind=lints"]],
}


def each(table):
    return pytest.mark.parametrize(("name", "changes"), [(name, one) for name, cases in table.items() for one in cases])


@pytest.fixture
def point(tmp_path):
    return lambda *changes: check(load(tmp_path / "scene.toml", changes, text=SCENARIO)).points[0]


@pytest.fixture
def started(point):
    """Return the driver of a scenario's first replication, started."""

    def start(*changes, how="compiled"):
        made = []
        real = replication.driver_for
        noted = patch.object(replication, "driver_for", lambda context: made.append(real(context)) or made[-1])
        stopped = patch.object(Environment, "run", side_effect=InterruptedError)
        with executed(how), noted, stopped, pytest.raises(InterruptedError):
            point(*changes).simulation(0).run()
        return made[0]

    return start


@each(TALKING)
def test_agents_that_decide_in_slots_talk_in_this_way(started, name, changes):
    strategy = started(*changes).strategy
    carrier = type(getattr(strategy, "carrier", strategy)).__name__
    assert (type(strategy).__name__ if carrier.endswith("ByMessage") else carrier) == name


@each(OVER)
def test_rounds_calls_and_gathers_go_over_this(started, name, changes):
    driver = started(*changes)
    protocol = (
        driver.aggregation.protocol if isinstance(driver, Epochs) else getattr(driver, "strategy", driver)._protocol
    )
    if type(protocol) is TriggeredRounds:
        protocol = protocol.rounds
    assert type(protocol.broadcasts if type(protocol) is RoundsOverBroadcast else protocol).__name__ == name


@each(PLAYED)
def test_decisions_are_played_in_this_way(started, name, changes):
    assert started(*changes)._play.__qualname__.partition(".")[0] == name


SAID = {"Bulk": "messages: in bulk", "": "messages: event by event"}


@each(TALKING | OVER)
def test_users_are_told_what_happens_to_messages(point, name, changes):
    with executed("compiled"):
        lines = execution_plan(point(*changes))
    said = next(said for word, said in SAID.items() if word in name)
    if any(kind in change for change in changes for kind in ("silent", "pooled")):
        said = ""  # no message is sent, or none that anybody hears
    assert [line.partition(";")[0] for line in lines if line.startswith("messages")] == [said] * bool(said)


@each(PLAYED)
def test_users_are_told_how_decisions_are_played(point, name, changes):
    with executed("compiled"):
        line = execution_plan(point(*changes))[-1]
    assert line.startswith(
        "decisions: in a compiled loop" if name == "compiled_loop" else "decisions: event by event; not"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ([*ROUNDS, "protocol.kind=gis"], "messages: event by event; there is no other way for these parts"),
        (
            ["learner.use_after=2"],
            "decisions: event by event; not in a compiled loop: observations of others are used later (use_after)",
        ),
        (
            ["protocol.ttl=2", "protocol.route=flood", NARROW],
            "messages: event by event; not in bulk: messages queue for bandwidth",
        ),
        ([*CALLS, "protocol.kind=sink"], "messages: event by event; there is no other way for these parts"),
    ],
)
def test_users_are_told_why_something_goes_event_by_event(point, changes, line):
    with executed("chosen"):
        assert line in execution_plan(point(*changes))


def test_users_are_told_that_the_environment_says_so(point):
    with executed("plain"):
        assert execution_plan(point())[0].startswith("messages: event by event; not in bulk: NETBANDIT_EXECUTION=plain")


def test_a_part_of_ones_own_that_fails_at_its_start_is_a_line(point):
    found = point()
    with patch.object(type(found.learner), "start", side_effect=ValueError("no")):
        assert execution_plan(found) == ["it cannot be started: ValueError: no"]


class Slow(KernelChoice):
    """A kernel that can say at once, or after a while, why it cannot be taken."""

    name = "by magic"

    def __init__(self, unsupported=None, unknown=None, worth=None):
        self.answers = {"unsupported": unsupported, "unknown": unknown, "unprofitable_reason": worth}
        self.asked = []

    def answer(self, question):
        self.asked.append(question)
        return self.answers[question]

    def unsupported_reason(self):
        return self.answer("unsupported")

    def unsupported_event(self):
        return self.answer("unknown")

    def unprofitable_reason(self):
        return self.answer("unprofitable_reason")


@pytest.mark.parametrize(
    ("how", "kernel", "taken", "asked"),
    [
        ("chosen", Slow(), True, ["unsupported", "unprofitable_reason", "unknown"]),
        ("chosen", Slow(worth="few hops"), False, ["unsupported", "unprofitable_reason"]),
        ("chosen", Slow(unsupported="no tree", worth="few hops"), False, ["unsupported"]),
        ("chosen", Slow(unknown="nodes fail"), False, ["unsupported", "unprofitable_reason", "unknown"]),
        ("compiled", Slow(worth="few hops"), True, ["unsupported", "unknown"]),
        ("compiled", Slow(unknown="nodes fail"), False, ["unsupported", "unknown"]),
        ("plain", Slow(), False, ["unsupported"]),
    ],
)
def test_a_kernel_is_taken_if_it_can_run_and_should_and_what_takes_long_is_asked_last(how, kernel, taken, asked):
    with executed(how):
        assert chosen(kernel) == taken
    assert kernel.asked == asked


def test_what_is_explained_is_not_taken():
    with executed("chosen"), explained() as choices:
        assert not chosen(Slow())
        assert not chosen(Slow(unknown="nodes fail", worth="few hops"))
        assert not chosen(Slow(worth="few hops"))
    assert [choice.reason for choice in choices] == [None, "nodes fail", "few hops"]
    assert chosen(Slow())
