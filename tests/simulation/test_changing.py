"""Networks whose links come and go: how they are written, and that they run as networks whose links fail then."""

import re
from functools import cache

import pytest
from click.testing import CliRunner
from helpers.scenes import study

from netbandit.checks.check import check
from netbandit.cli.topologies import topology
from netbandit.conditions.contacts import build_contacts
from netbandit.conditions.graph import topology_streams
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load, load_tables
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.execution import executed
from netbandit.testing.scenes import put_over

ROUNDS = {
    "run": {"horizon": 200, "slot": "1 ms"},
    "topology": {"family": "grid", "agents": 6},
    "links": {"peer": {"latency": "700 us"}},
    "bandit": {"kind": "bernoulli", "means": [0.1, 0.9]},
    "learner": {"kind": "elimination", "rounds": 2, "gap": 0.9},
    "protocol": {"kind": "flooding"},
}
OTHERS = {
    "local": {"learner": {"kind": "ucb"}},
    "consensus": {"learner": {"kind": "coop-ucb2"}},
    "parameter-server": {
        "bandit": {"kind": "linear", "dimension": 2, "arms": 3},
        "learner": {"kind": "linucb"},
        "protocol": {"kind": "parameter-server", "server": "centre", "deadline": "20 ms"},
    },
    "vertical": {"bandit": {"kind": "vertical", "dimension": 6, "arms": 3}, "learner": {"kind": "linucb"}},
}
PROTOCOLS = "gis", "flooding", "gossip", "relay", "sink", "local", "consensus", "parameter-server", "vertical"
LAWS = [
    {"born": 0.2, "dies": 0.3, "every": "2 slots"},
    {"up": 0.7, "every": "1.5 ms"},
    {"matching": "random", "every": "5 ms"},
    {"up_for": "7 ms", "every": "10 ms", "phase": "stagger"},
]


def point_of(*over):
    tables = ROUNDS
    for one in over:
        tables = put_over(tables, one)
    return check(load_tables(tables)).points[0]


def over(kind, **more):
    return put_over(put_over({"protocol": {"kind": kind}}, OTHERS.get(kind, {})), more)


def changing(law, **more):
    """Return a topology whose links come and go by a law; None: they are always up."""
    if law is None:
        return {}
    return {"topology": {"family": "grid", "agents": 6, "changes": law, "neighbours": "unknown", **more}}


def run(*tables):
    with executed("plain"):
        return point_of(*tables).simulation(0).run()


WAITING = {
    kind: over(kind) for kind in ("flooding", "relay", "sink", "local", "consensus", "parameter-server", "vertical")
}
AT_ONCE = {"links": {"peer": {"latency": "0 ms"}}}
CALLS = {"bandit": {"kind": "linear", "dimension": 2, "arms": 3}, "learner": {"kind": "feducb", "threshold": 1.0}}
MANY_ARMS = {"kind": "bernoulli", "means": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9]}
CHOOSING = {
    "gossip": over("gossip"),
    "asks": over("gossip", learner={"kind": "gosine"}, bandit=MANY_ARMS, run={"horizon": 3_000}),
    "floods": over("local", protocol={"kind": "local", "route": "flood", "ttl": 2}),
    "calls": over("local", **CALLS, protocol={"kind": "local", "ttl": 2, "deadline": "3 slots"}),
    "slots": over("consensus", protocol={"kind": "consensus", "pace": "slot"}, **AT_ONCE),
}
SEEN = {"neighbours": "sensed"}
ALL = {kind: over(kind) for kind in PROTOCOLS} | CHOOSING
WAYS = [(name, "unknown") for name in ALL] + [(name, "sensed") for name in WAITING | CHOOSING]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "neighbours"), WAYS)
def test_links_that_are_always_up_change_nothing(tmp_path, name, neighbours):
    """By a law, and as a trace of contacts from the beginning to the horizon."""
    static = always_up(name)
    law = {"up": 1.0} if neighbours == "sensed" else {"born": 0.5, "dies": 0.0, "begin": 1.0}
    assert run(ALL[name], changing(law, neighbours=neighbours)).fingerprint == static.fingerprint
    end = point_of(ALL[name]).scenario.run.horizon / 1_000
    lines = [f"{one} {other} 0 {end}\n" for one, other in point_of().topology(0).edges.tolist()]
    (tmp_path / "contacts.txt").write_text("".join(lines))
    found = run(ALL[name], listed(tmp_path / "contacts.txt", neighbours))
    assert found.fingerprint == static.fingerprint
    assert found.metrics["messages"] > 0


@cache
def always_up(name):
    return run(ALL[name], changing(None))


def listed(file, neighbours, **more):
    """Return a topology of the contacts in a file."""
    return {
        "topology": {"family": "contacts", "file": str(file), "format": "intervals", "neighbours": neighbours} | more
    }


