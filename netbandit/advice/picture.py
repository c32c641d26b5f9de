"""A network with the advice drawn in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netbandit.advice.describe import Graph, placed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKED = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00")


def draw_advice(
    title: str, graph: Graph, links: Sequence[tuple[int, int]], hosts: Sequence[int], lose: bool, subtitle: str
) -> "Figure":
    """Draw *graph* with advised links and hosts.

    Args:
        title: What is to be seen.
        graph: The network.
        links: Links to add (drawn beside those that are there) or to lose, the best first.
        hosts: Nodes that should host a server or sinks.
        lose: Whether links are to be lost.
        subtitle: What the advice was found by.
    """
    from netbandit.plots.network import draw
    from netbandit.plots.style import drawing

    drawing_of = placed(graph)
    with drawing():
        figure = draw(title, drawing_of, subtitle)
        panel = figure.axes[0]
        places = drawing_of.places
        for place, (first, second) in enumerate(links):
            (x, y), (u, v) = places[first], places[second]
            what = "lose" if lose else "add"
            panel.plot(
                [x, u],
                [y, v],
                color=_MARKED[place % len(_MARKED)],
                linewidth=3.0 if place == 0 else 1.8,
                linestyle="--" if lose else "-",
                alpha=0.9,
                zorder=1.5,
                label=f"{place + 1}. {what} {drawn_name(graph, first)} - {drawn_name(graph, second)}",
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
                label="host: " + ", ".join(drawn_name(graph, host) for host in hosts[:4]),
            )
        if links or hosts:
            panel.legend(loc="lower left", framealpha=0.9)
    return figure


def drawn_name(graph: Graph, node: int) -> str:
    """Return what a legend calls a node."""
    return graph.topology.names[node]
