"""Contacts from files: what each format says, what is wrong with a file, and that nothing else happens."""

import csv
import gzip
import os
import random
from functools import partial
from itertools import pairwise
from time import process_time

import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network import contact_files
from netbandit.network.contact_files import FOR_EVER, listed, meetings, read, write
from netbandit.network.contacts import contacts_until
from netbandit.network.topology import TopologyError

S = 10**9
READERS = {
    "one": contact_files.one,
    "moments": partial(contact_files.moments, window=20 * S),
    "intervals": contact_files.intervals,
    "ion": contact_files.ion,
}


def trace_of(tmp_path, form, content):
    file = tmp_path / "trace.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(file, READERS[form])


def contacts_of(trace):
    names = [[trace.ids[end] for end in pair] for pair in trace.ends.tolist()]
    return sorted((*sorted(pair), begin, end) for pair, begin, end in zip(names, trace.begin, trace.end, strict=True))


SAID = [
    (
        "one",
        "0 CONN 1 2 up\n1.5 CONN 7 2 up\n1.5 C M1 1 2 500\n2 CONN 2 1 down\n",
        [("1", "2", 0, 2 * S), ("2", "7", 3 * S // 2, FOR_EVER)],
    ),
    (
        "one",
        "0 CONN p1 c2 UP wlan\n1 CONN c2 p1 Up bt\n2 CONN p1 c2 DOWN wlan\n3 CONN p1 c2 down bt\n",
        [("c2", "p1", 0, 2 * S), ("c2", "p1", S, 3 * S)],
    ),
    (
        "moments",
        "100 a b x y\n100 b c\n\n120 b a\n",
        [("a", "b", 100 * S, 120 * S), ("a", "b", 120 * S, 140 * S), ("b", "c", 100 * S, 120 * S)],
    ),
    (
        "intervals",
        "# who\na b 1 2.000000001\r\nb a 1e3 inf\n",
        [("a", "b", S, 2 * S + 1), ("a", "b", 1000 * S, FOR_EVER)],
    ),
    ("intervals", "\ufeffuntil, a,FROM,b,note\n3,x,1,y,\n", [("x", "y", S, 3 * S)]),
    ("intervals", "A B FROM UNTIL\nx y 1 3\n", [("x", "y", S, 3 * S)]),
    ("intervals", "FROM UNTIL a b\n1 3 x y\n", [("x", "y", S, 3 * S)]),
    ("intervals", 'A;B;FROM;UNTIL;\n"Ada; L.";y;1;3;\n', [("Ada; L.", "y", S, 3 * S)]),
    ("intervals", gzip.compress(b"A,B,FROM,UNTIL\r\nx,y,1,3\r\n", mtime=0), [("x", "y", S, 3 * S)]),
    ("moments", "# t;i;j\n20;x;y;1\n", [("x", "y", 20 * S, 40 * S)]),
    ("moments", "20\tx\t y\n", [("x", "y", 20 * S, 40 * S)]),
    (
        "ion",
        "m production 1\na contact +0 +9 1 2 1000\na contact +5 +20 2 1 1000\na range +0 +20 1 2 3\n",
        [("1", "2", 5 * S, 9 * S)],
    ),
]


@pytest.mark.parametrize(("form", "content", "expected"), SAID)
def test_each_format_says_who_meets_and_when(tmp_path, form, content, expected):
    assert contacts_of(trace_of(tmp_path, form, content)) == expected


def test_a_contact_plan_has_latencies_and_says_what_is_left_out(tmp_path):
    trace = trace_of(tmp_path, "ion", SAID[-1][1] + "a contact +0 +9 1 1 5\na range +9 +20 1 2 4\n")
    assert dict(trace.latencies) == {(0, 1): "3 s"}
    assert set(trace.notes) == {
        "rates", "contacts of a node with itself", "what only one direction of a link has",
        "ranges but the first of each link",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("form", "content", "said"),
    [
        ("intervals", "until,a,from,b,note,\n3,x,1,y,z,\n", {"the columns note"}),
        ("intervals", "A B FROM UNTIL RATE colour\nx y 1 3 4 5\n", {"the columns RATE, colour"}),
        ("intervals", "x y 1 3\n", set()),
        ("moments", "20 x y 1A 1B\n40 x y\n", {"what follows the two nodes (2 fields)"}),
        ("moments", "20 x y\n", set()),
    ],
)
def test_columns_that_are_not_used_are_said(tmp_path, form, content, said):
    assert set(trace_of(tmp_path, form, content).notes) == said


WRONG = [
    ("one", "0 CONN 1 2 up\n1 CONN 1 2\n", 2, "must be TIME CONN A B up|down"),  # cut off
    ("one", "0 CONN 1 2 up\n1 CONN 2 1 up\n", 2, "2 and 1 are connected already, since line 1"),
    ("one", "0 CONN 1 2 up\n1 CONN 1 3 down\n", 2, "1 and 3 are not connected"),
    ("one", "5 CONN 1 2 up\n1 CONN 1 2 down\n", 2, "runs back in time, to 1 s"),
    ("one", "5 CONN 1 1 up\n", 1, 'node "1" meets itself'),
    ("moments", "5 1\n", 1, "must be TIME A B"),
    ("moments", "5 1 2\n4 1 2\n", 2, "runs back in time, to 4 s"),
    ("moments", "five 1 2\n", 1, '"five" is no time: must be a number of seconds'),
    ("moments", "1_0 1 2\n", 1, '"1_0" is no time'),
    ("moments", "9e99 1 2\n", 1, "is too late"),
    ("moments", b"1 a b\n\xe4 a b\n", 2, "the byte 0xe4 is not UTF-8"),
    ("moments", "1 a b\n".encode("utf-16"), 1, "is text in UTF-16"),
    ("moments", b"1 a b\n1 a\0b c\n", 2, "has a zero byte"),
    ("one", b"1 CONN a b up " + b"x" * (1 << 24), 1, "is longer than 16,777,216 characters"),
    ("intervals", "1 2 5 4\n", 1, "UNTIL must be after FROM, 5, not 4"),
    ("intervals", "1 2 5\n", 1, "must be A B FROM UNTIL"),
    ("intervals", "a,b,from\n1,2,3\n", 1, "must name the columns A, B, FROM, UNTIL"),
    ("intervals", 'a,b,from,until\n"1,2,3,4\n', 2, "a double quote is opened and never closed"),
    ("intervals", "a,b,from,until\n1,2,3,4\n1,2,3\n", 3, "has 3 fields, but line 1 names 4 columns"),
    ("intervals", "a,b,from,until,A\n1,2,3,4,5\n", 1, "must name the columns A, B, FROM, UNTIL, each once"),
    ("intervals", "1,2,3,4\n", 1, "must name the columns A, B, FROM, UNTIL"),
    ("intervals", "1 2 3 4\n1 2 3 4 5\n", 2, "must be A B FROM UNTIL"),
    ("ion", "a contact +5 +4 1 2 9\n", 1, "must end after +5, not at +4"),
    ("ion", "a contact 2026/01/01-00:00:00 +4 1 2 9\n", 1, "must be a time from the plan's begin on"),
    ("ion", "a range +0 +4 1 2 far\n", 1, '"far" is no range'),
    ("ion", "a plan +0 +4 1 2 far\n", 1, "must be a contact +FROM +UNTIL A B RATE"),
]


@pytest.mark.parametrize(("form", "content", "line", "words"), WRONG)
def test_what_is_wrong_is_said_with_its_line(tmp_path, form, content, line, words):
    with pytest.raises(TopologyError) as error:
        trace_of(tmp_path, form, content)
    ((path, text),) = error.value.problems
    assert path == ("file",)
    assert text.startswith(f"{tmp_path / 'trace.txt'}:{line}: ")
    assert words in text


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("pipe", "is a pipe, must be a file"), ("none", "cannot be read: No such file or directory")):
        for reader in READERS.values():
            with pytest.raises(TopologyError) as error:
                read(tmp_path / name, reader)
            assert error.value.problems == [(("file",), f"{tmp_path / name}: {words}")]


def test_too_many_lines_end_soon(tmp_path, monkeypatch):
    monkeypatch.setattr(contact_files, "MOST_LINES", 3)
    with pytest.raises(TopologyError, match=":4: the file has more than 3 lines"):
        trace_of(tmp_path, "moments", "1 a b\n" * 9)


WORDS = st.sampled_from(
    ["CONN", "up", "down", "a", "contact", "range", "+0", "+9", "0", "1", "2", "3.5", "-1", "inf", "1e9", "A", ",",
     "FROM", "UNTIL", "B", "é", "#", "", "nan", "9" * 30, "m"]
)  # fmt: skip


@given(
    st.sampled_from(sorted(READERS)),
    st.lists(st.lists(WORDS, max_size=8), max_size=6),
    st.binary(max_size=4),
    st.sampled_from("  ,"),
)
@examples(150)
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path_factory, form, lines, rest, comma):
    content = "\n".join(comma.join(words) for words in lines).encode() + rest
    try:
        trace = trace_of(tmp_path_factory.getbasetemp(), form, content)
    except TopologyError:
        return
    assert (trace.end > trace.begin).all()
    assert (trace.ends[:, 0] < trace.ends[:, 1]).all()


