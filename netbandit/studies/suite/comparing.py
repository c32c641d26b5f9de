"""Compares a user's entry with all recorded ones: runs it, and ranks it among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.studies.suite.cells import METRICS
from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.record import Record, shipped_record
from netbandit.studies.suite.runs import LIMIT, Told, run_pairs, tell_nobody
from netbandit.studies.suite.standing import Standing, standings
from netbandit.studies.suite.tracks import Track, chosen

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

OUT = Path("results/suite")
"""The default folder of the runs."""


@dataclass(frozen=True)
class Comparison:
    """Recorded entries, together with one of the user.

    Attributes:
        record: All of them.
        tracks: The tracks that are compared.
        own: The name of the user's entry; empty if there is none.
    """

    record: Record
    tracks: Sequence[Track]
    own: str = ""

    @cached_property
    def standings(self) -> list[Standing]:
        """The standing of each family of tracks."""
        return standings(self.record, self.tracks, self.own)

    @property
    def scores(self) -> "DataFrame":
        """A table of all scores, a row for each track and entry that ran on it.

        Columns: ``track``, ``entry``, ``score``, ``low``, ``high`` (95 %), ``rank_best``, ``rank_worst``, ``bytes`` (an
        agent and slot), ``front`` (whether it is not dominated), ``harm`` (whether it is worse than the reference
        alone), ``itself_alone`` (the score of the same learner over ``silent``, if that is recorded), ``own``.
        """
        from netbandit.util.extras.frames import pandas

        rows = []
        for standing in self.standings:
            for track in standing.names:
                cells, front = standing.ran(track), standing.front(track)
                for name, cell in cells.items():
                    found, sent = standing.scores[track][name], cell.of("bytes")
                    best, worst = standing.ranks[track][name]
                    row = {"track": track, "entry": name, "score": found.value, "low": found.low, "high": found.high}
                    row |= {"rank_best": best, "rank_worst": worst, "bytes": sum(sent) / len(sent)}
                    row |= {"front": name in front, "harm": found.low > 1}
                    alone = standing.score_alone(name, track)
                    rows.append(row | {"itself_alone": nan if alone is None else alone, "own": name == self.own})
        return pandas.DataFrame.from_records(rows)

    @property
    def values(self) -> "DataFrame":
        """A table of all recorded values: ``track``, ``entry``, ``metric``, ``replication``, ``value``."""
        from netbandit.util.extras.frames import pandas

        rows = []
        for name, cells in self.record.cells.items():
            for track in self.tracks:
                found = cells[track.name].values if track.name in cells else None
                for metric in METRICS if found is not None else ():
                    assert found is not None
                    rows += [
                        {"track": track.name, "entry": name, "metric": metric, "replication": number, "value": value}
                        for number, value in enumerate(found[metric])
                    ]
        return pandas.DataFrame.from_records(rows)

    def plot(self, picture: str = "profiles") -> "Figure":
        """Return a picture of the first family: ``profiles`` or ``fronts``.

        Raises:
            ValueError: There is no such picture.
        """
        from netbandit.studies.suite.pictures import draw_fronts, draw_profiles

        known = {"profiles": draw_profiles, "fronts": draw_fronts}
        if picture not in known:
            raise ValueError(f"there is no picture {picture!r}; there are {', '.join(known)}")
        return known[picture](self.standings[0])

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write all tables and pictures into one HTML file."""
        from netbandit.results.safe_files import write_whole
        from netbandit.studies.suite.page import page

        write_whole(Path(path), page(self.standings))


def compare_with(
    entry: Entry,
    tracks: Sequence[Track],
    *,
    out: Path = OUT,
    jobs: int = 1,
    limit: float = LIMIT,
    against: Record | None = None,
    told: Told = tell_nobody,
) -> Comparison:
    """Return *entry*, run on *tracks*, among those of a record; see `run_pairs` for the other arguments."""
    record = shipped_record() if against is None else against
    cells = run_pairs([(entry, track) for track in tracks], out, jobs=jobs, limit=limit, told=told)
    return Comparison(record.with_entry(entry, cells[entry.name]), tracks, entry.name)


def run(
    learner: "type[Any] | Any | Mapping[str, Any] | str",
    protocol: "type[Any] | Any | Mapping[str, Any] | str",
    *,
    tracks: Sequence[str] | None = None,
    out: str | PathLike[str] = OUT,
    jobs: int = 1,
    limit: float = LIMIT,
) -> Comparison:
    """Run a learner with a protocol on the tracks of the suite, and compare it with all recorded entries.

    Runs that are already in the folder of the results are not done again. Tracks that do not take the pair are shown
    as such.

    Args:
        learner: A learner, a class of one, a dictionary of its keys, or a kind such as ``"klucb"`` or
            ``"module:Class"``.
        protocol: The same of a protocol.
        tracks: The names of some tracks; None: all.
        out: The folder of the results.
        jobs: The number of parallel processes; 0: one for each core.
        limit: Seconds that the pair may take on a track.

    Raises:
        TrackError: There is no track of a name.
    """
    from netbandit.scenario.objects import table_of

    entry = Entry(table_of("learner", learner), table_of("protocol", protocol), "own")
    return compare_with(entry, chosen(tracks), out=Path(out), jobs=jobs, limit=limit)


def recorded(path: str | PathLike[str] | None = None, *, tracks: Sequence[str] | None = None) -> Comparison:
    """Return the recorded entries.

    Args:
        path: A file that ``netbandit suite record`` has written; None: the one that is shipped.
        tracks: The names of some tracks; None: all.

    Raises:
        RecordError: The file is no record, or one of other tracks.
        TrackError: There is no track of a name.
    """
    from netbandit.studies.suite.record import read_record

    return Comparison(shipped_record() if path is None else read_record(Path(path)), chosen(tracks))
