"""The picture of a card: one panel of a picture of netbandit, drawn anew for its size, with thick lines and no text."""

from io import BytesIO
from typing import TYPE_CHECKING

from PIL import Image

from netbandit.plots.style import drawing, encoded, lay_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 2.4, 1.44
"""Inches: 360 pixels across, of which a card shows some 200 to 350."""

_EDGE = 0.035
_COLOURS = 48
"""Of a picture, which takes a third of the bytes with them."""


def thumbnail(drawn: "Figure") -> bytes:
    """Return the first panel of a figure as a small ``png``; the figure is used up."""
    from netbandit.util.extras.plots import matplotlib

    with drawing():
        lay_out(drawn)
        drawn.set_size_inches(_WIDTH, _HEIGHT)
        panel, *others = (each for each in drawn.axes if each.get_visible() and each.get_label() != "<colorbar>")
        for each in {*drawn.axes} - {panel}:
            drawn.delaxes(each)
        for text in drawn.findobj(matplotlib.text.Text):
            text.set_visible(False)
        for legend in [*drawn.legends, panel.get_legend()]:
            if legend is not None:
                legend.remove()
        panel.set_aspect("auto")
        panel.set_position((_EDGE, _EDGE, 1 - 2 * _EDGE, 1 - 2 * _EDGE))
        nowhere = dict.fromkeys(("labelleft", "labelright", "labeltop", "labelbottom"), False)
        panel.tick_params(which="both", length=0, **nowhere)
        panel.grid(visible=False, axis="both", which="both")
        if any(panel.get_shared_x_axes().joined(panel, other) for other in others):
            panel.autoscale_view()
        for line in panel.lines:
            line.set(linewidth=1.3 * line.get_linewidth(), markersize=0.9 * line.get_markersize())
    picture = Image.open(BytesIO(encoded(drawn, "png"))).quantize(_COLOURS, dither=Image.Dither.NONE)
    target = BytesIO()
    picture.save(target, "png", optimize=True)
    return target.getvalue()
