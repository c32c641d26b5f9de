"""Runs whose nodes take time to handle messages, to compute what they send, and to put together what has come."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.checks.check import check
from netbandit.conditions.compute import Compute
from netbandit.conditions.compute_plan import read_devices, service_times, speeds
from netbandit.conditions.laws import mean_of
from netbandit.network.computing import ComputePlan
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.simulation.execution import executed
from netbandit.testing.properties import nodes_do_one_job_at_a_time
from netbandit.testing.trial import Trial
from netbandit.util.streams import Streams

MS = 1_000_000
ROOT = Path(__file__).parents[2]
SERVED = """\
run = { horizon = 300, slot = "1 ms" }
topology = { family = "star", agents = 5 }
links.uplink.latency = "5 ms"
bandit = { kind = "bernoulli", means = [0.9, 0.1] }
learner.kind = "elimination"
protocol.kind = "master-worker"
"""
TOLD = """\
run = { horizon = 30, slot = "1 ms" }
topology = { family = "ring", agents = 4 }
links.peer.latency = "300 us"
bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.9] }
learner.kind = "ucb"
protocol = { kind = "local", timing = "asynchronous" }
"""
AGENTS = "compute.agents={item='10 ms', message='1 ms', aggregate='2 ms'}"
SERVER = "compute.server={message='1 ms', aggregate='5 ms'}"


def waits(folder, *overrides, text=SERVED):
    return run(folder, *overrides, text=text).metrics["round_slots"]


def test_a_round_over_a_server_takes_what_its_jobs_take(tmp_path):
    """2 latencies, and what agents and server compute, one after the other."""
    agents, way = 5, 2 * 5
    assert waits(tmp_path) == way
    assert waits(tmp_path, "compute.agents.item=10 ms") == way + 10
    assert waits(tmp_path, "compute.server.message=1 ms") == way + agents
    assert waits(tmp_path, "compute.server.message=1 ms", "compute.agents.item=10 ms") == way + 10 + agents
    # Agents that do not aggregate themselves have no such job.
    assert waits(tmp_path, AGENTS, SERVER) == 10 + way + agents + 5 + 1


def test_a_wait_is_told_by_its_cause(tmp_path):
    found = run(tmp_path, AGENTS, SERVER, text=SERVED).metrics
    assert found["round_slots"] == 10 + 2 * 5 + 5 + 5 + 1
    assert found["round_computing_slots"] == 10 + 5 + 5 + 1  # the rest are two latencies


def test_a_slow_agent_holds_up_all_and_a_deadline_does_not_wait_for_it(tmp_path):
    slow = "compute={agents={item='10 ms'}, speed=[1.0, 1.0, 1.0, 1.0, 6.0]}"
    assert waits(tmp_path, slow) == 2 * 5 + 60
    found = run(tmp_path, slow, "protocol.deadline=20 ms", text=SERVED).metrics
    assert found["round_slots_median"] == 10 + 20 + 10
    assert found["late"] > 0


def test_agents_that_conclude_themselves_aggregate_themselves(tmp_path):
    flood = ("protocol.kind=flooding", "protocol.timing=asynchronous", "topology.family=complete")
    assert waits(tmp_path, *flood) == 0
    assert waits(tmp_path, *flood, "compute.agents.aggregate=3 ms") == 3
    assert waits(tmp_path, *flood, "compute.agents={item='4 ms', message='1 ms'}") == 4 + 4
    # Copies of items that it has still wait: one of them is being handled when it has all.
    assert waits(tmp_path, *flood, "compute.agents={item='4 ms', aggregate='3 ms', message='1 ms'}") == 4 + 4 + 1 + 3
    triggered = ("bandit={kind='linear', dimension=2, arms=3}", "learner={kind='feducb', epsilon=inf}")
    plain = waits(tmp_path, *flood, *triggered)
    assert waits(tmp_path, *flood, *triggered, "compute.agents.aggregate=3 ms") == plain + 3
    assert waits(tmp_path, *flood, *triggered, "compute.agents={aggregate='3 ms', item='4 ms'}") == plain + 7


def sent(folder, *overrides):
    """Return of each message its sender and when it was handed to its link (ns), and all jobs."""
    trace = folder / "trace.jsonl"
    run(folder, *overrides, text=TOLD, trace=trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    messages = [(line["from"], line["sent"]) for line in lines if "sent" in line]
    return messages, [line for line in lines if "job" in line]


def test_what_a_decision_sends_leaves_when_it_is_computed(tmp_path):
    speed = [1.0, 2.0, 1.0, 3.0]
    messages, jobs = sent(tmp_path, "compute={agents={decision='100 us'}, speed=[1.0, 2.0, 1.0, 3.0]}")
    assert {(agent, time % MS) for agent, time in messages} == {(agent, 100_000 * speed[agent]) for agent in range(4)}
    assert {line["job"] for line in jobs} == {"decision"}
    assert [line["begin"] % MS for line in jobs] == [0] * 4 * 30
    messages, _ = sent(tmp_path, "compute.agents={decision='100 us', item='150 us'}")
    assert {time % MS for _, time in messages} == {250_000}


def test_decisions_go_ahead_of_messages_that_wait(tmp_path):
    _, jobs = sent(tmp_path, "compute.agents={decision='100 us', message='400 us'}")
    mine = [(line["job"], line["begin"] // 1000, line.get("handles")) for line in jobs if line["node"] == 0][:5]
    # Both neighbours tell it something at 400 us; the second message is still handled when the next slot begins.
    assert [(job, begin) for job, begin, _ in mine] == [
        ("decision", 0),
        ("message", 400),
        ("message", 800),
        ("decision", 1200),
        ("message", 1600),
    ]


def test_times_of_zero_change_nothing(tmp_path):
    for text in (SERVED, TOLD):
        before = run(tmp_path, text=text)
        after = run(tmp_path, "compute={agents={message='0 ms', inbox=0}, speed=3.0, power='1 W'}", text=text)
        assert after.fingerprint == before.fingerprint
        assert after.metrics.keys() == before.metrics.keys()


EVERYTHING = (
    "compute.agents={message={exponential='200 us'}, byte='1 us', decision={uniform=['0 ms', '300 us']}, "
    "item='50 us', inbox=3}",
    "compute.speed={lognormal=0.5}",
)


def test_however_it_is_executed_and_traced_the_numbers_are_the_same(tmp_path):
    found = []
    for how in ("plain", "compiled"):
        with executed(how):
            found.append(run(tmp_path, *EVERYTHING, text=TOLD))
    found.append(run(tmp_path, *EVERYTHING, text=TOLD, trace=tmp_path / "trace.jsonl"))
    assert len({one.fingerprint for one in found}) == 1
    metrics = [{key: value for key, value in one.metrics.items() if key != "wall_s"} for one in found]
    assert metrics[0] == metrics[1] == metrics[2]
    assert metrics[0]["refused"] > 0


def test_every_message_is_refused_handled_or_left(tmp_path):
    found = run(tmp_path, *EVERYTHING, text=TOLD, trace=tmp_path / "trace.jsonl").metrics
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    handled = sum(line.get("job") == "message" for line in lines)
    assert found["messages"] == found["delivered"] + found["lost"]
    assert found["lost"] == found["refused"]
    assert found["delivered"] == handled + found["unhandled"]
    agents, end = 4, 30 * MS
    busy = sum(min(line["end"], end) - line["begin"] for line in lines if "job" in line)
    assert found["busy"] == pytest.approx(busy / (agents * end))


def test_what_computing_costs_is_its_power_times_its_time(tmp_path):
    found = run(tmp_path, *EVERYTHING, "compute.power=2 W", text=TOLD).metrics
    assert found["compute_j"] == pytest.approx(2 * found["busy"] * 4 * found["simulated_s"])
    assert found["energy_j"] == found["compute_j"]  # messages cost nothing
    idle = run(tmp_path, *EVERYTHING, "compute.power=2 W", "energy.idle=1 mW", text=TOLD).metrics
    assert idle["energy_j"] == pytest.approx(found["compute_j"] + 1e-3 * 4 * found["simulated_s"])
    battery = run(tmp_path, *EVERYTHING, "compute.power=2 W", "energy.capacity=9 J", text=TOLD).metrics
    assert battery["energy_j"] == pytest.approx(found["compute_j"])
    assert battery["regret"] == found["regret"]


def test_a_small_battery_is_emptied_by_computing(tmp_path):
    keys = ("compute={agents={decision='100 us'}, power='2 W'}", "energy.capacity=0.9 mJ")
    found = run(tmp_path, *keys, text=TOLD).metrics
    assert found["first_death"] == pytest.approx(4.05)  # four decisions of 0.2 mJ, and half of the fifth
    assert found["alive"] == 0
    assert found["energy_j"] == pytest.approx(4 * 0.9e-3)


@pytest.mark.parametrize(
    ("speed", "expected"),
    [
        (2.0, [2.0] * 4),
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]),
        ({"share": 1.0, "factor": 10.0}, [10.0] * 4),
        ({"share": 0.0, "factor": 10.0}, [1.0] * 4),
        ({"lognormal": 0.0}, [1.0] * 4),
        ({"uniform": [3.0, 3.0]}, [3.0] * 4),
    ],
)
def test_speeds_that_are_certain(speed, expected):
    assert speeds(Compute(speed=speed).speed, list("abcd"), Streams(0, 0)) == expected


@pytest.mark.ci
def test_speeds_follow_their_laws_and_belong_to_the_agent():
    def drawn(speed):
        return np.array(speeds(Compute(speed=speed).speed, [""] * 4_000, Streams(7, 0)))

    assert abs(np.log(drawn({"lognormal": 0.6})).std() - 0.6) < 4.5 * 0.6 / np.sqrt(8_000)
    assert abs(np.log(drawn({"lognormal": 0.6})).mean()) < 4.5 * 0.6 / np.sqrt(4_000)
    pareto = np.log(drawn({"pareto": 2.0}))  # exponential with mean 1/2
    assert pareto.min() >= 0
    assert abs(pareto.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(4_000)
    slow = (drawn({"share": 0.1, "factor": 10.0}) == 10).mean()
    assert abs(slow - 0.1) < 4.5 * np.sqrt(0.09 / 4_000)
    few = speeds(Compute(speed={"lognormal": 0.6}).speed, [""] * 3, Streams(7, 0))
    assert few == drawn({"lognormal": 0.6})[:3].tolist()


def test_a_table_of_devices_is_taken_over_its_mean_again_and_again(tmp_path):
    (tmp_path / "devices.csv").write_text("device,computation,ours\na,10,1\nb,30,1\nc,20,4\n")
    assert read_devices(tmp_path / "devices.csv", "computation").speeds == [0.5, 1.5, 1.0]
    point = study(tmp_path, "compute={agents={item='10 ms'}, speed={file='devices.csv'}}", text=SERVED).points[0]
    assert list(point.inputs) == ["compute.speed.file"]
    plan = point.scenario.table(Compute).plan(list("01234"), MS, Streams(0, 0))
    assert isinstance(plan, ComputePlan)
    assert plan.speeds == [0.5, 1.5, 1.0, 0.5, 1.5]
    assert point.simulation(0).run().metrics["round_slots"] == 10 + 15


NAMED = SERVED.replace('family = "star", agents = 5', 'family = "file", file = "net.csv", columns = ["one", "other"]')
FROM_FILE = "compute={agents={item='10 ms'}, speed={file='devices.csv'}}"


def said_of_devices(notes):
    return [note.partition("compute.speed.file: ")[2] for note in notes if "compute.speed.file" in note]


@pytest.mark.parametrize("whose", ["device\nc\na\nb", "agent\n2\n0\n1", "kind,node\nnew,c\nold,a\nold,b"])
def test_devices_are_those_of_the_agents_that_a_column_names(tmp_path, whose):
    (tmp_path / "net.csv").write_text("a,b\nb,c\n")
    lines = zip(whose.split("\n"), ["computation", "100", "10", "10"], strict=True)
    (tmp_path / "devices.csv").write_text("\n".join(map(",".join, lines)))
    found = study(tmp_path, FROM_FILE, text=NAMED)
    point = found.points[0]
    assert speeds(point.scenario.table(Compute).speed, ["a", "b", "c"], Streams(0, 0)) == [0.25, 0.25, 2.5]
    assert said_of_devices(found.notes) == (["1 column not used: kind"] if "kind" in whose else [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "computation\n1\n2\n",
            ["no column names all agents, so agent 0 is row 0 of 2, and so on, from the first on again"],
        ),
        (
            "device,computation,ours\nphone,1,1\nphone,2,1\nlaptop,3,1\n",
            ["no column names all agents, so agent 0 is row 0 of 3, and so on", "2 columns not used: device, ours"],
        ),
    ],
)
def test_devices_by_position_and_columns_that_are_not_used_are_said(tmp_path, content, said):
    (tmp_path / "net.csv").write_text("a,b\nb,c\n")
    (tmp_path / "devices.csv").write_text(content)
    notes = study(tmp_path, FROM_FILE, text=NAMED).notes
    assert sorted(said_of_devices(notes)) == sorted(said)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("agent,computation\na,1\nb,2\nx,3\n", "names agents, but not those of the network: x; its agents are a, b, c"),
        ("site,computation\na,1\nb,2\nx,3\n", "names agents, but not those of the network: x; its agents are a, b, c"),
        ("agent,computation\na,1\nb,2\n", "has speeds of 2 agents, but there are 3"),
        ("computation\n10\n\n30\n", 'devices.csv:3: computation must be a number above 0, not ""'),
    ],
)
def test_devices_of_other_agents_are_refused(tmp_path, content, text):
    (tmp_path / "net.csv").write_text("a,b\nb,c\n")
    (tmp_path / "devices.csv").write_text(content)
    with pytest.raises(ScenarioError) as error:
        study(
            tmp_path,
            FROM_FILE,
            "compute.agents.decision=1 us",
            text=NAMED.replace("elimination", "ucb").replace("master-worker", "relay"),
        )
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("law", "mean"),
    [
        ("3 slots", 3 * MS),
        ({"uniform": ["1 ms", "3 ms"]}, 2 * MS),
        ({"exponential": "2 ms"}, 2 * MS),
        ({"geometric": 1.5}, 1.5 * MS),
        ({"lognormal": ["1 ms", 1.0]}, np.exp(0.5) * MS),
        ({"pareto": ["1 ms", 3.0]}, 1.5 * MS),
        ({"pareto": ["1 ms", 1.0]}, np.inf),
    ],
)
def test_the_mean_of_a_law(law, mean):
    times = service_times(Compute(agents={"item": law}).agents, MS)
    assert mean_of(times.laws["item"]) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("override", "text"),
    [
        ("compute.agents.decision=2 ms", "compute.agents.decision: must be shorter than a slot for the slowest agent"),
        (
            "compute={agents={decision='0.5 ms'}, speed={uniform=[1.0, 3.0]}}",
            "must be shorter than a slot for the slowest agent, whose decisions take 1.5 slots",
        ),
        ("compute.speed=[1.0, 2.0]", "compute.speed: has 2 factors, but there are 4 agents"),
        ("compute.speed=0", "compute.speed: must be a factor above 0, a list of them"),
        ("compute.speed={uniform=[2.0, 1.0]}", "compute.speed: uniform: the largest must not be below the smallest"),
        ("compute.speed={pareto=0.0}", "compute.speed.pareto: must be a number above 0"),
        ("compute.speed={file='nothing.csv'}", "compute.speed.file: "),
        ("compute.agents.item={uniform=['2 ms', '1 ms']}", "compute.agents.item: uniform: the longest must not be"),
        ("compute.agents.item={pareto=['2 ms', 0.0]}", "compute.agents.item.pareto[1]: must be a number above 0"),
        ("compute.agents.inbox=-1", "compute.agents.inbox: must be an integer from 0"),
        ("compute.server.item=1 ms", "compute.server.item: unknown key"),
        ("protocol.kind=pooled", 'compute: cannot be with protocol.kind = "pooled"'),
        ("learner.kind=elimination", 'compute.agents.decision: must be "0 ms" with learner.kind = "elimination"'),
    ],
)
def test_what_cannot_be_is_said_at_its_key(tmp_path, override, text):
    base = () if override.startswith("compute.speed") else ("compute.agents.decision=10 us",)
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, *base, override, text=TOLD.replace(', timing = "asynchronous"', ""))
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (
            ["compute.agents.message={pareto=['1 us', 0.9]}"],
            "compute.agents.message: a Pareto distribution with a shape of at most 1",
        ),
        (["compute.agents.inbox=3"], "compute.agents.inbox: has no effect: handling a message takes no time"),
        (["compute.server.message=1 ms"], "compute.server: has no effect: the protocol has no server"),
        (["compute.speed=2.0"], "compute.speed: has no effect: nothing takes agents any time"),
        (["compute.power=1 W"], "compute.power: has no effect: nothing takes agents any time"),
        (["compute.agents.item=1 us", "protocol.kind=silent"], "compute.agents.item: has no effect: agents tell each"),
        (
            ["compute.agents.aggregate=1 us"],
            "compute.agents.aggregate: has no effect: agents use each item as it comes",
        ),
        (
            ["learner={kind='elimination'}", "protocol={kind='master-worker'}", "compute.agents.aggregate=1 us"],
            "compute.agents.aggregate: has no effect: the server puts together what comes",
        ),
        (
            ["compute.agents.message=600 us"],
            "2 messages reach an agent with the most neighbours in each slot, which take 1.2 slots to handle",
        ),
        (
            ["protocol={kind='master-worker'}", "compute.server.message=300 us"],
            "compute.server.message: 4 messages reach the server in each slot, which take 1.2 slots to handle",
        ),
        (
            ["compute={agents={item='600 us'}, speed=[1.0, 2.0, 1.0, 1.0]}"],
            "compute.agents.item: the slowest agent tells something in each slot, which takes it 1.2 slots",
        ),
        (
            ["compute={agents={decision='0.9 ms'}, speed={pareto=2.0}}"],
            "compute.agents.decision: 3 of 4 agents of the first replication decide slower than a slot passes",
        ),
        (
            ["learner={kind='elimination'}", "protocol={kind='gis'}", "compute.agents={message='1 us', inbox=2}"],
            "compute.agents.inbox: what is refused is not repeated, and who waits for it does so for ever: links",
        ),
        (
            [
                "learner={kind='elimination'}",
                "protocol={kind='master-worker', deadline='2 ms'}",
                "compute.server.message=1 ms",
            ],
            "protocol.deadline: by then the server has handled 3 of 4 uploads at most",
        ),
    ],
)
def test_what_has_no_effect_or_too_much_is_noted(tmp_path, overrides, text):
    notes = study(tmp_path, *overrides, text=TOLD.replace(', timing = "asynchronous"', "")).notes
    assert any(text in note for note in notes), notes


def test_who_waits_for_an_answer_that_may_be_refused_needs_an_end_of_it(tmp_path):
    text = TOLD.replace(', timing = "asynchronous"', "")
    asks = ("bandit={kind='linear', dimension=2, arms=3}", "learner={kind='oful'}", "protocol.kind=parameter-server")
    with pytest.raises(ScenarioError, match=r"protocol\.deadline: is missing: messages may be lost on links\.uplink"):
        study(tmp_path, *asks, "compute.server={message='1 ms', inbox=0}", text=text)
    study(tmp_path, *asks, "compute.server.message=1 ms", text=text)


def test_a_run_that_leaves_much_unhandled_says_so(tmp_path):
    found = run(tmp_path, "compute.agents.message=2 ms", text=TOLD)
    assert found.metrics["unhandled"] > 0.4 * found.metrics["delivered"]
    assert any("messages were delivered and never handled" in remark for remark in found.remarks)
    assert not run(tmp_path, "compute.agents.message=0.2 ms", text=TOLD).remarks


@pytest.mark.slow
def test_uploads_wait_on_their_links_as_in_a_queue_of_constant_service(tmp_path):
    """M/D/1, 16 ms at a load of 0.8: rho s / (2 (1 - rho)) = 32 ms; each uplink of a replication is one mean of 40."""
    text = (ROOT / "scenarios" / "queues.toml").read_text().partition("[sweep]")[0].replace("queue = 9", "")
    keys = ("run.horizon=20_000", "learner.push=inf")
    waits = []
    for replication in range(8):
        found = run(tmp_path, *keys, text=text, replication=replication)
        waits += (found.uplinks.waited / found.uplinks.messages / MS).tolist()
    waits = np.array(waits)
    assert len(waits) == 40
    assert abs(waits.mean() - 32) < 4.5 * waits.std(ddof=1) / np.sqrt(40)


def test_a_sink_that_is_down_when_its_component_is_together_computes_nothing():
    """What it would send is withheld, as where nothing takes time."""
    tables = {
        "run": {"horizon": 100, "seed": 759},
        "topology": {"family": "ring", "agents": 4},
        "bandit": {"kind": "gaussian", "arms": 5},
        "learner": {"kind": "klucb"},
        "protocol": {"kind": "sink", "collect": "gis"},
        "compute": {
            "agents": {"aggregate": {"exponential": "20 slots"}, "item": {"geometric": 1.0}},
            "speed": {"pareto": 1.5},
        },
        "links": {"peer": {"retry": {"timeout": "20 slots", "factor": 1000.0}}},
        "faults": {"nodes": {"up_for": "100 slots", "down_for": "2.5 ms"}},
    }
    trial = Trial(check(load_tables(tables)).points[0])
    assert any(job["job"] == "aggregate" for job in trial.traced.jobs)
    assert list(nodes_do_one_job_at_a_time(trial)) == []
