"""Many learners side by side: what regret they come to for the data they send, the energy they spend, the delay."""

from typing import TYPE_CHECKING

from netbandit.plots.grouping import Arrangement
from netbandit.plots.metrics import EITHER_DELAY, called, compared, distinct
from netbandit.plots.style import drawing
from netbandit.plots.tradeoff import draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNER = "learner.kind"

_LEAST = 3
_FAR_APART = 10.0
"""Learners so many times as good stand on a logarithmic axis: the best are those that are looked for."""


def learners_vary(arrangement: Arrangement) -> bool:
    """Tell whether the sweep compares learners, three or more of them, which pay something for what they hear."""
    compares = LEARNER in arrangement.keys and len(arrangement.choices[LEARNER]) >= _LEAST
    return compares and bool(_prices(arrangement))


@drawing()
def draw_learners(arrangement: Arrangement) -> "Figure":
    """Draw regret against the data sent, and beside it against energy and delay where these differ.

    Learners are told apart by colour, all else that varies, such as the protocol, by shape.
    """
    upward = compared(arrangement.points)
    prices = _prices(arrangement)
    short = {"bytes": "data", EITHER_DELAY: "delay"}
    what = ", ".join(short.get(price, called(price)) for price in prices)
    title = f"{arrangement.name}: {called(upward)} of each learner against {what}"
    return draw_panels(arrangement, LEARNER, [(price, upward) for price in prices], title, apart=_FAR_APART)


def _prices(arrangement: Arrangement) -> list[str]:
    """Return what differs of data, energy and delay."""
    return [metric for metric in ("bytes", "energy_j", EITHER_DELAY) if len(distinct(arrangement.points, metric)) > 1]
