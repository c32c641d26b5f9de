"""What agents make of a network that fails: scripted outages against tables made by hand, and what the run says."""

import json
from itertools import product

import pytest
from helpers.hub import Hub

import netbandit as nb
from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.result import STILL_EXPLORING

BASE = """
run = { horizon = 400, seed = 3 }
topology = { family = "path", agents = 4 }
bandit = { kind = "bernoulli", means = [0.1, 0.9] }
learner = { kind = "elimination" }
protocol = { kind = "flooding" }
"""

ELIMINATION = ('learner={ kind = "elimination" }', 'bandit={ kind = "bernoulli", means = [0.1, 0.9] }')
FEDUCB = (
    'learner={ kind = "feducb", schedule = "fixed", every = 5 }',
    'bandit={ kind = "linear", dimension = 2, arms = 3 }',
)
TALKS = {
    "rounds": (*ELIMINATION, 'protocol.kind="flooding"', "run.horizon=300"),
    "rounds of gis": (*ELIMINATION, 'protocol.kind="gis"', "run.horizon=300"),
    "rounds of sinks and a server": (*ELIMINATION, 'protocol.kind="sink"', "run.horizon=300"),
    "broadcasts": ('learner={ kind = "ucb" }', ELIMINATION[1], 'protocol.kind="relay"'),
    "calls over a server": (*FEDUCB, 'protocol.kind="master-worker"'),
    "calls over rounds": (*FEDUCB, 'protocol.kind="gossip"'),
    "calls over local": (*FEDUCB, 'protocol={ kind = "local", ttl = 2 }'),
    "deposits": (
        FEDUCB[1], 'learner={ kind = "oful" }',
        'protocol={ kind = "parameter-server", server = "centre", answer = "lagging" }',
    ),
    "exchanges": (ELIMINATION[1], 'learner={ kind = "coop-ucb2" }', 'protocol={ kind = "consensus" }'),
    "gathers": (
        'bandit={ kind = "vertical", dimension = 4, arms = 3 }', 'learner={ kind = "linucb" }',
        'protocol={ kind = "vertical" }',
    ),
}  # fmt: skip
"""Scenarios of a few agents, one for each way in which agents talk: what to set, in overrides."""


def point_of(*overrides):
    return check(load("scenario.toml", overrides, text=BASE)).points[0]


def run(*overrides, trace=None):
    return point_of(*overrides).simulation(0).run(trace)


def hops(tmp_path, *overrides):
    """Return what was put on links in round 1: (slot after its beginning, from, to, whether it was lost)."""
    trace = tmp_path / "trace.jsonl"
    run(*overrides, trace=trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    begun = min(line["end"] for line in lines if line.get("phase") == "explore")
    return begun // 10**6, [
        ((line["start"] - begun) // 10**6, line["from"], line["to"], line.get("lost", False))
        for line in lines
        if line.get("kind") == "FLOOD" and line["round"] == 1
    ]


@pytest.mark.parametrize("what", ["nodes = [2]", "links = [[1, 2]]", "partition = [[0, 1]]", "server = true"])
@pytest.mark.parametrize("kind", ["flooding", "sink"])
def test_an_outage_that_comes_again_is_as_many_outages(what, kind):
    protocol = (f'protocol={{kind = "{kind}", deadline = "40 ms"}}',)
    again = run(*protocol, f'faults.outages=[{{ {what}, from = "20 ms", for = "15 ms", every = "90 ms" }}]')
    begins = range(20, 400, 90)
    listed = [f'{{ {what}, from = "{begin} ms", until = "{begin + 15} ms" }}' for begin in begins]
    once = run(*protocol, f"faults.outages=[{', '.join(listed)}]")
    wall = {"wall_s": None}
    assert (again.fingerprint, again.metrics | wall) == (once.fingerprint, once.metrics | wall)
    assert run(*protocol, f"faults.outages=[{listed[0]}]").fingerprint != once.fingerprint or "nodes" not in what


@pytest.mark.sampled(6)
@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize(
    ("everything", "named"),
    [("links='all'", "links=[[1, 0], [1, 2], [2, 3]]"), ("nodes='all'", "nodes=[0, 1, 2, 3]")],
)
def test_an_outage_of_all_is_one_of_each(everything, named, talk):
    found, listed = (
        run(*TALKS[talk], f"faults.outages=[{{ {what}, from = '20 ms', for = '15 ms', every = '90 ms' }}]")
        for what in (everything, named)
    )
    wall = {"wall_s": None}
    assert (found.fingerprint, found.metrics | wall) == (listed.fingerprint, listed.metrics | wall)


def test_results_of_outages_without_the_new_keys_are_still_found():
    """Nothing of them stands in the resolved scenario, by which runs are found, where they are absent."""
    (outage,) = point_of('faults.outages=[{ nodes = [3], from = "5 ms", until = "9 ms" }]').resolved["faults"][
        "outages"
    ]
    assert outage.keys() == {"links", "nodes", "server", "partition", "from", "until"}


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ('for = "5 ms", every = "5 ms"', 'every: must be longer than for = "5 ms", not "5 ms"'),
        ('every = "5 ms"', "has every, and so needs for"),
        ('for = "5 ms", until = "9 ms"', "has for and until: give one of the two"),
    ],
)
def test_outages_in_periods_that_cannot_be(keys, text):
    with pytest.raises(ScenarioError, match=text):
        point_of(f'faults.outages=[{{ nodes = [3], from = "1 ms", {keys} }}]')


