import inspect
import linecache
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np
import pytest
from pydantic import Field

from netbandit.parts.component import Checks, Mistake, Note, Others, Part, found_by, read_part, state
from netbandit.parts.registry import BUILT_IN, part_class
from netbandit.user_code.errors import ReturnedError


class Walk(Part):
    """A part for these tests."""

    low: float = 0.0
    """Where it begins."""
    high: float = 1.0
    steps: int = Field(ge=1)
    sharing: Literal["never", "slot"] = Field(default="never", alias="share")

    def check(self) -> Checks:
        if self.sharing == "never" and self.steps == 1:
            yield Note("share", "has no effect")
        if self.low > self.high:
            yield Mistake("low", "must be at most high")

    def check_with(self, others: Others) -> Checks:
        if others.agents < 2:
            yield Mistake("agents", "must be at least 2", table="topology")
        if others.horizon < self.steps:
            yield Mistake("steps", "must be at most the horizon")

    def share(self) -> None: ...

    def start(self, agents: int) -> None:
        self.places = np.zeros(agents)


def test_keys_are_fields_with_their_descriptions_and_aliases():
    part = Walk(steps=3, share="slot")
    assert part.sharing == "slot"
    assert part.table() == {"low": 0.0, "high": 1.0, "steps": 3, "share": "slot"}
    assert Walk.model_fields["low"].description == "Where it begins."


def test_a_key_is_not_assigned_but_state_is():
    part = Walk(steps=3)
    with pytest.raises(AttributeError, match="steps is a key of Walk: give it where the object is made"):
        part.steps = 4
    part.start(5)
    assert part.places.shape == (5,)


def test_a_fresh_part_has_the_keys_and_no_state_and_is_equal():
    part = Walk(steps=3)
    part.start(5)
    fresh = part.fresh()
    assert not hasattr(fresh, "places")
    assert fresh == part
    assert fresh != Walk(steps=4)
    assert pickle.loads(pickle.dumps(part)).places.shape == (5,)


def test_what_a_key_with_a_mistake_hides_ends_the_check_and_nothing_else():
    part, problems, notes = read_part(Walk, {"steps": "x", "low": 2.0, "up": 1}, "walk")
    assert part is None
    assert [path for path, _ in problems] == [("walk", "steps"), ("walk", "up")]
    assert notes == []
    part, problems, _ = read_part(Walk, {"steps": 0, "low": 2.0, "share": "slot"}, "walk")
    assert [path for path, _ in problems] == [("walk", "steps"), ("walk", "low")]


def test_notes_are_told_from_mistakes():
    part, problems, notes = read_part(Walk, {"steps": 1}, "walk")
    assert part == Walk(steps=1)
    assert problems == []
    assert notes == [(("walk", "share"), "has no effect")]


def test_a_check_with_others_ends_at_what_is_not_known():
    part = Walk(steps=9)
    mistakes, _ = found_by(part.check_with(Others(agents=1, horizon=5)), "walk")
    assert mistakes == [
        (("topology", "agents"), "must be at least 2"),
        (("walk", "steps"), "must be at most the horizon"),
    ]
    assert found_by(part.check_with(Others(agents=1, horizon=None)), "walk")[0] == mistakes[:1]
    assert found_by(part.check_with(Others(horizon=5)), "walk") == ([], [])


class Base(Part):
    places: int = state()
    """How many there are."""
    knows: bool = state(default=True)


class Derived(Base):
    knows = False
    width: int = 2

    def start(self) -> None:
        self.places = 7


def test_state_is_declared_without_being_a_key():
    part = Derived(width=3)
    assert list(Derived.model_fields) == ["width"]
    assert (Base.knows, part.knows) == (True, False)
    with pytest.raises(AttributeError):
        part.places  # noqa: B018
    part.start()
    assert part.places == 7
    with pytest.raises(ValueError, match="unknown key"):
        Derived(places=3)


def test_help_shows_what_each_key_is_takes_and_is_by_default():
    shown = inspect.getdoc(Walk)
    assert shown.startswith("A part for these tests.\n\nKeys:\n    low: Where it begins. A number; default 0.0.\n")
    assert "\n    steps: An integer of at least 1; required.\n" in shown
    assert shown.endswith('\n    share: One of "never", "slot"; default "never".')


def test_help_has_no_annotations_and_fits_a_terminal():
    kinds = [part_class(table, name, Path()) for table in BUILT_IN for name in BUILT_IN[table]]
    for kind in kinds:
        assert "Annotated" not in str(inspect.signature(kind))
        assert max(map(len, inspect.getdoc(kind).splitlines())) <= 120
    keys = inspect.getdoc(part_class("learner", "elimination", Path())).partition("Keys:")[2]
    assert "rounds: Budget R of rounds; absent: unlimited. An integer of at least 1; optional." in " ".join(
        keys.split()
    )
    assert max(map(len, keys.splitlines())) <= 76


@pytest.mark.parametrize("there", ["", "\n\n\n", "def f(:\n    return (\n", "class Other:\n    pass\n"])
def test_a_class_whose_module_has_other_text_where_it_says_it_stands_is_made(tmp_path, monkeypatch, there):
    """As on another machine, or made by `exec`: nothing is read there of its keys, and nothing fails."""
    file = tmp_path / "elsewhere_of_a_test.py"
    file.write_text(there)
    module = ModuleType("elsewhere_of_a_test")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    text = 'class Mine(Part):\n    rate: float = 0.5\n    """A rate."""\n'
    exec(compile(text, str(tmp_path / "gone.py"), "exec"), {"__name__": module.__name__, "Part": Part}, found := {})
    assert found["Mine"](rate=0.25).table() == {"rate": 0.25}
    file.write_text(text)
    linecache.checkcache()
    exec(compile(text, str(file), "exec"), {"__name__": module.__name__, "Part": Part}, found)
    assert found["Mine"].model_fields["rate"].description == "A rate."


@pytest.mark.parametrize("name", ["start", "check", "fresh", "table", "law"])
def test_a_key_that_would_hide_what_runs_use_is_a_mistake_of_the_class(name):
    class Placed(Walk):
        @property
        def law(self):
            return "other"

    with pytest.raises(ReturnedError, match=rf'the key Mine\.{name} would hide Placed\.{name}, .*alias="{name}"'):
        type("Mine", (Placed,), {"__module__": __name__, "__annotations__": {name: float}, name: 1.0})
    keys = {f"{name}_": Field(default=1.0, alias=name)}
    cured = type("Mine", (Placed,), {"__module__": __name__, "__annotations__": {f"{name}_": float}, **keys})
    assert getattr(cured(steps=1, **{name: 2.0}), f"{name}_") == 2.0
