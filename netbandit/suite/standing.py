"""All entries of a record among each other, on the tracks of a family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from netbandit.results.intervals import Interval
from netbandit.suite.cells import Cell
from netbandit.suite.front import dominated
from netbandit.suite.profiles import Places, gain, places
from netbandit.suite.ranks import ranks
from netbandit.suite.record import Record
from netbandit.suite.scores import scores
from netbandit.suite.tracks import Track


@dataclass(frozen=True)
class Standing:
    """All entries of a record that ran on a track of a family.

    Attributes:
        record: The record.
        family: ``arms`` or ``linear``.
        tracks: The tracks.
        own: The entry that is looked for among the others; empty: none.
    """

    record: Record
    family: str
    tracks: Sequence[Track]
    own: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the tracks."""
        return [track.name for track in self.tracks]

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, Interval]]:
        """Track -> entry -> score, of the entries that ran on the track."""
        return {track.name: scores(self.record, track) for track in self.tracks}

    @cached_property
    def entries(self) -> list[str]:
        """The entries, those with the largest `gain` first."""
        ran = [name for name in self.record.entries if any(name in found for found in self.scores.values())]
        return sorted(ran, key=lambda name: -self.gain(name))

    def ran(self, track: str) -> dict[str, Cell]:
        """Return the cells of the entries that ran on *track*."""
        return {name: self.record.cell(name, track) for name in self.scores[track]}

    def score_values(self, entry: str) -> dict[str, float]:
        """Return the scores of an entry, by track."""
        return {track: found[entry].value for track, found in self.scores.items() if entry in found}

    def gain(self, entry: str) -> float:
        """Return how much of the gain of free cooperation an entry has; see `netbandit.suite.profiles.gain`."""
        return gain(self.score_values(entry), self.names)

    @cached_property
    def ranks(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        """Track -> entry -> the best and the worst rank that it may have."""
        return {track: ranks(self.ran(track)) for track in self.names}

    @cached_property
    def dominated(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Track -> entry -> who dominates it."""
        return {track: dominated(self.ran(track)) for track in self.names}

    def front(self, track: str) -> list[str]:
        """Return the entries that nobody dominates on *track*, those that send least first."""
        cells = self.ran(track)
        free = [name for name in cells if name not in self.dominated[track]]
        return sorted(free, key=lambda name: sum(cells[name].of("bytes")))

    def fronts(self, entry: str) -> list[str]:
        """Return the tracks on whose front an entry is."""
        return [track for track in self.names if entry in self.front(track)]

    @cached_property
    def places(self) -> Mapping[str, Places]:
        """The place of each entry in the order of `gain`, and how it depends on the choice of tracks."""
        return places({name: self.score_values(name) for name in self.entries}, self.names)


def standings(record: Record, tracks: Sequence[Track], own: str = "") -> list[Standing]:
    """Return the standing of each family of *tracks*; with an *own* entry, of those on which it was run."""
    families = list(dict.fromkeys(track.family for track in tracks))
    found = [
        Standing(record, family, [track for track in tracks if track.family == family], own) for family in families
    ]
    if not own:
        return found
    cells = record.cells[own]
    return [
        one for one in found if any(cells.get(track, Cell("refused")).state != "refused" for track in one.names)
    ] or found
