"""How cells of a table are written: metrics with their intervals, and the values of keys, lined up by column."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netbandit.printable import one_line
from netbandit.results.failures import MARK
from netbandit.results.metrics import HEADINGS
from netbandit.results.numbers import decimals, enough_decimals, fixed
from netbandit.results.summary import Estimate

_LONGEST_PARAMETER = 28

_MOST_DIGITS = 8

_TINY = 1e-3
"""Columns of smaller numbers are shown with powers of ten."""

_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_ENERGIES = ((1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"))


@dataclass(frozen=True)
class Column:
    """A metric of all points, as text that lines up.

    Attributes:
        name: What the metric is called.
        unit: Its unit, or nothing.
        values: The mean, or another statistic, of each point, all of the same length.
        spreads: The half-width of each point, or both ends of its interval in brackets, all of the same length, blank
            where there is none.
        around: Whether they are half-widths.
    """

    name: str
    unit: str
    values: list[str]
    spreads: list[str]
    around: bool = True

    def cells(self, sign: str) -> list[str]:
        """Return the text of each point, all of the same length; *sign* stands before a half-width."""
        between = f" {sign} " if self.around else " "
        return [
            f"{value}{between}{spread}" if spread.strip() else value + " " * (len(spread) + len(between) * bool(spread))
            for value, spread in zip(self.values, self.spreads, strict=True)
        ]


def column(metric: str, found: Sequence[Estimate | None]) -> Column:
    """Return the text of one metric: values and intervals with the same number of decimals, one below the other."""
    name, unit = HEADINGS.get(metric, (metric.replace("_", " "), ""))
    present = [estimate for estimate in found if estimate is not None and estimate.value is not None]
    largest = max((abs(estimate.value or 0.0) for estimate in present), default=0.0)
    scale = 1.0
    if metric == "bytes":
        scale, unit = next(((size, text) for size, text in _SIZES if largest >= 10 * size), (1.0, ""))
        name = "data" if unit else name
    elif metric == "energy_j":
        scale, unit = next(((size, text) for size, text in _ENERGIES if largest >= size), (1.0, "J"))
    places = max((_places(estimate, scale) for estimate in present), default=0)
    places = max(0, min(places, _MOST_DIGITS - len(f"{largest / scale:.0f}")))
    if not any(estimate.half_width for estimate in present):  # exact: a zero that ends all of them says nothing
        places = enough_decimals([(estimate.value or 0.0) / scale for estimate in present], places)

    def text(value: float | None) -> str:
        if value is None:
            return ""
        return f"{value:.1e}" if 0 < largest / scale < _TINY else fixed(value / scale, places)

    missing = "inf" if metric == "epsilon" else "-"  # a privacy budget is finite, or nobody asked for one
    values = [text(estimate.value) if estimate else "" for estimate in found]
    around = all(estimate.around for estimate in present)
    spreads = [text(estimate.half_width) if estimate else "" for estimate in found]
    if not around:
        ends = [estimate.ends if estimate else None for estimate in found]
        lows, highs = (lined_up([text(one[side]) if one else "" for one in ends]) for side in (0, 1))
        spreads = [f"[{low}, {high}]" if low.strip() else "" for low, high in zip(lows, highs, strict=True)]
    return Column(name, unit, lined_up([value or missing for value in values]), lined_up(spreads), around)


def _places(estimate: Estimate, scale: float) -> int:
    value, half = abs(estimate.value or 0.0) / scale, (estimate.half_width or 0.0) / scale
    if scale != 1.0 and not half:  # 12.00 MB is no whole number of bytes
        return max(0, 3 - math.floor(math.log10(value))) if value else 0
    return decimals(value, half)


def parameter_cells(values: Sequence[object]) -> list[str]:
    """Return the values of one key as short texts, numbers below one another, that are safe on a terminal."""
    names = class_names(values)
    texts = [one_line(_repeated(value) or names.get(cell(value)) or cell(value)) for value in values]
    texts = [text if len(text) <= _LONGEST_PARAMETER else text[: _LONGEST_PARAMETER - 1] + "…" for text in texts]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return lined_up(texts)
    return texts


_CLASS = re.compile(r"[\w.]+:[^\W\d][\w.]*")


def class_names(values: Sequence[object]) -> dict[str, str]:
    """Return the classes among the values of a key, ``module:Class`` -> ``Class``, but those that differ by module."""
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    names = {text: text.partition(":")[2] for text in texts if _CLASS.fullmatch(text)}
    count = Counter(names.get(text, text) for text in texts)
    return {text: name for text, name in names.items() if count[name] == 1}


def _repeated(value: object) -> str:
    """Return ``10 x 6`` for a list of ten sixes, such as the sizes of components; nothing for what is not alike."""
    alike = isinstance(value, list | tuple) and len(value) > 1 and len({cell(entry) for entry in value}) == 1
    return f"{len(value)} x {cell(value[0])}" if alike and isinstance(value, list | tuple) else ""


def marked(texts: Sequence[str], flags: Sequence[bool]) -> list[str]:
    """Return *texts* with the mark of stalled agents where *flags* say so, and as much room where they do not."""
    if not any(flags):
        return list(texts)
    return [f"{text} {MARK if flag else ' '}" for text, flag in zip(texts, flags, strict=True)]


def lined_up(texts: Sequence[str]) -> list[str]:
    """Return the texts at the right of a column as wide as the longest."""
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


def cell(value: Any) -> str:
    """Return *value* as a cell of a table: as TOML writes it, but text without quotes, and nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict):
        return json.dumps(value)
    return str(value)
