"""Runs of agents that share the air: how they are executed, and what they count."""

import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load_tables
from netbandit.simulation.execution import executed
from netbandit.testing.properties import differences
from netbandit.testing.scenes import put_over, small, tables_of

RADIO = {"bandwidth": "100 kbit/s", "radio": {"access": {"aloha": "5 ms"}, "duty": 0.5}}


def point_of(bandit, learner, protocol, **radio):
    tables = tables_of(small("bandit", bandit), small("learner", learner), {"kind": protocol})
    return check(load_tables(put_over(tables, {"links": {"peer": radio}}))).points[0]


@pytest.mark.parametrize(
    ("bandit", "learner", "protocol"),
    [
        ("bernoulli", "elimination", "flooding"),
        ("bernoulli", "elimination", "relay"),
        ("bernoulli", "ucb", "local"),
        ("linear", "feducb", "local"),
        ("bernoulli", "coop-ucb2", "consensus"),
        ("vertical", "linucb", "vertical"),
    ],
)
def test_they_go_event_by_event_and_nothing_is_compiled(bandit, learner, protocol):
    point = point_of(bandit, learner, protocol, **RADIO)
    choices = [choice for choice in point.simulation(0).choices() if choice.part == "messages"]
    assert all(
        "depends on what else is sent" in choice.reason or "there is none" in choice.reason for choice in choices
    )
    runs = []
    for how in ("plain", "compiled"):
        with executed(how):
            runs.append(point.simulation(0).run())
    assert not list(differences(*runs, digits=10))
    assert runs[0].metrics["transmissions"] > 0


def test_gossip_waits_for_its_transmitter():
    """A copy takes a tenth of a slot on the air, and then 19 tenths of silence: at most one every second slot."""
    radio = {"bandwidth": "4 Mbit/s", "radio": {"duty": 0.05}}
    metrics = point_of("bernoulli", "elimination", "gossip", **radio).simulation(0).run().metrics
    assert metrics["unsent"] <= 4  # copies do not pile up
    assert metrics["transmissions"] == metrics["messages"] > 0


def test_what_one_transmission_says_to_many_counts_for_each():
    point = point_of("bernoulli", "ucb", "local", latency="0 ms", bandwidth="1 Gbit/s", radio={})
    metrics = point.simulation(0).run().metrics
    assert metrics["messages"] == 6 / 4 * metrics["transmissions"]  # a star of four: three hear one, and one three
    assert metrics["collided"] == metrics["lost"] == metrics["messages"]  # all speak at once, and none listens
    assert metrics["delivery_ratio"] == 0


def test_uplinks_are_no_part_of_the_air():
    plain = point_of("bernoulli", "elimination", "master-worker").simulation(0).run()
    shared = point_of("bernoulli", "elimination", "master-worker", **RADIO).simulation(0).run()
    assert shared.fingerprint == plain.fingerprint
    assert shared.metrics.keys() == plain.metrics.keys()


@pytest.mark.parametrize("capacity", [{}, {"capacity": "1 J"}])
def test_a_transmission_is_paid_once_and_by_all_who_hear_it(capacity):
    """In each slot four agents of a star send, of whom the hub is heard by three and hears three: all that collides."""
    energy = {"idle": "1 mW", "send": "101 mW", "receive": "51 mW", **capacity}
    peer = {"latency": "0 ms", "bandwidth": "1 Mbit/s", "energy": {"per_message": ["3 uJ", "1 uJ"]}, "radio": {}}
    tables = tables_of(small("bandit", "bernoulli"), small("learner", "ucb"), {"kind": "local"})
    point = check(load_tables(put_over(tables, {"links": {"peer": peer}, "energy": energy}))).points[0]
    metrics = point.simulation(0).run().metrics
    slots, agents = 60, 4
    airtime = 48 * 8 / 1e6  # 20 of header, 4 of label, 24 of an observation
    sent, heard = agents * slots, 6 * slots
    assert (metrics["transmissions"], metrics["collided"]) == (sent, heard)
    idle = agents * slots * 1e-3 * 1e-3
    joule = idle + sent * (3e-6 + 0.1 * airtime) + heard * (1e-6 + 0.05 * airtime)
    assert metrics["energy_j"] == pytest.approx(joule, rel=1e-12)


def test_who_has_run_empty_transmits_no_more():
    """A transmission takes 39.4 mJ, a battery holds 100 mJ: of the messages that queue three begin, and empty it."""
    energy = {"idle": "0 W", "send": "102.5 mW", "capacity": "100 mJ"}
    peer = {"latency": "0 ms", "bandwidth": "1 kbit/s", "radio": {}}
    tables = tables_of(small("bandit", "bernoulli"), small("learner", "ucb"), {"kind": "local"})
    tables = put_over(tables, {"links": {"peer": peer}, "energy": energy, "run": {"horizon": 3_000}})
    metrics = check(load_tables(tables)).points[0].simulation(0).run().metrics
    assert metrics["transmissions"] == 3 * 4
    assert metrics["alive"] == 0
    assert metrics["energy_j"] == pytest.approx(4 * 0.1, rel=1e-9)
