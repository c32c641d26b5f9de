"""Learners that share and mix: what they tell evens out over the network, and none of it is lost."""

import sys

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.scenario.errors import ScenarioError

OWN = """\
import numpy as np
import netbandit as nb
from netbandit.learners.slots import Learner

class Running(Learner):
    '''Mixes what it has pulled: of every arm the pulls and their rewards.'''

    def start(self, world, agents, rng):
        self.world = world
        self.mixed, self.fresh = np.zeros((agents, 2, world.arms)), np.zeros((agents, 2, world.arms))
        self.steps = np.zeros(agents, dtype=int)
        LATEST[:] = [self]
        self.log, self.by_step = [], {}

    def choose(self, slot, agents):
        pulls, sums = (self.mixed + self.fresh)[agents].transpose(1, 0, 2)
        return np.where(pulls > 0, sums / np.maximum(pulls, 1e-9) + 1 / np.sqrt(np.maximum(pulls, 1e-9)), 9).argmax(1)

    def learn(self, slot, agents, arms, rewards):
        self.fresh[agents, 0, arms] += 1
        self.fresh[agents, 1, arms] += rewards

    def share(self, slot, agents):
        told = (self.mixed + self.fresh)[agents]
        self.log.append((slot, agents, told.sum(axis=0)))
        for agent, step, row, fresh in zip(agents, self.steps[agents], told, self.fresh[agents], strict=True):
            self.by_step[agent, step] = row, fresh.copy()
        self.fresh[agents] = 0
        return told.reshape(len(agents), -1)

    def mix(self, slot, agents, mixed, largest):
        assert (largest >= mixed - 1e-12).all()
        self.mixed[agents] = mixed.reshape(len(agents), 2, -1)
        self.steps[agents] += 1

LATEST = []
"""

