"""Durations as keys of a scenario, and of its parts."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from netbandit.util.units import DURATION, parse_duration
from netbandit.util.wording import Allowed, show


def duration_text(text: Any, *, also: str = "") -> Any:
    """Return *text* if it is a duration; else raise ValueError, naming what *also* may stand there."""
    try:
        if isinstance(text, str):
            parse_duration(text)
            return text
    except ValueError:
        pass
    raise ValueError(f"must be {DURATION}{also}, not {show(text)}")


def _positive_duration(text: Any) -> Any:
    if parse_duration(duration_text(text)).amount <= 0:
        raise ValueError(f"must be above 0: {DURATION}, not {show(text)}")
    return text


DurationText = Annotated[str, BeforeValidator(duration_text), Allowed(DURATION)]
"""A duration, as written."""
PositiveDuration = Annotated[str, BeforeValidator(_positive_duration), Allowed(DURATION)]
"""A duration above 0, as written."""
