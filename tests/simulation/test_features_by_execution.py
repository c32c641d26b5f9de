"""Each feature in each way of executing a run gives the numbers of event by event, or is refused, with the reason."""

import json
import os
import re
import subprocess
import sys

import pytest
from helpers import features_by_execution
from helpers.features_by_execution import FEATURES

from netbandit.conditions.adversary import Adversary
from netbandit.conditions.compute import Compute
from netbandit.conditions.compute_keys import AgentTimes
from netbandit.conditions.energy import Energy
from netbandit.conditions.faults import Faults
from netbandit.conditions.feedback import Feedback
from netbandit.network.families.family import COMMON_KEYS
from netbandit.scenario.links import LinkSettings
from netbandit.simulation.execution import VARIABLE


@pytest.fixture(scope="module", params=["--every=3", pytest.param("--every=1", marks=pytest.mark.ci)])
def cells(request):
    """Return cells as they are now, and all as they are pinned: of a process that compiles nothing."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    # Integers of Python, unlike compiled ones, warn where they wrap around.
    words = [sys.executable, "-W", "ignore::RuntimeWarning", features_by_execution.__file__, "--json", request.param]
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def test_no_number_depends_on_the_execution(cells):
    assert not [cell for cell in cells["found"] if "DIFFERENT" in cell[2]]


def test_every_cell_says_what_it_said(cells):
    """Where one is to change: ``python tests/helpers/features_by_execution.py --pin``."""
    found = {cell[0] for cell in cells["found"]}
    assert cells["found"] == [cell for cell in cells["pinned"] if cell[0] in found]


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


def test_every_key_that_may_change_what_agents_do_is_in_a_feature():
    """Whoever adds one adds it to a feature, and so a row, or here, if it only says how much of something there is."""
    tables = {"links.peer": LinkSettings, "faults": Faults, "energy": Energy}
    tables |= {"feedback": Feedback, "compute": Compute, "compute.agents": AgentTimes}
    keys = {key for table in tables.values() for key in table.model_fields} | set(COMMON_KEYS)
    keys |= {field.alias or key for key, field in Adversary.model_fields.items()}
    said = " ".join(change for feature in FEATURES.values() for change in feature)
    missing = {key for key in keys if not re.search(rf"\b{key}=", said)}
    assert missing == {
        *("cost", "seed", "preset", "send", "receive"),
        *("place", "target", "strength"),
    }
