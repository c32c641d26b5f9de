"""The common style of all pictures, and reproducible output: the same inputs give the same bytes."""

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.results.numbers import scaled
from netbandit.results.safe_files import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.0, 4.5
"""The size of a picture in inches."""

DOTS_PER_INCH = 150

COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    *("#5B3A1E", "#332288", "#882255", "#80BA5A", "#8B5A2B"),
)
"""Okabe and Ito's colours for all kinds of colour vision, without the yellow that white paper swallows, and five more.

The five maximize the least distance from the others, over all kinds of colour vision, among common schemes.
"""

MESSAGE_COLOURS = ("#D55E00", "#332288", "#80BA5A", "#882255", "#8B5A2B")
"""The colours of kinds of message, none of which is that of an agent's state."""

_SHADES = 7
"""With more values of a number than this, series use shades of one scale, which show their order."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
DASHES: tuple[Any, ...] = ("-", (0, (6, 1.6)), (0, (6, 1.6, 1.2, 1.6)), (0, (1.4, 1.2)), (0, (10, 2, 2, 2, 2, 2)))

NEUTRAL = "#333333"
"""The colour of elements that belong to no series."""

FAINT = "#B8B8B8"
_QUIET = "#555555"
_TITLE = 10.5
_LINE = 1.25 * _TITLE / 72 / HEIGHT
_TOP, _LEFT = 0.985, 0.012
_SUBTITLE = "subtitle"

_LOOK: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.title_fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
    "svg.hashsalt": "netbandit",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """How one series is drawn, in every picture of a folder.

    Attributes:
        colour: The colour of line, band and marker.
        marker: The shape of a point, so that colour is never the only difference.
        dashes: The pattern of the line, so that overlapping curves are visible.
    """

    colour: str
    marker: str
    dashes: Any


PLAIN = Look(NEUTRAL, "o", "-")
"""The look of the only series of a picture."""


def looks(count: int, ordered: bool = False) -> list[Look]:
    """Return *count* distinguishable looks.

    Args:
        count: The number of series.
        ordered: Whether the series are the ascending values of a number. Many of them then take the shades of a scale
            from dark to light; else colours repeat, with other dashes and markers, where there are more than twelve.
    """
    if ordered and count > _SHADES:
        from netbandit.util.extras.plots import colormaps, to_hex

        scale = colormaps["viridis"]
        return [
            Look(to_hex(scale(0.92 * index / (count - 1))), MARKERS[index % len(MARKERS)], "-")
            for index in range(count)
        ]
    return [
        Look(
            COLOURS[index % len(COLOURS)],
            MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
            DASHES[(index + index // len(COLOURS)) % len(DASHES)],
        )
        for index in range(count)
    ]


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Draw and write in our style, independent of the user's matplotlib settings, which are restored afterwards.

    A decorator for functions that draw pictures.
    """
    from netbandit.util.extras.plots import matplotlib

    ours: dict[Any, Any] = {
        key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith("backend")
    }
    ours.update(_LOOK)
    with matplotlib.rc_context(ours), _lacking_signs_said_once():
        yield


def figure(
    title: str, subtitle: str = "", *, rows: int = 1, columns: int = 1, **shared: Any
) -> "tuple[Figure, list[Axes]]":
    """Return a figure of the usual size with its panels, row by row. matplotlib's global state does not refer to it.

    Args:
        title: The title, above everything.
        subtitle: How it was measured and what is held fixed, smaller and below the title.
        rows: Rows of panels.
        columns: Columns of panels.
        shared: ``sharex`` and ``sharey`` of the panels.
    """
    from netbandit.util.extras.plots import FigureCanvasAgg, Picture

    drawn = Picture(figsize=(WIDTH, HEIGHT), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(drawn)
    above, below = wrapped(title, 86), wrapped(subtitle, 114) if subtitle else ""
    lower = _TOP - _LINE * (above.count("\n") + 1)
    drawn.suptitle(above, x=_LEFT, y=_TOP, ha="left", va="top", fontsize=_TITLE, linespacing=1.2)
    drawn.text(_LEFT, lower, below, ha="left", va="top", fontsize=8, color=_QUIET, linespacing=1.4, gid=_SUBTITLE)
    floor = lower - (0.8 * _LINE * (below.count("\n") + 1) if below else 0.0)
    _give_room(drawn, (0.0, 0.0, 1.0, floor - 0.01))
    panels: Any = drawn.subplots(rows, columns, squeeze=False, **shared)
    return drawn, [panel for row in panels for panel in row]


def subtitle(drawn: "Figure") -> str:
    """Return the subtitle of a figure made by `figure`, in one line."""
    return " ".join(" ".join(text.get_text() for text in drawn.texts if text.get_gid() == _SUBTITLE).split())


def _give_room(drawn: "Figure", panels: tuple[float, float, float, float]) -> None:
    """Lay the panels out in a part of the page: left, bottom, width and height as shares of it."""
    engine: Any = drawn.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.06, wspace=0.04, hspace=0.04, rect=panels)


