"""Which agents have answered last, and how often wrongly, in tables."""

import numpy as np

from netbandit.plots.grouping import arrange, described, evenly, value_of
from netbandit.report.hot_spots import percent
from netbandit.report.tables import Cell, Table
from netbandit.results.loads import node_names
from netbandit.results.numbers import rounded, scaled
from netbandit.results.study_result import PointResult, StudyResult

ROWS = 10
"""The most agents listed, those that have answered last."""

_POINTS = 4


def answers(study: StudyResult) -> list[Table]:
    """Return a table for each of at most four points whose runs end with the last answer."""
    arrangement = arrange(study)
    points = [point for point in arrangement.points if _told(point)]
    return [
        _latest(described({key: value_of(point, key) for key in arrangement.keys}), point)
        for point in evenly(points, _POINTS)
    ]


def _told(point: PointResult) -> bool:
    runs = point.finished
    return bool(runs) and all(run.nodes is not None and run.nodes.answered is not None for run in runs)


def _latest(title: str, point: PointResult) -> Table:
    tables = [run.nodes for run in point.finished if run.nodes is not None]
    after = np.array([each.answered for each in tables], dtype=np.float64)
    wrong = np.array([np.full(after.shape[1], np.nan) if each.wrong is None else each.wrong for each in tables])
    ended = np.isfinite(after)
    runs, judged = ended.sum(axis=0), np.isfinite(wrong).sum(axis=0)
    slots = np.nansum(after, axis=0) / np.maximum(runs, 1)
    names = node_names(point.finished[0])
    rows = []
    for agent in np.lexsort((-slots, runs))[:ROWS].tolist():
        counted = bool(judged[agent])
        rows.append(
            [
                Cell(names[agent], names[agent]),
                Cell(scaled(rounded(slots[agent], 4)), float(slots[agent])) if runs[agent] else Cell("–", None),
                percent(runs[agent] / len(tables)),
                percent(np.nansum(wrong[:, agent]) / judged[agent]) if counted else Cell("–", None),
            ]
        )
    headings = [
        ("agent", ""),
        ("slots", "until it had answered for good, mean over the runs in which it had"),
        ("answered", "share of the runs in which it had"),
        ("wrong", "share of these in which its answer was wrong"),
    ]
    return Table(f"The agents that answer last{title and f': {title}'}", headings, rows)
