import gzip
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.bandits import criteo_lines
from netbandit.bandits.criteo_lines import FIELDS, INTEGERS, LogError, parse, pieces

WORD = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), max_size=6)
NUMBER = st.one_of(st.none(), st.integers(-(10**18) + 1, 10**18 - 1))
LINE = st.tuples(
    st.integers(0, 1), st.lists(NUMBER, min_size=13, max_size=13), st.lists(WORD, min_size=26, max_size=26)
)


def text_of(line):
    clicked, numbers, words = line
    return "\t".join([str(clicked), *("" if number is None else str(number) for number in numbers), *words])


GOOD = text_of((1, [5, -3, *range(11)], ["a5"] * 26)).encode()


def with_field(place, field):
    fields = GOOD.split(b"\t")
    fields[place] = field
    return b"\t".join(fields)


BAD = [
    (b"", "is empty, but must have 40"),
    (b"1", "has 1 field, but must have 40"),
    (GOOD + b"\t", "has 41 fields"),
    (GOOD.rsplit(b"\t", 1)[0], "has 39 fields"),
    (GOOD.replace(b"\t", b","), "has 1 field"),
    (with_field(20, b"\xff\xfe"), "is not UTF-8"),
    (with_field(0, b""), "the label is missing"),
    (with_field(0, b"2"), 'the label must be 0 or 1, not "2"'),
    (with_field(0, b"01"), 'the label must be 0 or 1, not "01"'),
    (with_field(0, b"-1"), 'the label must be 0 or 1, not "-1"'),
    *(
        (with_field(3, wrong.encode()), f'I3 must be an integer of at most 18 digits or nothing, not "{wrong}"')
        for wrong in ["1.5", "1e2", "nan", "inf", "+1", " 1", "1 ", "--1", "-", "1-", "0x1", "1_0", "\u0661", "x"]
    ),
    (with_field(13, b"1" * 19), f'I13 must be an integer of at most 18 digits or nothing, not "{"1" * 19}"'),
    (with_field(13, b"\0"), "not 1 characters"),
]


@given(st.lists(LINE, min_size=1, max_size=8))
def test_good_lines_are_read_as_they_were_written(lines):
    rows = parse("".join(text_of(line) + "\n" for line in lines).encode())
    assert (rows.lines, rows.bad) == (len(lines), ())
    assert rows.clicks.tolist() == [line[0] for line in lines]
    assert rows.numbers.tolist() == [[number or 0 for number in line[1]] for line in lines]
    assert rows.missing[:, :INTEGERS].tolist() == [[number is None for number in line[1]] for line in lines]
    assert rows.missing[:, INTEGERS:].tolist() == [[word == "" for word in line[2]] for line in lines]
    for category in range(26):
        assert rows.words(category) == [line[2][category].encode() for line in lines]


@given(st.lists(st.one_of(LINE, st.sampled_from(BAD)), min_size=1, max_size=12), st.integers(1, 10**6))
def test_bad_lines_are_told_by_number_and_left_out(lines, first):
    good = [line for line in lines if len(line) == 3]
    bad = [(first + place, line[1]) for place, line in enumerate(lines) if len(line) == 2]
    rows = parse(b"".join((text_of(line).encode() if len(line) == 3 else line[0]) + b"\n" for line in lines), first)
    assert rows.lines == len(lines)
    assert [each.number for each in rows.bad] == [number for number, _ in bad]
    assert all(text in each.text for each, (_, text) in zip(rows.bad, bad, strict=True))
    assert rows.numbers.tolist() == [[number or 0 for number in line[1]] for line in good]
    assert rows.words(25) == [line[2][25].encode() for line in good]


@given(st.binary(max_size=300))
def test_nothing_makes_the_parser_stumble(content):
    rows = parse(content.replace(b"\r\n", b"\n") + b"\n")
    assert rows.lines == len(rows.bad) + len(rows.clicks) == content.replace(b"\r\n", b"\n").count(b"\n") + 1


def read_all(path, most=None):
    """Return numbers, last words, and bad lines of a whole file."""
    found = list(pieces(path, most, lambda *told: None))
    numbers = np.concatenate([rows.numbers for rows in found]).tolist()
    words = [word for rows in found for word in rows.words(25)]
    return numbers, words, [bad for rows in found for bad in rows.bad]


@pytest.mark.parametrize("size", [1, 7, 90, 10_000])
@pytest.mark.parametrize("most", [None, 1, 5, 11, 12, 99])
def test_pieces_of_any_size_give_the_same(tmp_path, monkeypatch, size, most):
    lines = [with_field(4, str(line).encode()) for line in range(12)]
    lines[8] = b"bad"
    forms = {
        "plain": b"\n".join(lines) + b"\n",
        "unended": b"\n".join(lines),
        "crlf": b"\r\n".join(lines) + b"\r\n",
        "unended-crlf": b"\r\n".join(lines) + b"\r",
        "marked": b"\xef\xbb\xbf" + b"\n".join(lines),
        "zipped": gzip.compress(b"\r\n".join(lines), mtime=0),
    }
    monkeypatch.setattr(criteo_lines, "_PIECE", size)
    kept = [line for line in range(12)[:most] if line != 8]
    for name, content in forms.items():
        path = tmp_path / name
        path.write_bytes(content)
        numbers, words, bad = read_all(path, most)
        assert [row[3] for row in numbers] == kept, name
        assert words == [b"a5"] * len(kept), name
        assert [each.number for each in bad] == ([9] if most is None or most >= 9 else []), name


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "1: the file is empty"),
        (gzip.compress(b"", mtime=0), "1: the file is empty"),
        (gzip.compress(GOOD * 1000, mtime=0)[:-20], "the gzipped file is damaged"),
        (b"\x1f\x8b\x01", "the gzipped file is damaged"),
        (GOOD + b"\n" + b"x" * (1 << 21), "2: has no end within 1,048,576 bytes"),
    ],
)
def test_what_is_no_log_is_told_with_file_and_line(tmp_path, content, text):
    path = tmp_path / "log.txt"
    path.write_bytes(content)
    with pytest.raises(LogError, match=re.escape(f"{path}:") + ".*" + re.escape(text)):
        read_all(path)


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(LogError, match="cannot be read: "):
        read_all(tmp_path / "none.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(LogError, match=r"pipe\.txt: is a pipe, must be a file"):
        read_all(tmp_path / "pipe.txt")


def test_the_watcher_hears_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(criteo_lines, "_PIECE", 100)
    path = tmp_path / "log.txt"
    path.write_bytes((GOOD + b"\n") * 20)
    told = []
    assert sum(len(rows.clicks) for rows in pieces(path, None, lambda *news: told.append(news))) == 20
    assert {(what, total) for what, _, total in told} == {("log.txt", path.stat().st_size)}
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1][1] == path.stat().st_size
    assert FIELDS == 40