SCENE = """\
[run]
horizon = 300
[topology]
family = "ring"
agents = 6
[links.peer]
latency = "0.5 slots"
[bandit]
kind = "bernoulli"
means = [0.2, 0.5, 0.8]
[learner]
kind = "mixing_own:Running"
[protocol]
kind = "consensus"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "mixing_own.py").write_text(OWN)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "mixing_own", raising=False)
    return tmp_path


def learner():
    return sys.modules["mixing_own"].LATEST[0]


def test_in_every_slot_all_tell_and_nothing_is_lost(place):
    result = run(place, text=SCENE)
    metrics = result.metrics
    assert metrics["messages"] == 2 * 6 * 300
    assert metrics["bytes"] == metrics["messages"] * (20 + 16 * 3)
    assert metrics["activations"] == 6 * 300
    assert metrics["rounds"] == 299  # nothing steps at the horizon
    assert metrics["epsilon"] is None
    for slot, agents, told in learner().log:
        assert len(agents) == 6
        assert told[0].sum() == pytest.approx(6 * (slot + 1), rel=1e-12)  # all pulls so far


def test_hops_of_three_slots_make_steps_of_three_slots(place):
    metrics = run(place, "links.peer.latency=3 slots", text=SCENE).metrics
    assert metrics["rounds"] == 99
    assert metrics["messages"] == 2 * 6 * 100
    assert learner().steps.tolist() == [99] * 6
    slot, _, told = learner().log[-1]
    assert slot == 297
    assert told[0].sum() == pytest.approx(6 * 298, rel=1e-12)


@pytest.mark.ci
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_both_timings_are_alike_and_seeds_repeat(place, timing):
    draw = ['links.peer.latency={ uniform = ["0 ms", "4 ms"] }', f"protocol.timing={timing}"]
    first, second = run(place, *draw, text=SCENE), run(place, *draw, text=SCENE)
    assert first.fingerprint == second.fingerprint
    slotted = run(place, draw[0], text=SCENE)
    assert first.metrics["regret"] == slotted.metrics["regret"]
    assert first.metrics["rounds"] == slotted.metrics["rounds"] > 60


def test_who_is_silent_mixes_its_own_row(place):
    metrics = run(place, "protocol.kind=silent", text=SCENE).metrics
    assert metrics["messages"] == 0
    assert metrics["epsilon"] == 0
    one = learner()
    assert one.steps.tolist() == [299] * 6
    assert [told[0].sum() for _, _, told in one.log] == [6 * (slot + 1) for slot in range(300)]
    assert one.world.isolated
    assert one.world.eigenvalue == 0


@pytest.mark.ci
def test_a_learner_is_told_how_fast_things_even_out(place):
    run(place, text=SCENE)
    assert learner().world.eigenvalue == pytest.approx(1 - 1 / 3 * (1 - np.cos(np.pi / 3)) * 2, rel=1e-12)
    run(place, "topology.agents=1", "topology.family=complete", text=SCENE)
    assert learner().world.eigenvalue == 0
    assert learner().steps.tolist() == [299]


@pytest.mark.parametrize(("override", "said"), [
    ("protocol.kind=gis", '"gis" offers no exchanges, in which in every step each agent'),
    ("protocol.step=1.0", "protocol.step: is too large for this graph: differences do not even out"),
    ("protocol.step=-1.0", "protocol.step: must be a number above 0"),
])  # fmt: skip
def test_what_cannot_be_is_refused(place, override, said):
    with pytest.raises(ScenarioError) as error:
        study(place, override, text=SCENE)
    (line,) = error.value.lines
    assert said in line


SEVERAL = [
    "protocol.pace=slot links.peer.latency={uniform=['0slots','5slots']}",
    "protocol.pace=slot links.peer.loss=0.3 links.peer.latency=2slots",
    "links.peer.loss=0.2 links.peer.latency={uniform=['0slots','3slots']} links.peer.duplicate=0.2",
    "links.peer.loss=0.2 links.peer.jitter=2ms links.peer.overtaking=true protocol.weights=metropolis",
    "protocol.pace=slot links.peer.jitter=2ms links.peer.overtaking=true links.peer.duplicate=0.5",
    "links.peer.jitter=4ms topology.family=path protocol.timing=asynchronous",
    "links.peer.loss={good=0.05,bad=0.9,good_for='3ms',bad_for='2ms'} links.peer.duplicate=0.2",
    "links.peer.jitter=2ms links.peer.duplicate=0.4 faults.links={up_for='20ms',down_for='3ms'}",
    "protocol.pace=slot topology.changes={up=0.6}",
    "protocol.pace=slot topology.changes={born=0.2,dies=0.3,every='1.5slots'} links.peer.latency=1.2slots",
]


@pytest.mark.sampled(18)
@pytest.mark.parametrize("override", [
    "links.peer.latency=0 ms", "links.peer.latency=1 slots",
    "links.peer.latency=2.5 slots", "links.peer.latency=3 slots",
    'links.peer.latency={ uniform = ["0.1 slots", "0.9 slots"] }',
    'links.peer.latency={ uniform = ["0 ns", "1 slots"] }',
    'links.peer.latency={ uniform = ["2.1 slots", "2.9 slots"] }', "protocol.weights=metropolis", "protocol.pace=slot",
    "topology.family=star", "protocol.timing=asynchronous", "run.horizon=7",
    'links.peer.latency={ uniform = ["0 slots", "5 slots"] }', "links.peer.loss=0.3", "links.peer.duplicate=0.4",
    "links.peer.jitter=3 ms", *SEVERAL,
])  # fmt: skip
def test_all_at_once_is_message_by_message_to_the_last_bit(place, monkeypatch, override):
    overrides = override.split(" ") if override in SEVERAL else [override]
    single, bulk = [], []
    for runs, alike in ((single, False), (bulk, True)):
        with monkeypatch.context() as patch:
            if not alike:
                patch.setattr("netbandit.simulation.strategies.exchanges.bulk_carrier", lambda context: None)
            runs += [run(place, "run.horizon=40", *overrides, text=SCENE, replication=number) for number in range(2)]
        runs.append(learner().mixed.copy())
    for one, other in zip(single[:2], bulk[:2], strict=True):
        assert one.fingerprint == other.fingerprint
        assert {**one.metrics, "wall_s": 0} == {**other.metrics, "wall_s": 0}
        for column in ("messages", "bytes", "activations", "lost"):
            np.testing.assert_array_equal(getattr(one.links, column), getattr(other.links, column))
        np.testing.assert_array_equal(one.curves["regret"].values, other.curves["regret"].values)
    np.testing.assert_array_equal(single[2], bulk[2])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("overrides", "chosen"), [
    (("links.peer.latency=2.5 slots",), "LockstepInBulk"),
    (('links.peer.latency={ uniform = ["0.1 slots", "0.9 slots"] }',), "LockstepInBulk"),
    (("protocol.pace=slot",), "LockstepInBulk"), (("topology.agents=3",), "LockstepInBulk"),
    (('links.peer.latency={ uniform = ["0.5 slots", "9.5 slots"] }',), "UnequalMixingInBulk"),
    (("links.peer.loss=0.1",), "UnequalMixingInBulk"), (("links.peer.duplicate=0.1",), "UnequalMixingInBulk"),
    (("links.peer.latency=2 slots", "protocol.pace=slot"), "UnequalMixingInBulk"),
    (("links.peer.bandwidth=1 Gbit/s",), "ExchangesByMessage"),
    (('protocol.deadline="3 slots"',), "ExchangesByMessage"),
    (('links.peer.retry={ timeout = "3 ms" }', "links.peer.loss=0.1"), "ExchangesByMessage"),
    (("topology.changes={ up = 0.6 }", "protocol.pace=slot"), "UnequalMixingInBulk"),
    (("topology.changes={ up = 0.6 }",), "ExchangesByMessage"),
])  # fmt: skip
def test_what_goes_in_bulk_is_chosen_by_what_is_known_of_messages(place, monkeypatch, overrides, chosen):
    from netbandit.simulation.drivers import slots

    found = []
    built = slots.communication
    monkeypatch.setattr(slots, "communication", lambda *parts: found.append(built(*parts)) or found[0])
    run(place, *overrides, "run.horizon=20", text=SCENE)
    assert [type(one.carrier).__name__ for one in found] == [chosen]


def sums_are_kept(steps):
    """Check that all that agents tell in a step is what they told in the one before and what they gathered since."""
    rows = learner().by_step
    for step in range(steps):
        before, after = ([rows[agent, number] for agent in range(6)] for number in (step, step + 1))
        np.testing.assert_allclose(
            sum(row - fresh for row, fresh in after), sum(row for row, _ in before), rtol=1e-12, atol=1e-12
        )


def test_where_messages_are_lost_all_tell_in_every_slot_and_sums_are_kept(place):
    metrics = run(place, "links.peer.loss=0.3", "links.peer.latency=0 ms", text=SCENE).metrics
    assert metrics["messages"] == 2 * 6 * 300
    assert 0.25 < metrics["lost"] / metrics["messages"] < 0.35  # five standard deviations
    assert metrics["rounds"] > 60
    sums_are_kept(metrics["rounds"])


def test_a_cut_holds_everybody_up_until_it_is_mended(place):
    cut = '[[faults.outages]]\nlinks = [[0, 1]]\nfrom = "100 ms"\nuntil = "200 ms"\n'
    metrics = run(place, text=SCENE + cut).metrics
    assert metrics["stalled"] == 0
    # Neighbours are never more than one step apart, so the cut reaches the other side of the ring in three steps.
    assert 300 - 100 - 5 <= metrics["rounds"] <= 300 - 100 + 5
    sums_are_kept(metrics["rounds"])


def test_with_retries_nothing_is_lost_for_good_and_each_row_is_told_once(place):
    retry = 'links.peer.retry={ timeout = "3 ms", attempts = 20 }'
    metrics = run(place, "links.peer.loss=0.2", "links.peer.latency=0.1 ms", retry, text=SCENE).metrics
    assert metrics["retransmissions"] > 0
    assert metrics["rounds"] > 20
    sums_are_kept(metrics["rounds"])
