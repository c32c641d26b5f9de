"""The names of matplotlib that plots use.

The import also works if MPLBACKEND names a backend that is not installed, as in processes started by a notebook.
"""

import os
import sys
from contextlib import suppress
from typing import Any

from netbandit.util.extras import of_extra
from netbandit.util.process import environment_variable

with of_extra("plots"):
    if "matplotlib" not in sys.modules:
        with environment_variable("MPLBACKEND", ""):
            import matplotlib
        if _said := os.environ.get("MPLBACKEND"):  # we write files; who shows figures has chosen this
            with suppress(ValueError):
                matplotlib.rcParams["backend"] = _said
    import matplotlib
    from matplotlib import colormaps
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap, LogNorm, Normalize, to_hex, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
    from matplotlib.transforms import offset_copy
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    class Picture(Figure):
        """A figure whose letters remain letters in a PDF, also where its user saves it: journals refuse Type 3."""

        def savefig(self, *args: Any, **options: Any) -> None:
            """Save the figure; see matplotlib."""
            with matplotlib.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
                super().savefig(*args, **options)


__all__ = [
    "FFMpegWriter", "Figure", "FigureCanvasAgg", "FigureCanvasSVG", "FuncAnimation", "FuncFormatter", "Image",
    "Line2D", "LineCollection", "ListedColormap", "LogLocator", "LogNorm", "MaxNLocator", "Normalize",
    "NullFormatter", "NullLocator", "Patch", "Picture", "PillowWriter", "PngInfo", "Text", "colormaps", "matplotlib",
    "offset_copy", "to_hex", "to_rgb", "withStroke",
]  # fmt: skip
