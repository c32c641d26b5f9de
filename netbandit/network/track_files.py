"""Reads tracks of mobile agents from files of the ONE simulator, ns-2 and BonnMotion.

Times in files are seconds and positions metres; here times are whole nanoseconds. `netbandit.util.table_files`
defines how text and comments are read.
"""

import re
from array import array
from collections import defaultdict
from itertools import takewhile
from math import hypot, isfinite
from typing import NamedTuple

import numpy as np

from netbandit.network.contact_files import BadLineError, in_order, nanoseconds, texts
from netbandit.network.contacts import Integers
from netbandit.network.tracks import Floats
from netbandit.util.table_files import TextLines
from netbandit.util.wording import quoted

_SECOND = 10**9
_MOST_POINTS = 1 << 24
_LATEST = 4 * 10**9 * _SECOND


class Paths(NamedTuple):
    """The content of a track file.

    Attributes:
        points: Of each agent when (ns) it is where (m), shapes (n,) and (n, 2), n at least 1, times ascending; where
            heights differ, (n, 3).
        names: What the file calls each agent.
        begin: The file's time (ns) at which its own simulator begins.
    """

    points: list[tuple[Integers, Floats]]
    names: list[str]
    begin: int = 0


def one(lines: TextLines) -> Paths:
    """Read ONE's ``TIME NODE X Y``, after its header ``minTime maxTime minX maxX minY maxY minZ maxZ``.

    As in ONE, a run begins at minTime, places are relative to minX and minY, and further words are not read.
    """
    track = _Track()
    header: tuple[int, float, float] | None = None
    latest = -_LATEST
    for text in texts(lines):
        words = text.split()
        if header is None:
            if len(words) < 6:
                raise BadLineError(f"must be minTime maxTime minX maxX minY maxY minZ maxZ, not {quoted(text)}")
            for word in words[:6]:
                _number(word)
            header = nanoseconds(words[0]), _number(words[2]), _number(words[4])
            continue
        if len(words) < 4:
            raise BadLineError(f"must be TIME NODE X Y, not {quoted(text)}")
        time = latest = in_order(words[0], latest)
        track.add(words[1], time, _number(words[2]) - header[1], _number(words[3]) - header[2])
    return Paths(*track.points(), header[0] if header is not None else 0)


_MARKS = {"#2D": 2, "#3D": 3}
"""What BonnMotion writes before all nodes of a file with heights, and its counterpart."""


def bonnmotion(lines: TextLines) -> Paths:
    """Read BonnMotion's ``T X Y T X Y ...``, a line a node, or ``T X Y Z ...``.

    Which it is, says a line before all nodes, ``#3D`` (as BonnMotion writes it) or ``#2D``; without one, the count of
    numbers in all lines, and that no time is before the one that it follows.
    """
    head = takewhile(lambda text: not text or text.startswith("#"), map(str.strip, lines))
    marked = next((_MARKS[text] for text in head if text in _MARKS), None)
    counts = {len(text.split()) for text in texts(lines)}
    forms = [number for number in (2, 3) if marked in (None, number)]
    forms = [number for number in forms if not any(count % (number + 1) for count in counts)] or forms[:1]
    found, wrong = [], []
    for axes in forms:
        try:
            found.append(_waypoints(lines, axes))
        except BadLineError as error:
            wrong.append((error, lines.number))
    if not found:
        first, lines.number = wrong[0]
        raise first
    if len(found) == 2:
        raise BadLineError("may be T X Y or T X Y Z: the file must say which, by #2D or #3D in its first line")
    return found[0]


def _waypoints(lines: TextLines, axes: int) -> Paths:
    track = _Track()
    step = axes + 1
    for node, text in enumerate(texts(lines)):
        words = text.split()
        if len(words) % step:
            form = " ".join("TXYZ"[:step])
            raise BadLineError(f"must be {form} {form} ..., not {len(words)} numbers")
        latest = -_LATEST
        for offset in range(0, len(words), step):
            time = latest = in_order(words[offset], latest)
            track.add(str(node), time, *map(_number, words[offset + 1 : offset + step]))
    return Paths(*track.points())


_SET = re.compile(r"\$node_\((\d{1,7})\) set ([XYZ])_ (\S+)", re.ASCII)
_AT = re.compile(
    r'\$ns_ at (\S+) "\$node_\((\d{1,7})\) (?:setdest (\S+) (\S+) ([^\s"]+)|set ([XYZ])_ ([^\s"]+)) ?"', re.ASCII
)


class _Command(NamedTuple):
    """A command of a node: coordinates to set, or a target and a speed."""

    time: int
    line: int
    values: dict[str, float]
    speed: float | None


