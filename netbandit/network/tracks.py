"""Tracks: the piecewise linear trajectories of mobile agents."""

from collections.abc import Iterator
from math import ceil, hypot, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.contacts import Integers
from netbandit.util.memory import exceeded, shown
from netbandit.util.streams import Streams

Floats = NDArray[np.float64]

_SECOND = 10**9
_LEGS = 64
"""How many legs are drawn at once."""
_POINTS = 1 << 22
"""About how many points of tracks of many steps are kept at once."""
_MOST_STEPS = 1 << 28
_BYTES_A_POINT = 160
"""The memory of a point while tracks are drawn: measured."""


class Tracks(NamedTuple):
    """The positions of agents over an interval. Before its first point an agent rests there, after its last one too.

    Attributes:
        begin: The begin of the interval (ns).
        end: Its end (ns).
        first: The index of the first point of each agent, and the number of points, shape (agents + 1,).
        time: When the agent is at each point (ns), ascending for each agent, shape (points,).
        place: The coordinates of each point (m), shape (points, 2), or (points, 3) if heights differ.
    """

    begin: int
    end: int
    first: Integers
    time: Integers
    place: Floats


def joined(begin: int, end: int, points: list[tuple[Integers, Floats]]) -> Tracks:
    """Return tracks of agents, each given by its times and places."""
    first = np.cumsum([0, *(len(time) for time, _ in points)])
    time, place = (np.concatenate(columns) for columns in zip(*points, strict=True))
    return Tracks(begin, end, first.astype(np.int64), time.astype(np.int64), place.astype(np.float64))


def mean_distance(width: float, height: float) -> float:
    """Return the mean distance of two points that are uniform in a rectangle (Ghosh 1951), or on a line."""
    long, short = max(width, height), min(width, height)
    if short <= 0:
        return long / 3
    diagonal = hypot(long, short)
    squares = long**3 / short**2 + short**3 / long**2
    squares += diagonal * (3 - long**2 / short**2 - short**2 / long**2)
    logs = short**2 / long * log((long + diagonal) / short) + long**2 / short * log((short + diagonal) / long)
    return (squares + 2.5 * logs) / 15


class Waypoint(NamedTuple):
    """Random waypoint: agents move straight to a uniform random position at a uniform random speed, pause, and go on.

    Nodes start stationary (Navidi and Camp, IEEE Trans. Mobile Comput. 2004).

    Attributes:
        area: Width and height of where they are (m); one of them may be 0.
        speed: The smallest and the largest speed (m/s), the smallest above 0.
        pause: How long they pause (s).
    """

    area: tuple[float, float]
    speed: tuple[float, float]
    pause: float

    def tracks(self, agents: int, streams: Streams, end: int) -> Iterator[Tracks]:
        """Yield the tracks until *end* (ns): those of agent i from the stream ("mobile", i)."""
        yield joined(
            0, end, [self._track(streams.generator("mobile", agent), end / _SECOND) for agent in range(agents)]
        )

    def too_many(self, agents: int, end: int) -> str | None:
        """Return the mistake if tracks until *end* (ns) have more points than fit into memory; None: they fit."""
        legs = agents * (_LEGS + end / _SECOND / (self.pause + self._leg()))
        size = 2 * legs * _BYTES_A_POINT
        if (most := exceeded(size)) is None:
            return None
        needed = f"{legs:.2g} legs in a run, which take some {shown(size)} of memory"
        return f"too many: agents would go about {needed}; {shown(most)} is available here"

    def _leg(self) -> float:
        """Return how long a leg takes in the mean (s)."""
        slow, fast = self.speed
        return mean_distance(*self.area) * (1 / slow if slow == fast else log(fast / slow) / (fast - slow))

    def _track(self, rng: np.random.Generator, end: float) -> tuple[Integers, Floats]:
        area = np.array(self.area)
        slow, fast = self.speed
        leg = self._leg()
        if rng.random() * (self.pause + leg) < self.pause:
            place = area * rng.random(2)
            times, places = [0.0, self.pause * rng.random()], [place, place]
        else:
            while True:  # its ends, in proportion to their distance
                source, target = area * rng.random((2, 2))
                distance = hypot(*(target - source))
                if rng.random() * hypot(*area) < distance:
                    break
            speed = slow * (fast / slow) ** rng.random()
            done = rng.random()
            arrival = distance * (1 - done) / speed
            times, places = [0.0, arrival, arrival + self.pause], [source + done * (target - source), target, target]
        time, course = [np.array(times)], [np.array(places)]
        while time[-1][-1] < end:
            drawn = rng.random((_LEGS, 3))
            targets = area * drawn[:, :2]
            lengths = np.hypot(*np.diff(targets, axis=0, prepend=course[-1][-1:]).T)
            needs = lengths / (slow + (fast - slow) * drawn[:, 2])
            arrivals = time[-1][-1] + np.cumsum(needs + self.pause) - self.pause
            time.append(np.stack([arrivals, arrivals + self.pause], axis=1).ravel())
            course.append(np.repeat(targets, 2, axis=0))
        return _in_nanoseconds(np.concatenate(time), np.concatenate(course))


