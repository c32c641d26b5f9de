"""Each feature in each way of executing a run gives the numbers of event by event, or is refused, with the reason."""

import re

import pytest
from helpers.features_by_execution import ATTACK, EXECUTIONS, FEATURES, cell, pinned

from netbandit.conditions.adversary import Adversary
from netbandit.conditions.compute import Compute
from netbandit.conditions.compute_keys import AgentTimes
from netbandit.conditions.energy import Energy
from netbandit.conditions.faults import Faults
from netbandit.conditions.feedback import Feedback
from netbandit.network.families.family import COMMON_KEYS
from netbandit.scenario.links import LinkSettings

PINNED = pinned()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with an attack of one's own."""
    place = tmp_path_factory.mktemp("features")
    (place / "turned.py").write_text(ATTACK)
    return place


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("feature", "execution"), PINNED)
def test_no_number_depends_on_the_execution_and_each_is_chosen_as_it_was(folder, feature, execution):
    """Where another one is to be chosen: ``python -m helpers.features_by_execution --pin`` in ``tests/``."""
    found = cell(feature, execution, folder)
    assert "DIFFERENT" not in found
    assert found == PINNED[feature, execution]


LOOPS = ("nothing", "decisions alone"), ("nothing", "exchanges")
LONG = ("loss", "floods"), ("nothing", "market"), ("nothing", "calls over flooding")


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("feature", "execution"),
    [*LOOPS, *(pytest.param(*one, marks=pytest.mark.ci) for one in LONG)],
)
def test_loops_that_are_compiled_give_the_same_numbers(folder, feature, execution):
    assert cell(feature, execution, folder) == PINNED[feature, execution]


def test_no_cell_is_empty_and_each_way_is_taken_and_refused():
    assert list(PINNED) == [(feature, execution) for feature in FEATURES for execution in EXECUTIONS]
    assert all(PINNED.values())
    for execution in EXECUTIONS:
        own = [text for (_, other), text in PINNED.items() if other == execution]
        sends = "messages: in " in PINNED["nothing", execution]
        assert sends or "decisions: in " in PINNED["nothing", execution]
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
