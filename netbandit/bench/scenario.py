"""A scenario in a text, for benchmarks that run one."""

from pathlib import Path

from netbandit.scenario.load import load
from netbandit.simulation.check import check
from netbandit.simulation.point import RunnablePoint


def point_of(text: str, folder: str, *overrides: str) -> RunnablePoint:
    """Return the only point of the scenario in *text*, which is written into *folder* to be read."""
    file = Path(folder) / "bench.toml"
    file.write_text(text, encoding="utf-8")
    return check(load(file, overrides)).points[0]
