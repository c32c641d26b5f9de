"""The ranking of all entries of a record on the tracks of a family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from netbandit.results import intervals
from netbandit.results.intervals import CONFIDENCE, Interval
from netbandit.studies.suite.cells import Cell
from netbandit.studies.suite.differences import dominated, ranks
from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.profiles import Place, gain, midranks, places
from netbandit.studies.suite.record import Record
from netbandit.studies.suite.scores import score, scores
from netbandit.studies.suite.tracks import Track


@dataclass(frozen=True)
class Standing:
    """All entries of a record that ran on a track of a family.

    Attributes:
        record: The record.
        family: ``arms`` or ``linear``.
        tracks: The tracks.
        own: The entry to highlight among the others; empty: none.
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
        """The entries by the median of their midranks on `common` tracks; as in the record if there are none."""
        if not self.common:
            return self._compared
        ranked = [midranks(self.ranks[track]) for track in self.common]
        return sorted(
            self._compared,
            key=lambda name: (
                median(track[name] for track in ranked),
                median(self.scores[track][name].value for track in self.common),
            ),
        )

    @cached_property
    def _compared(self) -> list[str]:
        return [name for name in self.record.entries if any(name in found for found in self.scores.values())]

    @cached_property
    def common(self) -> list[str]:
        """The tracks that all entries ran, on which the ranking is based."""
        return [track for track, found in self.scores.items() if len(found) == len(self._compared)]

    def ran(self, track: str) -> dict[str, Cell]:
        """Return the cells of the entries that ran on *track*."""
        return {name: self.record.cell(name, track) for name in self.scores[track]}

    def score_values(self, entry: str) -> dict[str, float]:
        """Return the scores of an entry, by track."""
        return {track: found[entry].value for track, found in self.scores.items() if entry in found}

    def gain(self, entry: str) -> float:
        """Return how much of the gain of free cooperation an entry has; see `netbandit.studies.suite.profiles.gain`."""
        return gain(self.score_values(entry), self.names)

    @cached_property
    def ranks(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        """Track -> entry -> the best and the worst rank that it may have."""
        return {track: ranks(self.ran(track)) for track in self.names}

    @cached_property
    def dominated(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Track -> entry -> the entries that dominate it."""
        return {track: dominated(self.ran(track)) for track in self.names}

    def front(self, track: str) -> list[str]:
        """Return the nondominated entries on *track*, in ascending order of bytes sent."""
        cells = self.ran(track)
        free = [name for name in cells if name not in self.dominated[track]]
        return sorted(free, key=lambda name: sum(cells[name].of("bytes")))

    def fronts(self, entry: str) -> list[str]:
        """Return the tracks on whose front an entry is."""
        return [track for track in self.names if entry in self.front(track)]

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """The rank of each entry over the `common` tracks; empty if these are fewer than two."""
        return places([midranks(self.ranks[track]) for track in self.common]) if len(self.common) > 1 else {}

    def harmed(self, entry: str) -> list[str]:
        """Return the tracks on which an entry is worse than the reference alone: its score's interval is above 1."""
        return [track for track, found in self.scores.items() if entry in found and found[entry].low > 1]

    def itself_alone(self, entry: str, track: str) -> Cell | None:
        """Return the cell on *track* of the same learner with the same keys over `silent`, if that is recorded."""
        own = self.record.entries[entry]
        if own.protocol["kind"] == "silent":
            return None
        cell = self.record.cell(Entry(own.learner, {"kind": "silent"}).name, track)
        return cell if cell.state == "ran" else None

    def score_alone(self, entry: str, track: str) -> float | None:
        """Return the score on *track* of the same learner over `silent`; None if it is not recorded there."""
        alone = self.itself_alone(entry, track)
        if alone is None:
            return None
        (found,) = [one for one in self.tracks if one.name == track]
        return score(alone, self.record.cell(found.alone.name, track), self.record.cell(found.all.name, track)).value

    def behind_itself(self, entry: str) -> tuple[list[str], int]:
        """Return the tracks on which an entry has decidedly more regret than itself alone, and on how many both ran."""
        both = {
            track: alone
            for track, found in self.scores.items()
            if entry in found and (alone := self.itself_alone(entry, track)) is not None
        }
        return [track for track, alone in both.items() if self._more(entry, track, alone)], len(both)

    def _more(self, entry: str, track: str, alone: Cell) -> bool:
        regrets = self.record.cell(entry, track).of("regret"), alone.of("regret")
        return intervals.mean([one - other for one, other in zip(*regrets, strict=True)], CONFIDENCE).low > 0


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
