"""Arithmetic expressions over the metrics of a run, in claims and figures: ``cost / (diameter * links * rounds)``.

simpleeval would save the 20 lines that compute, but not those that check: it finds an unknown function, a text times a
number or a chain of comparisons only when a run is there, if at all, and does not say which metrics a formula names.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from netbandit.simulation.result import RunResult
from netbandit.util.key_paths import lookup
from netbandit.util.units import parse_bandwidth, parse_duration

_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # of floats: a tower of whole numbers would never end
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}

_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
}

_OF_THE_RUN = ("curve", "growth", "sent", "busiest", "adjacency_eigenvalue", "laplacian_eigenvalue", "mixing_sum")

_TAKES_A_WORD = ("curve", "growth", "sent", "busiest", "seconds", "bits_per_second")


class ExpressionError(ValueError):
    """A text that is no expression, or has an unknown name."""


class Expression:
    """An arithmetic expression over the results of one run.

    - A name is a metric of the run (``regret``, ``cost``, ``rounds``) or a fact of its topology (``diameter``).
    - A dotted name is a key of the scenario (``run.horizon``).
    - ``curve("regret", 0.5)`` is the height of a curve after that share of the horizon, ``growth("regret", 0.5, 1)``
      how much it grows between two of them; ``sent("ADV")`` is a number of messages; ``busiest("bytes")`` what the
      link has that has most of it.
    - ``seconds("links.peer.latency")`` and ``bits_per_second("links.peer.bandwidth")`` are what a key of the scenario
      says, as a number.
    - ``adjacency_eigenvalue(k)`` is the k-th largest eigenvalue of the adjacency matrix divided by the square roots of
      both degrees, ``laplacian_eigenvalue(k)`` that of degrees minus adjacency; ``mixing_sum()`` is the sum of
      ``|lambda| / (1 - |lambda|)`` over all eigenvalues but the first of the max-degree matrix of ``consensus``.
    - ``+ - * / **``, a comparison (1 if it is true, else 0), and ``abs ceil floor log log2 log10 sqrt min max``.

    Args:
        text: The expression.

    Raises:
        ExpressionError: The text is something else.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise ExpressionError(f'"{text}" is no arithmetic expression') from error
        self._check(self._tree)

    @cached_property
    def needs_curves(self) -> bool:
        """Whether it looks at curves or links, which a results folder holds apart from the metrics."""
        return any(name in _OF_THE_RUN for name, _ in self._calls)

    @cached_property
    def names(self) -> frozenset[str]:
        """The metrics and facts of the topology that it names; keys of the scenario are none of them."""
        inner = {id(node.value) for node in ast.walk(self._tree) if isinstance(node, ast.Attribute)}
        called = {id(node.func) for _, node in self._calls}
        plain = (node for node in ast.walk(self._tree) if isinstance(node, ast.Name))
        return frozenset(node.id for node in plain if id(node) not in inner | called)

    @cached_property
    def metrics(self) -> frozenset[str]:
        """The metrics that it depends on, those of which it takes the curve among them."""
        words = [node.args[0] for name, node in self._calls if name in ("curve", "growth") and node.args]
        return self.names | {
            word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)
        }

    @cached_property
    def _calls(self) -> list[tuple[str, ast.Call]]:
        """All calls, each with the name of its function."""
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        return [(node.func.id, node) for node in calls if isinstance(node.func, ast.Name)]

    def of(self, run: RunResult) -> float | None:
        """Return the value for *run*; None where it does not exist: a figure is infinite, or a division by zero.

        Raises:
            ExpressionError: The run has no such figure.
        """
        try:
            value = float(self._value(self._tree, run))
        except ExpressionError:
            raise
        except TypeError as error:  # a function was given too many numbers, or too few
            raise ExpressionError(f'"{self.text}" cannot be computed: {error}') from error
        except (_MissingError, ArithmeticError, ValueError):
            return None
        return value if math.isfinite(value) else None

    def _check(self, node: ast.AST) -> None:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float()):
                return None
            case ast.Name() | ast.Attribute():
                if _dotted(node):
                    return None
            case ast.UnaryOp(op=ast.USub()):
                return self._check(node.operand)
            case ast.BinOp() if type(node.op) in _OPERATORS:
                self._check(node.left)
                return self._check(node.right)
            case ast.Compare(ops=[operation], comparators=[right]) if type(operation) in _OPERATORS:
                self._check(node.left)
                return self._check(right)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS or name in _OWN:
                for index, argument in enumerate(node.args):
                    word = index == 0 and name in _TAKES_A_WORD
                    if not (word and isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                        self._check(argument)
                return None
        raise ExpressionError(f'"{ast.unparse(node)}" in "{self.text}" is no part of an arithmetic expression')

    def _value(self, node: ast.AST, run: RunResult) -> float:
        match node:
            case ast.Constant():
                return node.value  # type: ignore[return-value]
            case ast.Name() | ast.Attribute():
                return _figure(_dotted(node), run)
            case ast.UnaryOp():
                return -self._value(node.operand, run)
            case ast.BinOp():
                return _OPERATORS[type(node.op)](self._value(node.left, run), self._value(node.right, run))
            case ast.Compare():
                compare = _OPERATORS[type(node.ops[0])]
                return compare(self._value(node.left, run), self._value(node.comparators[0], run))
            case ast.Call(func=ast.Name(id=name)):
                arguments = [self._value(argument, run) for argument in node.args]
                if name in _FUNCTIONS:
                    return _FUNCTIONS[name](*arguments)
                return _OWN[name](run, *arguments)
        raise AssertionError("an expression is checked when it is made")


class _MissingError(Exception):
    """A figure of the run that does not exist or is infinite."""


def _dotted(node: ast.AST) -> str:
    """Return ``run.horizon`` for the attribute of a name, and nothing for any other attribute."""
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return node.id if isinstance(node, ast.Name) else ""


_ABSENT = object()


def _setting(name: str, run: RunResult) -> Any:
    """Return the scenario's value of a dotted key."""
    found = lookup(run.resolved, name, _ABSENT)
    if found is _ABSENT:
        raise ExpressionError(f"a run of {run.name} has no {name}")
    return found


def _figure(name: str, run: RunResult) -> float:
    found: Any
    if name in run.metrics:
        found = run.metrics[name]
    elif name in run.topology:
        found = run.topology[name]
    else:
        found = _setting(name, run)
    if found is None or found == math.inf:
        raise _MissingError
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ExpressionError(f"{name} is no number")
    return found


def _curve(run: RunResult, name: Any, part: float) -> float:
    if name not in run.curves:
        raise ExpressionError(f"a run of {run.name} has no curve {name}")
    curve = run.curves[name]
    return float(curve.at(np.array([part * int(curve.slots[-1])]))[0])


def _growth(run: RunResult, name: Any, start: float, end: float) -> float:
    return _curve(run, name, end) - _curve(run, name, start)


def _sent(run: RunResult, kind: Any) -> float:
    return run.kinds.get(kind, (0, 0))[0]


def _busiest(run: RunResult, what: Any) -> float:
    if what not in ("messages", "bytes", "activations", "lost"):
        raise ExpressionError(f"{what} is not counted link by link")
    found = getattr(run.links, what)
    if found is None:  # a run of a version that lost nothing
        raise _MissingError
    return float(found.max()) if len(found) else 0.0


def _seconds(run: RunResult, key: Any) -> float:
    slot = parse_duration(_setting("run.slot", run)).nanoseconds(0)
    try:
        return parse_duration(_setting(key, run)).nanoseconds(slot) / 1e9
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"{key} is no duration") from error


