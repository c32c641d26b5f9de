"""Tracks of agents from files: as the ONE simulator, ns-2 and BonnMotion write them.

Times in files are seconds and places metres; here times are whole nanoseconds. ``#`` begins a comment.
"""

import re
from collections import defaultdict
from math import hypot, isfinite

import numpy as np

from netbandit.network.contact_files import BadLineError, Lines, nanoseconds
from netbandit.network.contacts import Integers
from netbandit.network.tracks import Floats
from netbandit.wording import quoted

_SECOND = 10**9
_MOST_POINTS = 1 << 24

Points = list[tuple[Integers, Floats]]
"""Of each agent when (ns) it is where (m), shapes (n,) and (n, 2), n at least 1, times ascending."""


def one(lines: Lines) -> Points:
    """Read ONE's ``TIME NODE X Y``, after its header ``minTime maxTime minX maxX minY maxY minZ maxZ``."""
    track = _Track()
    latest, header = 0, True
    for words in lines:
        if header:
            header = False
            if len(words) not in (6, 8):
                raise BadLineError(
                    f"must be minTime maxTime minX maxX minY maxY minZ maxZ, not {quoted(' '.join(words))}"
                )
            for word in words:
                _number(word)
            continue
        if len(words) != 4:
            raise BadLineError(f"must be TIME NODE X Y, not {quoted(' '.join(words))}")
        time = nanoseconds(words[0])
        if time < latest:
            raise BadLineError(f"runs back in time, to {words[0]} s")
        latest = time
        track.add(words[1], time, _number(words[2]), _number(words[3]))
    return track.points()


def bonnmotion(lines: Lines) -> Points:
    """Read BonnMotion's ``T X Y T X Y ...``, a line a node."""
    track = _Track()
    for node, words in enumerate(lines):
        if len(words) % 3:
            raise BadLineError(f"must be T X Y T X Y ..., not {len(words)} numbers")
        latest = -1
        for place in range(0, len(words), 3):
            time = nanoseconds(words[place])
            if time < latest:
                raise BadLineError(f"runs back in time, to {words[place]} s")
            latest = time
            track.add(str(node), time, _number(words[place + 1]), _number(words[place + 2]))
    return track.points()


_SET = re.compile(r"\$node_\((\d{1,7})\) set ([XYZ])_ (\S+)", re.ASCII)
_GO = re.compile(r'\$ns_ at (\S+) "\$node_\((\d{1,7})\) (?:setdest (\S+) (\S+) (\S+)|set ([XYZ])_ (\S+))"', re.ASCII)


def ns2(lines: Lines) -> Points:
    """Read ns-2's ``$ns_ at T "$node_(I) setdest X Y V"``, and where nodes begin: ``$node_(I) set X_ X``.

    A node goes straight at V m/s; a later command takes over wherever it then is. Lines of ``$god_`` are skipped.
    """
    start: defaultdict[str, dict[str, float]] = defaultdict(dict)
    moves: dict[str, list[tuple[int, int, float, float, float]]] = {}
    for text in lines.texts():
        if text.startswith("$god_") or '"$god_' in text:
            continue
        begins, goes = _SET.fullmatch(text), _GO.fullmatch(text)
        if begins is not None:
            start[begins[1]][begins[2]] = _number(begins[3])
        elif goes is not None and goes[3] is not None:
            time = nanoseconds(goes[1])
            if set("XY") - set(start[goes[2]]):
                raise BadLineError(
                    f"node {goes[2]} moves, and no line before says where it begins ($node_({goes[2]}) set X_)"
                )
            one = moves.setdefault(goes[2], [])
            if one and time < one[-1][0]:
                raise BadLineError(f"runs back in time, to {goes[1]} s")
            speed = _number(goes[5])
            if speed < 0:
                raise BadLineError(f"the speed {goes[5]} is negative")
            one.append((time, lines.number, _number(goes[3]), _number(goes[4]), speed))
        else:
            form = '$ns_ at T "$node_(I) setdest X Y V" or $node_(I) set X_ X'
            raise BadLineError(f"must be {form}, not {quoted(text)}")
    track = _Track()
    for node in sorted(start, key=int):
        if set("XY") - set(start[node]):
            raise BadLineError(f"no line says both X_ and Y_ of node {node}")
        x, y = start[node]["X"], start[node]["Y"]
        track.add(node, 0, x, y)
        own = moves.get(node, [])
        for number, (time, _, to_x, to_y, speed) in enumerate(own):
            following = own[number + 1][0] if number + 1 < len(own) else None
            distance = hypot(to_x - x, to_y - y)
            track.add(node, time, x, y)
            if not speed or not distance:
                continue
            takes = distance / speed
            if takes >= 4e9:
                takes, to_x, to_y = 4e9, x + (to_x - x) * 4e9 / takes, y + (to_y - y) * 4e9 / takes
            arrival = time + max(1, round(takes * _SECOND))
            if following is not None and following < arrival:
                share = (following - time) / (arrival - time)
                x, y, arrival = x + share * (to_x - x), y + share * (to_y - y), following
            else:
                x, y = to_x, to_y
            track.add(node, arrival, x, y)
    return track.points()


class _Track:
    """The points of each node."""

    def __init__(self) -> None:
        self._points: dict[str, list[tuple[int, float, float]]] = {}
        self._number = 0

    def add(self, node: str, time: int, x: float, y: float) -> None:
        """Have a node be somewhere; of several places at one time the last holds."""
        self._number += 1
        if self._number > _MOST_POINTS:
            raise BadLineError(f"the file has more than {_MOST_POINTS:,} points")
        own = self._points.setdefault(node, [])
        if own and own[-1][0] == time:
            own[-1] = time, x, y
        else:
            own.append((time, x, y))

    def points(self) -> Points:
        """Return the points of all nodes, in order of their names, as numbers if all are."""
        nodes = list(self._points)
        if not nodes:
            raise BadLineError("the file names no node")
        as_numbers = all(node.isdigit() and node.isascii() for node in nodes)
        found = []
        for node in sorted(nodes, key=int) if as_numbers else sorted(nodes):
            own = np.array(self._points[node], dtype=object)
            found.append((own[:, 0].astype(np.int64), own[:, 1:].astype(np.float64)))
        return found


def _number(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or abs(number) > 1e12 or "_" in word:
        raise BadLineError(f"{quoted(word)} is no place or speed: must be a number")
    return number
