"""One self-contained HTML page of the suite: tables of all families and tracks, profiles and fronts."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import netbandit
from netbandit.plots.style import encoded
from netbandit.studies.suite.pictures import draw_fronts, draw_profiles
from netbandit.studies.suite.standing import Standing
from netbandit.studies.suite.tables import LEGEND, among_all, not_run, of_track, overview

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = (
    "body { font: 15px/1.5 sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }"
    "table { border-collapse: collapse; font-size: 13px; } td, th { padding: 2px 8px; text-align: right; }"
    "td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #f4f4f4; }"
    "caption { text-align: left; padding: 4px 8px; color: #555; } img { max-width: 100%; } div { overflow-x: auto; }"
)


def page(standings: Sequence[Standing]) -> str:
    """Return the page of some standings."""
    parts = []
    for standing in standings:
        parts.append(f"<h2>{escape(standing.family)}</h2>")
        if standing.own:
            parts.append(f"<div>{among_all(standing).html()}</div>")
        parts += [f"<div>{overview(standing).html()}</div>", f"<p>{escape(LEGEND)}</p>"]
        parts += [_image(draw_profiles(standing)), _image(draw_fronts(standing))]
        parts += [f"<div>{of_track(standing, track).html()}</div>" for track in standing.names]
        parts += [f"<p>{escape(line)}</p>" for line in not_run(standing)]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>netbandit suite</title>'
        f"<style>{_STYLE}</style></head><body><h1>netbandit suite</h1>"
        f"<p>netbandit {netbandit.__version__}</p>{''.join(parts)}</body></html>\n"
    )


def _image(drawn: "Figure") -> str:
    return f'<img alt="" src="data:image/png;base64,{b64encode(encoded(drawn, "png")).decode()}">'
