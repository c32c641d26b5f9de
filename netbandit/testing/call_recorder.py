"""Records calls of the methods of a part and what they return, to name the first thing in which two runs differ."""

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from hashlib import blake2b
from itertools import zip_longest
from types import FunctionType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from netbandit.network.link import Channel
from netbandit.network.message import Message
from netbandit.network.trace_writer import Trace
from netbandit.user_code.errors import is_ours

_FACTS = ("slot", "epoch", "round", "agent", "node", "user")
"""Arguments that say where in a run a method is called."""


class Entry(NamedTuple):
    """Something that a part did.

    Attributes:
        place: The method, and where in the run: ``Mine.round (agent 2, round 1)``.
        text: What it was, in words.
        content: What it was, whole.
    """

    place: str
    text: str
    content: str = ""


class CallRecorder:
    """Records the calls of some parts' methods in a run, in order.

    Attributes:
        entries: What they returned, and the messages that they sent.
        changed: What was different after a method was called, of all that it was given.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.changed: list[Entry] = []
        self._places: list[str] = []

    def wrapped(self, owner: str, function: FunctionType) -> Callable[..., Any]:
        """Return a method that does what *function* does, and enters it."""
        signature = inspect.signature(function)

        @wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            arguments = signature.bind(*given, **named).arguments
            place = f"{owner}.{function.__name__}{facts(arguments)}"
            arrays = {name: array for name, array in arguments.items() if isinstance(array, np.ndarray)}
            before = {name: content(array) for name, array in arrays.items()}
            self._places.append(place)
            try:
                returned = function(*given, **named)
            finally:
                self._places.pop()
            self.changed += [
                Entry(place, f"its argument {name} is changed")
                for name, array in arrays.items()
                if content(array) != before[name]
            ]
            if isinstance(returned, Generator):
                return self._followed(returned, place)
            self.entries.append(Entry(place, f"returns {shown(returned)}", content(returned)))
            return returned

        return called

    def _followed(self, coroutine: Generator[Any, Any, Any], place: str) -> Generator[Any, Any, Any]:
        heard = None
        while True:
            self._places.append(place)
            try:
                wanted = coroutine.send(heard)
            except StopIteration as stop:
                self.entries.append(Entry(place, f"returns {shown(stop.value)}", content(stop.value)))
                return stop.value
            finally:
                self._places.pop()
            self.entries.append(Entry(place, f"waits {wanted}"))
            heard = yield wanted

    def sends(self, channel: Channel, message: Message, sent: int) -> None:
        """Enter a message."""
        ends = f"from {channel.sender} to {channel.receiver}"
        text = f"sends {message.kind.name} of {message.size} bytes {ends} in round {message.round}, at {sent} ns"
        self.entries.append(Entry(self._places[-1] if self._places else "", text))


@contextmanager
def kept(kind: type) -> Iterator[CallRecorder]:
    """Record all that parts of a class do while this lasts, and the messages of runs with a trace."""
    recorder = CallRecorder()
    hop = Trace.hop

    def recorded(trace: Trace, channel: Channel, message: Message, put_at: int, *times: Any, **how: Any) -> None:
        recorder.sends(channel, message, put_at)
        hop(trace, channel, message, put_at, *times, **how)

    with ExitStack() as stack:
        stack.enter_context(patch.object(Trace, "hop", recorded))
        for name, function in _methods(kind):
            stack.enter_context(patch.object(kind, name, recorder.wrapped(kind.__qualname__, function)))
        yield recorder


def first_difference(one: CallRecorder, other: CallRecorder) -> tuple[str, str] | None:
    """Return where two diaries begin to differ, and in what; None if they do not."""
    for mine, yours in zip_longest(one.entries, other.entries):
        if mine != yours:
            entry = mine or yours
            texts = [found.text if found is not None else "does nothing more" for found in (mine, yours)]
            if texts[0] == texts[1]:  # in what is not shown
                texts[1] = "something else of the same form"
            place = entry.place if mine is None or yours is None or mine.place == yours.place else mine.place
            return place, f"it {texts[0]}, and then {texts[1]}"
    return None


def _methods(kind: type) -> Iterator[tuple[str, FunctionType]]:
    """Yield the methods of a part that a run calls: those that its own class and others' classes have."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if base is not kind and is_ours(base):
            continue  # a base: what a class has of it tells how its agents talk
        for name, found in vars(base).items():
            if isinstance(found, FunctionType) and not name.startswith(("_", "model_")) and name not in seen | _APART:
                seen.add(name)
                yield name, found


_APART = {"check", "check_with", "table", "fresh", "files", "outline"}
"""Methods that are called before a run."""


def facts(arguments: Mapping[str, Any]) -> str:
    """Return where in a run a method is called, as far as its arguments say it: `` (agent 2, round 1)``."""
    me: Any = arguments.get("me")
    found = {"agent": me.id, "round": me.round} if hasattr(me, "id") and hasattr(me, "round") else {}
    found |= {name: arguments[name] for name in _FACTS if isinstance(arguments.get(name), int | np.integer)}
    return f" ({', '.join(f'{name} {value}' for name, value in found.items())})" if found else ""


def shown(value: Any) -> str:
    """Return what a value is, on a line, shortened where it is long."""
    if isinstance(value, np.ndarray):
        few = " ".join(f"{number:.6g}" if value.dtype.kind == "f" else str(number) for number in value.flat[:8])
        return f"[{few}{' ...' if value.size > 8 else ''}]"
    text = type(value).__name__ if _is_plain_object(value) else repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def content(value: Any) -> str:
    """Return a text that is another one for each content: of numbers, texts and arrays, in whatever they are held."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return content(value.tolist())
        digest = blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8).hexdigest()
        return f"{value.dtype} {value.shape} {digest}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{content(key)}: {content(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(content, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(content, value)))}}}"
    if hasattr(value, "__dict__") and not isinstance(value, type | FunctionType) and not _is_plain_object(value):
        return f"{type(value).__name__}{content(vars(value))}"
    return type(value).__name__ if _is_plain_object(value) else repr(value)


def _is_plain_object(value: Any) -> bool:
    """Return whether an object's text is its address, which says nothing."""
    return f" at 0x{id(value):x}" in repr(value)
