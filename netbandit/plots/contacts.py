"""Contacts over time: when each link is up, how many neighbours agents have, and when all are connected."""

from typing import TYPE_CHECKING

import numpy as np

from netbandit.network.contact_figures import connectedness
from netbandit.network.contacts import Integers, UpTimes
from netbandit.plots.style import COLOURS, FAINT, drawing, figure, readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINKS = 60
"""If there are more links, only those with the most contacts are shown."""


def draw_contacts(title: str, up: UpTimes, edges: Integers, agents: int, end: int) -> "Figure":
    """Draw when links are up: a row a link; below, how many neighbours agents have, shaded where all are connected.

    Args:
        title: The name of the network.
        up: All contacts before *end*.
        edges: The links, shape (L, 2).
        agents: The number of agents.
        end: The end of the time axis (ns).
    """
    begin, until = up.begin / 1e9, np.minimum(up.end, end) / 1e9
    often = np.bincount(up.link, minlength=len(edges))
    shown = np.sort(np.argsort(-often, kind="stable")[:MOST_LINKS])
    of_all = "" if len(shown) == len(edges) else f"; the {len(shown)} of {len(edges):,} links with the most contacts"
    with drawing():
        subtitle = f"{len(up.begin):,} contacts{of_all}; shaded below: all agents are connected"
        drawn, (links, degree) = figure(title, subtitle, rows=2, sharex=True)
        for row, link in enumerate(shown.tolist()):
            own = up.link == link
            links.broken_barh(
                list(zip(begin[own], (until - begin)[own], strict=True)), (row - 0.4, 0.8), facecolor=COLOURS[0]
            )
        links.set_ylim(len(shown) - 0.5, -0.5)
        step = max(1, len(shown) // 12)
        links.set_yticks(range(0, len(shown), step), [f"{one}-{other}" for one, other in edges[shown[::step]].tolist()])
        links.set_ylabel("link")
        times, connected = connectedness(up, edges, agents, end)
        changes = times / 1e9
        present = np.searchsorted(np.sort(begin), changes, side="right")
        gone = np.searchsorted(np.sort(until), changes, side="right")
        degree.step([*changes, end / 1e9], 2 * np.append(present - gone, (present - gone)[-1]) / agents, where="post")
        bounds = np.append(changes, end / 1e9)
        switches = np.diff(connected.astype(np.int64), prepend=0, append=0)
        from_, to = bounds[np.flatnonzero(switches > 0)], bounds[np.flatnonzero(switches < 0)]
        degree.broken_barh(
            list(zip(from_, to - from_, strict=True)),
            (0, 1),
            facecolor=COLOURS[2],
            alpha=0.25,
            transform=degree.get_xaxis_transform(),
        )
        degree.set_ylim(bottom=0)
        degree.set_ylabel("neighbours present")
        for panel in (links, degree):
            panel.set_xlim(0, end / 1e9)
            panel.grid(color=FAINT)
            readable(panel, y=False)
        degree.set_xlabel("time (s)")
    return drawn
