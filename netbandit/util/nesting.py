"""Recursion limits for reading files that may be deeply nested."""

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from netbandit.util.memory import paused_collection


class TooDeepError(ValueError):
    """The nesting exceeds Python's recursion limit."""

    def __init__(self) -> None:
        super().__init__("nested too deeply")


@contextmanager
def any_depth() -> Iterator[None]:
    """Raise a `TooDeepError` if calls in the context exceed the recursion limit.

    Meanwhile no garbage is collected. What is called then, such as the callbacks of weak references, would find no room
    for calls either, and Python reports their errors where they cannot be caught.
    """
    with paused_collection():
        try:
            yield
        except RecursionError:
            raise TooDeepError from None


def read_toml(text: str) -> dict[str, Any]:
    """Return what a *text* of TOML says.

    Raises:
        TooDeepError: It is nested too deeply.
        tomllib.TOMLDecodeError: It is no TOML.
    """
    with any_depth():
        return tomllib.loads(text)


def read_json(content: str | bytes, **options: Any) -> Any:
    """Return what JSON says.

    Args:
        content: The JSON.
        options: See `json.loads`.

    Raises:
        TooDeepError: It is nested too deeply.
        ValueError: It is no JSON.
    """
    with any_depth():
        return json.loads(content, **options)