def _in_nanoseconds(time: Floats, place: Floats) -> tuple[Integers, Floats]:
    """Return points by times (s) with times in nanoseconds, of several at the same the last."""
    rounded = np.ceil(time * _SECOND).astype(np.int64)
    kept = np.append(rounded[1:] > rounded[:-1], True)
    return rounded[kept], place[kept]


class GaussMarkov(NamedTuple):
    """Gauss-Markov mobility: in each step a velocity component v becomes memory v + sigma sqrt(1 - memory^2) normal.

    Nodes start stationary (Liang and Haas, IEEE/ACM Trans. Netw. 2003); positions beyond a border are reflected.

    Attributes:
        area: Width and height of where they are (m).
        step: How long a step takes (ns).
        memory: How much of its velocity an agent keeps, from 0 to 1.
        sigma: The standard deviation of each component of a velocity (m/s).
    """

    area: tuple[float, float]
    step: int
    memory: float
    sigma: float

    def too_many(self, agents: int, end: int) -> str | None:
        """Return the mistake if tracks until *end* (ns) have more steps than are possible; None: they do not."""
        steps = ceil(end / self.step)
        if steps <= _MOST_STEPS and steps * agents <= _MOST_STEPS << 4:
            return None
        text = f"at most {_MOST_STEPS:,} are possible, and {_MOST_STEPS << 4:,} of all together"
        return f"too short: each of {agents} agents would go {steps:,} steps in a run; {text}"

    def tracks(self, agents: int, streams: Streams, end: int) -> Iterator[Tracks]:
        """Yield the tracks until *end* (ns), part after part: those of agent i from the stream ("mobile", i)."""
        rngs = [streams.generator("mobile", agent) for agent in range(agents)]
        area = np.array(self.area)
        place = np.array([area * rng.random(2) for rng in rngs])
        velocity = np.array([self.sigma * rng.standard_normal(2) for rng in rngs])
        steps, done = ceil(end / self.step), 0
        at_once = max(1, _POINTS // agents)
        while done < steps:
            some = min(at_once, steps - done)
            noise = np.stack([rng.standard_normal((some, 2)) for rng in rngs], axis=1)
            noise *= self.sigma * (1 - self.memory**2) ** 0.5
            places = np.empty((some + 1, agents, 2))
            places[0] = place
            for number in range(some):  # not folded: as the noise is symmetric, borders may be mirrored afterwards
                place = place + velocity * (self.step / _SECOND)
                places[number + 1] = place
                velocity = self.memory * velocity + noise[number]
            time = np.arange(done, done + some + 1) * self.step
            yield Tracks(
                done * self.step,
                min(end, (done + some) * self.step),
                np.arange(agents + 1) * (some + 1),
                np.tile(time, agents),
                _mirrored(places, area).transpose(1, 0, 2).reshape(-1, 2),
            )
            done += some


def _mirrored(places: Floats, area: Floats) -> Floats:
    """Return positions reflected into the area at its borders."""
    found: Floats = np.zeros_like(places)
    for axis in (0, 1):
        if area[axis] > 0:
            along = places[..., axis] % (2 * area[axis])
            found[..., axis] = np.minimum(along, 2 * area[axis] - along)
    return found


def fastest(tracks: Tracks) -> float:
    """Return the largest speed (m/s) of a track, without jumps, which take a nanosecond."""
    same = np.ones(len(tracks.time), dtype=bool)
    same[tracks.first[:-1][tracks.first[:-1] < len(same)]] = False
    needed = np.diff(tracks.time)[same[1:]]
    gone = np.hypot.reduce(np.diff(tracks.place, axis=0)[same[1:]], axis=1)
    goes = needed > 1
    return float((gone[goes] / (needed[goes] / _SECOND)).max(initial=0.0))
