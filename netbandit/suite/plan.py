"""An entry on a track as a checked scenario, or the reason why it cannot be run there."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netbandit.suite.entries import Entry
from netbandit.suite.tracks import Track

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint


def point_of(entry: Entry, track: Track, run: Mapping[str, Any] | None = None) -> "RunnablePoint":
    """Return the checked point of *entry* on *track*.

    Relative paths, and classes of the user's own, start in the working folder.

    Args:
        entry: The entry.
        track: The track.
        run: Keys of ``[run]`` to put over the track's, such as ``horizon``.

    Raises:
        ScenarioError: It cannot be run there; each line says why.
    """
    from netbandit.checks.check import check
    from netbandit.scenario.load import load_tables

    tables = {"extends": str(track.path), "name": track.name, **entry.tables}
    return check(load_tables({**tables, **({"run": dict(run)} if run else {})})).points[0]


def why_refused(lines: list[str]) -> str:
    """Return the first message of `check`, without places in files."""
    text = lines[0].partition(": ")[2] or lines[0]
    return re.sub(r"; \S+ stands at .*$", "", text)
