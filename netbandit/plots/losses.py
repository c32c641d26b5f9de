"""What became of a hundred messages, by cause, at each point, and on the links that lost most."""

from typing import TYPE_CHECKING

import numpy as np

from netbandit.plots.bars import draw_bars, legend_of_parts
from netbandit.plots.grouping import Arrangement, evenly
from netbandit.plots.style import NEUTRAL, drawing, figure
from netbandit.plots.subtitles import missing_note, without_note
from netbandit.results.link_use import worst_first
from netbandit.results.loads import ends_of_links, mean_loads, nodes_of
from netbandit.results.message_fates import CAUSES, FATES, counted, described_fates, failing, of_a_hundred
from netbandit.results.numbers import percentage, shortest
from netbandit.results.study_result import PointResult
from netbandit.util.text import in_words, pluralize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 12
"""The number of points, and of links, shown."""

_LEAST = 1.0
"""A picture is worth drawing where so many of 100 messages do not arrive."""

_SEEN = 0.1
"""A part of a bar of 100 that can be seen."""

_COLOURS = dict(
    zip(FATES, ("#CFE8DE", "#56B4E9", "#F0E442", "#D55E00", "#CC79A7", "#8C8C8C", "#E69F00", "#0072B2"), strict=True)
)


def fates(point: PointResult) -> dict[str, float] | None:
    """Return what became of 100 messages at *point*; None if there was none."""
    return of_a_hundred(run.metrics for run in point.finished)


def are_lost(point: PointResult) -> bool:
    """Return whether so many messages did not arrive that a picture is worth drawing."""
    found = fates(point)
    return found is not None and failing(found) >= _LEAST


@drawing()
def draw_losses(arrangement: Arrangement) -> "Figure":
    """Draw for each point of *arrangement* what became of 100 messages, and beside it on the links of the worst."""
    known = [(point, found) for point in arrangement.points if (found := fates(point)) is not None]
    worst, found = max(known, key=lambda one: failing(one[1]))
    shown = evenly(known, MOST)
    links, losing = _worst_links(worst)
    where = arrangement.called(worst) if len(known) > 1 else ""
    replications = max(len(point.finished) for point, _ in shown)
    notes = [f"sums over {pluralize(replications, 'replication')}, each attempt and copy counts; beside: what fails"]
    if links:
        which = (
            f"the {len(links)} of {losing} links that lose the largest shares" if losing > len(links) else "the links"
        )
        notes.append(f"right: {which}{', ' if where else ''}{where}")
    known_there = {fate for _, each in links for fate, number in each.items() if number}
    texts = described_fates(run.metrics for point, _ in known for run in point.finished)
    unknown = [texts[fate] for fate in ("collided", "refused") if found[fate] and fate not in known_there]
    if links and unknown:
        notes.append(f"there, what {in_words(unknown, 'or')} is among what was {texts['lost']}")
    ended = (("stalled", "agent", "stalled"), ("late", "item", "came too late"), ("given_up", "message", "given up"))
    for metric, what, did in ended:
        most = max(float(np.mean([run.metrics.get(metric) or 0 for run in point.finished])) for point, _ in known)
        notes += [f"up to {pluralize(shortest(most, 3), what)} {did}"] if most else []
    told = counted(run.metrics for point, _ in known for run in point.finished)
    share = f"{shortest(percentage(failing(found) / 100))} of 100 {told} do not arrive"
    title = f"{arrangement.name}: {share}{f' ({where})' if where else ''}"
    notes += filter(None, [without_note(arrangement, [point for point, _ in shown]), missing_note(arrangement)])
    drawn, panels = figure(title, "; ".join(notes), columns=2 if links else 1)
    names = [arrangement.called(point) or "all runs" for point, _ in shown]
    tables = [[(name, each) for name, (_, each) in zip(names, shown, strict=True)], links]
    for panel, table in zip(panels, tables, strict=False):
        parts = [[*each.values()] for _, each in table]
        draw_bars(panel, [name for name, _ in table], parts, [*_COLOURS.values()], f"of 100 {told}")
        panel.set_xlim(0, 100)
        for row, (_, each) in enumerate(table):
            text = shortest(percentage(failing(each) / 100))
            panel.text(101, row, text, va="center", color=NEUTRAL, fontsize=8, clip_on=False)
    used = {fate for table in tables for _, each in table for fate, number in each.items() if number >= _SEEN}
    legend_of_parts(drawn, {texts[fate]: colour for fate, colour in _COLOURS.items() if fate in used})
    return drawn


def _worst_links(point: PointResult) -> tuple[list[tuple[str, dict[str, float]]], int]:
    """Return the links on which the largest shares of messages did not arrive, by name, and of how many links.

    None of a network of one link.
    """
    runs, loads, _ = mean_loads(point.finished)
    ends, names = ends_of_links(runs[0])[0], nodes_of(runs[0])
    counts = {fate: np.nan_to_num(loads[fate]) for fate in FATES if fate in loads}
    handed = np.sum([*counts.values()], axis=0)
    worst = worst_first(np.sum([counts[cause] for cause in CAUSES if cause in counts], axis=0), handed)
    found = []
    for link in worst[: MOST if len(ends) > 1 else 0]:
        one, other = ends[link]
        each = of_a_hundred([{fate: float(count[link]) for fate, count in counts.items()}])
        found.append((f"{names[one]} – {names[other]}", each or {}))
    return found, len(worst)