def told(found):
    """Return who knows whose item is on its way in which slot: (slot, from, to) in order."""
    return sorted((slot, sender, receiver) for slot, sender, receiver, lost in found if not lost)


def test_a_cut_of_a_path_splits_what_is_known(tmp_path):
    """Path 0-1-2-3, the link 1-2 down in the first three slots of the round: nothing crosses it."""
    begin, _ = hops(tmp_path)
    outage = f'faults.outages = [{{ links = [[1, 2]], from = "{begin} ms", until = "{begin + 3} ms" }}]'
    _, found = hops(tmp_path, outage.replace("faults.outages = ", "faults.outages="))
    # Slot 0: everybody tells its neighbours its own. Slot 1: 1 passes 0's on to 2 (lost), and 2 passes 3's on to 1.
    assert told(found) == [(0, 0, 1), (0, 1, 0), (0, 2, 3), (0, 3, 2)]
    assert sorted(entry for entry in found if entry[3]) == [
        (0, 1, 2, True), (0, 2, 1, True), (1, 1, 2, True), (1, 2, 1, True),
    ]  # fmt: skip


def test_a_cut_of_a_ring_costs_no_item(tmp_path):
    ring = 'topology.family="ring"'
    begin, plain = hops(tmp_path, ring)
    outage = f'faults.outages=[{{ links = [[0, 1]], from = "{begin} ms", until = "{begin + 9} ms" }}]'
    _, found = hops(tmp_path, ring, outage)
    assert len(plain) > len(told(found))
    # The items of 0 and 1 go the long way: three hops, so the round ends a slot later.
    assert max(slot for slot, _, _, _ in plain) < max(slot for slot, _, _, _ in found)
    assert run(ring, outage).metrics["rounds"] >= 1


def test_nobody_hears_of_another_while_the_centre_of_a_star_is_down(tmp_path):
    star = 'topology.family="star"'
    begin, _ = hops(tmp_path, star)
    outage = f'faults.outages=[{{ nodes = [0], from = "{begin} ms", until = "{begin + 5} ms" }}]'
    _, found = hops(tmp_path, star, outage)
    assert sorted(found)[:3] == [(0, 1, 0, True), (0, 2, 0, True), (0, 3, 0, True)]


def test_an_agent_that_was_down_is_told_when_it_is_back_and_counts_from_the_next_round_on():
    plain = run()
    outage = 'faults.outages=[{ nodes = [3], from = "5 ms", until = "105 ms" }]'
    result = run(outage)
    assert result.metrics["absent_slots"] == 100
    assert result.metrics["availability"] == 1 - 100 / 1600
    assert plain.metrics["absent_slots"] == 0
    assert result.metrics["rounds"] >= 1
    assert result.metrics["stalled"] == 0


@pytest.mark.parametrize("kind", ["gis", "flooding", "gossip"])
def test_rounds_end_without_those_who_never_come_back(kind):
    result = run(f'protocol.kind="{kind}"', "run.horizon=2000", 'faults.outages=[{ nodes = [3], from = "5 ms" }]')
    assert result.metrics["rounds"] >= 1
    assert result.metrics["absent_slots"] == 1995


