"""The network, with links coloured by the messages they carried or another figure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.grouping import Arrangement, described, value_of
from netbandit.plots.label_placement import place_labels
from netbandit.plots.node_positions import geographic, laid_out
from netbandit.plots.style import COLOURS, FAINT, NEUTRAL, drawing, figure, readable
from netbandit.results.link_use import LINK_FIGURES, lost_of_all, mean_link_figures, on_one_network, worst_first
from netbandit.results.message_fates import FATES, described_fates
from netbandit.results.numbers import percentage, rounded, scaled, shortest
from netbandit.results.study_result import PointResult
from netbandit.simulation.result import RunResult
from netbandit.util.key_paths import lookup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

MANY_LINKS = 2_000
"""Above this many links they are drawn thin and pale, as one image, and nodes have no labels."""

MOST_LINKS = 50_000
"""Above this many links only the most used are drawn, as the title notes."""

MOST_AGENTS = 20_000
"""A network of more agents is not drawn."""

_MOST_SINKS = 2_000
_NUMBERED = 60
_LOGARITHMIC = 100.0


@dataclass(frozen=True)
class Drawing:
    """A network with node positions.

    Attributes:
        places: Positions of the nodes, shape (nodes, 2).
        links: Pairs of nodes, shape (links, 2).
        use: The use of each link, shape (links,), or None if unknown.
        names: The names of the nodes, or None for their numbers.
        map: Whether the positions are geographic.
        sinks: The nodes that communicate with the server for their component; drawn as squares.
    """

    places: NDArray[np.float64]
    links: NDArray[np.int64]
    use: NDArray[np.float64] | None
    names: Sequence[str] | None = None
    map: bool = False
    sinks: Sequence[int] = ()


def network(run: RunResult, use: NDArray[np.float64] | None = None) -> Drawing:
    """Return the drawing of the network of *run*, with the messages on each link unless *use* is given."""
    links = np.column_stack([run.links.first, run.links.second]).astype(np.int64).reshape(-1, 2)
    agents = int(run.topology.get("agents") or (links.max() + 1 if len(links) else 1))
    topology = run.resolved.get("topology", {})
    family = str(topology.get("family", ""))
    if family == "hybrid":
        family = str(topology.get("inside", "complete"))
    carried = run.links.messages.astype(np.float64) if use is None else use
    nodes = run.nodes
    coordinates = None if nodes is None else nodes.coordinates
    names = None if nodes is None or nodes.names == tuple(map(str, range(agents))) else nodes.names
    if coordinates is not None and np.isfinite(coordinates).all(axis=1).any():
        places, on_map = geographic(coordinates, links), True
    else:
        places, on_map = laid_out(agents, links, family), False
    return Drawing(places, links, carried, names, on_map, _sinks(run, agents, links))


def _sinks(run: RunResult, agents: int, links: NDArray[np.int64]) -> list[int]:
    """Return the sinks of a run whose protocol has them."""
    if lookup(run.resolved, "protocol.kind") != "sink" or agents > _MOST_SINKS:
        return []
    import networkx

    from netbandit.network.topology import Topology

    graph = networkx.empty_graph(agents)
    graph.add_edges_from(map(tuple, links.tolist()))
    return Topology(graph).sinks


def draw_network(arrangement: Arrangement, point: PointResult, what: str = "messages") -> "Figure":
    """Draw the network of *point*, links coloured by one of their figures.

    If all replications have the same links the mean is shown, else the first replication; the title says which.

    Args:
        arrangement: The study, whose keys name the point.
        point: A point with a finished run.
        what: One of the figures of `link_figures`.
    """
    runs, count = on_one_network(point.finished), len(point.finished)
    if count == 1:
        whose = "one replication"
    elif len(runs) > 1:
        whose = f"mean of {count:,} replications"
    else:
        whose = f"replication {runs[0].replication} of {count:,}, each on a different network"
    drawing = network(runs[0], mean_link_figures(runs)[what])
    title = _busiest(drawing, what, runs) or (LINK_FIGURES[what].title if len(drawing.links) else "no links")
    values = {key: value_of(point, key) for key in arrangement.keys}
    down = what == "lost" and described_fates(run.metrics for run in runs) != FATES
    failing = "what comes to a node that is down does not arrive either" if down else ""
    notes = "; ".join(filter(None, (whose, described(values), failing)))
    return draw(f"{arrangement.name}: {title}", drawing, notes, LINK_FIGURES[what].unit)


def _busiest(drawing: Drawing, what: str, runs: Sequence[RunResult]) -> str:
    """Return what the link with most of *what* has, and how many times the mean that is; empty where none has any."""
    use = drawing.use
    if use is None or not np.nan_to_num(use).any():
        return ""
    link = worst_first(*lost_of_all(runs))[0] if what == "lost" else int(np.nanargmax(use))
    ends = " – ".join(str(node) if drawing.names is None else drawing.names[node] for node in drawing.links[link])
    if what == "lost":
        served = any(run.uplinks is not None and len(run.uplinks.first) for run in runs)
        which = "all links between agents" if served else "all links"
        told = (
            f"{shortest(percentage(float(use[link])))} % of what {ends} is given does not arrive, the most of {which}"
        )
        return f"{told}, which may be chance" if lose_alike(runs) else told
    most, times = scaled(rounded(float(use[link]), 3)), float(use[link] / np.nanmean(use))
    as_many = sum(scaled(rounded(one, 3)) == most for one in use.tolist())
    which = f"{ends} has" if as_many == 1 else f"{as_many} of {len(use):,} have"
    has = f"{which} most, {most} ({shortest(times, 2)} times the mean)" if as_many < len(use) else f"{most} on each"
    return f"{LINK_FIGURES[what].title}: {has}"


def lose_alike(runs: Sequence[RunResult]) -> bool:
    """Return whether links that all lose the same share differ so much in more than 5 % of studies (chi-squared)."""
    from scipy.stats import chi2_contingency

    lost, handed = lost_of_all(runs)
    table = np.array([lost, handed - lost])[:, handed > 0]
    return bool(table.any(axis=1).all() and chi2_contingency(table).pvalue >= 0.05)


@drawing()
def draw(
    title: str,
    drawing: Drawing,
    subtitle: str = "",
    unit: str = "messages",
    add: "Callable[[Figure, Axes], Sequence[tuple[int, int]]] | None" = None,
) -> "Figure":
    """Draw a network whose nodes have positions.

    Args:
        title: The title of the picture.
        drawing: The network.
        subtitle: How it was measured; a note on omitted elements is appended.
        unit: The unit of the colours.
        add: Draws more into the figure and its panel, before nodes are named, and returns the links that it has drawn.
    """
    total = len(drawing.links)
    shown = _order(drawing)
    notes = [subtitle]
    if drawing.use is not None and total and not drawing.use.any():
        notes.append(f"no link has any {unit}" if unit != "messages" else "no link carried a message")
    if drawing.sinks:
        notes.append("squares: the sinks, each with an uplink to the server")
    if len(shown) < total:
        notes.append(f"the {scaled(len(shown))} most used of {scaled(total)} links")
    drawn, (panel,) = figure(title, "; ".join(filter(None, notes)))
    panel.set_axis_off()
    panel.set_aspect("equal", adjustable="box" if len(drawing.places) == 1 else "datalim")
    panel.margins(0.06)
    _draw_links(drawn, panel, drawing, shown, unit)
    radius = _draw_nodes(panel, drawing)
    panel.autoscale_view()
    if len(drawing.places) == 1:
        panel.set(xlim=(-1, 1), ylim=(-1, 1))
    added = [] if add is None else add(drawn, panel)
    drawing = replace(drawing, links=np.concatenate([drawing.links, np.array(added, dtype=np.int64).reshape(-1, 2)]))
    if total <= MANY_LINKS:
        _label(drawn, panel, drawing, radius)
    return drawn


def _order(drawing: Drawing) -> NDArray[np.int64]:
    """Return the links in the order they are drawn: the most used last, so on top."""
    if drawing.use is None:
        return np.arange(len(drawing.links))[:MOST_LINKS]
    return np.argsort(drawing.use, kind="stable")[-MOST_LINKS:]


def _draw_links(drawn: "Figure", panel: "Axes", drawing: Drawing, shown: NDArray[np.int64], unit: str) -> None:
    from netbandit.util.extras.plots import LineCollection, ListedColormap, colormaps

    many = len(shown) > MANY_LINKS
    segments = drawing.places[drawing.links[shown]]
    how: dict[str, Any] = {
        # The more links, the thinner and paler, or they would be one blot.
        "linewidths": min(2.0, max(0.3, 2.0 * (120 / max(len(shown), 1)) ** 0.55)),
        "alpha": max(0.25, math.sqrt(MANY_LINKS / len(shown))) if many else None,
        "rasterized": many,
        "zorder": 1,
        "capstyle": "round",
    }
    use = None if drawing.use is None else drawing.use[shown]
    if use is None or not use.any():
        panel.add_collection(LineCollection(list(segments), colors=FAINT, **how))
        return
    idle = use == 0
    if idle.any():
        panel.add_collection(LineCollection(list(segments[idle]), colors=FAINT, linestyles="dotted", **how))
    busy = use[~idle]
    # The palest part of the scale is no colour for a thin line on white.
    scale = ListedColormap(colormaps["viridis_r"](np.linspace(0.12, 1.0, 256)))
    lines = LineCollection(list(segments[~idle]), cmap=scale, norm=_norm(busy), **how)
    lines.set_array(busy)
    panel.add_collection(lines)
    bar = drawn.colorbar(lines, ax=panel, shrink=0.75, aspect=28, pad=0.02)
    bar.set_label(f"{unit} on a link" + (" (dotted: none)" if idle.any() else ""))
    bar.outline.set_visible(False)
    if bar.solids is not None:
        bar.solids.set(alpha=1.0)
    readable(bar.ax, x=False)


def _norm(use: NDArray[np.float64]) -> "Normalize":
    from netbandit.util.extras.plots import LogNorm, Normalize

    low, high = float(use.min()), float(use.max())
    if high >= _LOGARITHMIC * low:
        return LogNorm(low, high)
    # From zero, unless all links then had one colour; but small differences are not blown up either.
    return Normalize(low if 0.5 * high <= low <= 0.9 * high else 0.0, high)


def _draw_nodes(panel: "Axes", drawing: Drawing) -> float:
    """Draw the nodes and return their radius in points."""
    agents = len(drawing.places)
    numbered = agents <= _NUMBERED and not drawing.map
    radius = 7.0 if numbered and agents <= 30 else 5.5 if numbered else max(0.5, 3.2 / math.sqrt(max(1.0, agents / 60)))
    panel.scatter(
        drawing.places[:, 0],
        drawing.places[:, 1],
        s=(2 * radius) ** 2,
        facecolors="white" if numbered else NEUTRAL,
        edgecolors=NEUTRAL,
        linewidths=0.8 if numbered else 0.0,
        rasterized=agents > MANY_LINKS,
        zorder=2,
    )
    if drawing.sinks:
        corners = drawing.places[list(drawing.sinks)]
        panel.scatter(
            corners[:, 0],
            corners[:, 1],
            s=(2 * max(radius, 3.0)) ** 2,
            marker="s",
            facecolors=COLOURS[4],
            edgecolors=NEUTRAL,
            linewidths=1.0,
            zorder=2.5,
        )
    return radius


def _label(drawn: "Figure", panel: "Axes", drawing: Drawing, radius: float) -> None:
    agents = len(drawing.places)
    if drawing.names is not None and agents <= 4 * _NUMBERED:
        place_labels(drawn, panel, drawing.places, list(drawing.names), radius, drawing.links)
    elif agents <= _NUMBERED and not drawing.map:
        size = 7.0 if agents <= 30 else 5.5
        for node, (x, y) in enumerate(drawing.places):
            panel.text(x, y, str(node), ha="center", va="center_baseline", fontsize=size, color=NEUTRAL, zorder=3)
