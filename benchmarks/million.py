"""HDP-MAB with 10^6 agents in ten thousand components, once: minutes, and some 8 GB of memory."""

from functools import partial

from benchmarks import scale
from benchmarks.measure import Found, Row, Subject

PROCESSES, VALUES, WARMUPS = 1, 1, 0
COMPONENTS = 10_000


def subjects() -> dict[str, Subject]:
    """Return the run."""
    return {"million": partial(scale.once, COMPONENTS)}


def rows(found: Found) -> list[Row]:
    """Return one row: seconds from the text of the scenario to its result, and peak memory."""
    return [scale.row(found["million"])]
