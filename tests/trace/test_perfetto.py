"""A trace for Perfetto and Chrome: every rule of the trace event format that a viewer relies on holds."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.running import sweeps as sweep
from netbandit.scenario.load import load
from netbandit.trace.perfetto import _rounds, convert, find_trace
from netbandit.trace.read import Lines, TraceError, Transfer

SCENARIO = """\
[run]
horizon = 3_000
[topology]
family = "ring"
agents = 5
[links.peer]
latency = "1.5 ms"
bandwidth = "100 kbit/s"
[links.uplink]
latency = "700 us"
[bandit]
kind = "bernoulli"
arms = 4
[learner]
kind = "elimination"
[protocol]
kind = "gis"
"""


def nanoseconds(event):
    assert isinstance(event["ts"], int | float)
    return round(event["ts"] * 1000)


def checked(path):
    """Return tracks, finished slices and arrows of a file that keeps the rules of the trace event format.

    Events are in the order of time; on each track slices begin and end like brackets, none is left open; each arrow
    leaves and arrives once, not before it left, and where it does a slice of a message has just begun, so that every
    viewer binds it to that slice.
    """
    whole = json.loads(path.read_text(), parse_constant=pytest.fail)
    tracks, slices, departures, arrows = {}, [], {}, {}
    open_slices = {}
    latest = 0
    for event in whole["traceEvents"]:
        assert event["pid"] == 1
        track = event["tid"]
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                assert track not in tracks
                tracks[track] = event["args"]["name"]
            continue
        assert track in tracks
        time = nanoseconds(event)
        assert time >= latest
        latest = time
        stack = open_slices.setdefault(track, [])
        if event["ph"] == "B":
            assert event["name"]
            stack.append((time, event))
        elif event["ph"] == "E":
            begin, begun = stack.pop()
            assert time > begin
            slices.append((tracks[track], begun["cat"], begun["name"], begin, time))
        else:
            begin, enclosing = stack[-1]
            assert (begin, enclosing["cat"], event["cat"]) == (time, "message", "message")
            ends = departures if event["ph"] == "s" else arrows
            assert event["ph"] == "s" or (event["ph"], event["bp"]) == ("f", "e")
            assert event["id"] not in ends
            ends[event["id"]] = (tracks[track], time, event["name"])
    assert not any(open_slices.values())
    assert departures.keys() == arrows.keys()
    assert all(departures[flow][1] <= arrows[flow][1] for flow in arrows)
    assert all(departures[flow][2] == arrows[flow][2] for flow in arrows)
    return list(tracks.values()), slices, [(*departures[flow][:2], *arrows[flow]) for flow in arrows]


def name_of(node):
    return "server" if node == "server" else f"agent {node}"


def arrows_of(lines):
    return sorted(
        (name_of(line["from"]), line["start"], name_of(line["to"]), line["arrival"], line["kind"])
        for line in lines
        if "kind" in line
    )


@pytest.fixture
def traced(tmp_path):
    def run(*overrides):
        file = tmp_path / "ring.toml"
        file.write_text(SCENARIO)
        sweep.run(check(load(file, overrides)), tmp_path / "out", trace=True)
        return find_trace(tmp_path / "out")

    return run


@pytest.mark.parametrize("protocol", ["gis", "flooding", "gossip", "master-worker", "silent"])
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_a_run_is_shown_as_it_was(traced, tmp_path, protocol, timing):
    trace = traced(f"protocol.kind={protocol}", f"protocol.timing={timing}")
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    made = convert(trace, tmp_path / "shown.json")
    tracks, slices, arrows = checked(made.path)
    assert sorted(arrows) == arrows_of(lines)
    assert made.messages == len(arrows)
    assert made.lines == made.total == len(lines)
    phases = sorted((track, begin, end) for track, category, _, begin, end in slices if category == "phase")
    assert phases == sorted((f"agent {line['agent']}", line["begin"], line["end"]) for line in lines if "phase" in line)
    for agent in range(5):  # no gap: an agent explores or exploits from the first slot to the last
        own = [(begin, end) for track, begin, end in phases if track == f"agent {agent}"]
        assert (own[0][0], own[-1][1]) == (0, 3_000 * 10**6)
        assert [end for _, end in own[:-1]] == [begin for begin, _ in own[1:]]
    rounds = [name for _, category, name, _, _ in slices if category == "round"]
    shared = {line["round"] for line in lines if line.get("phase") != "explore"} - {0}
    assert rounds == [f"round {number}" for number in sorted(shared)]
    assert made.rounds == len(rounds)
    assert (tracks[0], "server" in tracks) == ("rounds", protocol == "master-worker")
    names = {name for _, category, name, _, _ in slices if category == "phase"}
    assert "explore" in names
    assert protocol == "silent" or any(re.fullmatch(r"exploit arm \d", name) for name in names)


def test_a_round_holds_all_its_messages_and_waits(traced, tmp_path):
    trace = traced()
    _, slices, _ = checked(convert(trace, tmp_path / "shown.json").path)
    span = {name: (begin, end) for _, category, name, begin, end in slices if category == "round"}
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert len(span) > 1
    for name, (begin, end) in span.items():
        own = [line for line in lines if name == f"round {line['round']}" and line.get("phase") != "explore"]
        assert begin == min(line["sent"] if "sent" in line else line["begin"] for line in own)
        assert end == max(line["arrival"] if "arrival" in line else line["end"] for line in own)


def test_rounds_that_overlap_have_lanes_of_their_own_and_those_that_touch_share_one():
    times = {1: (0, 5_000), 2: (5_000, 9_000), 3: (8_000, 12_000)}
    lines = Lines(
        messages=[Transfer("ADV", number, 0, 1, 20, sent, sent, end) for number, (sent, end) in times.items()]
    )
    assert _rounds(lines) == [(1, 0, 5_000, 0), (2, 5_000, 9_000, 0), (3, 8_000, 12_000, 1)]


def test_rounds_that_take_no_time_are_shown(tmp_path):
    ends = {"kind": "RELAY", "from": 0, "to": 1, "bytes": 20}
    lines = [ends | {"round": 1 + time // 500} | dict.fromkeys(("sent", "start", "arrival"), time) for time in (0, 500)]
    (tmp_path / "trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = convert(tmp_path / "trace.jsonl", tmp_path / "shown.json")
    _, slices, _ = checked(made.path)
    assert [one for one in slices if one[1] == "round"] == [
        ("rounds", "round", "round 1", 0, 1000),
        ("rounds (2)", "round", "round 2", 500, 1500),
    ]
    assert made.rounds == 2


nodes = st.one_of(st.integers(0, 3), st.just("server"))
times = st.one_of(st.integers(0, 30), st.integers(0, 10**10))


@st.composite
def messages(draw):
    sent, start, arrival = sorted(draw(st.tuples(times, times, times)))
    fields = {"kind": draw(st.sampled_from(["ADV", "REQ"])), "round": draw(st.integers(0, 4)), "bytes": 20}
    return fields | {"from": draw(nodes), "to": draw(nodes), "sent": sent, "start": start, "arrival": arrival}


borders = st.lists(times, unique=True, max_size=6).map(sorted)


@examples(150)
@given(st.lists(messages(), max_size=25), st.dictionaries(st.integers(0, 3), borders))
def test_any_trace_keeps_the_rules(tmp_path_factory, sent, played):
    folder = tmp_path_factory.mktemp("trace")
    lines = sent + [
        {"phase": "exploit", "agent": agent, "round": number, "begin": begin, "end": end, "arm": 1}
        for agent, own in played.items()
        for number, (begin, end) in enumerate(pairwise(own))
    ]
    (folder / "trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = convert(folder / "trace.jsonl", folder / "shown.json")
    _, slices, arrows = checked(made.path)
    assert sorted(arrows) == arrows_of(lines)
    assert sum(category == "phase" for _, category, *_ in slices) == len(lines) - len(sent)
    assert sum(category == "round" for _, category, *_ in slices) == made.rounds  # also those that take no time


def call(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.stdout, done.stderr


def test_the_command_takes_a_run_a_trace_or_a_folder_of_results(traced, tmp_path):
    trace = traced()
    for place in (trace, trace.parent, tmp_path / "out"):
        (trace.parent / "trace.perfetto.json").unlink(missing_ok=True)
        code, output, errors = call("trace", place, "--format", "perfetto")
        assert (code, errors) == (0, "")
        assert output.startswith(f"trace: {trace}\nperfetto: {trace.parent / 'trace.perfetto.json'}, ")
        checked(trace.parent / "trace.perfetto.json")
    assert call("trace", trace, "--out", tmp_path / "mine.json")[0] == 0
    assert (tmp_path / "mine.json").read_bytes() == (trace.parent / "trace.perfetto.json").read_bytes()


def test_a_long_trace_is_cut_and_says_how_to_get_all(traced, tmp_path):
    trace = traced()
    total = len(trace.read_text().splitlines())
    code, _, errors = call("trace", trace, "--limit", 20)
    assert code == 0
    assert errors == f"only the first 20 of {total} lines of the trace are in it; --limit {total} takes all\n"
    _, slices, arrows = checked(trace.parent / "trace.perfetto.json")
    assert len(arrows) + sum(category == "phase" for _, category, *_ in slices) == 20
    assert call("trace", trace, "--limit", total)[2] == ""


def test_what_is_no_trace_is_one_clear_line(tmp_path):
    code, output, errors = call("trace", tmp_path / "nothing")
    assert (code, output) == (2, "")
    assert "nothing is not there" in errors
    code, _, errors = call("trace", tmp_path)
    assert code == 2
    assert "run the scenario with --trace" in errors
    file = tmp_path / "trace.jsonl"
    good = '{"phase": "explore", "agent": 1, "round": 1, "begin": 0, "end": 5}'
    for bad in ("{}", "no", "3", '{"kind": "ADV", "round": 1, "from": "x", "to": 1}', good[:-9]):
        file.write_text(f"{good}\n{bad}\n")
        code, output, errors = call("trace", file)
        assert (code, output, errors) == (
            2,
            "",
            f"Error: {file}:2: this is not a line of a trace as --trace writes it\n",
        )
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(TraceError, match="is not text"):
        convert(file, Path(tmp_path / "shown.json"))


def test_a_late_reward_is_a_slice_that_may_overlap_others(tmp_path):
    trace = tmp_path / "trace.jsonl"
    rewards = [
        {"reward": 2, "agent": 1, "pulled": 0, "due": 9000},
        {"reward": 0, "agent": 1, "pulled": 2000, "due": 5000},
    ]
    trace.write_text("".join(json.dumps(line) + "\n" for line in rewards))
    made = convert(trace, tmp_path / "out.json")
    assert (made.rewards, made.messages, made.lines) == (2, 0, 2)
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    found = [(event["ph"], event["ts"], event["name"], event["id"]) for event in events if event["ph"] in "be"]
    assert found == [
        ("b", 0, "reward of arm 2", 1),
        ("b", 2, "reward of arm 0", 2),
        ("e", 5, "reward of arm 0", 2),
        ("e", 9, "reward of arm 2", 1),
    ]
    trace.write_text('{"reward": 2, "agent": -1, "pulled": 0, "due": 9000}\n')
    with pytest.raises(TraceError, match=r"trace.jsonl:1: this is not a line of a trace"):
        convert(trace, tmp_path / "out.json")
