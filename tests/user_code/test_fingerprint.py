"""What a class of the user's own is known by: what does something else has another name."""

import copy
import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from helpers import generated_worlds
from helpers.examples import examples
from helpers.generated_worlds import made, numbers, seen, worlds
from hypothesis import given
from hypothesis import strategies as st

import netbandit as nb
from netbandit.bandits.bernoulli import Bernoulli
from netbandit.user_code.fingerprint import UnstableError, fingerprint_of


@pytest.fixture(scope="module")
def elsewhere():
    """What a world is known by in another process, with other hashes of texts."""
    process = subprocess.Popen(
        [sys.executable, generated_worlds.__file__],
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(nb.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(world):
        print(json.dumps(world), file=process.stdin, flush=True)
        return process.stdout.readline().strip()

    yield ask
    process.communicate()


@pytest.fixture(autouse=True)
def helpers_of_worlds():
    """Nobody finds the modules that worlds import once the test has ended."""
    yield
    for name in generated_worlds.HELPERS:
        sys.modules.pop(name, None)


def compare(world, place, other, elsewhere):
    found = made(world)
    name, sees = fingerprint_of(found), seen(found)
    assert fingerprint_of(made(world)) == name  # again, and as somebody else finds it
    assert elsewhere(world) == name
    changed = copy.deepcopy(world)
    count = len(changed["functions"])
    if place < count:
        changed["functions"][place][1] = other
    else:
        changed["own"][place - count] = other
    found = made(changed)
    assert (fingerprint_of(found) != name) >= (seen(found) != sees)
    assert other in (world["functions"][place][1] if place < count else world["own"][place - count],) or (
        seen(found) != sees
    ), "each number is seen"


places = st.integers(0, 10**6)


@pytest.mark.ci
@examples(25)
@given(worlds(), places, numbers)
def test_worlds_that_see_other_numbers_are_known_by_other_names(elsewhere, world, place, other):
    compare(world, place % (len(world["functions"]) + generated_worlds.OF_A_WORLD), other, elsewhere)


@pytest.mark.search
@examples(5_000)
@given(worlds(), places, numbers)
def test_many_worlds_that_see_other_numbers_are_known_by_other_names(elsewhere, world, place, other):
    compare(world, place % (len(world["functions"]) + generated_worlds.OF_A_WORLD), other, elsewhere)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("way", generated_worlds.WAYS)
def test_each_way_to_see_a_number_is_seen(way):
    """Its own number, and that of a function of another module that it calls."""
    names, sights = set(), set()
    for own, called in ((7, 3), (8, 3), (7, 4)):
        functions = [["constant", called, [], 0], [way, own, [[0, "name"]], 2]]
        found = made({"functions": functions, "own": [0] * generated_worlds.OF_A_WORLD, "roots": [1]})
        names.add(fingerprint_of(found))
        sights.add(seen(found))
        assert fingerprint_of(found) in names  # it has played meanwhile
    assert len(names) == len(sights) == 3


def test_what_it_does_not_name_does_not_count():
    world = {"functions": [["constant", 3, [], 2], ["global", 4, [], 2]], "own": [0] * 7, "roots": [0]}
    other = {**world, "functions": [["constant", 3, [], 2], ["global", 5, [], 2]]}
    assert fingerprint_of(made(world)) == fingerprint_of(made(other))


MODULE = """\
class Mine:
    def two(self):
        return 2
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module ``mine_of_a_test`` with another text."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def of(text=MODULE):
        (tmp_path / "mine_of_a_test.py").write_text(text)
        sys.modules.pop("mine_of_a_test", None)
        importlib.invalidate_caches()
        return importlib.import_module("mine_of_a_test")

    yield of
    sys.modules.pop("mine_of_a_test", None)


def test_what_runs_counts_and_not_what_is_in_the_file_by_now(module):
    found = module().Mine
    first = fingerprint_of(found)
    Path(sys.modules["mine_of_a_test"].__file__).write_text("")
    assert fingerprint_of(found) == first
    assert fingerprint_of(module("\n# a remark\n" + MODULE).Mine) == first
    assert fingerprint_of(module(MODULE.replace("return 2", "return 3")).Mine) != first


def test_each_time_anew():
    class Held(Bernoulli):
        table: ClassVar = {"a": [1]}

    names = [fingerprint_of(Held)]
    Held.table["a"].append(2)
    names.append(fingerprint_of(Held))
    Held.more = 3
    names.append(fingerprint_of(Held))
    Held.start = lambda self, agents, generator: None
    names.append(fingerprint_of(Held))
    assert len(set(names)) == 4
    Held.start = lambda self, agents, generator: None
    assert fingerprint_of(Held) == names[3]


def test_a_class_without_source_is_known_by_what_it_does():
    def written(text):
        space = {"__name__": "__main__", "Bernoulli": Bernoulli}
        exec(f"class World(Bernoulli):\n    def start(self, agents, generator):\n        {text}\n", space)
        return fingerprint_of(space["World"])

    assert written("pass") == written("pass")
    assert written("pass") != written("self.a = 1")


def test_what_a_function_imports_need_not_be_there_and_counts_once_it_is(tmp_path, monkeypatch):
    class World(Bernoulli):
        def start(self, agents, generator):
            import json.tool

            import no_such_package.inner
            import written_by_a_test

            return json, no_such_package, written_by_a_test

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = [fingerprint_of(World)]
    for number in (1, 2):
        (tmp_path / "written_by_a_test.py").write_text(f"NUMBER = {number}\n")
        importlib.invalidate_caches()
        sys.modules.pop("written_by_a_test", None)
        names.append(fingerprint_of(World))
    sys.modules.pop("written_by_a_test")
    assert len(set(names)) == 3


def test_sets_of_objects_that_refer_to_one_another_do_not_depend_on_hashes():
    def written(number, order):
        space = {"__name__": "__main__", "Bernoulli": Bernoulli}
        exec(f"def one(): return K, {number}\ndef two(): return L\ndef three(): return M\n", space)
        space["found"] = [space[name] for name in order]
        exec("K = set(found)\nL = {lambda: M}\nM = {lambda: K}\n", space)
        exec("class World(Bernoulli):\n    def start(self, agents, generator): return K\n", space)
        return fingerprint_of(space["World"])

    names = "one", "two", "three"
    assert written(1, names) == written(1, names[::-1])
    assert written(1, names) != written(2, names)


@pytest.mark.parametrize("base", [nb.Learner, nb.bandits.Bernoulli, nb.RoundProtocol])
def test_where_we_keep_a_class_does_not_count_and_which_one_it_is_does(monkeypatch, base):
    kind, mistake = nb.Kind, nb.Mistake

    class Mine(base):
        def uses(self):
            return kind.DATA, mistake

    before = fingerprint_of(Mine)
    for ours in (base, type(base), nb.Kind, nb.Mistake):
        monkeypatch.setattr(ours, "__module__", "netbandit.another_room.and_a_file")
    assert fingerprint_of(Mine) == before
    monkeypatch.undo()
    assert fingerprint_of(Mine) == before
    mistake = nb.Note
    assert fingerprint_of(Mine) != before


def test_what_only_says_that_it_is_ours_counts_by_its_content():
    """As what `functools.wraps` makes does, whether a function or an object that is called."""
    import functools

    from netbandit.util.units import parse_energy

    class Caller:
        def __init__(self, number):
            self.number = number
            functools.update_wrapper(self, parse_energy)

    def seeing(wrapped):
        class World(Bernoulli):
            def start(self, agents, generator):
                return wrapped

        return fingerprint_of(World)

    def wrapping(number):
        return functools.wraps(parse_energy)(lambda: number)

    names = [seeing(each) for each in (Caller(1), Caller(2), wrapping(1), wrapping(2), parse_energy, wrapping(1))]
    assert len(set(names)) == 5
    assert names[5] == names[2]


def test_compiled_loops_count_by_their_source():
    import numba

    def of(text):
        space = {"__name__": "__main__", "numba": numba, "np": np, "Bernoulli": Bernoulli}
        exec(f"K = 2\n@numba.njit\ndef loop(x): return {text}\n", space)
        exec("class World(Bernoulli):\n    def start(self, agents, generator): loop(1)\n", space)
        return fingerprint_of(space["World"])

    assert of("x + K") == of("x + K")
    assert of("x + K") != of("x - K")


UNSTABLE = {
    "import threading\nK = threading.Lock()": ("K", "K: TypeError: cannot pickle '_thread.lock' object"),
    "import threading; K = threading.local()": ("K", "K: TypeError: cannot pickle '_thread._local' object"),
    "K = (x for x in 'a')": ("next(K)", "K: TypeError: cannot pickle 'generator' object"),
    "K = 1": ("eval('K')", "eval may see anything"),
    "L = 1": ("globals()['L']", "globals may see anything"),
    "M = 1": ("exec('M = 2')", "exec may see anything"),
    "import importlib": ("importlib.import_module('a' + 'b')", "what is imported by a computed name may be anything"),
    "import sys": ("sys.modules['a' + 'b']", "what is imported by a computed name may be anything"),
    "import fast_of_a_test": ("fast_of_a_test.f()", "fast_of_a_test: /mine/fast_of_a_test.so is compiled"),
    "f = np.frompyfunc(len, 1, 1)": ("f('a')", "f: len (vectorized) is compiled"),
    "class K:\n    def __getattribute__(self, name): raise SystemExit\nK = K()": ("K", "K: SystemExit"),
    "import weakref\nclass T: pass\nT = T()\nT.it = iter(range(3))\nT.g = (x for x in 'a')\nK = weakref.ref(T)": (
        "K",
        "K.g: TypeError",
    ),
}


@pytest.mark.parametrize(("before", "seen", "why"), [(before, *rest) for before, rest in UNSTABLE.items()])
def test_what_has_no_content_that_could_be_compared_says_where_and_what(monkeypatch, before, seen, why):
    fast = types.ModuleType("fast_of_a_test")
    fast.__file__ = "/mine/fast_of_a_test.so"
    monkeypatch.setitem(sys.modules, "fast_of_a_test", fast)
    space = {"__name__": "__main__", "Bernoulli": Bernoulli, "np": np}
    exec(f"{before}\nclass World(Bernoulli):\n    def start(self, agents, generator):\n        return {seen}\n", space)
    with pytest.raises(UnstableError) as error:
        fingerprint_of(space["World"])
    assert str(error.value).startswith("World.start")
    assert why in str(error.value)
