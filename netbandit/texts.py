"""Texts: rules that are written once, and executed by plain Python and by compiled loops.

A text is a plain function marked `text`. It calls other texts, and *primitives*: functions that whoever executes it
puts in their place (where rows are kept, how time passes). Names in capitals that are constants say what can happen.

A call costs plain Python as much as ten additions, and a compiler as much as ten statements. So before a text is
executed, the texts that it calls are written out where it calls them, and what cannot happen is left out::

    @text
    def arrival_of(network, channel, sent):
        arrival = sent + channel.latency
        if JITTERS:
            arrival += jitter_of(network, channel)
        return arrival

    written_out(send, {"JITTERS": False})      # in send: arrival = sent + channel.latency

A text may also be given objects whose attributes are arrays and numbers, and call their methods. What it reads of them
become arguments, so that a compiler sees nothing but arrays and numbers::

    def step(counter, place):
        counter.add(place)                     # def add(self, place): self.counts[place] += self.weight

    written_out(step, {}, objects={"counter": counter})
                                               # def step(place, counter_counts, counter_weight):
                                               #     counter_counts[place] += counter_weight
"""

import ast
import builtins
import inspect
import os.path
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from numbers import Number
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = __name__.partition(".")[0]

Scope = dict[str, ast.expr]
"""What names of a text stand for where it is written out."""


class TextError(Exception):
    """A function is no text that can be written out; the message says where and why."""


class OneAgentError(TextError):
    """A text for several agents reads the random generators of single ones."""


def text(function: Function) -> Function:
    """Mark *function*, of a module, as a text: it is written out where another text calls it.

    Its arguments have no defaults other than constants. Texts that end within a loop are called like other functions.
    """
    function.__is_text__ = True  # type: ignore[attr-defined]
    return function


def primitive(function: Function) -> Function:
    """Mark *function* as one that whoever executes a text puts another in the place of; its body says what it does."""
    function.__is_primitive__ = True  # type: ignore[attr-defined]
    return function


def is_text(value: Any) -> bool:
    """Return whether *value* is a text."""
    return isinstance(value, FunctionType) and getattr(value, "__is_text__", False)


def written_out(
    function: Callable[..., Any],
    names: Mapping[Any, Any],
    called: Callable[[FunctionType], Any] | None = None,
    *,
    objects: Mapping[str, Any] | None = None,
    compiled: Callable[[FunctionType], Any] = lambda made: made,
    package: str | None = None,
) -> FunctionType:
    """Return *function* with all texts that it calls written out, and what cannot happen left out.

    Args:
        function: A text.
        names: What primitives and constants stand for, by their names in the texts, and objects, by themselves.
        called: Returns what is called in place of a text that cannot be written out where it is called, or is not worth
            it because there are several such places; None: it is written out wherever that can be, for who cannot call
            it for less.
        objects: What those arguments are that are objects. In their place come, at the end, arguments for what is read
            of them, object by object: where each is found says the attribute ``__read__`` of what is returned, in
            order, as an object's name and a path. All plain functions that are called with such an object are texts.
            Of a list of random generators, one an agent, only that of the argument ``agent`` can be read.
        compiled: With *objects*: what is called in place of a text that ends within a loop.
        package: Beside this one, whose numbers *names* are about: those of others are their own, by whatever names.
            None: that of *function*.

    Raises:
        TextError: It is none, or a primitive has nothing to stand for, or something is read of an object that is
            neither an array nor a number.
    """
    assert isinstance(function, FunctionType)
    package = package or (function.__module__ or "").partition(".")[0]
    return _Writer(names, called, objects or {}, compiled, package).function(function)


@cache
def plain(function: Function) -> Function:
    """Return *function*, a text, written out with what it calls as its own module has it: for plain Python."""
    return cast(Function, written_out(function, {}))


def names_used(text: Callable[..., Any]) -> set[str]:
    """Return the names that *text* reads, its arguments among them, and those that texts read which it calls."""
    assert isinstance(text, FunctionType)
    tree = ast.Module(source_of(text).body, [])
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    others = [text.__globals__.get(name) for name in names]
    return names.union(*(names_used(other) for other in others if other is not None and is_text(other)))


