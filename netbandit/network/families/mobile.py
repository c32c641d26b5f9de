"""``mobile``: mobile agents, linked while within range of each other."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field

from netbandit.network import contact_files, track_files
from netbandit.network.contact_files import Meetings, listed
from netbandit.network.contacts import MOST_CONTACTS, Integers
from netbandit.network.families.family import MOST_AGENTS
from netbandit.network.families.meeting import Meeting
from netbandit.network.size_limits import too_large
from netbandit.network.topology import TopologyError
from netbandit.network.tracks import Floats, GaussMarkov, Tracks, Waypoint, joined
from netbandit.parts.component import Checks, Mistake, Note
from netbandit.parts.settings import DurationText, PositiveDuration, Problem
from netbandit.util.streams import Streams
from netbandit.util.units import LENGTH, SPEED, parse_duration, parse_length, parse_speed
from netbandit.util.wording import Allowed, show

_SECOND = 10**9


def _read_by(parse: Callable[[str], float], wanted: str) -> BeforeValidator:
    def read(text: Any) -> Any:
        try:
            if isinstance(text, str):
                parse(text)
                return text
        except ValueError:
            pass
        raise ValueError(f"must be {wanted}, not {show(text)}")

    return BeforeValidator(read)


Length = Annotated[str, _read_by(parse_length, LENGTH), Allowed(LENGTH)]
Speed = Annotated[str, _read_by(parse_speed, SPEED), Allowed(SPEED)]

_USED = {
    "waypoint": {"agents", "area", "speed", "pause"},
    "gauss-markov": {"agents", "area", "step", "memory", "sigma"},
    "file": {"file", "format", "from_"},
}
"""The keys that belong to each model."""


class _Read(NamedTuple):
    """Tracks of a file, which of its times (ns) is the run's 0, and what it calls the agents."""

    tracks: Tracks
    since: int
    names: list[str]