@pytest.mark.sampled(6)
@pytest.mark.parametrize("tables", [*WAITING.values(), *CHOOSING.values()], ids=[*WAITING, *CHOOSING])
def test_links_that_are_seen_up_all_the_time_change_nothing(tables):
    """By the rules of links that come and go: they go after the run, which nobody knows."""
    law = {"up_for": "60 s", "every": "100 s", "phase": "together"}
    found, static = run(tables, changing(law, **SEEN)), run(tables, changing(None))
    assert found.fingerprint == static.fingerprint
    assert found.metrics["messages"] > 0
    assert not any(found.metrics.get(name) for name in ("waited_slots", "cut_off", "unsent"))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("tables", CHOOSING.values(), ids=CHOOSING)
def test_who_chooses_speaks_to_those_who_are_there(tables):
    """What is sent gets through, if the link does not go down on the way, and fewer messages are sent."""
    law = {"born": 0.2, "dies": 0.3, "every": "2 slots"}
    static, found = run(tables, changing(None)), run(tables, changing(law, **SEEN))
    unseen = run(tables, changing(law))
    assert found.metrics["messages"] > 0
    if tables is not CHOOSING["asks"]:  # of which answers start later than questions
        assert found.metrics["lost"] == 0  # hops take less than the rest of a period
    assert unseen.metrics["lost"] > 0
    if "gossip" not in str(tables["protocol"]["kind"]):  # which waits longer
        assert found.metrics["messages"] < static.metrics["messages"]


@pytest.mark.parametrize("pace", ["slot", "step"])
def test_consensus_over_links_that_are_seen_keeps_sums(pace):
    tables = over("consensus", protocol={"kind": "consensus", "pace": pace}, **AT_ONCE)
    assert run(tables, changing({"up": 0.6}, **SEEN)).metrics["mass"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("law", "protocol"), [(LAWS[0], "relay"), (LAWS[1], "flooding"), (LAWS[2], "sink")])
def test_what_waits_for_its_link_gets_through(law, protocol):
    found = run(over(protocol), changing(law, **SEEN)).metrics
    assert found["rounds"] == 1
    assert found["stalled"] == 0
    assert found["lost"] == found["cut_off"]
    assert found["waited_slots"] > 0
    assert found["delivery_ratio"] == found["delivered"] / (found["messages"] + found["unsent"])


def test_protocols_that_cannot_see_their_neighbours_go_say_so():
    with pytest.raises(ScenarioError, match=r'topology\.neighbours: must be "unknown"'):
        point_of(over("gis"), changing(LAWS[0], **SEEN))
    with pytest.raises(ScenarioError, match='"local" does not say without a deadline'):
        point_of(over("local", **CALLS), changing(LAWS[0], **SEEN))
    with pytest.raises(ScenarioError, match=r"protocol\.carry: must be left out"):
        point_of(over("flooding"), {"protocol": {"carry": "3 ms"}}, changing(LAWS[0]))
    point_of(over("flooding"), {"protocol": {"carry": "3 ms"}}, changing(LAWS[0], **SEEN))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("law", "name"), [(LAWS[place % len(LAWS)], name) for place, name in enumerate(ALL)])
