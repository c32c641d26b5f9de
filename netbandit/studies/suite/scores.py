"""The score of an entry on a track: 0 with full information sharing, 1 as without communication, above 1 if harmful."""

from collections.abc import Mapping

from netbandit.results import intervals
from netbandit.results.intervals import CONFIDENCE, Interval
from netbandit.studies.suite.cells import Cell
from netbandit.studies.suite.record import Record
from netbandit.studies.suite.tracks import Track


def score(cell: Cell, alone: Cell, all_known: Cell, confidence: float = CONFIDENCE) -> Interval:
    """Return ``(regret - R_all) / (R_alone - R_all)``, a ratio of means with Fieller's interval, paired by replication.

    The references have no interval: they score 1 and 0 in every replication.

    Args:
        cell: The result of the entry.
        alone: The result of the reference without cooperation.
        all_known: The result of the reference of free cooperation.
        confidence: Of the interval.
    """
    regret, most, least = cell.of("regret"), alone.of("regret"), all_known.of("regret")
    above = [one - reference for one, reference in zip(regret, least, strict=True)]
    below = [one - reference for one, reference in zip(most, least, strict=True)]
    return intervals.ratio(above, below, confidence, paired=True)


def scores(record: Record, track: Track, confidence: float = CONFIDENCE) -> Mapping[str, Interval]:
    """Return the score of each entry of *record* that ran on *track*, those of references alone left out."""
    alone, all_known = record.cell(track.alone.name, track.name), record.cell(track.all.name, track.name)
    return {
        name: score(cell, alone, all_known, confidence)
        for name, entry in record.entries.items()
        if entry.rank != "reference" and (cell := record.cell(name, track.name)).state == "ran"
    }


def separation(record: Record, track: Track) -> float:
    """Return ``R_alone - R_all`` on *track* in standard errors of its mean over the replications."""
    from math import fsum, sqrt

    alone, all_known = record.cell(track.alone.name, track.name), record.cell(track.all.name, track.name)
    below = [one - other for one, other in zip(alone.of("regret"), all_known.of("regret"), strict=True)]
    mean = fsum(below) / len(below)
    return mean / sqrt(fsum((each - mean) ** 2 for each in below) / (len(below) - 1) / len(below))
