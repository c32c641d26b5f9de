"""Creates the record: runs all shipped entries, and the references of the tracks."""

from collections.abc import Sequence
from pathlib import Path

from netbandit.studies.suite.entries import shipped
from netbandit.studies.suite.record import Record, made_here
from netbandit.studies.suite.runs import LIMIT, Told, cells_there, run_pairs, tell_nobody
from netbandit.studies.suite.tracks import Track


def make_record(
    tracks: Sequence[Track],
    out: Path,
    *,
    jobs: int = 1,
    limit: float = LIMIT,
    told: Told = tell_nobody,
    run: bool = True,
) -> Record:
    """Return a record of the references of *tracks*, and all shipped entries on them.

    Args:
        tracks: The tracks.
        out: The folder of the runs.
        jobs: See `run_pairs`, as for *limit* and *told*.
        limit: See there.
        told: See there.
        run: Whether to run cells missing in *out*; otherwise they are missing in the record too.
    """
    references = [(reference, track) for track in tracks for reference in (track.alone, track.all)]
    names = {(entry.name, track.name) for entry, track in references}
    others = [
        (entry, track)
        for entry in shipped()
        for track in tracks
        if entry.family == track.family and (entry.name, track.name) not in names
    ]
    pairs = [*references, *others]
    cells = run_pairs(pairs, out, jobs=jobs, limit=limit, told=told) if run else cells_there(pairs, out)
    entries = {entry.name: entry for entry, _ in references} | {entry.name: entry for entry in shipped()}
    return made_here(list(entries.values()), cells)
