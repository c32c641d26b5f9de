"""The busiest links, and how long messages wait for them."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
from helpers.made_up_runs import arranged, made_up

from netbandit.plots.bottleneck import draw_bottleneck


@pytest.mark.parametrize("longest", [0, 3_000_000])
def test_waits_have_a_panel_where_there_are_any(longest):
    run = made_up(networkx.path_graph(3), family="path", metrics={"simulated_s": 10.0})
    idle, waits = np.zeros(2, dtype=np.int64), np.array([longest, 0])
    links = replace(run.links, busy=np.array([10**9, 10**8]), busy_back=idle, waited=waits, longest_wait=waits)
    whole = arranged([replace(run, links=links)])
    left, *right = (drawn := draw_bottleneck(whole, whole.points[0])).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["0 → 1", "1 → 2"]
    assert [panel.get_xlabel() for panel in right] == ["messages wait for it (ms)"] * bool(longest)
    title = "quickstart: 0 → 1 is occupied 10 % of the time, the most of all links"
    assert " ".join(drawn.get_suptitle().split()) == title + ("" if longest else ", and no message waits for one")
