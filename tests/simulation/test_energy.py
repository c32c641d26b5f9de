"""Runs of agents that live on batteries: what they spend adds up exactly, and nobody acts who has run empty."""

import json
import os
import random

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.combinations import table

from netbandit.checks.check import check
from netbandit.cli.topologies import topology
from netbandit.conditions.energy import Energy
from netbandit.conditions.energy_plan import read_harvest
from netbandit.network.batteries import Batteries
from netbandit.results.loads import battery_lives, node_loads
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.drivers.slots import Slots
from netbandit.testing.scenes import FAULTS, put_over, small, tables_of

BASE = {
    "run": {"horizon": 1_000, "slot": "1 ms"},
    "topology": {"family": "ring", "agents": 6},
    "links": {"peer": {"latency": "700 us", "energy": {"per_byte": ["2 uJ", "1 uJ"], "per_message": ["1 mJ", "0 J"]}}},
    "bandit": {"kind": "bernoulli", "means": [0.1, 0.9]},
    "learner": {"kind": "ucb"},
    "protocol": {"kind": "relay"},
}
SILENT = {"protocol": {"kind": "silent"}}
COMBINATIONS = [
    (learner, bandit, protocol)
    for learner, bandit, protocol, runs in table()
    if runs and bandit in ("bernoulli", "linear", "vertical") and learner not in ("klucb", "thompson", "lints")
]
WRONG = {"nothing": {}, **{name: law for name, law in FAULTS.items() if name not in ("retries", "all")}}


def point_of(*over):
    tables = BASE
    for one in over:
        tables = put_over(tables, one)
    return check(load_tables(tables)).points[0]


def run(*over, trace=None):
    return point_of(*over).simulation(0).run(trace)


def energy(**keys):
    return {"energy": keys}


@pytest.fixture
def drained(monkeypatch):
    """Collect the batteries of runs, with what became of them."""
    found, before = [], Batteries.drained

    def collect(self):
        found.append((self, before(self)))
        return found[-1][1]

    monkeypatch.setattr(Batteries, "drained", collect)
    return found


def random_scenario(rng):
    """Draw a small scenario in which agents run empty, or say which keys do not go together."""
    learner, bandit, protocol = rng.choice(COMBINATIONS)
    tables = tables_of(small("bandit", bandit), small("learner", learner), {"kind": protocol}, horizon=120)
    if protocol == "parameter-server":
        tables["protocol"]["deadline"] = "5 ms"
    idle = rng.choice([0.0, 1.0, 5.0])
    keys = {
        "capacity": rng.choice([0.2, {"uniform": [0.05, 0.5]}]),
        "idle": idle,
        "pull": 0.0 if protocol == "vertical" else rng.choice([0.0, 0.0005, 0.005]),
        "harvest": rng.choice(
            [
                *(0.0, 2.0, {"power": 9.0, "from": "3 ms", "until": "9 ms", "every": "20 ms"}),
                {"power": 6.0, "on_for": "10 ms", "off_for": "10 ms"},
            ]
        ),
    }
    if rng.random() < 0.7:
        keys["recover"] = rng.choice([0.2, 1.0])
    prices = {"peer": {"energy": {"per_message": [0.001, 0.0005]}}, "uplink": {"energy": {"per_message": 0.002}}}
    tables = put_over(put_over(tables, WRONG[rng.choice(list(WRONG))]), {"energy": keys, "links": prices})
    if rng.random() < 0.3:
        slow = {"peer": {"bandwidth": "200 kbit/s"}, "uplink": {"bandwidth": "200 kbit/s"}}
        tables = put_over(tables, {"links": slow, "energy": {"send": idle * rng.choice([0.9, 2.0])}})
    return tables


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(5))
def test_what_was_there_and_came_in_is_what_was_spent_and_is_left(seed, drained, tmp_path, monkeypatch):
    """Ten random scenarios each; and who is down neither sends, nor hears, nor decides."""
    decided = []
    before = Slots.finish
    monkeypatch.setattr(Slots, "finish", lambda self: (decided.append(self), before(self))[1])
    rng = random.Random(seed)
    for _ in range(10):
        try:
            point = check(load_tables(random_scenario(rng))).points[0]
        except ScenarioError:
            continue
        drained.clear()
        decided.clear()
        result = point.simulation(0).run(tmp_path / "trace.jsonl")
        ((batteries, found),) = drained
        assert found.begun + found.harvested == found.spent + found.left, point.resolved
        assert all(one.capacity + one.harvested == one.spent + one.level for one in batteries.all), point.resolved

        def is_down(agent, time, all_=batteries.all):
            if not isinstance(agent, int) or agent >= len(all_):
                return False  # the server
            one = all_[agent]
            return any(begin <= time < end for begin, end in zip(one.begins, one.ends, strict=True))

        end = point.scenario.run.horizon * point.scenario.run.slot_nanoseconds
        for line in (tmp_path / "trace.jsonl").read_text().splitlines():
            message = json.loads(line)
            if "start" in message and "from" in message:
                assert not is_down(message["from"], message["start"]), (message, point.resolved)
                heard = not message.get("lost") and message["arrival"] < end
                assert not (heard and is_down(message["to"], message["arrival"])), (message, point.resolved)
        for slots in decided:
            played = slots._agents * point.scenario.run.horizon - result.metrics["absent_slots"]
            assert slots._decisions == played, point.resolved


