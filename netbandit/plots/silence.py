"""Points at which nobody talks: far off in a picture of what talking costs, so they would hide the rest."""

from netbandit.plots.grouping import Arrangement, Point
from netbandit.plots.metrics import estimate
from netbandit.plots.values import shown
from netbandit.results.numbers import scaled

PROTOCOL = "protocol.kind"


def talking(arrangement: Arrangement) -> list[Point]:
    """Return the points to draw: those that cost something, or all where none does."""
    costs = {place: estimate(point, "cost") for place, point in enumerate(arrangement.points)}
    paid = [arrangement.points[place] for place, cost in costs.items() if cost is not None and float(cost.mean) > 0]
    return paid or list(arrangement.points)


def silence(arrangement: Arrangement) -> str:
    """Return what a subtitle says of the points that are not drawn; empty if all are."""
    drawn = {id(point) for point in talking(arrangement)}
    silent = [point for point in arrangement.points if id(point) not in drawn]
    regrets = [float(one.mean) for one in (estimate(point, "regret") for point in silent) if one is not None]
    if not regrets:
        return ""
    least, most = (scaled(float(round(end))) for end in (min(regrets), max(regrets)))
    names = ", ".join(dict.fromkeys(shown(point.values.get(PROTOCOL, "what is silent")) for point in silent))
    return f"not shown: {names}, with regret {least if least == most else f'{least} to {most}'} at no cost"