TIMES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-9, 30), st.integers(1, 9)), max_size=9)


@given(TIMES)
def test_contacts_of_a_pair_that_touch_are_one(drawn):
    drawn = [
        (min(one, other), max(one, other), begin, begin + span) for one, other, begin, span in drawn if one != other
    ]
    columns = np.array(drawn, dtype=np.int64).reshape(-1, 4)
    edges, contacts = listed(columns[:, :2], columns[:, 2], columns[:, 3])
    assert edges.tolist() == sorted(map(list, {(one, other) for one, other, _, _ in drawn}))
    for link, pair in enumerate(edges.tolist()):
        times = contacts.times[contacts.first[link] : contacts.first[link + 1]].tolist()
        moments = {time for one, other, begin, end in drawn if [one, other] == pair for time in range(begin, end)}
        assert {time for begin, end in times for time in range(begin, end)} == moments
        assert all(end < begin for (_, end), (begin, _) in pairwise(times))


def test_links_are_the_pairs_that_meet_in_the_run(tmp_path):
    trace = trace_of(tmp_path, "intervals", "c b 10 14\na c 3 5\nb a 0 1\na b 4 30\nc a 9 9.5\n")
    found = meetings(trace, 4 * S, 5 * S)
    assert found.names == ["a", "b", "c"]
    assert found.edges.tolist() == [[0, 1], [0, 2]]
    up = contacts_until(found.contacts, 2, 5 * S)
    assert [column.tolist() for column in up] == [[0, 1], [0, 0], [5 * S, S]]
    assert meetings(trace_of(tmp_path, "intervals", "10 9 1 2\n2 9 1 2\n"), 0, 9 * S).names == ["2", "9", "10"]
    assert len(meetings(trace_of(tmp_path, "intervals", "0 3 1 2\n"), 0, 9 * S, agents=5).names) == 5
    with pytest.raises(TopologyError, match='names the node "3"; with agents = 3 they are 0 to 2'):
        meetings(trace_of(tmp_path, "intervals", "0 3 1 2\n"), 0, 9 * S, agents=3)
    with pytest.raises(TopologyError, match="names no node"):
        meetings(trace_of(tmp_path, "intervals", ""), 0, 9 * S)