def _bits_per_second(run: RunResult, key: Any) -> float:
    found = _setting(key, run)
    if found is None:  # unlimited
        raise _MissingError
    try:
        return parse_bandwidth(found)
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"{key} is no bandwidth") from error


def _adjacency(run: RunResult) -> Any:
    matrix = np.zeros((int(run.topology["agents"] or 0),) * 2)
    matrix[run.links.first, run.links.second] = matrix[run.links.second, run.links.first] = 1.0
    return matrix


def _adjacency_eigenvalue(run: RunResult, rank: float) -> float:
    matrix = _adjacency(run)
    roots = np.sqrt(matrix.sum(axis=0))
    return float(np.linalg.eigvalsh(matrix / np.outer(roots, roots))[-int(rank)])


def _laplacian_eigenvalue(run: RunResult, rank: float) -> float:
    matrix = _adjacency(run)
    return float(np.linalg.eigvalsh(np.diag(matrix.sum(axis=0)) - matrix)[-int(rank)])


def _mixing_sum(run: RunResult) -> float:
    matrix = _adjacency(run)
    degrees = matrix.sum(axis=0)
    laplacian = np.diag(degrees) - matrix
    left = np.abs(np.sort(np.linalg.eigvalsh(np.eye(len(matrix)) - laplacian / (degrees.max() + 1)))[:-1])
    return float((left / (1 - left)).sum())


_OWN: Mapping[str, Callable[..., float]] = {
    "curve": _curve,
    "growth": _growth,
    "sent": _sent,
    "busiest": _busiest,
    "seconds": _seconds,
    "bits_per_second": _bits_per_second,
    "adjacency_eigenvalue": _adjacency_eigenvalue,
    "laplacian_eigenvalue": _laplacian_eigenvalue,
    "mixing_sum": _mixing_sum,
}