class Mobile(Meeting):
    """Agents that move; links are the pairs that come near before the horizon, and are up while they are."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] | None = None
    """Number of agents (M); absent: those of the file."""
    area: list[Length] = Field(default=["1 km", "1 km"], min_length=2, max_length=2)
    """Width and height of the area of the agents; one may be ``"0 m"``: a line."""
    range: Length
    """The largest distance at which a link is up."""
    model: Literal["waypoint", "gauss-markov", "file"] = "waypoint"
    """How agents move: ``waypoint``: straight to a place drawn uniformly, where they pause; ``gauss-markov``: with a
    velocity that changes in steps; ``file``: as a file says. The first two begin in their stationary distributions."""
    speed: list[Speed] = Field(default=["0.5 m/s", "2 m/s"], min_length=2, max_length=2)
    """Of ``waypoint``: the smallest speed of a leg, above 0, and the largest; it is uniform."""
    pause: DurationText = "0 s"
    """Of ``waypoint``: how long an agent pauses where it arrives."""
    step: PositiveDuration = "1 s"
    """Of ``gauss-markov``: the length of a step, after which each component v of a velocity becomes memory v +
    sigma sqrt(1 - memory^2) normal. What leaves the area is mirrored at its border."""
    memory: float = Field(default=0.75, ge=0, le=1)
    """Of ``gauss-markov``: how much of its velocity an agent keeps in a step."""
    sigma: Speed = "1 m/s"
    """Of ``gauss-markov``: the standard deviation of each component of a velocity."""
    file: str | None = Field(default=None, min_length=1)
    """With ``model = "file"``: the file, relative to the scenario that names it."""
    format: Literal["one", "ns-2", "bonnmotion"] = "one"
    """Of ``file``: what its lines say, times in seconds and places in metres: ``one``: `TIME NODE X Y` after a header;
    ``ns-2``: `$ns_ at T "$node_(I) setdest X Y V"`; ``bonnmotion``: `T X Y T X Y ...`, a line a node, or
    `T X Y Z ...`."""
    from_: Annotated[DurationText | None, Field(alias="from")] = None
    """Of ``file``: the file's time that is the run's 0; absent: minTime of the header of ``one``, else 0."""

    def check(self) -> Checks:
        """Yield invalid combinations of keys, and keys that are not used."""
        yield from self.check_changes()
        used = _USED[self.model]
        every: set[str] = set().union(*_USED.values())
        for key in sorted((every - used) & self.model_fields_set - {"agents"}):
            yield Note(key.rstrip("_"), f"is not used with model = {show(self.model)}")
        if self.model == "file":
            if self.file is None:
                yield Mistake("file", 'is missing: model = "file" needs one')
            return
        if self.agents is None:
            yield Mistake("agents", f"is missing, must be an integer from 1 to {MOST_AGENTS:,}")
        if not any(map(parse_length, self.area)):
            yield Mistake("area", "must have a width or a height above 0")
        if self.model == "waypoint":
            slow, fast = map(parse_speed, self.speed)
            if slow <= 0:
                text = f"must be above 0, not {show(self.speed[0])}: ever more agents would creep, and never arrive"
                yield Mistake(("speed", 0), text)
            elif fast < slow:
                yield Mistake("speed", f"must go from the smallest to the largest, not from {show(self.speed[0])}")
        if parse_length(self.range) <= 0:
            yield Mistake("range", f"must be above 0: {LENGTH}")

    def files(self) -> dict[str, str]:
        """Return the file, if agents move as one says."""
        return {"file": self.file} if self.model == "file" and self.file is not None else {}

    def tracks(self, streams: Streams, slot: int, end: int) -> Iterator[Tracks]:
        """Yield where agents are until *end* (ns), part after part; see `Meeting.meetings`."""
        if self.model == "file":
            yield self._read(slot, end).tracks
            return
        assert self.agents is not None
        width, height = map(parse_length, self.area)
        model: Waypoint | GaussMarkov
        if self.model == "waypoint":
            slow, fast = map(parse_speed, self.speed)
            pause = parse_duration(self.pause).nanoseconds(slot) / _SECOND
            model, key = Waypoint((width, height), (slow, fast), pause), "speed"
        else:
            step = max(1, parse_duration(self.step).nanoseconds(slot))
            model, key = GaussMarkov((width, height), step, self.memory, parse_speed(self.sigma)), "step"
        wrong = model.too_many(self.agents, end)
        if wrong is not None:
            raise TopologyError([((key,), wrong)])
        one, other = np.random.default_rng(0).random((2, 1 << 16, 2)) * (width, height)
        self._refuse_crowds("agents", self.agents, one - other)
        yield from model.tracks(self.agents, streams, end)

    def _refuse_crowds(self, key: str, agents: int, apart: Floats) -> None:
        """Refuse more pairs that are near one another at a time than a run may have contacts.

        Args:
            key: The key to blame.
            agents: The number of agents.
            apart: From where to where (m) some pairs of them are, shape (pairs, 2 or 3).
        """
        near = float((np.hypot.reduce(apart, axis=1) <= parse_length(self.range)).mean()) * agents * (agents - 1) / 2
        if near > MOST_CONTACTS:
            text = (
                f"too many: about {near:.2g} pairs would be in range at a time; at most {MOST_CONTACTS:,} are possible"
            )
            raise TopologyError([((key,), text)])
        wrong = [mistake.text for mistake in too_large(key, agents, near) if isinstance(mistake, Mistake)]
        if wrong:
            raise TopologyError([((key,), wrong[0])])

    def _read(self, slot: int, end: int) -> _Read:
        """Return the tracks of the file."""
        readers = {"one": track_files.one, "ns-2": track_files.ns2, "bonnmotion": track_files.bonnmotion}
        paths = contact_files.read(Path(str(self.file)), readers[self.format])
        if self.agents not in (None, len(paths.points)):
            text = f"is {self.agents}, but the file has {len(paths.points)}: must be left out, or that"
            raise TopologyError([(("agents",), text)])
        since = paths.begin if self.from_ is None else parse_duration(self.from_).nanoseconds(slot)
        return _Read(joined(0, end, [(time - since, place) for time, place in paths.points]), since, paths.names)

    def meetings(self, streams: Streams, slot: int, end: int) -> Meetings:
        """Return when agents are near one another; see `netbandit.network.approaches`."""
        from netbandit.network.approaches import approaches  # it brings numba along, which takes its time

        notes: list[Problem] = []
        if self.model == "file":
            tracks, since, names = self._read(slot, end)
            agents = len(names)
            if agents * (agents - 1) / 2 > MOST_CONTACTS:
                moments = np.linspace(0, end, 5)
                self._refuse_crowds("file", agents, np.concatenate([*_apart(tracks, moments)]))
            parts = iter([tracks])
            if _rests(tracks):
                first, last = since + int(tracks.time.min()), since + int(tracks.time.max())
                text = contact_files.beyond("tracks", first, last, since, end)
                notes.append((("from",), f"nobody moves in the run: {text}"))
        else:
            assert self.agents is not None
            agents, parts = self.agents, self.tracks(streams, slot, end)
            names = list(map(str, range(agents)))
        rows, new, waiting = np.empty((0, 4), dtype=np.int64), [np.empty((0, 4), dtype=np.int64)], 0
        for tracks in parts:
            for part in approaches(tracks, parse_length(self.range)):
                new.append(part)
                waiting += len(part)
                if waiting > max(_ROWS, len(rows)):
                    rows, new, waiting = _joined(np.concatenate([rows, *new])), [], 0
                    self._count(rows)
        rows = _joined(np.concatenate([rows, *new]))
        self._count(rows)
        edges, contacts = listed(rows[:, :2], rows[:, 2], rows[:, 3])
        if not len(edges) and not notes:
            notes.append((("range",), "no two agents come within range of one another before the horizon"))
        return Meetings(names, edges, contacts, notes=tuple(notes))

    def _count(self, rows: Integers) -> None:
        if len(rows) > MOST_CONTACTS:
            text = f"too large: there are more contacts than {MOST_CONTACTS:,} in a run, which are possible"
            raise TopologyError([(("range",), text)])


_ROWS = 1 << 20
"""About how many contacts are kept before those that touch become one."""


def _joined(rows: Integers) -> Integers:
    """Return rows of both agents, from when until before when, of which those of a pair that touch are one."""
    edges, contacts = listed(rows[:, :2], rows[:, 2], rows[:, 3])
    return np.column_stack([np.repeat(edges, np.diff(contacts.first), axis=0), contacts.times])


def _apart(tracks: Tracks, moments: Floats) -> Iterator[Floats]:
    """Yield, for each moment (ns), from where to where (m) each agent is and another one."""
    places = np.array(
        [
            [np.interp(moments, tracks.time[begin:over], axis) for axis in tracks.place[begin:over].T]
            for begin, over in pairwise(tracks.first.tolist())
        ]
    )
    rng = np.random.default_rng(0)
    for number in range(len(moments)):
        order = rng.permutation(len(places))
        yield places[order, :, number] - places[np.roll(order, 1), :, number]


def _rests(tracks: Tracks) -> bool:
    """Return whether agents that move do not from begin to end."""
    agent = np.repeat(np.arange(len(tracks.first) - 1), np.diff(tracks.first))
    same = agent[1:] == agent[:-1]
    moves = same & (tracks.time[1:] > tracks.begin) & (tracks.time[:-1] < tracks.end)
    return bool(same.any() and not moves.any())