@given(TIMES)
@examples(30)
def test_what_is_written_is_read_again(tmp_path_factory, drawn):
    drawn = [
        (one, other, begin * 7, FOR_EVER if span == 9 else begin * 7 + span)
        for one, other, begin, span in drawn
        if one < other and begin >= 0
    ]
    columns = np.array(drawn, dtype=np.int64).reshape(-1, 4)
    edges, contacts = listed(columns[:, :2], columns[:, 2], columns[:, 3])
    file = tmp_path_factory.getbasetemp() / "written.txt"
    with file.open("w") as target:
        write(target, contacts_until(contacts, len(edges), 10**3, clipped=False), edges, 4)
    found = meetings(read(file, contact_files.intervals), 0, 10**3, agents=4)
    assert (found.edges == edges).all()
    assert (found.contacts.times == contacts.times).all()
    assert (found.contacts.first == contacts.first).all()


SECONDS = st.integers(0, 10**5).map(lambda number: number / 1000)
MET = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), SECONDS, SECONDS), min_size=1, max_size=9)


@given(MET)
@examples(60)
def test_contacts_are_read_as_they_were_written_in_each_format(tmp_path_factory, met):
    folder = tmp_path_factory.getbasetemp()
    met = [
        (min(one, other), max(one, other), min(times), max(times))
        for one, other, *times in met
        if one != other and times[0] != times[1]
    ]
    if not met:
        return
    expected = sorted((str(one), str(other), round(begin * S), round(end * S)) for one, other, begin, end in met)
    by_columns = "B,note,UNTIL,A,FROM\r\n" + "".join(f'"{b}","1, 2",{end},{a},{begin}\r\n' for a, b, begin, end in met)
    assert contacts_of(trace_of(folder, "intervals", gzip.compress(by_columns.encode(), mtime=0))) == expected
    # An oracle: the csv module alone.
    rows = list(csv.DictReader(by_columns.splitlines()))
    assert expected == sorted(
        (row["A"], row["B"], round(float(row["FROM"]) * S), round(float(row["UNTIL"]) * S)) for row in rows
    )
    events = sorted(
        (time, kind == "up", f"{time} CONN {b} {a} {kind} {number}")
        for number, (a, b, *span) in enumerate(met)
        for time, kind in zip(span, ("up", "down"), strict=True)
    )
    assert contacts_of(trace_of(folder, "one", "\n".join(text for *_, text in events))) == expected
    plan = "".join(
        f"a contact +{begin} +{end} {a} {b} 1\na contact +{begin} +{end} {b} {a} 1\n" for a, b, begin, end in met
    )
    at_once = meetings(trace_of(folder, "ion", plan), 0, 10**6 * S, agents=5)
    listed_so = meetings(trace_of(folder, "intervals", by_columns), 0, 10**6 * S, agents=5)
    assert at_once.edges.tolist() == listed_so.edges.tolist()
    assert at_once.contacts.times.tolist() == listed_so.contacts.times.tolist()
    seen = "\n".join(f"{begin};{a};{b};x" for a, b, begin, _ in sorted(met, key=lambda contact: contact[2]))
    assert contacts_of(trace_of(folder, "moments", seen)) == sorted((a, b, t, t + 20 * S) for a, b, t, _ in expected)


@pytest.mark.slow
def test_a_million_lines_are_read_in_five_seconds(tmp_path):
    rng = random.Random(0)
    file = tmp_path / "long.txt"
    with file.open("w") as target:
        for time in range(10**6):
            one, other = rng.sample(range(500), 2)
            target.write(f"{time * 0.5:.1f} {one} {other}\n")
    began = process_time()
    found = meetings(read(file, READERS["moments"]), 0, 10**6 * S)
    assert process_time() - began < 5
    assert len(found.names) == 500