@pytest.mark.parametrize("kind", ["relay", "sink", "master-worker"])
@pytest.mark.parametrize("begin", ["5 ms", "1 ms"])
def test_who_waits_for_an_agent_that_never_comes_back_has_stalled(kind, begin):
    result = run(f'protocol.kind="{kind}"', f'faults.outages=[{{ nodes = [3], from = "{begin}" }}]')
    assert (result.metrics["rounds"], result.metrics["stalled"]) == (0, 3)
    assert any("waited at the horizon" in line for line in result.remarks)
    back = run(f'protocol.kind="{kind}"', f'faults.outages=[{{ nodes = [3], from = "{begin}", until = "3000 ms" }}]')
    assert back.metrics["stalled"] == 0  # it comes back after the horizon


def test_what_is_lost_stalls_a_round_and_the_run_says_so():
    cut = 'faults.outages=[{ links = [[1, 2]], from = "0 ms" }]'
    result = run(cut)
    assert (result.metrics["rounds"], result.metrics["round_slots"], result.metrics["stalled"]) == (0, None, 4)
    assert any("links.peer.retry" in line and "protocol.deadline ends" in line for line in result.remarks)
    (said,) = (line for line in result.remarks if "no round had ended" in line)
    assert "run.horizon" not in said  # who has stalled waits for ever


@pytest.mark.parametrize("kind", ["flooding", "gis", "local", "silent"])
def test_a_run_that_is_over_before_its_first_round_says_so(kind):
    short = run(f'protocol.kind="{kind}"', "run.horizon=20")
    assert short.metrics["rounds"] == short.metrics["messages"] == 0
    assert STILL_EXPLORING in short.remarks
    assert STILL_EXPLORING not in run(f'protocol.kind="{kind}"', "run.horizon=2000").remarks


@pytest.mark.parametrize("kind", ["flooding", "gis"])
@pytest.mark.parametrize("longer", ["run.horizon=4000", "run.slot='100 ms'"])
def test_a_run_that_ends_in_its_first_round_names_what_lets_it_end(kind, longer):
    slow = f'protocol.kind="{kind}"', 'links.peer.latency="200 ms"'
    (said,) = (line for line in run(*slow).remarks if "no round had ended" in line)
    assert longer.partition("=")[0] in said
    cured = run(*slow, longer)
    assert cured.metrics["rounds"] > 0
    assert not any("no round had ended" in line for line in cured.remarks)


def test_retries_bring_what_a_healed_cut_has_lost():
    cut = 'faults.outages=[{ partition = [[0, 1]], from = "0 ms", until = "200 ms" }]'
    assert run(cut).metrics["rounds"] == 0
    result = run(cut, 'links.peer.retry={ timeout = "20 ms", attempts = 10 }')
    assert result.metrics["rounds"] >= 1
    assert result.metrics["retransmissions"] > 0


def test_nothing_asked_for_is_nothing_changed():
    plain = run()
    for nothing in ("links.peer.loss=0", 'links.peer.jitter="0 ms"', "links.uplink.duplicate=0.0", "faults.outages=[]"):
        assert run(nothing).fingerprint == plain.fingerprint
    assert run("links.peer.loss={ per_bit = 0.0 }").fingerprint == plain.fingerprint


def test_agents_that_hear_broadcasts_stall_where_these_are_lost_and_not_where_they_are_repeated():
    """In a grid of nine all but the sink hear the server's answers as broadcasts, which are lost like all messages."""
    lossy = ('protocol.kind="sink"', 'topology={ family = "grid", agents = 9 }', "links.uplink.loss=0.2")
    stalled = 0
    for seed in range(8):
        asked = (*lossy, f"run.seed={seed}", "run.horizon=3000")
        alone, repeated = run(*asked), run(*asked, 'links.uplink.retry={ timeout = "10 ms", attempts = 20 }')
        assert (alone.metrics["stalled"] > 0) == (alone.metrics["lost"] + alone.metrics["broadcasts_missed"] > 0)
        for line in (line for line in alone.remarks if "(stalled" in line):
            stalled += 1
            assert "lost on links.uplink, with" in line
            assert "links.uplink.retry resends" in line
            assert "peer" not in line
        found = repeated.metrics
        assert (found["stalled"], found["rounds"]) == (0, 1)
        assert found["broadcast_copies"] == 8 * found["broadcasts"] == 8
        # Each of the eight acknowledges its copy or a repetition, and so do both ends of the sink's uplink.
        assert repeated.kinds["ACK"][0] >= 8 + 2
    assert stalled > 4


def test_a_remark_tells_of_attempts_that_run_out():
    repeated = 'links.peer={ loss = 0.5, retry = { timeout = "5 ms", attempts = 2 } }'
    (line,) = [line for line in run(repeated, "run.horizon=3000").remarks if "(stalled" in line]
    assert "given up on links.peer, with" in line
    assert "more links.peer.retry.attempts" in line
    assert "uplink" not in line


