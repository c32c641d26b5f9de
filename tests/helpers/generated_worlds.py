"""Worlds that are written by chance, each of which sees numbers through whatever Python offers, and says which.

A world is a list of functions ``n0``, ``n1``, ... of a notebook and of two modules that it imports from; each has a
number of its own and calls some of those before it. ``World().sees()`` returns all numbers that it comes to: two worlds
that see other numbers do other things.

As a command this reads worlds from stdin, one a line, and prints what each of them is known by.
"""

import json
import sys
from types import ModuleType

from hypothesis import strategies as st

from netbandit.user_code.fingerprint import fingerprint_of

HELPERS = ("helper_one", "helper_two")
NOTEBOOK = "__main__"

# {n} is the name of the function, {v} its number, {calls} what those return that it calls, {funcs} these themselves.
WAYS = {
    "constant": "def {n}(): return ({v}, {calls})",
    "global": "K{n} = {v}\ndef {n}(): return (K{n}, {calls})",
    "text": "K{n} = 'x{v}'\ndef {n}(): return (K{n}, {calls})",
    "list": "K{n} = [1, [{v}]]\ndef {n}(): return (K{n}[1][0], {calls})",
    "table": "K{n} = {{'a': {{'b': {v}}}, 'f': [{funcs}]}}\n"
    "def {n}(): return (K{n}['a']['b'], [f() for f in K{n}['f']])",
    "set": "K{n} = {{'a', 'b', 'c', {v}}}\ndef {n}(): return (sorted(K{n}, key=str), {calls})",
    "set of functions": "K{n} = {{len, print, *[{funcs}], lambda: {v}}}\n"
    "def {n}(): return sorted([str(f()) for f in K{n} if f not in (len, print)])",
    "frozen set": "def {n}(): return ([x for x in range(100) if x in {{1000, 2000, {v}}}], {calls})",
    "array": "K{n} = np.array([1.5, {v}])\ndef {n}(): return (K{n}[1], {calls})",
    "objects in an array": "K{n} = np.array([None, '{v}'], dtype=object)\ndef {n}(): return (K{n}[1], {calls})",
    "numpy number": "K{n} = np.float64({v})\ndef {n}(): return (K{n}, {calls})",
    "generator": "K{n} = np.random.default_rng({v})\ndef {n}(): return (str(K{n}.bit_generator.state), {calls})",
    "default": "def {n}(a={v}, f=[{funcs}]): return (a, [each() for each in f])",
    "keyword": "def {n}(*, a={v}, f=({funcs})): return (a, [each() for each in f])",
    "closure": "def make{n}(a, f):\n    return lambda: (a, [each() for each in f])\n{n} = make{n}({v}, [{funcs}])",
    "deep closure": "def make{n}(a, f):\n    def outer():\n        def inner(): return (a, [each() for each in f])\n"
    "        return inner\n    return outer()\n{n} = make{n}({v}, [{funcs}])",
    "nonlocal": "def make{n}():\n    a = 0\n    def add(b):\n        nonlocal a\n        a += b\n        return a\n"
    "    return add, lambda: a\nadd{n}, read{n} = make{n}()\nadd{n}({v})\ndef {n}(): return (read{n}(), {calls})",
    "attribute": "def {n}(): return ({n}.a, {calls})\n{n}.a = {v}",
    "partial": "def two{n}(a, f): return (a, [each() for each in f])\n{n} = partial(two{n}, {v}, [{funcs}])",
    "cache": "@lru_cache\ndef {n}(): return str(({v}, {calls}))",
    "wrapped": "def deco{n}(f):\n    @wraps(f)\n    def call(): return ({v}, f())\n    return call\n"
    "@deco{n}\ndef {n}(): return ({calls})",
    "object": "class C{n}:\n    def __init__(self, a): self.a = a\n    def __call__(self): return (self.a, {calls})\n"
    "{n} = C{n}({v})",
    "secretive object": "class C{n}:\n    def __init__(self, a): self.a = a\n"
    "    def __reduce__(self): return (C{n}, (0,))\n    def __call__(self): return (self.a, {calls})\n{n} = C{n}({v})",
    "slots": "class C{n}:\n    __slots__ = ('a', 'b')\n    def __call__(self): return (self.a, {calls})\n"
    "{n} = C{n}()\n{n}.a = {v}",
    "class attribute": "class C{n}:\n    a = {v}\n    def f(self): return (self.a, {calls})\n{n} = C{n}().f",
    "set later": "class C{n}:\n    def f(self): return (self.a, {calls})\nC{n}.a = {v}\ndef {n}(): return C{n}().f()",
    "static": "class C{n}:\n    @staticmethod\n    def f(): return ({v}, {calls})\n{n} = C{n}.f",
    "class method": "class C{n}:\n    a = {v}\n    @classmethod\n    def f(cls): return (cls.a, {calls})\n"
    "{n} = C{n}.f",
    "property": "class C{n}:\n    @property\n    def f(self): return ({v}, {calls})\ndef {n}(): return C{n}().f",
    "cached property": "class C{n}:\n    @cached_property\n    def f(self): return ({v}, {calls})\n"
    "def {n}(): return C{n}().f",
    "base": "class B{n}:\n    def f(self): return ({v}, {calls})\nclass C{n}(B{n}): pass\n{n} = C{n}().f",
    "super": "class B{n}:\n    def f(self): return ({v}, {calls})\n"
    "class C{n}(B{n}):\n    def f(self): return (1, super().f())\ndef {n}(): return C{n}().f()",
    "metaclass": "class M{n}(type):\n    def f(cls): return ({v}, {calls})\nclass C{n}(metaclass=M{n}): pass\n"
    "def {n}(): return C{n}.f()",
    "data class": "@dataclass\nclass C{n}:\n    a: int = {v}\n    f: list = field(default_factory=lambda: [{funcs}])\n"
    "def {n}(): return (C{n}().a, [each() for each in C{n}().f])",
    "frozen data class": "@dataclass(frozen=True)\nclass C{n}:\n    a: int\nK{n} = C{n}({v})\n"
    "def {n}(): return (K{n}.a, {calls})",
    "made class": "C{n} = make_dataclass('C{n}', [('a', int, field(default={v}))])\n"
    "def {n}(): return (C{n}().a, {calls})",
    "enumeration": "class C{n}(Enum):\n    A = {v}\ndef {n}(): return (C{n}.A.value, {calls})",
    "named tuple": "C{n} = namedtuple('C{n}', 'a b', defaults=(0, {v}))\ndef {n}(): return (C{n}(1).b, {calls})",
    "list of one's own": "class C{n}(list): pass\nK{n} = C{n}([{v}])\ndef {n}(): return (K{n}[0], {calls})",
    "set of one's own": "class C{n}(set): pass\nK{n} = C{n}(['a', 'b', 'c', 'x{v}'])\n"
    "def {n}(): return (sorted(K{n}), {calls})",
    "ordered": "K{n} = OrderedDict([(b, a) for a, b in enumerate(['x', 'y', {v}])])\n"
    "def {n}(): return (list(K{n}), {calls})",
    "pattern": "K{n} = re.compile('a{v}')\ndef {n}(): return (K{n}.pattern, {calls})",
    "date": "K{n} = date.fromordinal({v} + 1)\ndef {n}(): return (K{n}.toordinal(), {calls})",
    "comprehension": "K{n} = {v}\ndef {n}(): return ([K{n} for _ in range(2)], {calls})",
    "class inside": "K{n} = {v}\ndef {n}():\n    class Inner:\n        a = K{n}\n    return (Inner.a, {calls})",
    "circle": "K{n} = [{v}]\nK{n}.append(K{n})\n"
    "def {n}(again=True): return (K{n}[1][0], again and {n}(False), {calls})",
    "itself": "def {n}(again=True):\n    if again is None: return World, np, {n}\n    return ({v}, {calls})",
    "two lists": "K{n} = [[0], [0]] if {v} % 2 else [[0]] * 2\n"
    "def {n}(): return (K{n}[0] is K{n}[1], {v}, {calls})",
    "global statement": "def put{n}(a):\n    global K{n}\n    K{n} = a\nput{n}({v})\ndef {n}(): return (K{n}, {calls})",
    "numpy method": "K{n} = np.full(3, {v}).sum\ndef {n}(): return (K{n}(), {calls})",
}  # fmt: skip
ACROSS = ("name", "module", "inside", "name inside")
"""How one module calls a function of another."""