@pytest.mark.ci
@pytest.mark.parametrize("protocol", ["relay", "local", "gossip"])
def test_batteries_that_never_run_empty_change_nothing(protocol):
    over = {"protocol": {"kind": protocol}}, {"links": {"peer": {"loss": 0.1}}}
    plain, fed = run(*over), run(*over, energy(capacity="100 Wh", idle="1 mW", pull="1 uJ"))
    assert plain.fingerprint == fed.fingerprint
    assert plain.kinds == fed.kinds
    assert plain.metrics["regret"] == fed.metrics["regret"]
    assert fed.metrics["alive"] == 1
    assert fed.metrics["first_death"] is None


@pytest.mark.ci
def test_energy_that_is_merely_counted_is_that_of_batteries_that_never_run_empty():
    slow = {"links": {"peer": {"bandwidth": "200 kbit/s"}}}
    keys = {"idle": "3 mW", "pull": "1 uJ"}
    counted, fed = run(slow, energy(**keys)), run(slow, energy(**keys, capacity="100 Wh"))
    assert counted.metrics["energy_j"] == fed.metrics["energy_j"]
    assert counted.fingerprint == run(slow).fingerprint


def test_energy_is_counted_in_closed_form():
    slow = {"links": {"peer": {"bandwidth": "200 kbit/s"}}}
    counted = run(slow, energy(idle="3 mW", send="50 mW", receive="20 mW", pull="1 uJ"))
    messages, size, busy = counted.metrics["messages"], counted.metrics["bytes"], counted.links.busy.sum() / 1e9
    busy += counted.links.busy_back.sum() / 1e9
    links, coming = counted.links, counted.metrics["in_flight_bytes"]
    heard = busy - (links.in_flight_busy.sum() + links.in_flight_busy_back.sum()) / 1e9
    assert 0 < coming < 0.01 * size
    paid = (
        6 * 3e-3 + 6_000 * 1e-6 + messages * 1e-3 + size * 2e-6 + (size - coming) * 1e-6 + busy * 47e-3 + heard * 17e-3
    )
    assert counted.metrics["energy_j"] == pytest.approx(paid, rel=1e-12)


def test_a_battery_lasts_as_long_as_what_it_feeds_takes():
    """6 agents idle at 1 mW, of 0.5 mJ each: all are down from slot 500 on."""
    found = run(SILENT, energy(capacity="0.5 mJ", idle="1 mW")).metrics
    assert (found["first_death"], found["half_dead"], found["lifetime_slots"]) == (500, 500, 500)
    assert (found["alive"], found["absent_slots"], found["energy_j"]) == (0, 6 * 500, 3e-3)
    longer = run(SILENT, energy(capacity="5 mJ", idle="1 mW")).metrics
    assert (longer["lifetime_slots"], longer["alive"]) == (5_000, 1)


DAYS = {"power": "4 mW", "from": "30 ms", "until": "60 ms", "every": "100 ms"}
"""1.2 mJ in a day of 100 slots, of which an agent of 1 mW needs 0.1 mJ."""


