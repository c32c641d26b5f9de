"""Data for reading values off the regret curves with the pointer: panel positions on the page, and their numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.grouping import arrange, titled
from netbandit.plots.regret import Line, panels_of
from netbandit.results.study_result import StudyResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Reading = list[dict[str, Any]]
"""A panel after the other, ready for JSON."""

_KNOTS = 200
_DIGITS = 6


def readings(study: StudyResult, figure: "Figure") -> Reading:
    """Return the numbers behind the picture of regret.

    Each panel has its ``title``, its ``box`` (left, top, right and bottom as shares of the picture), the ends of its
    axes ``x`` and ``y``, whether these are logarithmic, and its ``lines``: ``label``, ``colour``, ``slots``, ``mean``,
    and ``half``, the half-width of the interval, or null with one replication.

    Args:
        study: The results.
        figure: Their picture of regret, laid out.
    """
    arrangement = arrange(study)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    found = []
    for axes, panel in zip(panels, panels_of(arrangement), strict=True):
        place = axes.get_position()
        found.append(
            {
                "title": titled(panel.fixed),
                "box": [_rounded(share) for share in (place.x0, 1 - place.y1, place.x1, 1 - place.y0)],
                "x": list(map(float, axes.get_xlim())),
                "y": list(map(float, axes.get_ylim())),
                "logarithmic": [axes.get_xscale() == "log", axes.get_yscale() == "log"],
                "lines": [_line(line) for line in panel.lines],
            }
        )
    return found


def _line(line: Line) -> dict[str, Any]:
    kept = np.unique(np.round(np.linspace(0, len(line.slots) - 1, _KNOTS)).astype(np.int64))
    half = (line.estimate.widest[1] - line.estimate.mean)[kept] if line.estimate.known else None
    return {
        "label": line.label,
        "colour": line.look.colour,
        "slots": line.slots[kept].tolist(),
        "mean": _numbers(line.estimate.mean[kept]),
        "half": None if half is None else _numbers(half),
    }


def _numbers(values: NDArray[np.float64]) -> list[float]:
    return [_rounded(value) for value in values]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