OF_A_WORLD = 7
"""How many numbers a world has besides those of its functions."""

PRELUDE = """\
import re
from abc import ABC, abstractmethod
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field, make_dataclass
from datetime import date
from enum import Enum
from functools import cached_property, lru_cache, partial, wraps
from typing import ClassVar
import numpy as np
import netbandit as nb
from pydantic import Field, field_validator
"""
WORLD = """\
class Below(nb.ArmBandit):
    def below(self): return {0}

class Beside:
    beside: ClassVar[int] = {1}

class World(Below, Beside):
    key: int = {2}
    bounded: int = Field(default=1000, le=1000 + {3})
    checked: int = 0
    _hidden: int = {4}

    @field_validator("checked")
    @classmethod
    def _check(cls, value): return value + {5}

    def sees(self):
        bound = next(each.le for each in type(self).model_fields["bounded"].metadata)
        own = self.below(), self.beside, self.key, bound, self.checked, self._hidden, {6}
        return own, ({calls})

    def means_at(self, slot): return np.array([0.5])
"""

numbers = st.integers(0, 50)


@st.composite
def worlds(draw):
    """A world in JSON: its functions (way, number, whom it calls and how, module), and its own numbers."""
    count = draw(st.integers(1, 6))
    places = sorted(draw(st.lists(st.integers(0, len(HELPERS)), min_size=count, max_size=count)))
    functions = []
    for number, place in enumerate(places):
        called = draw(st.lists(st.integers(0, number - 1), max_size=2, unique=True)) if number else []
        calls = [[each, draw(st.sampled_from(ACROSS))] for each in called]
        functions.append([draw(st.sampled_from(sorted(WAYS))), draw(numbers), calls, place])
    return {"functions": functions, "own": draw(st.lists(numbers, min_size=OF_A_WORLD, max_size=OF_A_WORLD))}


