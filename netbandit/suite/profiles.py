"""Over several tracks: score profiles (Dolan and More 2002), and how an order of entries depends on the tracks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

Scores = Mapping[str, float]
"""Track -> score, of the tracks on which an entry ran."""


def profile(scores: Scores, tracks: Sequence[str]) -> list[tuple[float, float]]:
    """Return the steps of a score profile: a score, and the share of *tracks* with at most that score, ascending.

    A track on which the entry did not run counts as one on which it reaches no score.
    """
    reached = sorted(scores[track] for track in tracks if track in scores)
    return [(one, (place + 1) / len(tracks)) for place, one in enumerate(reached)]


def gain(scores: Scores, tracks: Sequence[str]) -> float:
    """Return how much of the gain of free cooperation an entry has, mean over *tracks*: ``1 - score``, from 0 to 1.

    Where it did not run, and where cooperation does harm, it has none.
    """
    return fsum(min(max(1 - scores[track], 0.0), 1.0) if track in scores else 0.0 for track in tracks) / len(tracks)


@dataclass(frozen=True)
class Places:
    """The place of an entry in the order of `gain`.

    Attributes:
        place: On all tracks, from 1.
        best, worst: With any one track left out.
        best_without, worst_without: The first of the tracks whose omission gives these places; empty if none changes
            it.
    """

    place: int
    best: int
    worst: int
    best_without: str
    worst_without: str


def places(scores: Mapping[str, Scores], tracks: Sequence[str]) -> dict[str, Places]:
    """Return the place of each entry in the order of `gain`, and how it changes if any one of *tracks* is left out."""
    whole = _order(scores, tracks)
    left_out = {track: _order(scores, [other for other in tracks if other != track]) for track in tracks}
    found = {}
    for name in scores:
        best = min(left_out, key=lambda track: left_out[track][name])
        worst = max(left_out, key=lambda track: left_out[track][name])
        ends = left_out[best][name], left_out[worst][name]
        changed = [track if end != whole[name] else "" for track, end in zip((best, worst), ends, strict=True)]
        found[name] = Places(whole[name], min(ends[0], whole[name]), max(ends[1], whole[name]), *changed)
    return found


def _order(scores: Mapping[str, Scores], tracks: Sequence[str]) -> dict[str, int]:
    gains = {name: gain(one, tracks) for name, one in scores.items()} if tracks else dict.fromkeys(scores, 0.0)
    return {name: 1 + sum(other > own for other in gains.values()) for name, own in gains.items()}
