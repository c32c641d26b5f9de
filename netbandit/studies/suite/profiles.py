"""Aggregation over tracks: score profiles (Dolan and More 2002), and how rankings depend on the tracks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median

Scores = Mapping[str, float]
"""Track -> score, of the tracks on which an entry ran."""


def profile(scores: Scores, tracks: Sequence[str]) -> list[tuple[float, float]]:
    """Return the steps of a score profile: a score, and the share of *tracks* with at most that score, ascending.

    A track on which the entry did not run counts as one on which it reaches no score.
    """
    reached = sorted(scores[track] for track in tracks if track in scores)
    return [(one, (index + 1) / len(tracks)) for index, one in enumerate(reached)]


def gain(scores: Scores, tracks: Sequence[str]) -> float:
    """Return how much of the gain of free cooperation an entry has, mean over *tracks*: ``1 - score``, from 0 to 1.

    It leaves harm out: where an entry does worse than alone it has none, as where it did not run. Nothing is
    ordered by it.
    """
    return fsum(min(max(1 - scores[track], 0.0), 1.0) if track in scores else 0.0 for track in tracks) / len(tracks)


@dataclass(frozen=True)
class Place:
    """The place of an entry among others, and how it depends on the choice of tracks.

    Attributes:
        rank: The median over the tracks of its midranks.
        place: One more than the number of entries with a smaller median.
        best, worst: The places with all tracks, and with any one of them left out.
    """

    rank: float
    place: int
    best: int
    worst: int


def midranks(ranks: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    """Return the middle of the ranks that each entry may have: its rank if undecided pairs count as equal."""
    return {name: (best + worst) / 2 for name, (best, worst) in ranks.items()}


def places(tracks: Sequence[Mapping[str, float]]) -> dict[str, Place]:
    """Return the place of each entry in the order of median midranks.

    Args:
        tracks: Of each track, at least two, the midranks of all entries.
    """
    medians = _medians(tracks)
    orders = [_order(medians)]
    orders += [_order(_medians([*tracks[:left_out], *tracks[left_out + 1 :]])) for left_out in range(len(tracks))]
    found = {name: [order[name] for order in orders] for name in medians}
    return {name: Place(medians[name], each[0], min(each), max(each)) for name, each in found.items()}


def _medians(tracks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: median(track[name] for track in tracks) for name in tracks[0]}


def _order(medians: Mapping[str, float]) -> dict[str, int]:
    return {name: 1 + sum(other < own for other in medians.values()) for name, own in medians.items()}