def test_unseen_contacts_are_outages_in_between(law, name):
    point = point_of(ALL[name], changing(law))
    topology, slot = point.topology(0), 10**6
    end = point.scenario.run.horizon * slot
    contacts = build_contacts(point.family, topology, topology_streams(point.family, 0, 0), slot, end)
    outages = []
    for link, pair in enumerate(topology.edges.tolist()):
        for begin, until in contacts.gaps(link):
            if begin > end + slot:
                break
            outages.append({"links": [pair], "from": f"{begin} ns", "until": f"{until} ns"})
    with executed("plain"):
        expected, found = run(ALL[name], changing(None), {"faults": {"outages": outages}}), point.simulation(0).run()
    assert found.fingerprint == expected.fingerprint
    for name, value in expected.metrics.items():
        if name not in ("wall_s", "recovery_slots"):  # which is of scripted outages
            assert found.metrics[name] == value, name
    assert found.metrics["lost"] > 0


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the contacts of a law by which every link comes up in the run, so that the graph is the same too."""
    file = tmp_path_factory.mktemp("written") / "contacts.txt"
    law = '{ up_for = "7 ms", every = "10 ms" }'
    family = ["--set", f"topology.changes={law}", "--set", "run.horizon=3000", "--agents", "6"]
    done = CliRunner().invoke(topology, ["grid", *family, "--contacts", str(file)])
    assert done.exit_code == 0, done.output
    assert re.search(r"^pairs that can be reached +30 of 30$", done.output, re.MULTILINE)
    return file


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "neighbours"), WAYS)
def test_a_law_that_is_written_and_read_again_runs_the_same(written, name, neighbours):
    expected = run(ALL[name], changing({"up_for": "7 ms", "every": "10 ms"}, neighbours=neighbours))
    found = run(ALL[name], listed(written, neighbours, agents=6))
    assert found.fingerprint == expected.fingerprint
    assert found.metrics["contacts"] == expected.metrics["contacts"] > 0


UNIX = 1_300_000_000
FAR = {
    "contacts": ("0 1 1300000005 1300000009\n2 5 1300000006 inf\n3 4 1300000006 1300000007\n", {"format": "intervals"}),
    "mobile": (
        "".join(f"1300000005 {node} 0 1300000009 0 0\n" for node in range(0, 60, 10)),
        {"format": "bonnmotion", "model": "file", "range": "1 m"},
    ),
}


def far(tmp_path, family, **more):
    """Return a topology of a file of which no run sees anything."""
    content, keys = FAR[family]
    (tmp_path / "far.txt").write_text(content)
    return {"family": family, "file": str(tmp_path / "far.txt"), **keys, **more}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("family", "name", "neighbours"),
    [
        ("contacts", "local", "sensed"),
        ("contacts", "sink", "unknown"),
        ("contacts", "floods", "sensed"),
        ("mobile", "calls", "sensed"),
    ],
)
def test_a_run_without_a_contact_is_none_over_links_that_are_always_up(tmp_path, family, name, neighbours):
    found = run(ALL[name], {"topology": far(tmp_path, family, neighbours=neighbours)})
    assert (found.metrics["contacts"], found.metrics["degree"], found.metrics["connected"]) == (0, 0, 0)


@pytest.mark.parametrize("family", FAR)
def test_a_file_of_which_a_run_sees_nothing_is_noted_with_the_time_at_which_it_begins(tmp_path, family):
    tables = put_over(put_over(ROUNDS, over("local")), {"topology": far(tmp_path, family)})
    said = 'in the run: it is 0 s to 0.2 s of the file, whose .* from 1300000005 s .*; from = "1300000005 s" would .*'
    alone, note = check(load_tables(tables)).notes
    assert "which hear nothing of one another over local: each learns on its own" in alone
    assert re.search(f"topology.from: nobody .* {said}$", note)
    with pytest.raises(ScenarioError, match=f"(?s)needs a connected graph.*topology.from: nobody .* {said}"):
        check(load_tables(put_over(tables, over("gossip"))))
    seen = check(load_tables(put_over(tables, {"topology": {"from": f"{UNIX + 5} s"}}))).notes
    assert not [note for note in seen if "topology.from" in note]


@pytest.mark.parametrize(
    "family", [pytest.param(family, marks=pytest.mark.ci if family == "mobile" else ()) for family in FAR]
)
def test_contacts_of_which_there_are_none_are_no_links_that_are_always_up(tmp_path, family):
    target = tmp_path / "contacts.txt"
    options = [f"--set={key}={value}" for key, value in far(tmp_path, family).items() if key != "family"]
    done = CliRunner().invoke(topology, [family, *options, "--set=run.horizon=9", "--contacts", str(target)])
    assert done.exit_code == 0, done.output
    assert re.search(r"^contacts +0$", done.output, re.MULTILINE)
    assert "topology.from: nobody" in done.output
    assert target.read_text() == "# 6 agents; A B FROM UNTIL, in seconds\n"


def test_a_trace_has_no_law_of_its_own(tmp_path):
    (tmp_path / "contacts.txt").write_text("0 1 0 0.2\n1 2 0.1\n")
    with pytest.raises(ScenarioError, match=r"topology\.changes: must be left out"):
        point_of(listed(tmp_path / "contacts.txt", "sensed", changes={"up": 0.5}))
    with pytest.raises(ScenarioError, match=r"topology\.file: .*contacts\.txt:2: must be A B FROM UNTIL"):
        point_of(listed(tmp_path / "contacts.txt", "sensed"))


def test_which_links_to_add_is_not_asked_where_they_come_and_go():
    asked = CliRunner().invoke(topology, ["ring", "--agents", "6", "--set", "changes={ up = 0.5 }", "--what-if", "1"])
    assert asked.exit_code == 2
    assert "come and go" in asked.output


def test_the_topology_s_seed_fixes_them():
    topology = {"family": "grid", "agents": 6, "changes": {"up": 0.5}, "neighbours": "unknown"}
    figures = {}
    for seed in (None, 3):
        point = point_of({"topology": topology | ({} if seed is None else {"seed": seed})})
        figures[seed] = [point.simulation(number).run().metrics["contacts"] for number in (0, 1)]
    assert figures[None][0] != figures[None][1]
    assert figures[3][0] == figures[3][1]


@pytest.mark.parametrize(
    ("law", "place", "words"),
    [
        ("{ up = 0.5, born = 0.1, dies = 0.1 }", "topology.changes", "has the keys of two models"),
        ('{ every = "1 slot" }', "topology.changes", "names no model"),
        ("3", "topology.changes", "must be { born"),
        ("{ up = 1.5 }", "topology.changes.up", "must be a number from 0 to 1"),
        ("{ born = 0.1 }", "topology.changes.dies", "is missing"),
        ("{ born = 0.0, dies = 0.0 }", "topology.changes", "or a share as begin"),
        ('{ matching = "best" }', "topology.changes.matching", '"random"'),
        ('{ up_for = "10 ms", every = "10 ms" }', "topology.changes.up_for", 'must be shorter than every = "10 ms"'),
        ('{ up = 0.5, every = "0 ms" }', "topology.changes.every", "must be above 0"),
        ('{ up = 0.5, every = "10 ns" }', "topology.changes.every", "at most 4,194,304 are possible"),
    ],
)
def test_laws_that_cannot_be(law, place, words):
    text = (
        f'[run]\nhorizon = 300\n[topology]\nfamily = "ring"\nagents = 6\nneighbours = "unknown"\nchanges = {law}\n'
        + ('[bandit]\nkind = "bernoulli"\nmeans = [0.1, 0.9]\n[learner]\nkind = "ucb"\n[protocol]\nkind = "local"\n')
    )
    with pytest.raises(ScenarioError) as error:
        check(load("scenario.toml", text=text))
    (line,) = error.value.lines
    assert f": {place}: " in line
    assert words in line


def test_keys_without_effect_are_noted():
    notes = check(load_tables(put_over(ROUNDS, {"topology": {"family": "ring", "agents": 4, "neighbours": "unknown"}})))
    assert any("topology.neighbours: is used only where links come and go" in note for note in notes.notes)
    notes = check(load_tables(put_over(put_over(ROUNDS, {"protocol": {"kind": "silent"}}), changing(LAWS[0]))))
    assert any("topology.changes: has no effect" in note for note in notes.notes)


NEVER_APART = {
    "moving": {"family": "mobile", "agents": 4, "area": ["10 m", "10 m"], "range": "50 m", "speed": ["1 m/s", "2 m/s"]},
    "law": {"family": "complete", "agents": 4, "changes": {"up": 1.0}, "neighbours": "sensed"},
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("topology", NEVER_APART)
@pytest.mark.parametrize("kind", ["flooding", "relay", "sink", "local", "parameter-server", "vertical"])
@pytest.mark.parametrize("more", [{}, {"route": "flood", "ttl": 2}])
def test_where_links_never_go_nothing_is_carried(topology, kind, more):
    keys = more if kind == "local" else {}
    always = {"family": "complete", "agents": 4}
    keys = {"kind": kind, **OTHERS.get(kind, {}).get("protocol", {}), **keys}
    constant = point_of(over(kind, protocol=keys), {"topology": always}).simulation(0).run()
    seen = {"topology": {**NEVER_APART[topology], "neighbours": "sensed"}}
    carried = point_of(over(kind, protocol={**keys, "carry": "1 s"}), seen).simulation(0).run()
    same = "regret", "messages", "delivered", "bytes"
    assert [carried.metrics[name] for name in same] == [constant.metrics[name] for name in same]


@pytest.mark.ci
@pytest.mark.parametrize("table", ["topology.changes.up", "faults.links.up"])
@pytest.mark.parametrize("up", ["1e-9", "0.9999999"])
def test_what_is_hardly_ever_so_is_not_looked_for_period_by_period(tmp_path, table, up):
    """At 1e-9 the first contact would be found after some 10^9 numbers of each link, at the end of the shortest run."""
    text = toml_text(put_over(ROUNDS, OTHERS["local"] | {"protocol": {"kind": "local"}}))
    with pytest.raises(ScenarioError, match=re.escape(f"{table}: must be 0, 1, or at least 1e-06 from both")):
        study(tmp_path, f"{table}={up}", text=text)
    assert study(tmp_path, f"{table}=1e-6", text=text).points[0].simulation(0).run().metrics["regret"] is not None


def test_links_that_are_never_up_at_a_boundary_carry_nothing():
    """What waits for one waits to the end of the run, and not for a boundary that never comes."""
    law = {"up_for": "0.3 ms", "every": "7 ms", "phase": "stagger"}
    found = run(changing(law, neighbours="sensed"), over("relay"), {"learner": {"kind": "ucb"}, "run": {"horizon": 9}})
    assert 0 < found.metrics["unsent"] < found.metrics["handed"]
