"""Each feature in each way of executing a run gives the numbers of event by event, or is refused, with the reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netbandit.execution import VARIABLE

HELPER = Path(__file__).parents[1] / "helpers" / "features_by_execution.py"


@pytest.fixture(scope="module")
def cells():
    """Return all cells as they are now, and as they are pinned: of a process that compiles nothing."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    words = [sys.executable, "-W", "ignore::RuntimeWarning", str(HELPER), "--json"]  # integers of Python wrap around
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def test_no_number_depends_on_the_execution(cells):
    assert not [cell for cell in cells["found"] if "DIFFERENT" in cell[2]]


def test_every_cell_says_what_it_said(cells):
    """Where one is to change: ``python tests/helpers/features_by_execution.py --pin``."""
    assert cells["found"] == cells["pinned"]


def test_no_cell_is_empty_and_each_way_is_taken_and_refused(cells):
    said = {(feature, execution): text for feature, execution, text in cells["pinned"]}
    features, executions = ({key[place] for key in said} for place in (0, 1))
    assert len(said) == len(features) * len(executions)
    assert all(said.values())
    for execution in executions:
        own = [text for (_, other), text in said.items() if other == execution]
        sends = "messages: in " in said["nothing", execution]
        assert sends or "decisions: in " in said["nothing", execution]
        assert any("messages: event by event; not in " in text for text in own) == sends