def ns2(lines: TextLines) -> Paths:
    """Read ns-2's ``$ns_ at T "$node_(I) setdest X Y V"`` and ``set X_ X``, and where nodes begin: ``$node_(I) set``.

    A node goes straight at V m/s; a later command replaces an earlier one wherever the node is. A coordinate set at a
    time T is a jump, after which the node stays until its next command. Lines of ``$god_`` are skipped.
    """
    start: defaultdict[str, dict[str, float]] = defaultdict(dict)
    commands: defaultdict[str, list[_Command]] = defaultdict(list)
    for written in texts(lines):
        text = " ".join(written.partition("#")[0].rstrip("; \t").split())
        if text.startswith("$god_") or '"$god_' in text or not text:
            continue
        begins, at = _SET.fullmatch(text), _AT.fullmatch(text)
        if begins is not None:
            start[str(int(begins[1]))][begins[2]] = _number(begins[3])
            continue
        if at is None:
            form = '$ns_ at T "$node_(I) setdest X Y V", $ns_ at T "$node_(I) set X_ X" or $node_(I) set X_ X'
            raise BadLineError(f"must be {form}, not {quoted(text)}")
        time, own = nanoseconds(at[1]), commands[str(int(at[2]))]
        if time < 0:
            raise BadLineError(f"{at[1]} s is before a simulation begins")
        if own and time < own[-1].time:
            raise BadLineError(f"runs back in time, to {at[1]} s")
        if at[6] is not None:
            own.append(_Command(time, lines.number, {at[6]: _number(at[7])}, None))
            continue
        speed = _number(at[5])
        if speed < 0:
            raise BadLineError(f"the speed {at[5]} is negative")
        own.append(_Command(time, lines.number, {"X": _number(at[3]), "Y": _number(at[4])}, speed))
    track = _Track()
    for node in sorted({*start, *commands}, key=int):
        _drive(track, node, start[node], commands[node], lines)
    return Paths(*track.points())


def _drive(track: "_Track", node: str, start: dict[str, float], commands: list[_Command], lines: TextLines) -> None:
    """Record the track of a node that follows *commands*."""
    here = {"Z": 0.0, **start}
    leg: _Leg | None = None

    def be(time: int) -> None:
        track.add(node, time, here["X"], here["Y"], here["Z"])

    if {"X", "Y"} <= set(here):
        be(0)
    for time, line, values, speed in commands:
        known = {"X", "Y"} <= set(here)
        if leg is not None:
            if speed is None and leg.begin < time - 1 < leg.arrival:
                here |= leg.at(time - 1)
                be(time - 1)
            if time >= leg.arrival:
                here |= leg.end
                be(leg.arrival)
            else:
                here |= leg.at(time)
            leg = None
        if speed is None:
            if known and any(here[axis] != value for axis, value in values.items()) and time > 0:
                track.stay(node, time - 1)
            here |= values
            if {"X", "Y"} <= set(here):
                be(time)
            continue
        if not known:
            lines.number = line
            raise BadLineError(f"node {node} moves, and no line says where it begins ($node_({node}) set X_)")
        be(time)
        leg = _leg(time, {axis: here[axis] for axis in "XY"}, values, speed)
    if leg is not None:
        here |= leg.end
        be(leg.arrival)
    if not {"X", "Y"} <= set(here):
        raise BadLineError(f"no line says both X_ and Y_ of node {node}")


class _Leg(NamedTuple):
    """A straight segment of a track."""

    begin: int
    arrival: int
    source: dict[str, float]
    end: dict[str, float]

    def at(self, time: int) -> dict[str, float]:
        """Return where a node on it is at a time between its ends."""
        share = (time - self.begin) / (self.arrival - self.begin)
        return {axis: place + share * (self.end[axis] - place) for axis, place in self.source.items()}


def _leg(time: int, source: dict[str, float], target: dict[str, float], speed: float) -> _Leg | None:
    """Return the way to a place; None if there is none to go."""
    distance = hypot(target["X"] - source["X"], target["Y"] - source["Y"])
    if not speed or not distance:
        return None
    takes = distance / speed
    if takes >= 4e9:  # capped: the end is beyond any run of interest
        target = {axis: place + (target[axis] - place) * 4e9 / takes for axis, place in source.items()}
        takes = 4e9
    return _Leg(time, time + max(1, round(takes * _SECOND)), source, target)


class _Track:
    """The points of each node."""

    def __init__(self) -> None:
        self._points: dict[str, tuple[array[int], list[array[float]]]] = {}
        self._number = 0

    def add(self, node: str, time: int, *place: float) -> None:
        """Have a node be somewhere; of several places at one time the last holds."""
        times, axes = self._points.setdefault(node, (array("q"), [array("d") for _ in place]))
        if times and times[-1] == time:
            for axis, value in zip(axes, place, strict=True):
                axis[-1] = value
            return
        self._number += 1
        if self._number > _MOST_POINTS:
            raise BadLineError(f"the file has more than {_MOST_POINTS:,} points")
        times.append(time)
        for axis, value in zip(axes, place, strict=True):
            axis.append(value)

    def stay(self, node: str, time: int) -> None:
        """Have a node be where it was last, if it was there before."""
        times, axes = self._points[node]
        if times[-1] < time:
            self.add(node, time, *(axis[-1] for axis in axes))

    def points(self) -> tuple[list[tuple[Integers, Floats]], list[str]]:
        """Return the points of all nodes, in order of their names, as numbers if all are, and these names.

        Where all are at one height, it is left out.
        """
        nodes = list(self._points)
        if not nodes:
            raise BadLineError("the file names no node")
        as_numbers = all(node.isdigit() and node.isascii() for node in nodes)
        heights = {value for _, axes in self._points.values() for axis in axes[2:] for value in axis}
        axes_used = 3 if len(heights) > 1 else 2
        found = []
        nodes.sort(key=int if as_numbers else None)
        for node in nodes:
            times, axes = self._points[node]
            found.append((np.array(times, dtype=np.int64), np.stack(axes[:axes_used], axis=1)))
        return found, nodes


def _number(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or abs(number) > 1e12 or "_" in word:
        raise BadLineError(f"{quoted(word)} is no place or speed: must be a number")
    return number