def names_in(text: Callable[..., Any]) -> dict[str, Any]:
    """Return what the names of modules stand for that *text* reads, and texts that it calls."""
    assert isinstance(text, FunctionType)
    found = {name: text.__globals__[name] for name in sorted(names_used(text)) if name in text.__globals__}
    for other in list(found.values()):
        if is_text(other):
            found = names_in(other) | found
    return found


class _Writer:
    """Writes one function out."""

    def __init__(
        self,
        names: Mapping[Any, Any],
        called: Callable[[FunctionType], Any] | None,
        objects: Mapping[str, Any],
        compiled: Callable[[FunctionType], Any],
        package: str,
    ) -> None:
        self._names = names
        self._packages = package, _PACKAGE
        self._values = {id(name): value for name, value in names.items() if not isinstance(name, str)}
        self._objects, self._compiled = objects, compiled
        self._called_for = called or (lambda text: written_out(text, names, package=package))
        self._calls_often = called is not None
        self._times: Counter[FunctionType] = Counter()  # how often a text is called
        self._sources: set[str] = set()
        self._called_texts: list[str] = []
        self._space: dict[str, Any] = {}
        self._called: dict[FunctionType, str] = {}
        self._read: dict[FunctionType, Sequence[tuple[str, str]]] = {}  # what of objects what is called reads
        self._root: FunctionType | None = None
        self._own: set[str] = set()  # the names of the function itself, which keep theirs
        self._fresh: set[str] = set()  # the names of what is written out

    def function(self, function: FunctionType) -> FunctionType:
        source = source_of(function)
        scope: Scope = {name: ast.Name(name, ast.Load()) for name in source.locals}
        self._root, self._own, self._fresh = function, set(scope), set()
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in source.arguments],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[ast.Constant(None) for _ in source.tree.args.defaults],  # it is given those of *function*
        )
        if self._calls_often:
            self._count_calls(function)
        body = self._block(source.body, function, scope) or [ast.Pass()]
        tree = ast.copy_location(ast.FunctionDef(function.__name__, arguments, body, []), source.tree)
        _simplify(tree, self._fresh)
        reader = _Reader(self._objects, self._space, of_one="agent" in source.arguments)
        if self._objects:
            reader.visit(tree)
            tree.args.args = [one for one in tree.args.args if one.arg not in self._objects]
            order = list(self._objects)
            reader.names = dict(sorted(reader.names.items(), key=lambda one: order.index(one[0][0])))
            tree.args.args += [ast.arg(name) for name in reader.names.values()]
        module = ast.fix_missing_locations(ast.Module([tree], []))
        exec(compile(module, function.__code__.co_filename, "exec"), self._space)
        made = cast(FunctionType, self._space.pop(tree.name))
        made.__defaults__ = function.__defaults__
        made.__module__ = function.__module__
        made.__annotations__ = function.__annotations__
        made.__doc__ = "\n\n".join([ast.unparse(tree), *self._called_texts])
        made.__written_from__ = frozenset(self._sources)  # type: ignore[attr-defined]
        made.__read__ = tuple(reader.names)  # type: ignore[attr-defined]
        return made

    def _count_calls(self, function: FunctionType) -> None:
        """Count how often each text would be written out in *function*."""
        source = source_of(function)
        scope: Scope = dict.fromkeys(source.locals, ast.Constant(None))
        for call in source.calls:
            text = self._text_called(call, function, scope)
            if text is not None:
                self._times[text] += 1
                self._count_calls(text)

    # Statements.

    def _block(self, statements: Sequence[ast.stmt], owner: FunctionType, scope: Scope) -> list[ast.stmt]:
        self._sources.add(owner.__code__.co_filename)
        return [written for one in statements for written in self._statement(one, owner, scope)]

    def _statement(self, statement: ast.stmt, owner: FunctionType, scope: Scope) -> Iterator[ast.stmt]:
        """Yield what stands for a statement, and before it what its calls need."""
        if not isinstance(statement, _STATEMENTS) or (isinstance(statement, ast.For | ast.While) and statement.orelse):
            line = ast.unparse(statement).splitlines()[0]
            raise TextError(f"{_place(owner, statement)}: a text has no '{line}'")
        before: list[ast.stmt] = []
        written: list[ast.stmt]
        if isinstance(statement, ast.If):
            test = self._expression(statement.test, owner, scope, before)
            if isinstance(test, ast.Constant):
                written = self._block(statement.body if test.value else statement.orelse, owner, scope)
            else:
                body = self._block(statement.body, owner, scope) or [ast.Pass()]
                written = [ast.If(test, body, self._block(statement.orelse, owner, scope))]
        elif isinstance(statement, ast.For):
            target = self._expression(statement.target, owner, scope, None)
            iterated = self._expression(statement.iter, owner, scope, before)
            written = [ast.For(target, iterated, self._block(statement.body, owner, scope) or [ast.Pass()], [])]
        elif isinstance(statement, ast.While):
            test = self._expression(statement.test, owner, scope, None)
            written = [ast.While(test, self._block(statement.body, owner, scope) or [ast.Pass()], [])]
        else:
            written = self._simple_statement(statement, owner, scope, before)
        for one in (*before, *written):
            if not hasattr(one, "written_at"):
                one.written_at = _place(owner, statement)  # type: ignore[attr-defined]
            if owner is self._root:  # else it has the line of its caller
                one.lineno = one.end_lineno = statement.lineno
                one.col_offset = one.end_col_offset = 0
            yield one

    def _simple_statement(
        self, statement: ast.stmt, owner: FunctionType, scope: Scope, before: list[ast.stmt]
    ) -> list[ast.stmt]:
        if isinstance(statement, ast.AnnAssign):  # types are for readers
            if statement.value is None:
                return []
            statement = ast.copy_location(ast.Assign([statement.target], statement.value), statement)
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
            text = self._text_called(statement.value, owner, scope)
            if text is not None and source_of(text).single_expression is None:
                target = None
                if isinstance(statement, ast.Assign):
                    (only,) = statement.targets
                    target = self._expression(only, owner, scope, before)
                body = self._expanded(text, statement.value, owner, scope, target)
                if body is not None:
                    return body
        return [cast(ast.stmt, self._each_field(statement, owner, scope, before))]

    # Expressions.

    def _expression(self, node: ast.expr, owner: FunctionType, scope: Scope, before: list[ast.stmt] | None) -> ast.expr:
        """Return what stands for *node*.

        Args:
            node: An expression of a text.
            owner: The text.
            scope: What its local names stand for.
            before: Where statements are added that must come first; None: none can, because *node* may not be reached.
        """
        found: ast.expr
        if isinstance(node, _Written):
            return node.node
        if isinstance(node, ast.Name):
            found = scope[node.id] if node.id in scope else self._global(node.id, owner)
            found = ast.Name(found.id, node.ctx) if isinstance(found, ast.Name) else _copied(found)
        elif isinstance(node, ast.Call) and (text := self._text_called(node, owner, scope)) is not None:
            found = self._call(text, node, owner, scope, before)
        elif isinstance(node, ast.BoolOp):
            found = self._either(node, owner, scope, before)
        elif isinstance(node, ast.IfExp):
            test = self._expression(node.test, owner, scope, before)
            if isinstance(test, ast.Constant):
                return self._expression(node.body if test.value else node.orelse, owner, scope, before)
            body, orelse = (self._expression(one, owner, scope, None) for one in (node.body, node.orelse))
            found = ast.IfExp(test, body, orelse)
        else:
            found = _folded(cast(ast.expr, self._each_field(node, owner, scope, before)))
        return found

    def _each_field(self, node: ast.AST, owner: FunctionType, scope: Scope, before: list[ast.stmt] | None) -> ast.AST:
        """Return *node* with what stands for each expression in it."""

        def written(value: Any) -> Any:
            if isinstance(value, ast.expr):
                return self._expression(value, owner, scope, before)
            if isinstance(value, ast.keyword | ast.comprehension):
                return self._each_field(value, owner, scope, before)
            return [written(one) for one in value] if isinstance(value, list) else value

        inside = _fields(node)
        return type(node)(**{name: written(one) if name in inside else one for name, one in ast.iter_fields(node)})

    def _either(self, node: ast.BoolOp, owner: FunctionType, scope: Scope, before: list[ast.stmt] | None) -> ast.expr:
        """Return what stands for `and` or `or`: nothing of what follows on a value that decides."""
        values: list[ast.expr] = []
        for one in node.values:
            value = self._expression(one, owner, scope, None if values else before)
            if not _is_known(value):
                values.append(value)
            elif value.value is isinstance(node.op, ast.Or):
                return value
        return _folded(ast.BoolOp(node.op, values))

    def _global(self, name: str, owner: FunctionType) -> ast.expr:
        value = self._value(name, owner)
        if value is _NOTHING:  # a name of Python itself
            if name not in self._own:
                return ast.Name(name, ast.Load())
            value = getattr(builtins, name)
        if isinstance(value, bool | int | float | str | None):
            return ast.Constant(value)
        if self._objects and not (callable(value) or isinstance(value, ModuleType | np.generic)):
            kind = type(value).__name__
            raise TextError(f"{_place(owner, owner)}: {name} is of type {kind}: what {owner.__name__} reads is in self")
        if getattr(value, "__is_primitive__", False):
            raise TextError(f"{owner.__name__} calls {name}, for which nothing stands here")
        while name in self._own or self._space.get(name, value) is not value:
            name += "_"
        self._space[name] = value
        return ast.Name(name, ast.Load())

    # Calls.

    def _value(self, name: str, owner: FunctionType) -> Any:
        """Return what a *name* stands for: names of a user's own module may be those of primitives by chance."""
        own = owner.__globals__.get(name, _NOTHING)
        if id(own) in self._values:
            return self._values[id(own)]
        if isinstance(own, int) and owner.__module__.partition(".")[0] not in self._packages:
            return own
        if (is_text(own) and not own.__module__.startswith("netbandit.")) or name not in self._names:
            return own
        return self._names[name]

    def _text_called(self, call: ast.Call, owner: FunctionType, scope: Scope) -> FunctionType | None:
        if isinstance(call.func, ast.Name) and call.func.id not in scope:
            value = self._value(call.func.id, owner)
            given = isinstance(value, FunctionType) and any(self._is_object(one, scope) for one in call.args)
            return cast(FunctionType, value) if given or is_text(value) else None
        if isinstance(call.func, ast.Attribute) and self._is_object(call.func.value, scope):
            method = self._object(call.func, scope)
            return method.__func__ if isinstance(method, MethodType) else None  # type: ignore[return-value]
        return None

    def _object(self, node: ast.expr, scope: Scope | None = None) -> Any:
        """Return what is read by *node*, an argument that is an object or a chain of attributes of one, else None.

        Args:
            node: An expression, written out already,
            scope: or what its names stand for.
        """
        path: list[str] = []
        while isinstance(node, ast.Attribute) or (scope and isinstance(node, ast.Name)):
            if isinstance(node, ast.Name):
                assert scope is not None
                node, scope = scope.get(node.id, ast.Constant(None)), None
            else:
                path.append(node.attr)
                node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._objects:
            return None
        found = self._objects[node.id]
        for name in reversed(path):
            found = getattr(found, name, None)
        return found

    def _is_object(self, node: ast.expr, scope: Scope | None = None) -> bool:
        if scope is not None and isinstance(node, ast.Name):
            node, scope = scope.get(node.id, node), None
        if isinstance(node, ast.Name):
            return node.id in self._objects
        found = self._object(node, scope) if self._objects else None
        return not (found is None or _is_plain(found))

    def _call(
        self, text: FunctionType, call: ast.Call, owner: FunctionType, scope: Scope, before: list[ast.stmt] | None
    ) -> ast.expr:
        """Return what stands for a call of *text* within an expression."""
        expression = source_of(text).single_expression
        if expression is not None:
            self._sources.add(text.__code__.co_filename)
            uses = source_of(text).uses
            given: Scope = {}
            for name, argument in arguments_of(text, call).items():
                value = self._expression(argument, owner, scope, before)
                simple = isinstance(value, ast.Name | ast.Constant) or self._is_object(value)
                if uses[name] > 1 and before is not None and not simple:
                    value = self._kept(name, value, before)
                given[name] = value
            return self._expression(expression, text, given, before)
        if before is not None:
            target = self._new_name("result")
            body = self._expanded(text, call, owner, scope, target)
            if body is not None:
                before += body
                return target
        arguments = {
            name: self._expression(one, owner, scope, before) for name, one in arguments_of(text, call).items()
        }
        objects = {name: self._object(one) for name, one in arguments.items() if self._is_object(one)}
        if text not in self._called:
            self._called[text] = f"{text.__name__}_{len(self._called)}"
            made = (
                written_out(text, self._names, objects=objects, compiled=self._compiled, package=self._packages[0])
                if objects
                else self._called_for(text)
            )
            self._read[text] = getattr(made, "__read__", ())
            self._called_texts.append(made.__doc__ or "")
            self._sources |= getattr(made, "__written_from__", frozenset())
            self._space[self._called[text]] = self._compiled(made) if objects else made
        read = [_chain(arguments[name], path) for name, path in self._read[text]]
        given_on = [one for name, one in arguments.items() if name not in objects]
        return ast.Call(ast.Name(self._called[text], ast.Load()), [*given_on, *read], [])

    def _expanded(
        self, text: FunctionType, call: ast.Call, owner: FunctionType, scope: Scope, target: ast.expr | None
    ) -> list[ast.stmt] | None:
        """Return the statements of *text* for a call, which put its result into *target*; None: it ends in a loop."""
        source = source_of(text)
        if source.returns_in_loop or (self._times[text] > 1 and source.statements >= _LONG):
            return None
        before: list[ast.stmt] = []
        given: Scope = {}
        for name, argument in arguments_of(text, call).items():
            value = self._expression(argument, owner, scope, before)
            simple = isinstance(value, ast.Name | ast.Constant) or self._is_object(value)
            stays = name not in source.assigned and simple
            given[name] = value if stays else self._kept(name, value, before)
        for name in source.locals:
            if name not in given:
                given[name] = self._new_name(name)
        return [*before, *self._block(_without_returns(source.body, target), text, given)]

    def _kept(self, name: str, value: ast.expr, before: list[ast.stmt]) -> ast.Name:
        """Return a new name for *value*, which it is given in *before*."""
        fresh = self._new_name(name)
        before.append(ast.Assign([ast.Name(fresh.id, ast.Store())], value))
        return fresh

    def _new_name(self, name: str) -> ast.Name:
        fresh = f"{name}_{len(self._fresh) + 1}"
        self._fresh.add(fresh)
        return ast.Name(fresh, ast.Load())


