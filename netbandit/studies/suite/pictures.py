"""Pictures of the suite: score profiles, and the fronts of all tracks."""

from typing import TYPE_CHECKING

import numpy as np

from netbandit.plots.style import (
    COLOURS,
    DASHES,
    HEIGHT,
    MARKERS,
    NEUTRAL,
    drawing,
    figure,
    legend_below,
    readable,
    wrapped,
)
from netbandit.studies.suite.profiles import profile
from netbandit.studies.suite.standing import Standing
from netbandit.studies.suite.tables import YOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 7
"""The number of coloured entries, the first in the order of the tables; the others are grey."""

_LONGEST_LINE = 42
"""Characters of a line of a name beside another one."""

_MOST_SCORE = 1.5
"""Scores are shown up to here: beyond 1 cooperation does harm."""

_BYTES = (10.0, 1e3, 1e5)
"""Where the axis of bytes has numbers, beside 0."""


@drawing()
def draw_profiles(standing: Standing) -> "Figure":
    """Draw the share of tracks on which an entry reaches a score, a line an entry."""
    from netbandit.util.extras.plots import Line2D

    shown = standing.entries[:_SHOWN]
    if standing.own in standing.entries and standing.own not in shown:
        shown = [*shown[:-1], standing.own]
    drawn, (panel,) = figure(
        f"Score profiles, {standing.family}",
        f"share of {len(standing.names)} tracks with at most this score; 0: as if all knew all, 1: no better than "
        f"alone; in colour the first of the {len(standing.entries)} entries of the table",
    )
    handles, least = [], 0.0
    for name in reversed(standing.entries):
        steps = [step for step in profile(standing.score_values(name), standing.names) if step[0] < _MOST_SCORE]
        least = min([least, *(score for score, _ in steps)])
        across = [-1.0, *(score for score, _ in steps), _MOST_SCORE]
        upward = [0.0, *(share for _, share in steps), steps[-1][1] if steps else 0.0]
        if name in shown:
            place = shown.index(name)
            look = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place % len(DASHES)]}
            width = 2.6 if name == standing.own else 1.6
            panel.step(across, upward, where="post", linewidth=width, zorder=3, **look)
            handles.append(
                (place, Line2D([], [], linewidth=width, **look), f"{name}{YOURS}" if name == standing.own else name)
            )
        else:
            panel.step(across, upward, where="post", linewidth=0.6, color=NEUTRAL, alpha=0.35, zorder=1)
    panel.axvline(1.0, color=NEUTRAL, linewidth=0.8, linestyle=":")
    panel.set_xlim(least - 0.02, _MOST_SCORE)
    panel.set_ylim(0.0, 1.02)
    panel.set_xlabel("score")
    panel.set_ylabel("share of tracks")
    handles.sort(key=lambda handle: handle[0])
    names = [wrapped(name, _LONGEST_LINE) for *_, name in handles]
    legend_below(drawn, [handle for _, handle, _ in handles], names, "")
    return drawn


@drawing()
def draw_fronts(standing: Standing) -> "Figure":
    """Draw score against bytes an agent and slot, a panel a track, with the front as a line."""
    from netbandit.util.extras.plots import Line2D

    columns = min(4, len(standing.names))
    rows = -(-len(standing.names) // columns)
    drawn, panels = figure(
        f"Score and bytes, {standing.family}",
        "a point an entry; the line joins the best of those that nobody dominates; 0: as if all knew all, dotted: no "
        f"better than alone; scores above {_MOST_SCORE} are drawn there",
        rows=rows,
        columns=columns,
    )
    drawn.set_size_inches(7.0, max(HEIGHT, 1.5 + 1.75 * rows))
    learners, protocols = (_kinds(standing, table) for table in ("learner", "protocol"))
    for panel, track in zip(panels, standing.names, strict=False):
        _draw_front(panel, standing, track, learners, protocols)
    for panel in panels[len(standing.names) :]:
        panel.set_visible(False)
    for index, panel in enumerate(panels):
        if index % columns == 0:
            panel.set_ylabel("score")
        if index + columns >= len(standing.names):
            panel.set_xlabel("bytes")
    handles = [
        Line2D([], [], linestyle="none", marker="o", markersize=5, color=_colour(learners, one)) for one in learners
    ]
    handles += [
        Line2D([], [], linestyle="none", marker=_marker(protocols, one), markersize=5, color=NEUTRAL)
        for one in protocols
    ]
    labels = [*learners, *(f"over {one}" for one in protocols)]
    if standing.own in standing.entries:
        handles.append(Line2D([], [], linestyle="none", marker="o", mfc="none", mec="black", markersize=6.5))
        labels.append(f"{standing.own}{YOURS}")
    legend_below(drawn, handles, labels, "")
    return drawn


def _draw_front(panel: "Axes", standing: Standing, track: str, learners: list[str], protocols: list[str]) -> None:
    from netbandit.util.extras.plots import NullLocator

    cells = standing.ran(track)
    scores = {name: min(max(standing.scores[track][name].value, -0.2), _MOST_SCORE) for name in cells}
    sent = {name: float(np.mean(cells[name].of("bytes"))) for name in cells}
    for name in cells:
        entry = standing.record.entries[name]
        panel.plot(
            sent[name],
            scores[name],
            linestyle="none",
            marker=_marker(protocols, str(entry.protocol["kind"])),
            markersize=6.5 if name == standing.own else 4,
            color=_colour(learners, str(entry.learner["kind"])),
            markeredgecolor="black" if name == standing.own else "none",
            alpha=0.9,
            clip_on=False,
            zorder=3,
        )
    line: list[str] = []
    for name in standing.front(track):  # by bytes; those that gain nothing for theirs, undecidedly, are beside the line
        if not line or scores[name] < scores[line[-1]]:
            line.append(name)
    panel.plot([sent[name] for name in line], [scores[name] for name in line], color=NEUTRAL, linewidth=0.8, zorder=2)
    panel.axhline(1.0, color=NEUTRAL, linewidth=0.7, linestyle=":")
    panel.set_xscale("symlog", linthresh=1.0)
    most = max(sent.values(), default=0.0)
    panel.set_xlim(-0.3, 2 * max(most, 1.0))
    panel.set_xticks([0.0, *(one for one in _BYTES if one <= 2 * most)], minor=False)
    panel.xaxis.set_minor_locator(NullLocator())
    readable(panel, y=False)
    panel.set_ylim(min(-0.05, *scores.values()) - 0.02, _MOST_SCORE + 0.02)
    panel.set_title(wrapped(track, 20), fontsize=8, loc="center")
    panel.tick_params(labelsize=6.5)


def _kinds(standing: Standing, table: str) -> list[str]:
    return list(dict.fromkeys(str(getattr(standing.record.entries[name], table)["kind"]) for name in standing.entries))


def _colour(kinds: list[str], kind: str) -> str:
    return COLOURS[kinds.index(kind) % len(COLOURS)]


def _marker(kinds: list[str], kind: str) -> str:
    return MARKERS[kinds.index(kind) % len(MARKERS)]
