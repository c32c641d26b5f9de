"""Formats values, above all numbers, for tables, pictures, reports and claims alike."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netbandit.util.text import one_line

_DIGITS = 4
"""Significant digits of a value of unknown uncertainty."""

_MOST_DECIMALS = 9
_LONGEST = 18
"""The most characters of a number without a power of ten."""

_SMALL = 1e-4
"""A number below this is written with a power of ten."""

_LETTERS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))


def shortest(value: float, digits: int | None = None) -> str:
    """Return a number in its shortest usual form: ``10,000``, ``0.95``, ``1``, ``2e-06``.

    Args:
        value: The number.
        digits: Significant digits to round to first; without it the number is kept, up to six decimals.
    """
    if digits is not None:
        value = rounded(value, digits)
    if not math.isfinite(value) or 0 < abs(value) < _SMALL:
        return f"{value:g}"
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def rounded(value: float, digits: int) -> float:
    """Return *value* rounded to this many significant digits."""
    return float(f"{value:.{digits}g}")


def percentage(share: float) -> float:
    """Return *share* in percent to two digits, from 90 % on to one decimal; 100 only where nothing is left."""
    exact = 100 * share
    near = rounded(exact, 2 if exact < 90 else 3)
    return min(near, 99.9) if exact < 100 else near


def scaled(value: float, largest: float | None = None) -> str:
    """Return a number in the short form of pictures: ``12,500``, ``2.5M``, ``0.1``, ``∞``.

    Args:
        value: The number.
        largest: The largest number on the axis, whose letter all numbers share; the number itself by default.
    """
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if largest is None and 0 < abs(value) < 1e-3:
        return f"{value:.3g}".replace("-", "−")
    size = abs(value) if largest is None else largest
    unit, letter = next((each for each in _LETTERS if size >= each[0]), (1.0, ""))
    digits = f"{value / unit:,.6f}".rstrip("0").rstrip(".")
    return digits.replace("-", "−") + (letter if value else "")


_DURATIONS = ((365.25 * 86_400, "years"), (86_400.0, "days"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"))


def duration(seconds: float) -> str:
    """Return a duration in the largest unit of which it has at least one."""
    if not math.isfinite(seconds):
        return "for ever"
    size, unit = next((each for each in _DURATIONS if seconds >= each[0]), _DURATIONS[-1])
    text = scaled(rounded(seconds / size, 3))
    return f"{text} {unit.removesuffix('s') if text == '1' and len(unit) > 3 else unit}"


def decimals(value: float, half_width: float | None = None) -> int:
    """Return the decimals to print: two digits of the half-width, or four of the number; none if it is whole."""
    if half_width:
        return max(0, 1 - math.floor(math.log10(half_width)))
    if value == int(value):
        return 0
    return max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))


def enough_decimals(values: Sequence[float], most: int) -> int:
    """Return the fewest decimals, at most *most*, that print exact *values* as precisely as *most* decimals do."""
    while most and all(round(value, most) == round(value, most - 1) for value in values):
        most -= 1
    return most


def fixed(value: float, places: int) -> str:
    """Return a number with this many decimals; with a power of ten where they would hide it or be too long."""
    text = f"{value:z,.{places}f}"
    lost = value != 0 and not text.strip("-0.,")
    return f"{value:.1e}" if lost or len(text) > _LONGEST else text


def with_ends(value: float, low: float, high: float) -> str:
    """Return a number with its interval, to the precision of its width: ``0.926 [0.921, 0.931]``."""
    largest = max(abs(low), abs(high))
    width = high - low
    places = 6 if width <= 0 or largest == 0 else min(decimals(value, width / 2), _MOST_DECIMALS)
    ends = [shortest(round(end, places)) for end in (value, low, high)]
    return f"{ends[0]} [{ends[1]}, {ends[2]}]"


_LEVEL = 1e-4
"""Smaller p-values are not distinguished."""


def level_text(level: float) -> str:
    """Return a p-value, or the level it is compared with, as text: ``0.012``, ``<0.0001``."""
    return f"<{_LEVEL:.4f}" if level < _LEVEL else shortest(level, 2)


def cell(value: Any) -> str:
    """Return *value* as a table cell: as in TOML, but text without quotes, and an empty text for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict):
        return json.dumps(value)
    return str(value)


def with_its_number(text: str) -> str:
    """Return "1 slot" for a duration that was written as "1 slots"."""
    return text.removesuffix("s") if text == "1 slots" else text


def run_text(parameters: Mapping[str, object], replication: int) -> str:
    """Return which run it is, in words: the *parameters* of its point, and its *replication*."""
    point = [f"{key} = {one_line(cell(value))}" for key, value in parameters.items() if key != "run.replications"]
    return ", ".join([*point, f"replication {replication}"])


def as_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return *rows* as lines of CSV, in which a spreadsheet finds no formula.

    It takes text that begins with one of ``= + - @`` for a formula, which may call programs: unless it is a number, an
    apostrophe stands before it (OWASP, CSV Injection).
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([f"'{each}" if _is_formula(each) else each for each in row] for row in rows)
    return text.getvalue()


_BEGINNINGS = tuple("=+-@\t\r")


def _is_formula(value: object) -> bool:
    if not isinstance(value, str) or not value.startswith(_BEGINNINGS):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