_NOTHING = object()

_STATEMENTS = (
    *(ast.If, ast.For, ast.While, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Pass),
    *(ast.Break, ast.Continue, ast.Raise, ast.Assert),
)
"""What a text consists of."""


def _place(owner: FunctionType, node: Any) -> str:
    """Return where *node* of *owner* stands."""
    line = getattr(node, "lineno", owner.__code__.co_firstlineno)
    return f"{os.path.basename(owner.__code__.co_filename)}, line {line}"


_LONG = 6
"""So many statements are worth a call."""

_SOURCES: dict[Any, "Source"] = {}


class _Written(ast.expr):
    """An expression in which names have been replaced."""

    def __init__(self, node: ast.expr) -> None:
        super().__init__()
        self.node = node


class Source(NamedTuple):
    """What is read of a text; nobody changes it."""

    tree: ast.FunctionDef
    body: list[ast.stmt]
    arguments: list[str]
    assigned: set[str]
    single_expression: ast.expr | None
    returns_in_loop: bool
    statements: int
    calls: list[ast.Call]
    uses: Counter[str]
    """How often each name is read, or assigned to."""

    @property
    def locals(self) -> list[str]:
        """The names of arguments and of what is assigned to."""
        return [*self.arguments, *sorted(self.assigned - set(self.arguments))]


