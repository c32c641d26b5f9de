"""What is read off the texts of handlers: whether a compiled loop can execute them, and how much they say at most.

A loop makes room before it executes a handler, and looks at no bound meanwhile. So it executes only those of which it
is known beforehand how much they say, for each message or each time they act, and that give its primitives what these
expect: what an array is indexed by comes from another primitive, or from the loop itself.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple, NoReturn

from netbandit.network.message import Kind
from netbandit.texts import TextError, arguments_of, is_text, source_of

_GIVEN = ("Network", "Own", "Round", "Node", "Neighbour", "Message", "Labels", "Kind")
"""What is not computed, by how it is annotated in `netbandit.protocols.primitives`; of a node by its name."""
_NUMBER = "Number"
_MIXED = "one or the other"

_SAYS: Mapping[str, str] = {
    "answer": "answers",
    "tell_one": "tells_one",
    **dict.fromkeys(("tell_all", "tell_others"), "tells"),
    **dict.fromkeys(("later", "at_once"), "steps"),
    **dict.fromkeys(("held", "held_of", "unasked"), "lists"),
    "note_teller": "tellers",
}
"""What a call of a primitive needs room for."""
_INNER = ("on_message", "act", "learn", "count_late", "need_less", "complete")
"""Primitives that are not for handlers."""

_COMPUTED = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)
_FUNCTIONS = (min, max, abs, int, bool)


class Said(NamedTuple):
    """How often a handler calls primitives, at most, each time it is called.

    Attributes:
        not_compiled: What a loop cannot execute of it: the line, and why; None: it can.
        answers: Messages to the neighbour from which one came.
        tells: Messages to all neighbours.
        tells_one: Messages to one that is drawn.
        steps: What a node is to take in.
        lists: Sets of labels that are found out.
        tellers: Neighbours that are noted.
        holds: Whether it asks for all that a node holds, of whatever size the sets are that messages tell.
    """

    not_compiled: str | None
    answers: int = 0
    tells: int = 0
    tells_one: int = 0
    steps: int = 0
    lists: int = 0
    tellers: int = 0
    holds: bool = False


def read_handler(handler: Callable[..., Any], like: Callable[..., Any]) -> Said:
    """Return what a *handler* says; it is to stand for the primitive *like*."""
    assert isinstance(handler, FunctionType)
    assert isinstance(like, FunctionType)
    reader = _Reader()
    try:
        kinds = list(_kinds_of(like).values())
        arguments = source_of(handler).arguments
        if len(arguments) != len(kinds):
            raise _NotCompiledError(f"{handler.__name__} takes {', '.join(_kinds_of(like))}")
        most, _ = reader.text(handler, kinds)
    except (_NotCompiledError, TextError) as error:
        return Said(str(error))
    return Said(None, holds=reader.holds, **most)


class _NotCompiledError(Exception):
    """No loop can execute this."""


def _kinds_of(primitive: FunctionType) -> dict[str, str]:
    """Return what each argument of a *primitive* is."""
    found = {}
    for argument in source_of(primitive).tree.args.args:
        kind = "Node" if argument.arg == "node" else ast.unparse(argument.annotation) if argument.annotation else ""
        found[argument.arg] = kind if kind in _GIVEN else _NUMBER
    return found


def _either(first: str, second: str) -> str:
    return first if first == second else _MIXED


class _Reader:
    """Goes through texts as they are executed, and adds up what they say."""

    def __init__(self) -> None:
        self.holds = False
        self._within: list[FunctionType] = []

    def text(self, text: FunctionType, given: Sequence[str]) -> tuple[Counter[str], str]:
        """Return what *text* says, and what it returns, of arguments that are what is *given*."""
        if text in self._within:
            raise _NotCompiledError(f"{text.__name__} calls itself")
        self._within.append(text)
        source = source_of(text)
        known = dict(zip(source.arguments, given, strict=True))
        returned: list[str] = []
        said = self._block(source.body, known, returned)
        self._within.pop()
        return said, _one_of(returned) if returned else "nothing"

    def _refuse(self, node: Any, why: str) -> NoReturn:
        code = self._within[-1].__code__
        file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
        number = getattr(node, "lineno", code.co_firstlineno)
        raise _NotCompiledError(f"line {number} of {file}: {ast.unparse(node).splitlines()[0]} {why}")

    def _block(self, statements: Sequence[ast.stmt], known: dict[str, str], returned: list[str]) -> Counter[str]:
        said: Counter[str] = Counter()
        for one in statements:
            said += self._statement(one, known, returned)
        return said

    def _statement(self, statement: ast.stmt, known: dict[str, str], returned: list[str]) -> Counter[str]:
        if isinstance(statement, ast.If):
            said = self._number(statement.test, known)
            branches = []
            for body in (statement.body, statement.orelse):
                inside = dict(known)
                branches.append((self._block(body, inside, returned), inside))
            (first, after), (second, otherwise) = branches
            for name in after.keys() | otherwise.keys():
                known[name] = _either(after.get(name, _MIXED), otherwise.get(name, _MIXED))
            return said + (first | second)
        if isinstance(statement, ast.Return) and statement.value is not None:
            said, kind = self._value(statement.value, known)
            returned.append(kind)
            return said
        if isinstance(statement, ast.Expr):
            return self._value(statement.value, known)[0]
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            said, kind = self._value(statement.value, known)
            for target in targets:
                if not isinstance(target, ast.Name):
                    self._refuse(statement, "assigns to more than names")
                known[target.id] = kind
            return said
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            before = ast.copy_location(ast.Name(statement.target.id, ast.Load()), statement)
            computed = ast.copy_location(ast.BinOp(before, statement.op, statement.value), statement)
            said = self._number(computed, known)
            known[statement.target.id] = _NUMBER
            return said
        if isinstance(statement, ast.Pass | ast.Return | ast.AnnAssign):
            return Counter()
        why = "may be executed any number of times" if isinstance(statement, ast.For | ast.While) else ""
        return self._refuse(statement, why or "is no assignment, if or call")

    def _number(self, node: ast.expr, known: Mapping[str, str]) -> Counter[str]:
        """Return what is said by an expression that is computed with."""
        said, kind = self._value(node, known)
        if kind not in (_NUMBER, "Node"):
            self._refuse(node, "is no number")
        return said

    def _value(self, node: ast.expr, known: Mapping[str, str]) -> tuple[Counter[str], str]:
        """Return what is said by an expression, and what it is."""
        said: Counter[str] = Counter()
        if not isinstance(node, _COMPUTED):
            self._refuse(node, "is more than numbers and calls of primitives and texts")
        if isinstance(node, ast.Name):
            return said, known[node.id] if node.id in known else self._global(node)
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, int):
                self._refuse(node, "is no whole number")
            return said, _NUMBER
        if isinstance(node, ast.Call):
            return self._call(node, known)
        if isinstance(node, ast.IfExp):
            (first, kind), (second, other) = self._value(node.body, known), self._value(node.orelse, known)
            return self._number(node.test, known) + (first | second), _either(kind, other)
        if isinstance(node, ast.BinOp) and not isinstance(node.op, _OPERATORS):
            self._refuse(node, "is computed otherwise in a loop: its numbers are whole, of 64 bits")
        operands = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        if isinstance(node, ast.Compare) and all(isinstance(one, ast.Eq | ast.NotEq) for one in node.ops):
            values = [self._value(one, known) for one in operands]
            if all(kind == "Kind" for _, kind in values):
                return sum((one for one, _ in values), said), _NUMBER
        return sum((self._number(one, known) for one in operands), said), _NUMBER

    def _global(self, node: ast.Name) -> str:
        value = self._within[-1].__globals__.get(node.id)
        if not isinstance(value, Kind | int):
            self._refuse(node, "is neither a whole number nor a kind of messages")
        return "Kind" if isinstance(value, Kind) else _NUMBER

    def _call(self, node: ast.Call, known: Mapping[str, str]) -> tuple[Counter[str], str]:
        name = node.func.id if isinstance(node.func, ast.Name) and node.func.id not in known else ""
        called = self._within[-1].__globals__.get(name, getattr(builtins, name, None))
        if called in _FUNCTIONS:
            return sum((self._number(one, known) for one in node.args), Counter()), _NUMBER
        is_primitive = getattr(called, "__is_primitive__", False)
        if not isinstance(called, FunctionType) or not (is_primitive or is_text(called)):
            self._refuse(node, "calls what is neither a primitive nor a text")
        said: Counter[str] = Counter()
        given = []
        source = source_of(called)
        for value in arguments_of(called, node).values():
            one, kind = self._value(value, known)
            if one and source.single_expression is not None:  # it may be written out wherever the text names it
                self._refuse(value, f"gives {called.__name__} what is found out here: give it a name first")
            said += one
            given.append(kind)
        if not is_primitive:
            inside, kind = self.text(called, given)
            return said + inside, kind
        if called.__name__ in _INNER:
            self._refuse(node, f"calls {called.__name__}, which is not for handlers")
        for (argument, wanted), kind in zip(_kinds_of(called).items(), given, strict=True):
            if kind != wanted and not (wanted == _NUMBER and kind == "Node"):
                self._refuse(node, f"gives as {argument} what is none that it has been given")
        if called.__name__ in _SAYS:
            said[_SAYS[called.__name__]] += 1
        self.holds = self.holds or called.__name__ == "held"
        returns = ast.unparse(source.tree.returns) if source.tree.returns else ""
        return said, returns if returns in _GIVEN else _NUMBER


def _one_of(kinds: Sequence[str]) -> str:
    first, *others = kinds
    return first if all(other == first for other in others) else _MIXED