@pytest.mark.ci
@pytest.mark.sampled(17)
@pytest.mark.parametrize("horizon", [165, 190, 220, 230, 250, 300, 650, 4_700, 4_731])
@pytest.mark.parametrize(
    ("capacity", "power"), [("1 mJ", "2.6666666 mW"), ("0.1 mJ", "2.6666666 mW"), ("1 mJ", "0.5 mW")]
)
def test_batteries_run_empty_when_they_were_forecast_to_at_whichever_hour_the_run_ends(horizon, capacity, power):
    """Each agent takes 1 mW: on some of 100 slots the harvest is less than that takes, or less than an agent takes."""
    scarce = energy(capacity=capacity, idle="1 mW", harvest={**DAYS, "power": power})
    found = run(SILENT, {"run": {"horizon": 6_000}}, scarce).metrics
    dead = found["first_death"]
    assert dead == found["lifetime_slots"]
    forecast = run(SILENT, {"run": {"horizon": horizon}}, scarce).metrics
    assert forecast["lifetime_slots"] == pytest.approx(dead, abs=1e-3)
    if horizon < dead:
        assert (forecast["sustained"], forecast["first_death"]) == (0, None)


@pytest.mark.parametrize("horizon", [165, 190, 220, 250, 300, 650])
def test_a_harvest_suffices_at_whichever_hour_the_run_ends(horizon):
    hour = {"run": {"horizon": horizon}}
    found = run(SILENT, hour, energy(capacity="1 mJ", idle="1 mW", harvest=DAYS)).metrics
    assert (found["sustained"], found["lifetime_slots"]) == (1, None)


def test_whether_a_harvest_suffices_is_not_said_before_it_has_ended_twice():
    found = run(SILENT, {"run": {"horizon": 155}}, energy(capacity="1 mJ", idle="1 mW", harvest=DAYS)).metrics
    assert (found["sustained"], found["lifetime_slots"], found["first_death"]) == (None, None, None)
    dead = run(SILENT, {"run": {"horizon": 155}}, energy(capacity="0.01 mJ", idle="1 mW", harvest=DAYS)).metrics
    assert (dead["sustained"], dead["lifetime_slots"]) == (0, 10)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("capacity", [None, "1 kJ", "0.03 J"])
@pytest.mark.parametrize("protocol", ["relay", "sink"])
def test_what_nodes_spend_adds_up_and_batteries_last_as_long_as_the_run_says(capacity, protocol):
    slow = {"links": {each: {"bandwidth": "200 kbit/s"} for each in ("peer", "uplink")}}
    keys = {"idle": "3 mW", "send": "50 mW", "receive": "20 mW", "pull": "1 uJ"}
    elimination = {"learner": {"kind": "elimination"}, "protocol": {"kind": protocol, "deadline": "50 ms"}}
    found = run(slow, elimination if protocol == "sink" else {}, energy(**keys, capacity=capacity))
    spent = node_loads(found)["energy_j"]
    assert spent.sum() == pytest.approx(found.metrics["energy_j"], rel=1e-9)
    if capacity is not None:
        lives = battery_lives(found, None)[:6]
        assert lives.min() == pytest.approx(found.metrics["lifetime_slots"] / 1e3)
        assert battery_lives(found, 1.0)[:6] == pytest.approx(lives / found.nodes.capacity)


@pytest.mark.parametrize("mains", [[0, 3], "sinks"])
def test_who_is_on_the_mains_never_runs_empty(mains):
    """A star, whose centre is its sink; all others are empty from slot 500 on."""
    star = {"topology": {"family": "star", "agents": 6}}
    found = run(star, SILENT, energy(capacity="0.5 mJ", idle="1 mW", mains=mains))
    fed = [0, 3] if mains != "sinks" else [0]
    assert (found.metrics["first_death"], found.metrics["alive"]) == (500, len(fed) / 6)
    assert found.metrics["energy_j"] == pytest.approx(1e-3 * len(fed) + 0.5e-3 * (6 - len(fed)))
    lives = battery_lives(found, None)
    assert [agent for agent in range(6) if lives[agent] == np.inf] == fed
    assert battery_lives(found, 1.0)[fed[0]] == np.inf
    everybody = run(star, SILENT, energy(capacity="0.5 mJ", idle="1 mW", mains=list(range(6)))).metrics
    assert (everybody["sustained"], everybody["alive"], everybody["half_dead"]) == (1, 1, None)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"mains": [7], "capacity": 1}, "energy.mains[0]: the graph has no agent 7"),
        ({"mains": [1, 1], "capacity": 1}, "energy.mains[1]: 1 is named twice"),
        ({"mains": "all", "capacity": 1}, 'energy.mains: must be "sinks" or a list of agents'),
        ({"mains": [1]}, "energy.mains: needs energy.capacity: nobody runs empty"),
    ],
)
def test_agents_on_the_mains_that_cannot_be(keys, text):
    with pytest.raises(ScenarioError) as raised:
        point_of(energy(**keys)).topology(0)
    assert text in str(raised.value)