def source_of(function: FunctionType) -> Source:
    """Return what is read of a text.

    Raises:
        TextError: It has no source, or is no plain function of a module.
    """
    source = _SOURCES.get(function.__code__)
    if source is None:
        try:
            lines, first = inspect.getsourcelines(function)
            (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
        except (OSError, SyntaxError, ValueError) as error:
            raise TextError(f"{function.__qualname__} has no source to be read: {error}") from None
        if not isinstance(tree, ast.FunctionDef) or function.__code__.co_freevars:
            raise TextError(f"{function.__qualname__} is no plain function of a module")
        ast.increment_lineno(tree, first - 1)
        body = [one for one in tree.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        source = _SOURCES[function.__code__] = Source(
            tree=tree,
            body=body,
            arguments=[argument.arg for argument in tree.args.args],
            assigned={node.id for node in names if not isinstance(node.ctx, ast.Load)},
            single_expression=body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None,
            returns_in_loop=any(isinstance(node, ast.For | ast.While) and _returns(node) for node in ast.walk(tree)),
            statements=sum(isinstance(node, ast.stmt) for one in body for node in ast.walk(one)),
            calls=[node for node in ast.walk(tree) if isinstance(node, ast.Call)],
            uses=Counter(node.id for node in names),
        )
    return source


def arguments_of(text: FunctionType, call: ast.Call) -> dict[str, ast.expr]:
    """Return what each argument of *text* is in a *call*, in their order.

    Raises:
        TextError: It is called with other arguments.
    """
    names = source_of(text).arguments
    defaults = text.__defaults__ or ()
    given: dict[str, ast.expr] = dict(
        zip(names[len(names) - len(defaults) :], map(ast.Constant, defaults), strict=True)
    )
    first = [call.func.value] if isinstance(call.func, ast.Attribute) else []  # of a method
    given |= dict(zip(names, [*first, *call.args], strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if set(given) != set(names) or len(first) + len(call.args) > len(names):
        raise TextError(f"line {call.lineno}: {text.__name__} takes {', '.join(names)}")
    return {name: given[name] for name in names}


PER_AGENT = "[agent]"
"""The end of a path to a list of random generators, of which that of an agent is read."""


def _is_plain(value: Any) -> bool:
    """Return whether *value* is what compilers know: an array, a number, or a named tuple of such."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return all(map(_is_plain, value))
    return isinstance(value, np.ndarray | Number | np.generic)


def _path(node: ast.expr) -> tuple[list[str], ast.expr]:
    """Return the attributes that *node* reads one of the other, and what it reads them of."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return path, node


def _chain(node: ast.expr, path: str) -> ast.expr:
    """Return what reads at *path* of what *node* reads."""
    for name in path.removesuffix(PER_AGENT).split("."):
        node = ast.Attribute(node, name, ast.Load())
    return ast.Subscript(node, ast.Name("agent", ast.Load()), ast.Load()) if path.endswith(PER_AGENT) else node


class _Reader(ast.NodeTransformer):
    """Puts arguments in the place of what is read of objects.

    Args:
        objects: What those arguments are that are objects.
        space: Where the functions of modules that are called by way of an object are named; added to.
        of_one: Whether what is written out has an argument ``agent``.

    Attributes:
        names: The arguments, by whose attribute they are: an argument, and a path.
    """

    def __init__(self, objects: Mapping[str, Any], space: dict[str, Any], *, of_one: bool) -> None:
        self._objects, self._space, self._of_one = objects, space, of_one
        self.names: dict[tuple[str, str], str] = {}
        self._place = ""

    def visit(self, node: ast.AST) -> Any:
        self._place = getattr(node, "written_at", self._place)
        return super().visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        path, root = _path(node)
        if not isinstance(root, ast.Name) or root.id not in self._objects:
            self.generic_visit(node)
            return node
        found = self._objects[root.id]
        for place, name in enumerate(path):
            if not hasattr(found, name):
                raise TextError(f"{self._place}: {'.'.join(path[: place + 1])} is nowhere made")
            found = getattr(found, name)
            if _is_plain(found) and (place + 1 == len(path) or not isinstance(found, tuple)):
                if not isinstance(node.ctx, ast.Load) and place + 1 == len(path):
                    raise TextError(f"{self._place}: {'.'.join(path)} is given a new value; only arrays can change")
                read: ast.expr = self._name(root.id, ".".join(path[: place + 1]))
                for rest in path[place + 1 :]:
                    read = ast.Attribute(read, rest, ast.Load())
                return read
        if hasattr(found, "py_func") or isinstance(found, FunctionType):
            name = path[-1]
            while self._space.setdefault(name, found) is not found:
                name += "_"
            return ast.Name(name, ast.Load())
        kind = type(found).__name__
        raise TextError(f"{self._place}: {'.'.join(path)} is of type {kind}, and neither an array nor a number")

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        path, root = _path(node.value)
        if isinstance(root, ast.Name) and root.id in self._objects:
            found = self._objects[root.id]
            for name in path:
                found = getattr(found, name, None)
            if isinstance(found, list) and found and all(isinstance(one, np.random.Generator) for one in found):
                if not self._of_one:
                    raise OneAgentError(f"{self._place}: {'.'.join(path)} are the generators of several agents")
                if not isinstance(node.slice, ast.Name) or node.slice.id != "agent":
                    raise TextError(f"{self._place}: of {'.'.join(path)} only that of the agent can be used")
                return self._name(root.id, ".".join(path) + PER_AGENT)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._objects:
            raise TextError(f"{self._place}: an object can only be read, or given to functions of Python")
        return node

    def _name(self, argument: str, path: str) -> ast.Name:
        plain = path.removesuffix(PER_AGENT).replace(".", "_")
        return ast.Name(self.names.setdefault((argument, path), f"{argument}_{plain}"), ast.Load())


def _is_known(node: ast.expr) -> TypeGuard[ast.Constant]:
    """Return whether *node* is `True` or `False`; what it is joined with by `and` or `or` is one of these, too."""
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _folded(node: ast.expr) -> ast.expr:
    """Return *node*, or its value if that is known; nothing in a text that has a known value has effects."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
        return ast.Constant(not node.operand.value)
    if isinstance(node, ast.BoolOp):
        decides = isinstance(node.op, ast.Or)
        values = [one for one in node.values if not _is_known(one) or one.value is decides]
        if any(map(_is_known, values)):
            return ast.Constant(decides)
        return ast.BoolOp(node.op, values) if len(values) > 1 else values[0] if values else ast.Constant(not decides)
    if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Constant):
        return node.body if node.test.value else node.orelse
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = node.left, node.comparators[0]
        if all(isinstance(one, ast.Constant) for one in sides):
            return ast.Constant(eval(compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval")))
        if isinstance(node.ops[0], ast.Is) and all(isinstance(one, ast.Name) for one in sides):
            return ast.Constant(True) if ast.dump(sides[0]) == ast.dump(sides[1]) else node
    return node


def _simplify(tree: ast.FunctionDef, fresh: set[str]) -> None:
    """Replace names in *fresh* that stand for another name, or a constant, and leave out what follows from that."""
    while True:
        stored: dict[str, list[int]] = {argument.arg: [-1] for argument in tree.args.args}
        loaded: dict[str, list[int]] = {}
        aliases: dict[str, tuple[int, ast.expr]] = {}
        for place, node in enumerate(_in_order(tree)):
            if isinstance(node, ast.Name):
                (loaded if isinstance(node.ctx, ast.Load) else stored).setdefault(node.id, []).append(place)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Constant):
                target = node.targets[0]
                if len(node.targets) == 1 and isinstance(target, ast.Name) and target.id in fresh:
                    aliases[target.id] = place, node.value

        given = {name: value for name, (place, value) in aliases.items() if _stays(name, place, value, stored, loaded)}
        unused = {name for name in fresh if name in stored and name not in loaded}
        simplifier = _Simplifier(given, unused)
        simplifier.inside(tree)
        if not simplifier.changed:
            return


def _stays(
    name: str, place: int, value: ast.expr, stored: Mapping[str, list[int]], loaded: Mapping[str, list[int]]
) -> bool:
    """Return whether *name*, given at a *place*, stands for *value* wherever it is read.

    Args:
        name: The name.
        place: Where it is given the value.
        value: A name, or a constant.
        stored: For each name the places where it is given a value,
        loaded: and where it is read.
    """
    if len(stored[name]) > 1 or min(loaded.get(name, [place])) < place:
        return False
    before = stored.get(value.id, [-1]) if isinstance(value, ast.Name) else [-1]
    return len(before) == 1 and before[0] < place


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def _fields(node: ast.AST) -> tuple[str, ...]:
    """Return where expressions and statements are in *node*, in the order in which they happen.

    A value comes before what it is assigned to.
    """
    kind = type(node)
    if kind not in _FIELDS:
        others = node._fields if kind is ast.Constant else ("ctx", "op", "ops", "id", "attr", "arg")
        fields = [name for name in node._fields if name not in others]
        assigns = isinstance(node, ast.Assign | ast.AugAssign)
        _FIELDS[kind] = tuple(sorted(fields, key=lambda name: assigns and name != "value"))
    return _FIELDS[kind]


def _copied(node: ast.expr) -> ast.expr:
    """Return a copy of *node*, which is nearly always a constant."""
    return ast.Constant(node.value) if type(node) is ast.Constant else deepcopy(node)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in *node* in the order in which it happens."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        for name in reversed(_fields(node)):
            value = getattr(node, name, None)
            if isinstance(value, list):
                waiting += value[::-1]
            elif isinstance(value, ast.AST):
                waiting.append(value)


class _Simplifier:
    """Puts what names stand for in their place, and leaves out what is never reached or used.

    Args:
        given: What names stand for.
        unused: The names that nobody reads.
    """

    def __init__(self, given: Mapping[str, ast.expr], unused: set[str]) -> None:
        self._given, self._unused = given, unused
        self.changed = False

    def inside(self, node: ast.AST) -> None:
        """Simplify what is in *node*."""
        for name in _fields(node):
            value = getattr(node, name, None)
            if isinstance(value, list):
                value[:] = [one for old in value for one in self._simplified(old)]
                if not value and name == "body":
                    value.append(ast.Pass())
            elif isinstance(value, ast.AST):
                (new,) = self._simplified(value)
                setattr(node, name, new)

    def _simplified(self, node: ast.AST) -> Sequence[ast.AST]:
        """Return what comes in the place of *node*: of an expression one, of a statement any number."""
        if isinstance(node, ast.Name):
            return [self._name(node)]
        if isinstance(node, ast.Assign) and self._is_left_out(node):
            self.changed = True
            return []
        self.inside(node)
        if isinstance(node, ast.If):
            if isinstance(node.test, ast.Constant):
                self.changed = True
                return node.body if node.test.value else node.orelse
            if all(isinstance(one, ast.Pass) for one in node.body):
                node.body = [ast.Pass()]
        if not isinstance(node, ast.expr):
            return [node]
        folded = _folded(node)
        self.changed = self.changed or (folded is not node and ast.dump(folded) != ast.dump(node))
        return [folded]

    def _name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._given or not isinstance(node.ctx, ast.Load):
            return node
        self.changed = True
        value: ast.expr = node
        while isinstance(value, ast.Name) and value.id in self._given:
            value = self._given[value.id]
        return _copied(value)

    def _is_left_out(self, node: ast.Assign) -> bool:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Name):
            return False
        if target.id in self._given:
            return True
        return target.id in self._unused and not any(isinstance(one, ast.Call) for one in ast.walk(node.value))


def _returns(statement: ast.AST) -> bool:
    if isinstance(statement, ast.If | ast.For | ast.While):
        return any(map(_returns, statement.body)) or any(map(_returns, statement.orelse))
    return isinstance(statement, ast.Return)


def _leaves(statements: Sequence[ast.stmt]) -> bool:
    """Return whether nothing that follows on *statements* is ever reached."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break)


def _without_returns(statements: Sequence[ast.stmt], target: ast.expr | None) -> list[ast.stmt]:
    """Return *statements* that put into *target* what they would return; what follows a return is in its `else`."""

    def put(value: ast.expr | None) -> list[ast.stmt]:
        if target is not None:
            return [ast.Assign([_Written(_stored(target))], value or ast.Constant(None))]
        return [] if value is None or isinstance(value, ast.Constant | ast.Name) else [ast.Expr(value)]

    found: list[ast.stmt] = []
    for place, statement in enumerate(statements):
        if isinstance(statement, ast.Return):
            return [*found, *(ast.copy_location(one, statement) for one in put(statement.value))]
        if isinstance(statement, ast.If) and _returns(statement):
            rest = list(statements[place + 1 :])
            branches = (
                _without_returns(branch if _leaves(branch) else [*branch, *rest], target)
                for branch in (statement.body, statement.orelse)
            )
            body, orelse = branches
            return [*found, ast.copy_location(ast.If(statement.test, body or [ast.Pass()], orelse), statement)]
        found.append(statement)
    return [*found, *([] if target is None or _leaves(found) else put(None))]


def _stored(target: ast.expr) -> ast.expr:
    stored = deepcopy(target)
    stored.ctx = ast.Store()  # type: ignore[attr-defined]
    return stored