def _room(drawn: "Figure") -> tuple[float, float, float, float]:
    engine: Any = drawn.get_layout_engine()
    left, bottom, width, height = engine.get()["rect"]
    return left, bottom, width, height


_JOINED = "\N{NO-BREAK SPACE}"
_WITH_UNIT = re.compile(r"[^ ]*(?:\d[kMGT]?|∞) (?:%|[^\W\d])[^ ]*")
"""A number and the word that follows it."""


def wrapped(text: str, width: int) -> str:
    """Return *text* in lines of at most *width* characters; "a = b", "2 × 30" and "10 ms" are not broken."""
    import textwrap

    def joined(found: re.Match[str]) -> str:
        return found[0].replace(" ", _JOINED) if len(found[0]) <= width else found[0]

    text = _WITH_UNIT.sub(joined, re.sub(" ([=×]) ", rf"{_JOINED}\1{_JOINED}", text))
    lines = textwrap.wrap(text, width, break_on_hyphens=False)
    return "\n".join(lines).replace(_JOINED, " ") or text


def readable(panel: "Axes", *, x: bool = True, y: bool = True) -> None:
    """Give the axes of *panel* numbers that are read at a glance: ``10,000``, and one of k, M, G for all of an axis."""
    from netbandit.util.extras.plots import FuncFormatter, NullFormatter

    for axis in ([panel.xaxis] if x else []) + ([panel.yaxis] if y else []):
        linear = axis.get_scale() == "linear"

        def text(value: float, _place: int | None = None, axis: Any = axis, linear: bool = linear) -> str:
            if value == getattr(axis.get_major_locator(), "zero", None):
                return "0"
            if not linear or (value != 0 and abs(value) < 1e-3):
                return scaled(value)
            return scaled(value, max(map(abs, axis.get_view_interval())))

        axis.set_major_formatter(FuncFormatter(text))
        axis.set_minor_formatter(NullFormatter())


def from_zero(panel: "Axes") -> None:
    """Let the vertical axis begin at 0 and have some height, even if all values are 0."""
    together: Any = panel.get_shared_y_axes().get_siblings(panel)
    high = max(one.dataLim.y1 for one in together)
    panel.set_ylim(0.0, 1.06 * high if high > 1e-12 and high != float("inf") else 1.0)


def head(panel: "Axes", text: str, side_by_side: int) -> None:
    """Write *text* above one of *side_by_side* panels: in one line, smaller where that is too long.

    A text that is too long nonetheless is broken.
    """
    _, _, width, _ = _room(panel.figure)  # type: ignore[arg-type]
    for size in (8.0, 7.0, 6.0):
        letters = max(12, int((104 * width / side_by_side - 2) * 8.0 / size))
        if len(text) <= letters:
            break
    panel.set_title(wrapped(text, letters), fontsize=size, loc="center")  # where it is changed by default


