"""Rewrites functions of objects as functions of arrays and numbers, which numba can compile.

Every attribute that a function reads from its objects becomes an argument. Functions and methods that receive objects
are written into the caller: inlined if the call is a whole statement, else as inner functions::

    def step(counter, place):                  def step(place, counter__sums, counter__weight):
        counter.add(place)                         counter__sums[place] += counter__weight
        return counter.mean(place) + 1  ->
                                                   def mean(place):
    class Counter:                                     return counter__sums[place] / counter__weight
        def add(self, place):
            self.sums[place] += self.weight        return mean(place) + 1
"""

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from hashlib import blake2b
from numbers import Number
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

AGENT = "[agent]"
"""Ends a path to the list of all agents' random generators, of which one is read; also stands for that agent."""

_PLAIN = (np.ndarray, Number, np.generic)

_LINES = 1_000_000
"""Line numbers of file i start at i times this."""


class StepError(Exception):
    """A function cannot be compiled; the message says where and why."""


class OneAgentError(StepError):
    """A function reads random generators of agents other than its own."""


class ArrayFunction(NamedTuple):
    """A function of objects, rewritten as one of arrays and numbers.

    Attributes:
        function: The rewritten function; its name ends in a digest of its text.
        paths: The source of each of its last arguments: an object's name and attributes.
        files: The source files of its text.
        nothing: Whether each object or attribute that it compares with None is None, by path: the text depends on it.
        called: The functions that it calls and that are attributes, by path.
    """

    function: Callable[..., Any]
    paths: Sequence[str]
    files: Sequence[str]
    nothing: Mapping[str, bool]
    called: Mapping[str, Any]

    def fits(self, objects: Mapping[str, Any]) -> bool:
        """Return whether it is also the text for other *objects* of the same classes."""
        if any((_value(objects, path) is None) is not none for path, none in self.nothing.items()):
            return False
        return all(_value(objects, path) is one for path, one in self.called.items())

    def place(self, line: int) -> str:
        """Return the source position of a *line* of it."""
        return _place(self.files[line // _LINES], line)


def array_function(function: Callable[..., Any], objects: Mapping[str, Any], name: str) -> ArrayFunction:
    """Return *function* rewritten as a function of arrays and numbers.

    Args:
        function: A module-level function. From a list of random generators, one per agent, it can read only that of
            its argument ``agent``.
        objects: The arguments that are objects, by name.
        name: The name of the result, without the digest.

    Raises:
        StepError: The function uses something that cannot be compiled.
    """
    assert isinstance(function, FunctionType)
    whole = _Whole(objects)
    bound = {one: one for one in objects} | {"agent": AGENT}
    tree = _Writer(whole, function, bound).definition("")
    order = list(objects)
    paths = sorted(whole.arguments, key=lambda path: order.index(path.partition(".")[0]))
    tree.args.args += [ast.arg(whole.arguments[path]) for path in paths]
    tree.body[:0] = whole.inner
    numbers = [(key, repr(value)) for key, value in whole.globals.items() if isinstance(value, np.generic)]
    text = f"{ast.unparse(tree)}\n{paths}\n{numbers}"
    tree.name = f"{name}_{blake2b(text.encode(), digest_size=6).hexdigest()}"
    code = compile(ast.fix_missing_locations(ast.Module([tree], [])), function.__code__.co_filename, "exec")
    made = FunctionType(next(one for one in code.co_consts if isinstance(one, CodeType)), whole.globals)
    made.__module__ = function.__module__
    made.__written_from__ = whole.files  # type: ignore[attr-defined]
    return ArrayFunction(made, paths, whole.files, whole.nothing, whole.called)


@cache
def _tree(function: FunctionType) -> ast.FunctionDef:
    """Return the syntax tree of a function; callers must not modify it."""
    try:
        lines, first = inspect.getsourcelines(function)
        (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, SyntaxError, ValueError) as error:
        raise StepError(f"{function.__qualname__} has no source to be read: {error}") from None
    if not isinstance(tree, ast.FunctionDef) or function.__code__.co_freevars:
        raise StepError(f"{function.__qualname__} is no plain function of a module")
    tree.body = [one for one in tree.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    ast.increment_lineno(tree, first - 1)
    return tree


def _place(file: str, line: int) -> str:
    return f"{Path(file).name}, line {line % _LINES}"


def _value(objects: Mapping[str, Any], path: str) -> Any:
    name, _, attributes = path.partition(".")
    return attrgetter(attributes)(objects[name]) if attributes else objects[name]


def _package(function: FunctionType) -> str:
    return (function.__module__ or "").partition(".")[0]


def _is_plain(value: Any) -> bool:
    """Return whether *value* has a type that numba knows: an array, a number, or a named tuple of these."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


class _Whole:
    """State shared by all functions that are written into one.

    Attributes:
        objects: The objects, by name.
        arguments: The names of the attributes read from them, by path.
        globals: Values taken from modules.
        inner: The inner functions, each after those that it calls.
        names: Their names, by function and its bindings.
        files: Their source files.
        writing: The functions being written.
        count: The number of functions written so far.
        nothing: Whether each object or attribute that is compared with None is None, by path.
        called: The functions that are attributes, by path.
    """

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self.objects = objects
        self.arguments: dict[str, str] = {}
        self.globals: dict[str, Any] = {"__builtins__": builtins}
        self.inner: list[ast.FunctionDef] = []
        self.names: dict[Hashable, str] = {}
        self.files: list[str] = []
        self.writing: list[FunctionType] = []
        self.count = 0
        self.nothing: dict[str, bool] = {}
        self.called: dict[str, Any] = {}

    def named(self, name: str, value: Any) -> str:
        """Return the global name of a module's *value*."""
        while hasattr(builtins, name) or self.globals.setdefault(name, value) is not value:
            name += "_"
        return name


class _Writer(ast.NodeTransformer):
    """Writes one function.

    Args:
        whole: The state of the function that it is written into.
        function: The function.
        bound: The paths of arguments that are objects or their attributes, or the agent.

    Attributes:
        stored: The names that the function assigns to.
        names: The replacements of arguments and local names; all are new names, so that none is shadowed.
    """

    def __init__(self, whole: _Whole, function: FunctionType, bound: Mapping[str, str]) -> None:
        self._whole, self._function, self._tree = whole, function, _tree(function)
        nodes = list(ast.walk(self._tree))
        self.stored = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
        self.parameters = [one for one in inspect.signature(function).parameters if bound.get(one, AGENT) == AGENT]
        self._bound = {name: path for name, path in bound.items() if path != AGENT or name not in self.stored}
        whole.count += 1
        own = {*self.stored, *(one.arg for one in nodes if isinstance(one, ast.arg))}
        self.names: dict[str, ast.expr] = {name: ast.Name(f"{name}__{whole.count}") for name in sorted(own)}

    def definition(self, name: str) -> ast.FunctionDef:
        """Return the whole function."""
        arguments = [ast.arg(cast(ast.Name, self.names[one]).id) for one in self.parameters]
        signature = ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[])
        body = self.body()
        return ast.copy_location(ast.FunctionDef(name, signature, body or [ast.Pass()], []), self._tree)

    def body(self) -> list[ast.stmt]:
        """Return the statements of the function."""
        files, file = self._whole.files, self._function.__code__.co_filename
        if file not in files:
            files.append(file)
        module = ast.Module(deepcopy(self._tree.body), [])
        ast.increment_lineno(module, files.index(file) * _LINES)
        self._whole.writing.append(self._function)
        self.generic_visit(module)
        self._whole.writing.pop()
        return module.body

    # Names and attributes.

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if self._object(node):
            return self._read(node)
        if node.id in self.names:
            found = deepcopy(self.names[node.id])
            if isinstance(found, ast.Name):
                found.ctx = node.ctx
            return ast.copy_location(found, node)
        if node.id not in self._function.__globals__:
            return node
        value = self._function.__globals__[node.id]
        if type(value) in (bool, int, float, str, type(None)):
            return ast.copy_location(ast.Constant(value), node)
        if not (callable(value) or isinstance(value, ModuleType | np.generic)):
            kind, name = type(value).__name__, self._function.__name__
            raise self._error(node, f"{node.id} is of type {kind}: what {name} reads is in self")
        return self._named(self._whole.named(node.id, value), node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(cast(ast.Name, self.names[node.arg]).id), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._read(node) if self._object(node) else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        path, value = self._object(node.value) or ("", None)
        if not (isinstance(value, list) and value and all(isinstance(one, np.random.Generator) for one in value)):
            return self.generic_visit(node)
        if not (isinstance(node.slice, ast.Name) and self._bound.get(node.slice.id) == AGENT):
            raise OneAgentError(
                str(self._error(node, f"of {ast.unparse(node.value)} only that of the agent can be used"))
            )
        return self._argument(path + AGENT, node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return None
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _object(self, node: ast.expr) -> tuple[str, Any] | None:
        """Return the path and value of the object or attribute that *node* denotes; None if it denotes neither."""
        if isinstance(node, ast.Name) and self._bound.get(node.id, AGENT) != AGENT:
            path = self._bound[node.id]
            return path, _value(self._whole.objects, path)
        if not isinstance(node, ast.Attribute) or (found := self._object(node.value)) is None:
            return None
        path, value = found
        if isinstance(value, _PLAIN):
            return None
        if not hasattr(value, node.attr):
            raise self._error(node, f"{ast.unparse(node)} is nowhere made")
        return f"{path}.{node.attr}", getattr(value, node.attr)

    def _read(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """Return the replacement of an object or attribute."""
        path, value = self._object(node) or ("", None)
        if not isinstance(node.ctx, ast.Load):
            raise self._error(node, f"{ast.unparse(node)} is given a new value; only arrays can change")
        if _is_plain(value) and "." in path:
            return self._argument(path, node)
        if isinstance(node, ast.Attribute) and value is not None and hasattr(value, "py_func"):
            self._whole.called[path] = value
            return self._named(self._whole.named(value.__name__, value), node)
        if isinstance(node, ast.Name):
            raise self._error(node, "an object can only be read, or given to functions of Python")
        kind = type(value).__name__
        raise self._error(node, f"{ast.unparse(node)} is of type {kind}, and neither an array nor a number")

    def _argument(self, path: str, node: ast.AST) -> ast.expr:
        name = path.removesuffix(AGENT).replace(".", "__")
        return self._named(self._whole.arguments.setdefault(path, name), node)

    def _named(self, name: str, node: ast.AST) -> ast.expr:
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _error(self, node: ast.expr, why: str) -> StepError:
        return StepError(f"{_place(self._function.__code__.co_filename, node.lineno)}: {why}")

    def visit_If(self, node: ast.If) -> Any:
        """Drop the branch that is dead because an object or attribute is, or is not, None."""
        test, more = node.test, list[ast.expr]()
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            test, *more = test.values
        if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot)):
            return self.generic_visit(node)
        if not (found := self._object(test.left)):
            return self.generic_visit(node)
        path, value = found
        self._whole.nothing[path] = value is None
        holds = (value is None) is isinstance(test.ops[0], ast.Is)
        kept = ast.Module(node.body if holds else node.orelse, [])
        if holds and more:
            node.test = more[0] if len(more) == 1 else ast.copy_location(ast.BoolOp(ast.And(), more), node.test)
            return self.generic_visit(node)
        self.generic_visit(kept)
        return kept.body or ast.Pass()

    # Calls.

    def visit_Call(self, node: ast.Call) -> ast.AST:
        found = self._called(node)
        if found is None:
            return self.generic_visit(node)
        function, bound, given = found
        key = function, *sorted(bound.items())
        names = self._whole.names
        if key not in names:
            names[key] = f"{function.__name__}__{len(names)}_"
            self._whole.inner.append(_Writer(self._whole, function, bound).definition(names[key]))
        return ast.copy_location(ast.Call(self._named(names[key], node), list(given.values()), []), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._expanded(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._expanded(node)

    def visit_Return(self, node: ast.Return) -> Any:
        return self._expanded(node)

    def _expanded(self, node: ast.Assign | ast.Expr | ast.Return) -> ast.AST | list[ast.stmt]:
        """Return the replacement of a statement; a call is inlined."""
        found = self._called(node.value) if isinstance(node.value, ast.Call) else None
        if found is None:
            return self.generic_visit(node)
        function, bound, given = found
        writer = _Writer(self._whole, function, bound)
        first: list[ast.stmt] = []
        for name, value in given.items():
            if isinstance(value, ast.Name | ast.Constant) and name not in writer.stored:
                writer.names[name] = value
            else:
                target = ast.Name(cast(ast.Name, writer.names[name]).id, ast.Store())
                first.append(ast.copy_location(ast.Assign([target], value), node))
        body = writer.body()
        if isinstance(node, ast.Return):
            ends = body and isinstance(body[-1], ast.Return)
            return [*first, *body, *([] if ends else [ast.copy_location(ast.Return(), node)])]
        if any(isinstance(one, ast.Return) for one in _in_loops(body)):
            return self.generic_visit(node)
        node.value = ast.Constant(None)
        self.generic_visit(node)
        return [*first, *_without_returns(body, node)]

    def _called(self, node: ast.Call) -> tuple[FunctionType, dict[str, str], dict[str, ast.expr]] | None:
        """Return the called function that must be written, its bindings, and its remaining arguments."""
        positional = node.args
        path, value = self._object(node.func) or ("", None)
        if isinstance(node.func, ast.Attribute) and isinstance(value, MethodType):
            value, positional = value.__func__, [node.func.value, *positional]
        elif isinstance(value, FunctionType):
            self._whole.called[path] = value
        elif isinstance(node.func, ast.Name) and node.func.id not in self.names:
            value = self._function.__globals__.get(node.func.id)
            near = isinstance(value, FunctionType) and _package(value) == _package(self._function)
            value = value if near or any(map(self._object, positional)) else None
        if not isinstance(value, FunctionType):
            return None
        if value in self._whole.writing:
            raise self._error(node, f"{value.__name__} calls itself")
        signature = inspect.signature(value)
        stars = [one for one in positional if isinstance(one, ast.Starred)]
        if stars or any(one.arg is None for one in node.keywords):
            raise self._error(node, f"{value.__name__} is given arguments by a star")
        try:
            taken = signature.bind(*positional, **{str(one.arg): one.value for one in node.keywords}).arguments
        except TypeError as error:
            raise self._error(node, f"{value.__name__}: {error}") from None
        bound, given = {}, {}
        for name, parameter in signature.parameters.items():
            argument = taken.get(name, ast.Constant(parameter.default))
            if not isinstance(argument, ast.expr):
                raise self._error(node, f"{value.__name__} takes arguments by a star")
            path, found = self._object(argument) or ("", None)
            if path and not isinstance(found, _PLAIN):
                bound[name] = path
                continue
            if isinstance(argument, ast.Name) and self._bound.get(argument.id) == AGENT:
                bound[name] = AGENT
            given[name] = self.visit(deepcopy(argument))
        return value, bound, given


def _in_loops(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the statements nested in statements other than conditionals."""
    for one in statements:
        if isinstance(one, ast.If):
            yield from _in_loops([*one.body, *one.orelse])
        elif not isinstance(one, ast.Return):
            yield from ast.walk(one)


def _without_returns(statements: Sequence[ast.stmt], like: ast.Assign | ast.Expr) -> list[ast.stmt]:
    """Return *statements* in which each return becomes the statement *like*, applied to the returned value."""
    for place, one in enumerate(statements):
        if isinstance(one, ast.If) and any(isinstance(each, ast.Return) for each in ast.walk(one)):
            branches = ([*branch, *statements[place + 1 :]] for branch in (one.body, one.orelse))
            body, orelse = (_without_returns(branch, like) for branch in branches)
            return [*statements[:place], ast.copy_location(ast.If(one.test, body or [ast.Pass()], orelse), one)]
        if isinstance(one, ast.Return):
            statements, like = statements[:place], deepcopy(like)
            like.value = one.value or like.value
            break
    nothing = isinstance(like, ast.Expr) and isinstance(like.value, ast.Constant)
    return [*statements, *([] if nothing else [like])]
