"""Documented modules that have moved are found under their former names."""

import sys
from importlib import import_module

import pytest

from netbandit.util.moved import MOVED


@pytest.fixture(params=["netbandit.util.streams_of_old", *MOVED])
def former(request, monkeypatch):
    """A former name: one that is made up, and those that there are."""
    monkeypatch.setitem(MOVED, "netbandit.util.streams_of_old", "netbandit.util.streams")
    monkeypatch.delitem(sys.modules, request.param, raising=False)
    yield request.param
    sys.modules.pop(request.param, None)


def test_a_former_name_gives_the_module_itself_and_says_its_new_name(former):
    with pytest.warns(DeprecationWarning, match=rf"^{former} is now {MOVED[former]}$") as warned:
        found = import_module(former)
    assert found is import_module(MOVED[former])
    assert found.__spec__.name == MOVED[former]
    assert len(warned) == 1


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"netbandit\.parted"):
        import_module("netbandit.parted")
