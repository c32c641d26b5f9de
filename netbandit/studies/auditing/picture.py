"""Plots audits: stated epsilon, exact epsilon and lower bound, side by side."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.plots.style import COLOURS, FAINT, NEUTRAL, drawing, encoded, figure, legend_below, readable
from netbandit.results.numbers import shortest
from netbandit.results.safe_files import storage
from netbandit.studies.auditing.audit import Audit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOUND, _EXACT, _CAUGHT = COLOURS[0], COLOURS[2], COLOURS[1]


@drawing()
def draw_audits(audits: Sequence[Audit]) -> "Figure":
    """Return a figure with one row per audit: a bar up to the lower bound, marks at the stated and the exact epsilon.

    A bar that exceeds the stated epsilon has another colour and a label that says so.
    """
    sure = " or ".join(dict.fromkeys(f"{audit.confidence * 100:g} %" for audit in audits))
    drawn, (panel,) = figure(
        "Privacy: the epsilon that is stated, and what an experiment finds at least",
        f"with {sure} confidence epsilon is no less than its bar; a bar that passes its mark refutes what is stated",
    )
    handles: dict[str, Any] = {}
    rows = range(len(audits))
    for row, audit in zip(rows, audits, strict=True):
        colour = _CAUGHT if audit.caught else _FOUND
        name = "found: more than is stated" if audit.caught else "found: at least"
        handles[name] = panel.barh(row, audit.bound.epsilon, height=0.5, color=colour, alpha=0.85)
        if isfinite(audit.spent.epsilon):
            (handles["stated by the accountant"],) = panel.plot(
                [audit.spent.epsilon] * 2, [row - 0.38, row + 0.38], color=NEUTRAL, linewidth=2.2
            )
        if audit.exact is not None:
            (handles["exact, by dp_accounting"],) = panel.plot(
                audit.exact, row, marker="D", color=_EXACT, markeredgecolor="white", markersize=7, linestyle="none"
            )
    panel.set_yticks(list(rows), [f"{audit.name}\ndelta = {shortest(audit.spent.delta)}" for audit in audits])
    panel.invert_yaxis()
    panel.grid(visible=False, axis="y")
    panel.set_xlim(left=0.0)
    panel.set_xlabel("epsilon of one unit (each mechanism has its own unit and setting)")
    panel.axvline(0.0, color=FAINT, linewidth=0.8)
    readable(panel, y=False)
    legend_below(drawn, list(handles.values()), list(handles), "")
    return drawn


def save_picture(audits: Sequence[Audit], file: Path) -> None:
    """Draw *audits* into *file*, a ``.png`` or an ``.svg``.

    Raises:
        StorageError: The file cannot be written.
    """
    with storage(file):
        file.write_bytes(encoded(draw_audits(audits), file.suffix.lower().removeprefix(".")))
