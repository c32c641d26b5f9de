"""Thousands of files that are nearly contacts or tracks: each is read, as csv reads it, or refused by name."""

import csv
import gzip
import io
import random
from functools import partial

import pytest

from netbandit.network import contact_files, track_files
from netbandit.network.contact_files import FOR_EVER, read
from netbandit.network.topology import TopologyError

S = 10**9
CONTACTS = {
    "one": (
        contact_files.one,
        "0 CONN 1 2 up\n1.5 CONN 7 2 UP wlan\n2 C M1 1 2 500\n2 CONN 2 1 down\n3 CONN 7 2 down wlan\n",
    ),
    "moments": (partial(contact_files.moments, window=20 * S), "20\t1\t2\n20 3 4 a b\n# rest\n40 1 2\n"),
    "csv": (contact_files.intervals, 'A,B,FROM,UNTIL,note\n1,2,0,5,"a, b"\n\n2,"x ""y",1.5,inf,\n# c\n1,2,7,8.25,z\n'),
    "semicolons": (contact_files.intervals, "until;a;from;b\r\n5;1;0;2\r\n9;1;8;3\r\n"),
    "blanks": (contact_files.intervals, "1 2 0 5\n2 3 1.5 inf\n1 2 7 8.25\n"),
    "ion": (
        contact_files.ion,
        "a contact +0 +9 1 2 1000\na contact +5 +20 2 1 1000\na range +0 +20 1 2 3\nm production 1\n",
    ),
}
TRACKS = {
    "one": (track_files.one, "5 9 -1 10 0 10 0 0\n5 b 1 2\n5 a 3 4\n6.5 b 5 6 x\n"),
    "bonnmotion": (track_files.bonnmotion, "#3D\n0 1 2 7 3 4 5 8\n1 9 9 7\n"),
    "plain": (track_files.bonnmotion, "0 1 2 3 4 5 6 7 8\n1 9 9\n"),
    "ns-2": (
        track_files.ns2,
        "$node_(0) set X_ 1.0\n$node_(0) set Y_ 2\n$node_(0) set Z_ 0.0\n"
        '$ns_ at 2.0 "$node_(0) setdest 1.0 12.0 5"\n$ns_ at 4 "$node_(0) set X_ 50"\n',
    ),
}
SIGNS = [*"0123456789.,;-+#\"'eE\t \n\r$()_", "inf", "nan", "\ufeff", "é", "1e9", "-1", "\0", "up", "#3D", "#2D\n"]


def spoilt(rng, text):
    """Return a text in which a few things are not as they were, as bytes."""
    for _ in range(rng.randrange(4)):
        place, other = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:place] + rng.choice(SIGNS) + text[place:]
        elif kind == 1:
            text = text[:place] + text[place + 1 :]
        elif kind == 2:
            text = text[:place] + text[place:other] * 2 + text[other:]
        elif kind == 3:
            lines = text.splitlines(keepends=True)
            rng.shuffle(lines)
            text = "".join(lines)
        elif kind == 4:
            text = text.replace(rng.choice(SIGNS), rng.choice(SIGNS))
        else:
            text = text[:place] + rng.choice(SIGNS) + text[place + 1 :]
    content = text.encode()
    if rng.random() < 0.1:
        place = rng.randrange(len(content) + 1)
        content = content[:place] + bytes([rng.randrange(256)]) + content[place:]
    if rng.random() < 0.1:
        content = gzip.compress(content, mtime=0)
        if rng.random() < 0.5:
            content = content[: rng.randrange(len(content))]
    return content


def by_csv(content):
    """Return who meets whom from when (s) until when, by the csv module alone."""
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    first = kept[0] if kept else ""
    sign = next((sign for sign in ",;" if sign in first), None)
    if sign is None:
        rows = list(
            csv.reader((line.replace("\t", " ").strip() for line in kept), delimiter=" ", skipinitialspace=True)
        )
        if {"A", "B", "FROM", "UNTIL"} <= set(map(str.upper, rows[0] if rows else [])):
            names, *rows = rows
        else:
            names = ["A", "B", "FROM", "UNTIL"]
    else:
        names, *rows = csv.reader(kept, delimiter=sign, skipinitialspace=True)
    names = [name.strip().upper() for name in names]
    found = [dict(zip(names, map(str.strip, row), strict=False)) for row in rows if row]
    return sorted(
        (*sorted((row["A"], row["B"])), float(row["FROM"]), float(row["UNTIL"].replace("inf", "Infinity")))
        for row in found
    )


@pytest.mark.slow
def test_ten_thousand_files_are_read_or_refused_by_name(tmp_path):
    rng = random.Random(0)
    file = tmp_path / "spoilt.txt"
    counts = {"read": 0, "refused": 0, "compared": 0}
    for number in range(10_000):
        reader, text = rng.choice([*CONTACTS.values(), *TRACKS.values()])
        content = spoilt(rng, text)
        file.write_bytes(content)
        try:
            found = read(file, reader)
        except TopologyError as error:
            ((path, words),) = error.problems
            assert path == ("file",)
            assert words.startswith(str(file)), (number, content)
            counts["refused"] += 1
            continue
        counts["read"] += 1
        if isinstance(found, track_files.Paths):
            for time, place in found.points:
                assert (time[1:] > time[:-1]).all(), (number, content)
                assert len(time) == len(place) > 0
            continue
        assert (found.end > found.begin).all(), (number, content)
        if reader is contact_files.intervals:
            mine = sorted(
                (*sorted(found.ids[end] for end in ends), begin / S, float("inf") if end >= FOR_EVER else end / S)
                for ends, begin, end in zip(found.ends.tolist(), found.begin.tolist(), found.end.tolist(), strict=True)
            )
            theirs = by_csv(content)
            assert [entry[:2] for entry in mine] == [entry[:2] for entry in theirs], (number, content)
            for one, other in zip(mine, theirs, strict=True):
                assert one[2:] == pytest.approx(other[2:], rel=0, abs=1e-6), (number, content)
            counts["compared"] += 1
    assert min(counts.values()) > 1_000
