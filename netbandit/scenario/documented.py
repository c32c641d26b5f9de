"""What the docstring of a table of keys says of each key, for editors."""

import inspect
import re
from collections.abc import Iterator

from pydantic import BaseModel

_KEY = re.compile(r"^    ([a-z_, ]+): (.*)$")


def documented(model: type[BaseModel]) -> dict[str, str]:
    """Return key -> description, from the ``Attributes:`` sections of *model* and of what it inherits from."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        found.update(_attributes(inspect.cleandoc(one.__dict__.get("__doc__") or "")))
    return found


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    _, _, section = text.partition("Attributes:\n")
    names: list[str] = []
    words: list[str] = []
    for line in [*section.splitlines(), "    end: "]:
        start = _KEY.match(line)
        if start is None and line.startswith("        "):
            words.append(line.strip())
            continue
        yield from ((name, " ".join(words).replace("``", "")) for name in names)
        if start is None:
            return
        names, words = start.group(1).split(", "), [start.group(2)]
