"""What a class of the user's own is made of: what changes what it does changes its identity, and nothing else does."""

import importlib
import linecache
import subprocess
import sys
import types

import pytest

from netbandit.bandits.bernoulli import Bernoulli
from netbandit.own_source import source_identity

MODULE = """\
import math
from helping_hand import twice

FACTOR = 3


class Base:
    def one(self):
        return 1


class Mine(Base):
    limit: int = 5

    def two(self):
        return twice(self.one()) * FACTOR
"""
HELPER = "def twice(x):\n    return 2 * x\n"


@pytest.fixture
def identity(tmp_path, monkeypatch):
    """The identity of ``Mine`` with other text in its modules."""
    monkeypatch.syspath_prepend(tmp_path)

    def of(module=MODULE, helper=HELPER, name="Mine"):
        (tmp_path / "mine_of_a_test.py").write_text(module)
        (tmp_path / "helping_hand.py").write_text(helper)
        for known in ("mine_of_a_test", "helping_hand"):
            sys.modules.pop(known, None)
        importlib.invalidate_caches()
        with monkeypatch.context() as fresh:
            fresh.setattr(sys, "dont_write_bytecode", True)
            return source_identity(getattr(importlib.import_module("mine_of_a_test"), name))

    return of


def test_the_same_text_is_the_same_and_any_other_is_not(identity):
    first = identity()
    assert first is not None
    assert first.startswith("blake2b:")
    assert identity() == first
    others = {
        identity(MODULE.replace("return 1", "return 0")),  # its base
        identity(MODULE.replace("FACTOR = 3", "FACTOR = 4")),
        identity(helper=HELPER.replace("2 * x", "3 * x")),  # another file that it imports from
        identity(MODULE.replace("limit: int = 5", "limit: int = 6")),
        identity(name="Base"),
    }
    assert len(others | {first}) == 6


def test_what_ran_is_what_was_there_when_it_was_imported(identity, tmp_path):
    first = identity()
    (tmp_path / "mine_of_a_test.py").write_text(MODULE.replace("return 1", "return 0"))
    assert source_identity(sys.modules["mine_of_a_test"].Mine) == first


CELLS = """\
SCALE = 2
TABLE = {{"a": [1, {value}]}}

def helper(x):
    return x + SCALE + TABLE["a"][1]

class World(Bernoulli):
    reach: float = {reach}
    def start(self, agents, generator):
        self.extra = [helper(each) for each in range(agents)]
        super().start(agents, generator)

UNRELATED = {unrelated}
"""


def notebook(value=2, reach=1.0, unrelated=0):
    """Return the class as a cell of a notebook defines it: in ``__main__``, with lines that only Python's cache has."""
    text = CELLS.format(value=value, reach=reach, unrelated=unrelated)
    name = f"<cell {value} {reach} {unrelated}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    cell = types.ModuleType("__main__")
    cell.Bernoulli = Bernoulli
    exec(compile(text, name, "exec"), cell.__dict__)
    return cell.World


def test_a_class_of_a_notebook_counts_by_what_it_refers_to():
    first = source_identity(notebook())
    assert first is not None
    assert source_identity(notebook(unrelated=1)) == first
    assert len({first, source_identity(notebook(value=3)), source_identity(notebook(reach=2.0))}) == 3


def test_a_class_without_source_has_no_identity():
    space = {"__name__": "__main__", "Bernoulli": Bernoulli}
    exec("class World(Bernoulli):\n    def start(self, agents, generator):\n        pass\n", space)
    assert source_identity(space["World"]) is None


def test_it_is_the_same_in_every_process(tmp_path):
    (tmp_path / "script.py").write_text(
        "from netbandit.bandits.bernoulli import Bernoulli\nfrom netbandit.own_source import source_identity\n"
        "NAMES = {'a', 'b', 'c'}\n"
        "class World(Bernoulli):\n    def start(self, agents, generator):\n        self.names = NAMES\n"
        "print(source_identity(World))\n"
    )
    found = [subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True) for _ in "12"]
    assert found[0].stdout.startswith("blake2b:"), found[0].stderr
    assert found[0].stdout == found[1].stdout
