"""Tracks from files: what each format says in its own simulator, and what is wrong with a file."""

import csv
from itertools import pairwise

import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network import track_files
from netbandit.network.contact_files import read
from netbandit.network.families import Mobile
from netbandit.network.topology import TopologyError
from netbandit.parts.component import read_part
from netbandit.util.streams import Streams

S = 10**9
READERS = {"one": track_files.one, "ns-2": track_files.ns2, "bonnmotion": track_files.bonnmotion}


def paths_of(tmp_path, form, content):
    file = tmp_path / "tracks.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(file, READERS[form])


def points_of(tmp_path, form, content):
    return [
        list(zip(time.tolist(), *place.T.tolist(), strict=True))
        for time, place in paths_of(tmp_path, form, content).points
    ]


SET = "$node_(0) set X_ 1.0\n$node_(0) set Y_ 2\n$node_(0) set Z_ 0.0\n"
SAID = [
    ("one", "0 9 0 10 0 10 0 0\n0 b 1 2\n0 a 3 4\n1.5 b 5 6\n", [[(0, 3, 4)], [(0, 1, 2), (3 * S // 2, 5, 6)]]),
    # ONE subtracts minX and minY, reads six numbers of the header, and no words behind a place
    ("one", "0 9 -10 10 100 110 0 0 more\n0 a 1 102 7\n2 a 3 104 by bus\n", [[(0, 11, 2), (2 * S, 13, 4)]]),
    ("bonnmotion", "0 1 2 3 4 5\n1 9 9\n", [[(0, 1, 2), (3 * S, 4, 5)], [(S, 9, 9)]]),
    ("bonnmotion", "#3D\n0 1 2 7 3 4 5 8\n1 9 9 7\n", [[(0, 1, 2, 7), (3 * S, 4, 5, 8)], [(S, 9, 9, 7)]]),
    ("bonnmotion", "#3D\n0 1 2 7\n3 4 5 7\n", [[(0, 1, 2)], [(3 * S, 4, 5)]]),  # all are at one height
    ("bonnmotion", "0 1 2 7 3 4 5 8\n1 9 9 7\n", [[(0, 1, 2, 7), (3 * S, 4, 5, 8)], [(S, 9, 9, 7)]]),
    # twelve numbers, which only one of both readings has in order of time
    ("bonnmotion", "0 1 9 3 -4 8 6 7 5 9 1 1\n", [[(0, 1, 9), (3 * S, -4, 8), (6 * S, 7, 5), (9 * S, 1, 1)]]),
    ("bonnmotion", "0 3 9 -3 4 8 6 7 5 9 1 1\n", [[(0, 3, 9, -3), (4 * S, 8, 6, 7), (5 * S, 9, 1, 1)]]),
    ("bonnmotion", "#2D\n0 1 2 3 4 5 6 7 8 9 1 1\n", [[(0, 1, 2), (3 * S, 4, 5), (6 * S, 7, 8), (9 * S, 1, 1)]]),
    ("ns-2", SET + '$ns_ at 2.0 "$node_(0) setdest 1.0 12.0 5"\n', [[(0, 1, 2), (2 * S, 1, 2), (4 * S, 1, 12)]]),
    (
        "ns-2",  # a command that comes while it is on its way
        SET + '$ns_ at 2 "$node_(0) setdest 1 12 5"\n$ns_ at 3 "$node_(0) setdest 4 7 3"\n$god_ set-dist 0 1 2\n',
        [[(0, 1, 2), (2 * S, 1, 2), (3 * S, 1, 7), (4 * S, 4, 7)]],
    ),
    (
        "ns-2",  # as ns-3 reads it: blanks, signs after a command, and where a node begins behind its commands
        '$ns_  at 2.0 "$node_(0) setdest 1.0 12.0 5 " ; # north\n' + SET,
        [[(0, 1, 2), (2 * S, 1, 2), (4 * S, 1, 12)]],
    ),
    (
        "ns-2",  # it is elsewhere from a time on
        SET + '$ns_ at 4 "$node_(0) set X_ 50"\n$ns_ at 4 "$node_(0) set Y_ 60"\n$ns_ at 5 "$node_(0) set X_ 50"\n',
        [[(0, 1, 2), (4 * S - 1, 1, 2), (4 * S, 50, 60), (5 * S, 50, 60)]],
    ),
    (
        "ns-2",  # in the middle of its way
        SET + '$ns_ at 0 "$node_(0) setdest 1 12 1"\n$ns_ at 4 "$node_(0) set X_ 50"\n',
        [[(0, 1, 2), (4 * S - 1, 1, 6 - 1e-9), (4 * S, 50, 6)]],
    ),
    ("ns-2", '$ns_ at 3 "$node_(0) set X_ 5"\n$ns_ at 3 "$node_(0) set Y_ 6"\n', [[(3 * S, 5, 6)]]),
    (
        "ns-2",  # heights count where they differ
        SET + "$node_(1) set X_ 1\n$node_(1) set Y_ 1\n$node_(1) set Z_ 9\n",
        [[(0, 1, 2, 0)], [(0, 1, 1, 9)]],
    ),
]


@pytest.mark.parametrize(("form", "content", "expected"), SAID)
def test_each_format_says_who_is_where(tmp_path, form, content, expected):
    found = points_of(tmp_path, form, content)
    assert [[time for time, *_ in own] for own in found] == [[time for time, *_ in own] for own in expected]
    for own, wanted in zip(found, expected, strict=True):
        assert np.array(own) == pytest.approx(np.array(wanted), rel=0, abs=1e-12)


WRONG = [
    ("one", "0 a 1 2\n", 1, "must be minTime maxTime"),
    ("one", "0 9 0 10 0 10\n0 a 1\n", 2, "must be TIME NODE X Y"),
    ("one", "0 9 0 10 0 10\n1 a 1 1\n0 a 2 2\n", 3, "runs back in time"),
    ("one", "0 9 0 10 0 10\n", 1, "names no node"),
    ("bonnmotion", "0 1 2 3 4\n", 1, "must be T X Y T X Y ..., not 5 numbers"),
    ("bonnmotion", "0 1 2\n0 1 2 3\n", 2, "must be T X Y T X Y ..., not 4 numbers"),
    ("bonnmotion", "#3D\n0 1 2\n", 2, "must be T X Y Z T X Y Z ..., not 3 numbers"),
    ("bonnmotion", "0 1 2 3 4 5 6 7 8 9 10 11\n", 1, "the file must say which, by #2D or #3D in its first line"),
    ("bonnmotion", "0 1 nan\n", 1, '"nan" is no place or speed'),
    ("bonnmotion", "1 1 1 0 1 1\n", 1, "runs back in time, to 0 s"),
    ("bonnmotion", b"0 1 \xff\n", 1, "is not UTF-8"),
    ("ns-2", SET + '$ns_ at 2 "$node_(7) setdest 1 12 5"\n', 4, "node 7 moves, and no line says where it begins"),
    ("ns-2", SET + '$ns_ at 2 "$node_(0) setdest 1 12\n', 4, "must be $ns_ at T"),
    ("ns-2", SET + '$ns_ at 2 "$node_(0) setdest 1 12 -5"\n', 4, "the speed -5 is negative"),
    ("ns-2", SET + '$ns_ at -2 "$node_(0) setdest 1 12 5"\n', 4, "-2 s is before a simulation begins"),
    ("ns-2", "$node_(0) set X_ 1\n", 1, "no line says both X_ and Y_ of node 0"),
]


@pytest.mark.parametrize(("form", "content", "line", "words"), WRONG)
def test_what_is_wrong_is_said_with_its_line(tmp_path, form, content, line, words):
    with pytest.raises(TopologyError) as error:
        points_of(tmp_path, form, content)
    ((path, text),) = error.value.problems
    assert path == ("file",)
    assert text.startswith(f"{tmp_path / 'tracks.txt'}:{line}: ")
    assert words in text


def at(own, moment):
    """Return where a node is at a moment that goes straight between its (time, place ...)."""
    for (begin, *here), (end, *there) in pairwise(own):
        if begin <= moment < end:
            return [
                one + (other - one) * (moment - begin) / (end - begin) for one, other in zip(here, there, strict=True)
            ]
    return list(own[0][1:] if moment < own[0][0] else own[-1][1:])


PLACE = st.integers(-(10**6), 10**6).map(lambda number: number / 1000)


@st.composite
def journeys(draw, axes=2):
    """Draw tracks of some nodes: points (ms, place ...), times ascending, from 0 on."""
    return [
        [
            (time, *(draw(PLACE) for _ in range(axes)))
            for time in sorted({0, *draw(st.lists(st.integers(1, 10**6), max_size=5))})
        ]
        for _ in range(draw(st.integers(1, 4)))
    ]


def written_by_one(tracks, begin):
    rows = sorted((time, node, *place) for node, own in enumerate(tracks) for time, *place in own)
    low_x, low_y = (min(row[axis] for row in rows) for axis in (2, 3))
    lines = [f"{begin} {begin + 1000} {low_x} 1e6 {low_y} 1e6 0 0"]
    lines += [f"{begin + time / 1000} n{node} {x} {y} and more" for time, node, x, y in rows]
    moved = [[(time, x - low_x, y - low_y) for time, x, y in own] for own in tracks]
    return "\n".join(lines), moved


def written_by_bonnmotion(tracks):
    axes = len(tracks[0][0]) - 1
    lines = [" ".join(f"{time / 1000} {' '.join(map(str, place))}" for time, *place in own) for own in tracks]
    return "\n".join([f"#{axes}D", *lines])


def written_by_ns2(tracks):
    lines, moves = [], []
    for node, own in enumerate(tracks):
        lines += [f"$node_({node}) set {axis}_ {place}" for axis, place in zip("XYZ", own[0][1:], strict=False)]
        for (begin, *here), (end, *there) in pairwise(own):
            speed = float(np.hypot(*np.subtract(there, here))) / ((end - begin) / 1000)
            moves.append((begin, f'$ns_ at {begin / 1000} "$node_({node}) setdest {there[0]} {there[1]} {speed!r}"'))
    return "\n".join([*lines, *(line for _, line in sorted(moves))])


@given(st.data(), st.sampled_from([0, 17, 1_300_000_000]))
@examples(60)
def test_a_track_is_read_as_it_was_written_in_each_format(tmp_path_factory, data, begin):
    folder = tmp_path_factory.getbasetemp()
    tracks = data.draw(journeys())
    deep = data.draw(journeys(axes=3))
    by_one, moved = written_by_one(tracks, begin)
    for form, content, expected, since in (
        ("one", by_one, moved, begin),
        ("bonnmotion", written_by_bonnmotion(tracks), tracks, 0),
        ("bonnmotion", written_by_bonnmotion(deep), deep, 0),
        ("ns-2", written_by_ns2(tracks), tracks, 0),
    ):
        found = paths_of(folder, form, content)
        assert found.begin == since * S
        axes = found.points[0][1].shape[1]
        assert len(found.points) == len(expected)
        for (time, place), own in zip(found.points, expected, strict=True):
            read_back = list(zip(((time - found.begin) / 1e6).tolist(), *place.T.tolist(), strict=True))
            for moment in {0, 1, 10**6, *(time + after for time, *_ in own for after in (0, 0.4))}:
                assert at(read_back, moment)[:2] == pytest.approx(at(own, moment)[:2], rel=0, abs=2e-3)
                if axes == 3:
                    assert at(read_back, moment)[2] == pytest.approx(at(own, moment)[2], rel=0, abs=2e-3)
        assert axes == 2 or form == "bonnmotion"
        assert axes == 3 or len({point[3] for own in expected for point in own if len(point) > 3}) <= 1


@given(journeys())
@examples(30)
def test_places_of_one_are_those_that_its_columns_say(tmp_path_factory, tracks):
    """An oracle: the csv module alone."""
    content, _ = written_by_one(tracks, 17)
    (header, *rows) = csv.reader(content.splitlines(), delimiter=" ")
    expected = {}
    for time, node, x, y, *_ in rows:
        expected.setdefault(node, []).append((float(time), float(x) - float(header[2]), float(y) - float(header[4])))
    found = paths_of(tmp_path_factory.getbasetemp(), "one", content)
    for (time, place), name in zip(found.points, sorted(expected), strict=True):
        assert time.tolist() == pytest.approx([S * moment for moment, *_ in expected[name]], rel=0, abs=2)
        assert place.tolist() == [[x, y] for _, x, y in expected[name]]


WORDS = st.sampled_from(
    ["$ns_", "at", '"$node_(0)', "$node_(0)", "set", "X_", "Y_", "setdest", '5"', "0", "1", "2.5", "-3", "1e9", "é",
     "#", "inf", "#3D"]
)  # fmt: skip
COMMANDS = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join),
    st.builds(
        lambda time, axis, place: f'$ns_ at {time} "$node_(0) set {axis}_ {place}"',
        st.integers(0, 9), st.sampled_from("XYZ"), st.integers(-9, 9),
    ),
    st.builds(
        lambda time, x, speed: f'$ns_ at {time} "$node_(0) setdest {x} 3 {speed}"',
        st.integers(0, 9), st.integers(-9, 9), st.integers(0, 9),
    ),
)  # fmt: skip


@given(st.sampled_from(sorted(READERS)), st.lists(COMMANDS, max_size=6), st.binary(max_size=4))
@examples(150)
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path_factory, form, lines, rest):
    try:
        found = points_of(tmp_path_factory.getbasetemp(), form, "\n".join([*lines, ""]).encode() + rest)
    except TopologyError:
        return
    for own in found:
        times = [time for time, *_ in own]
        assert times == sorted(set(times))


def meet(tmp_path, content, **keys):
    (tmp_path / "tracks.txt").write_text(content)
    table = {"model": "file", "range": "1 m", "file": str(tmp_path / "tracks.txt"), **keys}
    family, problems, _ = read_part(Mobile, table, "topology")
    assert problems == []
    found = family.meetings(Streams(0, 0), S, 10 * S)
    return dict(zip(map(tuple, found.edges.tolist()), found.contacts.times.tolist(), strict=True))


PASSING = [(100, 0), (110, 10)], [(100, 10), (110, 0)]


def passing(begin):
    """Two that pass each other five seconds after *begin*, as ONE says it."""
    rows = [(time - 100 + begin, node, x) for node, own in enumerate(PASSING) for time, x in own]
    return "\n".join([f"{begin} {begin + 10} 0 10 0 10", *(f"{time} {node} {x} 0" for time, node, x in sorted(rows))])


def test_a_run_begins_when_that_of_the_file_does_or_at_the_time_that_is_said(tmp_path):
    expected = {(0, 1): [4.5 * S, 5.5 * S]}
    for begin in (0, 100, 1_300_000_000):
        assert meet(tmp_path, passing(begin)) == expected
    assert meet(tmp_path, passing(100), **{"from": "103 s"}) == {(0, 1): [1.5 * S, 2.5 * S]}
    assert meet(tmp_path, passing(100), **{"from": "98 s"}) == {(0, 1): [6.5 * S, 7.5 * S]}
    assert meet(tmp_path, passing(100), **{"from": "0 s"}) == {}
    lines = "\n".join(" ".join(f"{time} {x} 0" for time, x in own) for own in PASSING)
    assert meet(tmp_path, lines, format="bonnmotion") == {}
    assert meet(tmp_path, lines, format="bonnmotion", **{"from": "100 s"}) == expected


def test_heights_part_those_who_are_at_one_place(tmp_path):
    assert meet(tmp_path, "#3D\n0 5 5 0\n0 5 5 1\n0 5 5 2.5\n", format="bonnmotion") == {(0, 1): [0, 10 * S]}
    climbing = "#3D\n0 5 5 0\n0 5 5 0 10 5 5 10\n"
    assert meet(tmp_path, climbing, format="bonnmotion") == {(0, 1): [0, S]}


def test_who_jumps_is_nowhere_between(tmp_path):
    content = "$node_(1) set X_ 50\n$node_(1) set Y_ 0\n$node_(0) set X_ 0\n$node_(0) set Y_ 0\n"
    content += '$ns_ at 2 "$node_(0) set X_ 100"\n$ns_ at 6 "$node_(0) set X_ 50"\n$ns_ at 7 "$node_(0) set Y_ 50"\n'
    assert meet(tmp_path, content, format="ns-2") == {(0, 1): [6 * S, 7 * S]}


def test_another_number_of_agents_than_the_file_has_is_refused(tmp_path):
    assert meet(tmp_path, passing(0), agents=2) == {(0, 1): [4.5 * S, 5.5 * S]}
    with pytest.raises(TopologyError, match="agents: is 3, but the file has 2"):
        meet(tmp_path, passing(0), agents=3)


def test_a_time_of_a_file_is_not_used_where_there_is_none():
    _, problems, notes = read_part(Mobile, {"agents": 2, "range": "1 m", "from": "9 s"}, "topology")
    assert problems == []
    assert notes == [(("topology", "from"), 'is not used with model = "waypoint"')]