def legend_below(drawn: "Figure", handles: Sequence[Any], labels: Sequence[str], title: str) -> None:
    """Put one legend for all panels below them, in as many columns as its labels have room for."""
    most = min(len(labels), max(2, 84 // (max(len(label) for label in labels) + 8)))
    columns = -(-len(labels) // -(-len(labels) // most))  # no row with a single label beside full ones
    where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.0), "ncols": columns}
    box = drawn.legend(handles, labels, title=title, handlelength=2.6, **where).get_window_extent()
    left, _, width, height = _room(drawn)
    share = box.height / drawn.bbox.height
    _give_room(drawn, (left, share, width, height - share))


Section = tuple[str, Sequence[Any], Sequence[str]]
"""A part of a legend: its heading, its handles and their labels."""

_ROWS = 22
"""The most lines of a legend in one column."""


def legend_beside(drawn: "Figure", *sections: Section, away: float = 0.0) -> None:
    """Put one legend for all panels at their right, from their upper edge down, one section below the other.

    Args:
        drawn: The picture.
        sections: What the legend has.
        away: How far it keeps away from the panels, in typographic points.
    """
    from netbandit.util.extras.plots import Line2D

    handles: list[Any] = []
    labels: list[str] = []
    headings: list[int] = []
    for index, (heading, some, texts) in enumerate(section for section in sections if section[1]):
        if index:
            headings.append(len(labels))
            handles.append(Line2D([], [], linestyle="none"))
            labels.append(wrapped(heading, 24))
        handles += some
        labels += texts
    if not handles:
        return
    heading = next(section[0] for section in sections if section[1])
    left, bottom, width, height = _room(drawn)
    columns = -(-sum(text.count("\n") + 1 for text in labels) // _ROWS)
    where: dict[str, Any] = {"loc": "upper right", "bbox_to_anchor": (1.0, height), "ncols": columns}
    how: dict[str, Any] = {"handlelength": 2.6, "alignment": "left", "columnspacing": 1.0}
    if columns > 1:
        how |= {"fontsize": 6.5, "handlelength": 1.6}
        labels = [wrapped(" ".join(label.split("\n")), 20) for label in labels]
    legend = drawn.legend(handles, labels, title=wrapped(heading, 24 * columns), **where, **how)
    for row in headings:  # where the handles are, not beside them
        legend.get_texts()[row].set_x(
            -(how["handlelength"] + 0.8) * legend.get_texts()[row].get_fontsize() * drawn.dpi / 72
        )
    share = legend.get_window_extent().width / drawn.bbox.width + away / 72 / WIDTH
    _give_room(drawn, (left, bottom, width - share, height))


def lay_out(drawn: "Figure") -> None:
    """Put panels and legends in their places, once.

    Another pass could move them by a hair, and a file would depend on those that were written before.
    """
    engine = drawn.get_layout_engine()
    if engine is not None:
        engine.execute(drawn)
        if _fit_texts(drawn):
            engine.execute(drawn)
        drawn.set_layout_engine("none")


def _fit_texts(drawn: "Figure") -> bool:
    """Break headings and names of axes that are longer than their panel, and return whether there were any.

    They would run into the legend or into the next panel.
    """
    changed = False
    for panel in drawn.axes:
        if not panel.get_visible() or panel.get_label() == "<colorbar>":
            continue
        heading: Any = getattr(panel, "_left_title")  # noqa: B009
        for artist, upward in ((heading, False), (panel.xaxis.label, False), (panel.yaxis.label, True)):
            text = artist.get_text()
            if not text:
                continue
            extent = artist.get_window_extent()
            length, room = (extent.height, panel.bbox.height) if upward else (extent.width, panel.bbox.width)
            longest = max(map(len, text.split("\n")))
            if length > room:
                artist.set_text(wrapped(" ".join(text.split("\n")), max(8, int(longest * room / length))))
                changed = True
    return changed


_lacking: set[int] = set()
"""The characters missing in all fonts, of which the user has been warned."""


@contextlib.contextmanager
def _lacking_signs_said_once() -> Iterator[None]:
    """Print one line on the characters shown as boxes, in place of matplotlib's repeated warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    found: set[int] = set()
    for warning in caught:
        glyph = re.match(r"Glyph (\d+) .*missing from", str(warning.message))
        if glyph:
            found.add(int(glyph[1]))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if found - _lacking:
        signs = ", ".join(f"U+{sign:04X}" for sign in sorted(found - _lacking)[:8])
        print(f"the font of the pictures lacks {signs}: boxes stand for them", file=sys.stderr)
        _lacking.update(found)


def encoded(drawn: "Figure", kind: str, keywords: str = "") -> bytes:
    """Return the picture as ``png``, ``svg`` or ``pdf`` bytes, without a date or a version in them.

    It is drawn once for each kind; ``savefig`` draws it three times.

    Args:
        drawn: The picture.
        kind: The format.
        keywords: A text for the file's metadata, if any.
    """
    target = BytesIO()
    with drawing():
        lay_out(drawn)
        if kind == "svg":
            from netbandit.util.extras.plots import FigureCanvasSVG

            about: dict[str, Any] = {"Date": None, "Creator": None, **({"Keywords": keywords} if keywords else {})}
            svg: Any = FigureCanvasSVG(drawn)
            svg.print_svg(target, metadata=about)
        elif kind == "pdf":
            about = {"CreationDate": None, "Creator": None, "Producer": None, "Keywords": keywords or None}
            drawn.savefig(target, format="pdf", metadata=about)
        else:
            from netbandit.util.extras.plots import FigureCanvasAgg, Image, PngInfo

            canvas: Any = FigureCanvasAgg(drawn)
            canvas.draw()
            about_png = PngInfo()
            if keywords:
                about_png.add_text("Keywords", keywords)
            # Paper is not transparent, and the last hundredth of a file's size takes a third of the time.
            Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").save(
                target, format="png", compress_level=4, pnginfo=about_png
            )
    return target.getvalue()


def save(drawn: "Figure", stem: Path, kinds: Sequence[str] = ("png", "svg"), keywords: str = "") -> list[Path]:
    """Write the picture beside *stem*, once for each of *kinds*, atomically, and return the files.

    Raises:
        StorageError: The folder cannot be written.
    """
    files = []
    for kind in kinds:
        file = stem.with_name(f"{stem.name}.{kind}")
        with whole(file) as temporary:
            temporary.write_bytes(encoded(drawn, kind, keywords))
        files.append(file)
    return files