KEYS_OF_LINKS = {
    "loss": "0.05",
    "loss by bits": "{ per_bit = 1e-4 }",
    "loss in bursts": '{ good = 0.0, bad = 0.5, good_for = "9 ms", bad_for = "2 ms" }',
    "jitter": '"2 ms"',
    "overtaking": "true",
    "duplicate": "0.3",
    "retry": '{ timeout = "4 ms" }',
}
TIMES = [
    [f"links.{table}.{key}={value}" for table in ("peer", "uplink") for key, value in times.items()]
    for times in ({"latency": '"700 us"'}, {}, {"bandwidth": '"300 kbit/s"'})
]


@pytest.mark.ci
@pytest.mark.parametrize("key", KEYS_OF_LINKS)
def test_a_trace_changes_nothing(tmp_path, key):
    """Whatever agents talk in, and whether messages take time on their way, none, or have to queue."""
    for name, talk in TALKS.items():
        tables = ["peer", "uplink"] if "server" in name else ["peer"]
        for times, table in product(TIMES, tables):
            asked = ("run.horizon=30", *talk, *times, f"links.{table}.{key.split()[0]}={KEYS_OF_LINKS[key]}")
            plain, traced = run(*asked), run(*asked, trace=tmp_path / "t.jsonl")
            assert plain.fingerprint == traced.fingerprint, (name, times, table)
            assert plain.metrics | {"wall_s": 0} == traced.metrics | {"wall_s": 0}, (name, times, table)
            assert plain.metrics["messages"] > 0, (name, times, table)


@pytest.mark.parametrize(
    ("override", "text"),
    [
        ("links.peer.loss=1.5", "links.peer.loss: must be a probability from 0 to 1"),
        ("links.peer.duplicate=-0.1", "links.peer.duplicate: must be a number from 0 to 1, not -0.1"),
        ("links.uplink.loss={ per_bit = 2.0 }", "per_bit"),
        ("links.peer.jitter={ geometric = [30, 50] }", "the mean at most half the largest"),
        ('links.peer.retry={ timeout = "0 ms" }', "must be above 0"),
        ('faults.outages=[{ links = [[0, 2]], from = "1 s" }]', "the graph has no link between 0 and 2"),
        ('faults.outages=[{ nodes = [9], from = "1 s" }]', "the graph has no agent 9"),
        ('faults.outages=[{ server = true, from = "2 s", until = "2 s" }]', "must be after from"),
        ('faults.outages=[{ partition = [[0, 1], [1]], from = "2 s" }]', "1 is in two groups"),
        ('faults.outages=[{ nodes = "every", from = "2 s" }]', 'nodes: must be "all" or a list of agents, by'),
        ('faults.outages=[{ nodes = [true], from = "2 s" }]', "not a list with true; an outage takes links, nodes, "),
        ('faults.outages=[{ links = [0, 1], from = "2 s" }]', "such as [0, 1], not a list with 0; an outage takes"),
        ('faults.outages=[{ links = "al", from = "2 s" }]', "server = true or partition, and every where it comes"),
        ('faults.outages=[{ from = "2 s" }]', "names nothing that is down"),
        ('faults.links={ up = 0.5, up_for = "1 s" }', "has the keys of two forms"),
    ],
)
def test_a_mistake_is_told_at_its_key(override, text):
    with pytest.raises(ScenarioError) as caught:
        point_of(override)
    assert text in str(caught.value)


def test_memory_can_be_lost_only_by_a_learner_that_begins_anew():
    lost = 'faults.nodes={ up_for = "1 s", down_for = "1 s", memory = "lost" }'
    with pytest.raises(ScenarioError, match=r'faults.nodes.memory: must be "kept" with learner.kind = "coop-ucb2"'):
        point_of(lost, 'learner={ kind = "coop-ucb2" }', 'protocol={ kind = "consensus" }')
    linear = (
        'bandit={ kind = "linear", dimension = 2, arms = 4 }',
        'learner={ kind = "feducb" }',
        'protocol={ kind = "master-worker" }',
    )
    result = run(*linear, 'faults.server={ up_for = "50 ms", down_for = "10 ms" }')
    assert result.metrics["availability"] == 1.0


def test_a_timeout_shorter_than_a_round_trip_is_noted():
    study = check(load("s.toml", ['links.peer={ latency = "30 ms", retry = { timeout = "50 ms" } }'], text=BASE))
    assert any("shorter than a round trip without queueing, 60 ms" in note for note in study.notes)


