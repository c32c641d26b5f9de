"""Known events in a picture over the slots: changes of the means, outages of links and nodes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.style import NEUTRAL
from netbandit.results.study_result import PointResult
from netbandit.util.units import parse_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Span = tuple[float, float]
"""An interval of slots: the first, and the end (exclusive)."""

_SHADE = "#9A9A9A"

_MOST_SPANS = 400
"""The largest number of recurring outages drawn."""


def world_changes(points: Sequence[PointResult]) -> list[int]:
    """Return the slots at which the means of the arms change, where these are the same at all *points*."""
    found = [
        [one["slot"] for one in _entries(point, "bandit.changes") if isinstance(one.get("slot"), int)]
        for point in points
    ]
    return found[0] if found and all(one == found[0] for one in found) else []


def outages(points: Sequence[PointResult]) -> list[Span]:
    """Return the scheduled outages, if they are the same at all *points*."""
    found = [_outages(point) for point in points]
    return found[0] if found and all(one == found[0] for one in found) else []


def recovered(point: PointResult, spans: Sequence[Span]) -> float | None:
    """Return the slot, in the mean over runs, at which all agents that waited when the only outage ended have resumed.

    None if there is no outage or there are several, if it does not end, or if an agent waits forever in some run.
    """
    found = [run.metrics.get("recovery_slots") for run in point.finished]
    known = [slots for slots in found if slots is not None]
    if len(spans) != 1 or len(known) < len(found):
        return None
    return spans[0][1] + sum(known) / len(known)


def _outages(point: PointResult) -> list[Span]:
    slot = parse_duration(str(point.value("run.slot") or "1 ms")).nanoseconds(1)
    horizon = float(point.value("run.horizon") or 0)
    spans = []
    for one in _entries(point, "faults.outages"):
        begin, until = (one.get(key) for key in ("from", "until"))
        lasts, every = (_slots(one.get(key), slot) for key in ("for", "every"))
        if isinstance(begin, str):
            first = _slots(begin, slot) or 0.0
            end = (_slots(until, slot) or horizon) if lasts is None else first + lasts
            later = np.arange(0.0, min(max(0.0, horizon - first), _MOST_SPANS * every), every) if every else [0.0]
            spans += [(first + moved, min(end + moved, horizon)) for moved in later]
    return [(float(begin), float(end)) for begin, end in spans if begin < end]


def _slots(text: object, slot: int) -> float | None:
    return parse_duration(text).nanoseconds(slot) / slot if isinstance(text, str) else None


def _entries(point: PointResult, key: str) -> list[Mapping[str, Any]]:
    found = point.value(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def draw_events(panel: "Axes", changes: Sequence[float], spans: Sequence[Span]) -> None:
    """Draw a dotted line at each of *changes* and a shade over each of *spans*, behind all other elements.

    Args:
        panel: Axes whose horizontal axis are the slots.
        changes: Slots at which the environment changes.
        spans: The outages.
    """
    for slot in changes:
        panel.axvline(slot, color=NEUTRAL, linewidth=0.8, linestyle=":", zorder=1.8, label="_change")
    for begin, end in spans:
        panel.axvspan(begin, end, color=_SHADE, alpha=0.22, linewidth=0, zorder=1.0, label="_outage")


def events_note(changes: Sequence[float], spans: Sequence[Span]) -> str:
    """Return the subtitle's note on them; empty if there are none."""
    parts = ["dotted: the means change"] if changes else []
    parts += ["grey: something is down"] if spans else []
    return "; ".join(parts)
