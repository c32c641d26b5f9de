"""A network with the advice drawn in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netbandit.studies.advice.describe import Graph, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00")


def draw_advice(
    title: str,
    graph: Graph,
    links: Sequence[tuple[int, int]],
    hosts: Sequence[int],
    subtitle: str,
    *,
    lose: bool,
    alternatives: bool,
) -> "Figure":
    """Draw *graph* with advised links and hosts.

    Args:
        title: The title.
        graph: The network.
        links: Links to add (drawn beside those that are there) or to lose, the best first.
        hosts: Nodes that should host a server or sinks.
        subtitle: How the advice was found.
        lose: Whether links are to be lost.
        alternatives: Whether one of the links is meant, in place of all, one after the other.
    """
    from netbandit.plots.network import draw
    from netbandit.plots.style import legend_below

    drawing_of = placed(graph)
    places, names = drawing_of.places, graph.topology.names

    def add(figure: "Figure", panel: "Axes") -> Sequence[tuple[int, int]]:
        for index, (first, second) in enumerate(links):
            (x, y), (u, v) = places[first], places[second]
            what = "lose" if lose else "add"
            rank = ("or" if index else "best") + f": {what}" if alternatives else f"{index + 1}. {what}"
            panel.plot(
                [x, u],
                [y, v],
                color=_MARKED[index % len(_MARKED)],
                linewidth=3.0 if index == 0 else 1.8,
                linestyle="--" if lose else "-",
                alpha=0.9,
                zorder=1.5,
                label=f"{rank} {names[first]} - {names[second]}",
            )
        if hosts:
            panel.scatter(
                places[list(hosts), 0],
                places[list(hosts), 1],
                s=160,
                marker="s",
                facecolor="none",
                edgecolor=_MARKED[3],
                linewidth=2.0,
                zorder=4,
                label="host: " + ", ".join(names[host] for host in hosts[:4]),
            )
        handles, labels = panel.get_legend_handles_labels()
        if labels:
            legend_below(figure, handles, labels, "")
        return links

    return draw(title, drawing_of, subtitle, add=add)