def test_capacities_differ_and_the_smallest_dies_first(drained):
    found = run(SILENT, energy(capacity={"uniform": ["0.2 mJ", "0.8 mJ"]}, idle="1 mW")).metrics
    ((batteries, _),) = drained
    capacities = sorted(one.capacity for one in batteries.all)
    assert len(set(capacities)) == 6
    assert found["first_death"] == -(-capacities[0] // 10**6) / 10**6
    assert capacities[0] >= 2e14
    assert capacities[-1] <= 8e14


def test_a_file_says_what_is_harvested(tmp_path):
    file = tmp_path / "sun.csv"
    file.write_text("FROM,WATT\n0.1,0.001\n0.2,0\n")
    assert read_harvest(file) == [(10**8, 10**6), (2 * 10**8, 0)]
    harvest = {"capacity": "0.5 mJ", "idle": "1 mW", "harvest": {"file": str(file)}}
    assert run(SILENT, energy(**harvest)).metrics["first_death"] == 600
    file.write_bytes(b'\xef\xbb\xbf# the sun\r\n"FROM";"WATT";\r\n0.1;0.001;\r\n')
    assert read_harvest(file) == [(10**8, 10**6)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("FROM,WATT\n0.1,sun\n", ':2: must be two numbers, seconds and watt, not "0.1,sun"'),
        ("FROM,WATT\n1,2,3\n", ":2: has 3 fields, but line 1 names 2 columns"),
        ("FROM,WATT\n1e300,1\n", ":2: seconds and watt must be between 0 and 4e+09"),
        ("FROM,WATT\n1,-1\n", ":2: seconds and watt must be between 0 and 4e+09"),
        ("FROM,WATT\n1,inf\n", ':2: must be two numbers, seconds and watt, not "1,inf"'),
        ("FROM,WATT\n\n1,1\n1,2\n", ":4: each line must be later than the one before"),
        ("0,1\n", ':1: must be FROM,WATT, not "0,1"'),
        (b"FROM,WATT\n\xff,2\n", ":2: the byte 0xff is not UTF-8: the file must be saved as UTF-8"),
        (None, ": cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_with_a_file_of_harvest_is_said_with_its_name_and_line(tmp_path, content, message):
    file = tmp_path / "sun.csv"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ScenarioError) as caught:
        point_of(energy(capacity="1 J", harvest={"file": str(file)}))
    assert str(caught.value).endswith(f"energy.harvest.file: {file}{message}")


def test_harvest_is_read_from_files_alone(tmp_path):
    os.mkfifo(tmp_path / "sun.csv")
    for path, kind in ((str(tmp_path / "sun.csv"), "a pipe"), ("/dev/zero", "a device"), (str(tmp_path), "a folder")):
        with pytest.raises(ScenarioError, match=f"energy.harvest.file: {path}: is {kind}, must be a file"):
            point_of(energy(capacity="1 J", harvest={"file": path}))


WITHOUT_UPLINKS = {
    "links": {"peer": {"bandwidth": "20 kbit/s"}},
    "learner": {"kind": "elimination"},
    "protocol": {"kind": "sink", "deadline": "50 ms"},
}
SETS = "sets energy.send and energy.receive, what an agent takes during a transmission, which needs"


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ({}, [("energy.preset", f'"sx1272" {SETS} links.uplink.bandwidth: set it, or ')]),
        ({"send": 3.0}, [("energy.send", "needs links.uplink.bandwidth"), ("energy.preset", "sets energy.receive, ")]),
        ({"send": "4.62 mW", "receive": "4.62 mW"}, []),
    ],
)
@pytest.mark.parametrize(
    "more",
    [{}, {"protocol": {"deadline": -1}}, {"faults": {"nothing": 1}}, {"topology": {"agents": 0}}],
    ids=["nothing else", "protocol", "faults", "topology"],
)
def test_what_a_preset_needs_is_said_of_the_preset_at_once_with_all_other_mistakes(keys, found, more):
    tables = put_over(put_over(put_over(BASE, WITHOUT_UPLINKS), more), energy(preset="sx1272", **keys))
    if not found and not more:
        check(load_tables(tables))
        return
    with pytest.raises(ScenarioError) as raised:
        check(load_tables(tables))
    lines = str(raised.value).splitlines()
    assert len(lines) == len(found) + bool(more)
    for key, text in found:
        assert any(f"{key}: " in line and text in line for line in lines), lines


