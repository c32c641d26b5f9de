"""What is nested too deeply is refused, and no garbage is collected where nothing that is called then has room."""

import gc
import sys

import pytest
from helpers.resealed import resealed

from netbandit.network import readers
from netbandit.results.safe_files import SealError, unsealed
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.overrides import read_overrides
from netbandit.scenario.source import source_of
from netbandit.user_code.fingerprint import UnstableError, fingerprint_of
from netbandit.util.nesting import TooDeepError, any_depth, read_json, read_toml

DEEP = "[" * 100_000


class World:
    """A class of one's own that holds what is nested deeply."""

    values: tuple = ()


for _ in range(10_000):
    World.values = (World.values,)


def down(levels):
    return levels and down(levels - 1)


@pytest.fixture
def unraised(monkeypatch):
    """Collect garbage all the time, and let what is called then need some room; what is returned holds its errors."""
    errors = []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)

    def called(phase, info):
        down(10)

    before = gc.get_threshold()
    gc.callbacks.append(called)
    gc.set_threshold(1)
    yield errors
    gc.set_threshold(*before)
    gc.callbacks.remove(called)


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda: read_toml("a = " + DEEP), TooDeepError),
        (lambda: read_json(DEEP), TooDeepError),
        (lambda: source_of("a.toml", "a = " + DEEP, 0), ScenarioError),
        (lambda: read_overrides(["a=" + DEEP], 0), ScenarioError),
        (lambda: readers.node_link(DEEP.encode()), readers.NotAGraphError),
        (lambda: readers.gml(b"graph [ " + b"a [ " * 20_000), readers.NotAGraphError),
        (lambda: unsealed(resealed(f'{{"a": {DEEP}}}').encode()), SealError),
        (lambda: fingerprint_of(World), UnstableError),
    ],
)
def test_no_garbage_is_collected_where_no_call_has_room(unraised, read, error):
    with pytest.raises(error, match="nested too deeply"):
        read()
    assert gc.isenabled()
    assert unraised == []


def test_garbage_is_collected_at_any_depth_elsewhere(unraised):
    """Else the test above could not fail."""

    def nested():
        kept = []  # something to collect at each level: since Python 3.12 nothing is collected between two allocations
        return [nested(), kept]

    with pytest.raises(RecursionError):
        nested()
    assert unraised


def test_garbage_that_is_not_collected_is_not_collected_afterwards():
    gc.disable()
    try:
        with any_depth():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