def texts(world):
    """The text of each module."""
    found = [PRELUDE] * (len(HELPERS) + 1)
    functions = world["functions"]

    def reference(place, other, how, *, call):
        """An expression for another function, and what imports it at the top."""
        there = functions[other][3]
        if there == place:
            return f"n{other}", ""
        module = HELPERS[there]
        if how == "name" or not call:
            return f"n{other}", f"from {module} import n{other}\n"
        if how == "module":
            return f"{module}.n{other}", f"import {module}\n"
        how = f"import {module}" if how == "inside" else f"from {module} import n{other}"
        callee = f"{module}.n{other}" if how.startswith("import") else f"n{other}"
        return f"via{other}", f"def via{other}():\n    {how}\n    return {callee}()\n"

    for number, (way, value, calls, place) in enumerate(functions):
        called, imports = (
            zip(*(reference(place, *each, call=True) for each in calls), strict=True) if calls else ((), ())
        )
        given, more = zip(*(reference(place, *each, call=False) for each in calls), strict=True) if calls else ((), ())
        found[place] += (
            "".join(imports + more)
            + WAYS[way].format(
                n=f"n{number}",
                v=value,
                calls="".join(f"{each}(), " for each in called) or "0",
                funcs="".join(f"{each}, " for each in given),
            )
            + "\n"
        )
    last = len(HELPERS)
    roots, imports = zip(*(reference(last, number, "name", call=True) for number in range(len(functions))), strict=True)
    ends = world.get("roots", range(len(functions)))
    found[last] += "".join(imports[each] for each in ends) + WORLD.format(
        *world["own"], calls="".join(f"{roots[each]}(), " for each in ends) or "0"
    )
    return found


def made(world):
    """The class as Python makes it of these texts."""
    for name, text in zip((*HELPERS, NOTEBOOK), texts(world), strict=True):
        module = ModuleType(name)
        if name != NOTEBOOK:
            module.__file__ = f"/no/such/folder/{name}.py"
            sys.modules[name] = module
        exec(compile(text, f"<{name}>", "exec"), vars(module))
    return module.World


def seen(found):
    """What the class sees, as text."""
    return json.dumps(found().sees(), default=str)


if __name__ == "__main__":
    for line in sys.stdin:
        print(fingerprint_of(made(json.loads(line))), flush=True)