def test_a_server_answers_at_its_deadline_with_what_it_has():
    """Uploads take 1 ms but that of agent 3, whose uplink is slow: with a deadline nobody waits for it."""
    server = ('protocol={ kind = "master-worker" }', 'links.uplink={ latency = { uniform = ["1 ms", "80 ms"] } }')
    patient, hasty = run(*server), run(*server, 'protocol.deadline="5 ms"')
    assert patient.metrics["rounds"] >= 1
    assert hasty.metrics["round_slots"] < patient.metrics["round_slots"]
    assert hasty.metrics["late"] > 0
    assert "late" not in patient.metrics
    # Who waits long enough hears all; then nothing but the draws, each agent's own, differs from no deadline.
    certain = ("bandit.means=[0.0, 1.0]", "run.horizon=3000")
    longest = run(*server, *certain, 'protocol.deadline="1 s"').metrics
    for name in ("regret", "rounds", "round_slots"):
        assert longest[name] == run(*server, *certain).metrics[name]


def test_a_deadline_ends_a_round_of_which_uploads_are_lost():
    server = ('protocol={ kind = "master-worker" }', 'faults.outages=[{ nodes = [3], from = "5 ms" }]')
    assert run(*server).metrics["rounds"] == 0
    assert run(*server, 'protocol.deadline="5 ms"').metrics["late"] == 0
    counting = ('learner={ kind = "ucb" }', 'protocol={ kind = "master-worker", deadline = "5 ms" }')
    with pytest.raises(ScenarioError, match="learners of rounds or calls only"):
        point_of(*counting)


@pytest.mark.ci
def test_nobody_is_stalled_who_waits_for_agents_that_still_explore(tmp_path):
    scenario = nb.Scenario(
        topology=nb.families.Star(agents=8),
        links=nb.Links(peer=nb.Link(latency="50 ms", retry={"timeout": "150 ms"})),
        bandit=nb.bandits.Bernoulli(arms=4),
        learner=nb.learners.Elimination(),
        protocol=Hub(),  # whose agent 0 is informed first, and so the first to wait for the others
        run=nb.Run(horizon=400),
    )
    found = scenario.sweep({"run.horizon": list(range(400, 800, 4))}, out=tmp_path / "found")
    metrics = found.pivot(index="run.horizon", columns="metric", values="value")
    assert (metrics["lost"] == 0).all()
    assert (metrics["stalled"] == 0).all()
    assert (metrics["waiting_slots"] > 0).sum() > 5


def test_a_timeout_below_a_nanosecond_is_one():
    """Its repetitions wait longer and longer, too, until the horizon has come."""
    law = 'links.peer={ loss = 1.0, retry = { timeout = "0.1 ns", factor = 1000, attempts = 300 } }'
    result = run(law)
    assert result.metrics["retransmissions"] < 100 * result.metrics["messages"]


CALLS = ('bandit={ kind = "linear", dimension = 2, arms = 4 }', 'learner={ kind = "linucb" }')
UCB = ('learner={ kind = "ucb" }',)
LOST = ("links.peer.loss=0.1", "links.uplink.loss=0.1")


@pytest.mark.parametrize(
    ("may", "overrides"),
    [
        (0, ()),
        (1, ("links.peer.loss=0.1",)),
        (0, ("links.peer.jitter='3 ms'",)),
        (0, ("links.peer.loss=0.1", "protocol.deadline='9 ms'")),
        (0, ("links.peer.loss=0.1", "protocol.kind=silent")),
        (0, (*CALLS, "protocol.kind=master-worker")),
        (1, (*CALLS, "protocol.kind=master-worker", *LOST)),
        (0, (*CALLS, "protocol.kind=master-worker", *LOST, 'protocol.deadline="9 ms"')),
        (0, (*CALLS, "protocol.kind=silent", *LOST)),
        (
            1,
            (
                *CALLS,
                "protocol.kind=master-worker",
                "faults.outages=[{ server = true, from = '1 ms', until = '2 ms' }]",
            ),
        ),
        (0, (*UCB, "protocol.kind=local", *LOST)),  # nobody waits
        (1, (*CALLS, "protocol.kind=parameter-server", *LOST, "links.uplink.retry.attempts=2")),
    ],
)
def test_runs_may_stall_where_agents_wait_for_what_may_be_lost(may, overrides):
    found = run("run.horizon=30", *overrides).metrics
    assert found["may_stall"] == may
    assert may or not found["stalled"]