def test_a_preset_fills_in_what_is_not_given():
    scenario = point_of(energy(preset="cc2420", idle="1 uW")).scenario
    given = scenario.table(Energy)
    assert (given.idle, given.send, given.receive) == (1e-6, 52.2e-3, 56.4e-3)
    assert scenario.links.peer.bandwidth == "250 kbit/s"
    given = point_of(energy(preset="cc2420"), {"links": {"peer": {"bandwidth": "20 kbit/s"}}})
    assert given.scenario.links.peer.bandwidth == "20 kbit/s"


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (energy(send="1 W"), "energy.send: needs links.peer.bandwidth"),
        (energy(capacity="0 J"), "energy.capacity: must be a number of joule"),
        (energy(capacity="2000 mAh"), "2000 mAh at 3.3 V are 6.6 Wh"),
        (energy(capacity={"uniform": ["2 J", "1 J"]}), "energy.capacity"),
        (energy(harvest="1 mW"), "energy.harvest: needs energy.capacity"),
        (energy(recover=0.2), "energy.recover: needs energy.capacity"),
        (energy(idle="5 J"), "energy.idle: must be a number of watt"),
        (energy(capacity="1 J", harvest={"power": "1 mW", "from": "8 h", "until": "6 h"}), "until: must be after"),
        ({**energy(capacity="1 J"), "links": {"peer": {"retry": {}}}}, "links.peer.retry: cannot be combined"),
        ({**energy(capacity="1 J", pull="1 uJ"), "run": {"activity": "one"}}, "energy.pull: with energy.capacity"),
        ({"links": {"peer": {"energy": {"per_byte": ["1 uJ"]}}}}, "per_byte: must be a number of joule"),
    ],
)
def test_what_cannot_be_is_said_at_its_key(over, message):
    with pytest.raises(ScenarioError, match=message.replace(".", r"\.")):
        point_of(over)


def test_the_way_out_of_retries_with_batteries_is_one():
    given = {"capacity": "1 J", "harvest": "1 mW", "idle": "1 mW"}
    retry = {"links": {"peer": {"retry": {}}}}
    with pytest.raises(ScenarioError, match=r"leave out energy\.capacity and energy\.harvest, and netbandit nodes"):
        point_of({**energy(**given), **retry})
    assert point_of({**energy(idle=given["idle"]), **retry})


def test_no_advice_on_links_where_agents_run_empty(tmp_path):
    file = tmp_path / "empty.toml"
    file.write_text(toml_text(put_over(BASE, energy(capacity="1 J"))))
    found = CliRunner().invoke(topology, [str(file), "--what-if", "1"])
    assert found.exit_code == 2
    assert "agents that are always up" in found.output


@pytest.mark.ci
@pytest.mark.parametrize("capacity", [{}, {"capacity": "100 Wh"}])
def test_over_the_air_a_transmission_is_paid_once(capacity):
    """Flooding tells two neighbours at once on a ring: a transmission each, of 1 mJ, whoever hears it."""
    radio = {"bandwidth": "1 Mbit/s", "radio": {"access": {"aloha": "3 ms"}}, "energy": {"per_byte": 0.0}}
    found = run({"protocol": {"kind": "local"}, "links": {"peer": radio}}, energy(pull="1 nJ", **capacity)).metrics
    assert found["transmissions"] < found["messages"]
    assert found["energy_j"] == pytest.approx(found["transmissions"] * 1e-3 + 6_000 * 1e-9, rel=1e-12)


def test_what_ends_of_links_spend_may_be_said_of_each():
    result = run()
    loads, metrics = node_loads(result), result.metrics
    assert loads["energy_sent_j"].sum() == pytest.approx(metrics["messages"] * 1e-3 + metrics["bytes"] * 2e-6)
    assert loads["energy_received_j"].sum() == pytest.approx(metrics["bytes"] * 1e-6)
    assert loads["energy_j"].sum() == pytest.approx(metrics["energy_j"])


@pytest.mark.parametrize(("recover", "noted"), [(1e-9, True), (0.1, False)])
def test_a_share_from_which_agents_come_back_for_nanoseconds_is_noted(recover, noted):
    tables = put_over(BASE, energy(capacity="0.5 J", idle="1 W", harvest="20 mW", recover=recover))
    assert any("energy.recover: an agent may come back" in note for note in check(load_tables(tables)).notes) == noted
