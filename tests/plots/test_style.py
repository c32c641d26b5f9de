import itertools
import os
import subprocess
import sys

import networkx
import numpy as np
import pytest
from helpers.made_up_runs import arranged, made_up
from helpers.scenes import SMALL
from matplotlib.colors import to_rgb

from netbandit.plots.axis import Axis
from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import parameter_chart
from netbandit.plots.heatmap import axis_keys, draw_heatmap
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import COLOURS, drawing, figure, lay_out, looks, wrapped

# Machado, Oliveira, Fernandes 2009, full severity: what colours look like to eyes with two kinds of cones.
EYES = {
    "all": np.eye(3),
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lab(linear):
    """CIE L*a*b* of linear sRGB, D65."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("eye", EYES)
def test_twelve_colours_are_told_apart_by_every_eye_and_from_white(eye):
    def seen(colour):
        values = np.array(to_rgb(colour))
        linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
        return lab(np.array(EYES[eye]) @ linear)

    assert len(COLOURS) == 12
    for one, other in itertools.combinations([*COLOURS, "#FFFFFF"], 2):
        assert np.linalg.norm(seen(one) - seen(other)) > 15, (one, other)


def test_the_eighth_series_has_not_the_first_ones_colour_and_no_two_of_forty_are_one():
    assert len({look.colour for look in looks(12)}) == 12
    assert looks(8)[7].colour != looks(8)[0].colour
    assert len({(look.colour, look.marker) for look in looks(40)}) == 40
    assert len({look.colour for look in looks(30, ordered=True)}) == 30


def visible_texts(drawn):
    """Headings, names of axes, labels of ticks and legends: all that must not meet, each with its box."""
    lay_out(drawn)
    drawn.canvas.draw()
    found = [("title", drawn._suptitle)] + [("subtitle", text) for text in drawn.texts if text is not drawn._suptitle]
    for place, panel in enumerate(axes for axes in drawn.axes if axes.get_visible()):
        found += [(f"heading {place}", panel._left_title), (f"x {place}", panel.xaxis.label)]
        found += [(f"y {place}", panel.yaxis.label)]
        for name, axis in (("tick x", panel.xaxis), ("tick y", panel.yaxis)):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            found += [(f"{name} {place}", tick.label1) for tick in ticks if tick.label1.get_visible()]
    boxes = [(name, text.get_text(), text.get_window_extent()) for name, text in found if text.get_text()]
    return boxes + [("legend", "", legend.get_window_extent()) for legend in drawn.legends]


def overlaps(drawn):
    """What runs into something else, or off the page."""
    boxes = visible_texts(drawn)
    page = drawn.bbox
    off = [(name, text) for name, text, box in boxes if box.x0 < -1 or box.x1 > page.x1 + 1 or box.y0 < -1]
    met = [
        (one[:2], other[:2])
        for one, other in itertools.combinations(boxes, 2)
        if one[2].shrunk(0.9, 0.9).overlaps(other[2].shrunk(0.9, 0.9))
    ]
    return off + met


def sweep(families, latencies, shares=("private",), replications=2):
    keys = ("topology.family", "links.peer.latency", "learner.share")
    return [
        made_up(
            networkx.cycle_graph(10),
            parameters=dict(zip(keys, values, strict=True)),
            replication=one,
            bend=400.0 + 90 * place,
            metrics={"round_slots": 3.0 + place},
        )
        for place, values in enumerate(itertools.product(families, latencies, shares))
        for one in range(replications)
    ]


FAMILIES = ["star", "ring", "a network of a very long name", "random"]
LATENCIES = ["0 ms", "0.1 ms", "1 ms", "100 ms"]


@pytest.mark.ci
@pytest.mark.parametrize("shares", [["private"], ["private", "exact", "never but with a long explanation"]])
def test_no_heading_runs_into_a_legend_or_its_neighbour(shares):
    arrangement = arranged(sweep(FAMILIES, LATENCIES, shares))
    assert overlaps(draw_regret(arrangement)) == []
    parts = list(arrangement.slices(["learner.share"])) if len(shares) > 1 else []
    assert overlaps(draw_chart(parameter_chart(arrangement, "links.peer.latency", parts))) == []


@pytest.mark.ci
@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("from 0 ms to 1 ms of 20 replications", 15, ["from 0 ms to", "1 ms of", "20 replications"]),
        ("falls by up to 99.9 % (a = 5)", 20, ["falls by up to", "99.9 % (a = 5)"]),
        ("with components 2 × 30", 16, ["with components", "2 × 30"]),
        ("grows to 2.5M bytes", 13, ["grows to", "2.5M bytes"]),
        ("3 replications", 13, ["3", "replications"]),
    ],
)
def test_a_number_stays_with_its_unit_where_a_line_has_room_for_both(text, width, lines):
    assert wrapped(text, width).split("\n") == lines


def test_maps_side_by_side_do_not_touch():
    runs = [
        made_up(
            parameters={"protocol.kind": kind, "learner.rounds": rounds, "bandit.arms": arms},
            metrics={"regret": 100.0 * arms * rounds + len(kind)},
        )
        for kind in ("gis", "sink", "master-worker", "flooding", "gossip")
        for rounds in (2, 4, 8, 1_000)
        for arms in (5, 10, 20)
    ]
    arrangement = arranged(runs)
    drawn = draw_heatmap(arrangement, *axis_keys(arrangement), "regret", list(arrangement.slices(["protocol.kind"])))
    assert overlaps(drawn) == []


def test_panels_share_their_scale_whose_regrets_are_far_apart_a_logarithmic_one():
    alike = draw_regret(arranged(sweep(["star", "ring"], ["0 ms", "1 ms"])))
    assert len({panel.get_ylim() for panel in alike.axes}) == 1
    assert {panel.get_yscale() for panel in alike.axes} == {"linear"}
    runs = sweep(["star", "ring"], ["0 ms", "1 ms"])
    for run in runs:
        if run.parameters["links.peer.latency"] == "1 ms":
            run.curves["regret"].values[:] *= 50
    apart = draw_regret(arranged(runs))
    assert len({panel.get_ylim() for panel in apart.axes}) == 1
    assert {panel.get_yscale() for panel in apart.axes} == {"log"}


@pytest.mark.parametrize("count", [3, 9, 30])
def test_every_category_has_its_label(count):
    names = [f"protocol number {place}" for place in range(count)]
    with drawing():
        drawn, (panel,) = figure("names")
        panel.plot(range(count), range(count))
        Axis.categories(names).apply(panel)
    lay_out(drawn)
    assert [" ".join(text.get_text().split()) for text in panel.get_xticklabels()] == names
    boxes = [text.get_window_extent() for text in panel.get_xticklabels()]
    if not panel.get_xticklabels()[0].get_rotation():
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


@pytest.mark.ci
def test_every_series_that_is_no_number_is_in_the_legend():
    runs = [made_up(parameters={"topology.family": f"family {place}"}) for place in range(30)]
    drawn = draw_regret(arranged(runs))
    assert len(drawn.legends[0].get_texts()) == 30
    assert overlaps(drawn) == []


@pytest.mark.ci
@pytest.mark.parametrize("backend", ["no backend", "svg"])
def test_pictures_are_drawn_whatever_backend_a_notebook_names_to_the_programs_that_it_starts(tmp_path, backend):
    (tmp_path / "small.toml").write_text(SMALL)
    code = (
        "import sys; from netbandit.cli import main; from netbandit.plots.style import looks\n"
        "looks(9, ordered=True)\n"
        "main(['run', 'small.toml', '--out', 'out'], standalone_mode=False)\n"
        "print(sys.modules['matplotlib'].get_backend())\n"
    )
    environment = os.environ | {"MPLBACKEND": backend, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert (tmp_path / "out" / "regret.png").is_file()
    assert done.stdout.splitlines()[-1] == ("svg" if backend == "svg" else "agg")  # that of who shows figures stays
