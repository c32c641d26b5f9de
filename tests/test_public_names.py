"""What is imported when it is asked for is there for type checkers and editors too."""

import re
from pathlib import Path

import pytest

import netbandit
from netbandit.parts import registry

ROOT = Path(netbandit.__file__).parent


def stubbed(folder: Path) -> set[str]:
    """Return the names that the stub of a package exports."""
    text = (folder / "__init__.pyi").read_text(encoding="utf-8")
    # A name that is imported as another is not exported by a stub (PEP 484); those are assigned.
    exported = re.findall(r"^from [\w.]+ import (\w+) as \1$", text, re.MULTILINE)
    return {*exported, *re.findall(r"^(\w+) = \w+$", text, re.MULTILINE)}


def test_the_package_and_its_stub_have_the_same_names():
    assert stubbed(ROOT) == set(netbandit.__all__)
    for name in netbandit.__all__:
        assert getattr(netbandit, name) is not None


@pytest.mark.parametrize(("table", "room"), [("bandit", "bandits"), ("learner", "learners"), ("protocol", "protocols")])
def test_the_parts_of_a_room_and_its_stub_have_the_same_names(table, room):
    assert stubbed(ROOT / room) == set(registry.class_names(table))
    package = getattr(netbandit, room)
    for name in registry.class_names(table):
        assert getattr(package, name).__name__ == name


def test_a_name_that_is_not_there_is_said_with_those_that_are():
    with pytest.raises(AttributeError, match=r"there is no bandit 'Bernouli'; there are Bernoulli, "):
        netbandit.bandits.Bernouli  # noqa: B018
