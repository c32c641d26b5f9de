"""Contact intervals of mobile agents: the roots of the pairwise distances of tracks, segment by segment.

Time is cut into windows in which no agent moves farther than the range. In each, agents are sorted into grid cells,
and only pairs in neighbouring cells are tested.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from netbandit.network.contacts import Integers
from netbandit.network.tracks import Tracks, fastest
from netbandit.util.jit import njit

_SECOND = 1e9
_MOST_WINDOWS = 200_000
_ROOM = 1 << 16


def approaches(tracks: Tracks, reach: float) -> Iterator[Integers]:
    """Yield the intervals in which two agents are within *reach* (m): rows of both agents, begin, exclusive end (ns).

    Times are rounded up. Touching intervals are not merged yet: see `netbandit.network.contact_files.listed`.
    """
    reach = float(reach)
    span = tracks.end - tracks.begin
    speed = fastest(tracks)
    wanted = span if speed <= 0 else reach / speed * _SECOND
    window = int(max(1, span // _MOST_WINDOWS + 1, min(span, wanted)))
    rows = np.empty((_ROOM, 4), dtype=np.int64)
    at = tracks.first[:-1].copy()
    begin = tracks.begin
    while begin < tracks.end:
        found, following = _look(tracks.first, tracks.time, tracks.place, at, begin, tracks.end, window, reach, rows)
        if following == begin:
            rows = np.empty((2 * len(rows), 4), dtype=np.int64)
        else:
            yield rows[:found].copy()
        begin = following


@njit(cache=True)
def _look(
    first: Any, time: Any, place: Any, at: Any, begin: int, end: int, window: int, reach: float, rows: Any
) -> tuple[int, int]:
    """Process window after window; return the number of rows and the first window not processed.

    Loops stand in place of numpy's functions, which numba would compile along for a second.
    """
    agents = len(first) - 1
    axes = place.shape[1]
    low, high, now = np.empty((agents, axes)), np.empty((agents, axes)), np.empty(axes)
    cell, order = np.empty(agents, dtype=np.int64), np.empty(agents, dtype=np.int64)
    found: Any = np.int64(0)  # a plain 0 has another type, for which every callee would be compiled again
    while begin < end:
        until = min(end, begin + window)
        kept, largest = found, 0.0
        left, bottom, right, top = math.inf, math.inf, -math.inf, -math.inf
        for agent in range(agents):
            while at[agent] + 1 < first[agent + 1] and time[at[agent] + 1] <= begin:
                at[agent] += 1
            _put(now, first, time, place, agent, at[agent], begin)
            for axis in range(axes):
                low[agent, axis] = high[agent, axis] = now[axis]
            point = at[agent]
            while point + 1 < first[agent + 1] and time[point] < until:
                point += 1
                if time[point] <= until:
                    for axis in range(axes):
                        now[axis] = place[point, axis]
                else:
                    _put(now, first, time, place, agent, point - 1, until)
                for axis in range(axes):
                    low[agent, axis] = min(low[agent, axis], now[axis])
                    high[agent, axis] = max(high[agent, axis], now[axis])
            for axis in range(2):
                largest = max(largest, high[agent, axis] - low[agent, axis])
            left, bottom = min(left, low[agent, 0]), min(bottom, low[agent, 1])
            right, top = max(right, high[agent, 0]), max(top, high[agent, 1])
        side = max(reach + largest, math.sqrt(max(right - left, 1e-9) * max(top - bottom, 1e-9) / (2 * agents)))
        side = max(side, max(right - left, top - bottom) / (2 * agents), 1e-9)
        columns, lines = int((right - left) / side) + 1, int((top - bottom) / side) + 1
        cells = columns * lines
        start, filled = np.empty(cells + 1, dtype=np.int64), np.empty(cells + 1, dtype=np.int64)
        for near in range(cells + 1):
            start[near] = 0
        for agent in range(agents):
            column = min(columns - 1, int(((low[agent, 0] + high[agent, 0]) / 2 - left) / side))
            line = min(lines - 1, int(((low[agent, 1] + high[agent, 1]) / 2 - bottom) / side))
            cell[agent] = line * columns + column
            start[cell[agent] + 1] += 1
        filled[0] = 0
        for near in range(cells):
            start[near + 1] += start[near]
            filled[near + 1] = start[near + 1]
        for agent in range(agents):
            order[filled[cell[agent]]] = agent
            filled[cell[agent]] += 1
        for one in range(agents):
            line, column = divmod(cell[one], columns)
            for near_line in range(max(0, line - 1), min(lines, line + 2)):
                for near_column in range(max(0, column - 1), min(columns, column + 2)):
                    near = near_line * columns + near_column
                    for position in range(start[near], start[near + 1]):
                        other = order[position]
                        if other > one and _may_meet(low, high, one, other, reach):
                            found = _meet(first, time, place, at, one, other, begin, until, reach, rows, found)
                            if found < 0:
                                return kept, begin
        begin = until
    return found, begin


@njit(cache=True)
def _may_meet(low: Any, high: Any, one: int, other: int, reach: float) -> bool:
    """Return whether the bounding boxes of two agents come within *reach*."""
    for axis in range(low.shape[1]):
        if low[one, axis] - high[other, axis] > reach or low[other, axis] - high[one, axis] > reach:
            return False
    return True


@njit(cache=True)
def _put(now: Any, first: Any, time: Any, place: Any, agent: int, point: int, moment: int) -> None:
    """Write to *now* the position of an agent at a moment (ns) between its *point* and the next, both included."""
    share = 0.0
    following = point
    if point + 1 < first[agent + 1] and moment > time[point]:
        following = point + 1
        share = (moment - time[point]) / (time[following] - time[point])
    for axis in range(place.shape[1]):
        now[axis] = place[point, axis] + share * (place[following, axis] - place[point, axis])


@njit(cache=True)
def _meet(
    first: Any, time: Any, place: Any, at: Any, one: int, other: int, begin: int, until: int, reach: float, rows: Any,
    found: int,
) -> int:  # fmt: skip
    """Write the contact intervals of two agents in a window; return the number of rows, below 0: no room."""
    axes = place.shape[1]
    here, there = np.empty(axes), np.empty(axes)
    here_then, there_then = np.empty(axes), np.empty(axes)
    mine, its = at[one], at[other]
    before = found
    while begin < until:
        while mine + 1 < first[one + 1] and time[mine + 1] <= begin:
            mine += 1
        while its + 1 < first[other + 1] and time[its + 1] <= begin:
            its += 1
        last = until
        for agent, point in ((one, mine), (other, its)):
            following = point if time[point] > begin else point + 1
            if following < first[agent + 1]:
                last = min(last, time[following])
        _put(here, first, time, place, one, mine, begin)
        _put(there, first, time, place, other, its, begin)
        _put(here_then, first, time, place, one, mine, last)
        _put(there_then, first, time, place, other, its, last)
        seconds = (last - begin) / _SECOND
        square, towards, beyond = 0.0, 0.0, 0.0
        for axis in range(axes):
            apart = here[axis] - there[axis]
            speed = (here_then[axis] - there_then[axis] - apart) / seconds
            square += speed * speed
            towards += apart * speed
            beyond += apart * apart
        beyond -= reach * reach
        root = towards * towards - square * beyond
        comes, goes = last, last
        if beyond <= 0:
            comes = begin
        elif towards < 0 and root >= 0:
            comes = begin + math.ceil(min((-towards - math.sqrt(root)) / square, 2 * seconds) * _SECOND)
        if comes < last and square > 0:
            leaves = (-towards + math.sqrt(max(root, 0.0))) / square
            if leaves < seconds:
                goes = min(last, begin + math.ceil(leaves * _SECOND))
        if comes < goes:
            if found > before and rows[found - 1, 3] >= comes:
                rows[found - 1, 3] = goes
            else:
                if found == len(rows):
                    return -1
                rows[found, 0], rows[found, 1], rows[found, 2], rows[found, 3] = one, other, comes, goes
                found += 1
        begin = last
    return found
