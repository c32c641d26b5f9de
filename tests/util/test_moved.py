"""Documented modules are found under their former names."""

import sys
from importlib import import_module

import pytest

from netbandit.util.moved import MOVED


@pytest.mark.parametrize("name", MOVED)
def test_a_former_name_gives_the_module_itself_and_says_its_new_name(name, monkeypatch):
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.warns(DeprecationWarning, match=rf"^{name} is now {MOVED[name]}$") as warned:
        found = import_module(name)
    assert found is import_module(MOVED[name])
    assert found.__spec__.name == MOVED[name]
    assert len(warned) == 1


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"netbandit\.parted"):
        import_module("netbandit.parted")
