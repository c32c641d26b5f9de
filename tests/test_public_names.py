"""What is imported when it is asked for is there for type checkers and editors too."""

import pytest
from helpers.stubs import ROOT, stubs

import netbandit
from netbandit.parts import registry


@pytest.mark.parametrize(("path", "text"), stubs().items())
def test_stubs_are_those_that_are_generated(path, text):
    assert (ROOT / path).read_text(encoding="utf-8") == text, "cd tests; python -m helpers.stubs writes them"


def test_all_names_can_be_imported():
    assert all(getattr(netbandit, name) is not None for name in netbandit.__all__)


@pytest.mark.parametrize(("table", "room"), [("bandit", "bandits"), ("learner", "learners"), ("protocol", "protocols")])
def test_a_room_has_the_parts_of_its_table(table, room):
    package = getattr(netbandit, room)
    for name in registry.class_names(table):
        assert getattr(package, name).__name__ == name


def test_an_unknown_keyword_is_said_with_one_that_is_meant():
    with pytest.raises(TypeError, match=r"Scenario\(\) has no keyword 'compte' \(did you mean \"compute\"\?\)"):
        netbandit.Scenario(compte={})


def test_a_name_that_is_not_there_is_said_with_those_that_are():
    with pytest.raises(AttributeError, match=r"there is no bandit 'Bernouli'; there are Bernoulli, "):
        netbandit.bandits.Bernouli  # noqa: B018
