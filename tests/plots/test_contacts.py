"""The picture of contacts over time shows when links are up, and when all agents are connected."""

import networkx as nx
import numpy as np
import pytest

from netbandit.network.contacts import UpTimes
from netbandit.network.topology import Topology
from netbandit.plots import contacts
from netbandit.plots.contacts import draw_contacts
from netbandit.plots.style import subtitle

S = 10**9


def drawn():
    edges = Topology(nx.path_graph(3)).edges
    up = UpTimes(np.array([0, 0, 1]), np.array([0, 6, 2]) * S, np.array([4, 8, 20]) * S)
    return draw_contacts("walk", up, edges, 3, 10 * S)


def test_links_are_up_while_they_are():
    links, degree = drawn().axes
    bars = [path.get_extents() for one in links.collections for path in one.get_paths()]
    assert sorted((bar.x0, bar.x1) for bar in bars) == [(0, 4), (2, 10), (6, 8)]
    assert [text.get_text() for text in links.get_yticklabels()] == ["0-1", "1-2"]
    (line,) = degree.lines
    at = dict(zip(*line.get_data(), strict=True))
    assert {time: value for time, value in at.items() if time < 10} == pytest.approx(
        {0: 2 / 3, 2: 4 / 3, 4: 2 / 3, 6: 4 / 3, 8: 2 / 3}
    )
    (shaded,) = degree.collections
    assert sorted((path.get_extents().x0, path.get_extents().x1) for path in shaded.get_paths()) == [(2, 4), (6, 8)]


def test_of_many_links_those_with_the_most_contacts_are_shown(monkeypatch):
    monkeypatch.setattr(contacts, "MOST_LINKS", 1)
    figure = drawn()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["0-1"]
    assert "the 1 of 2 links with the most contacts" in subtitle(figure)
