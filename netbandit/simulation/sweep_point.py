"""One point of a sweep, as shared by all packages; runnable points add its parts, finished ones its results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netbandit.util.key_paths import lookup


@dataclass(frozen=True)
class Point:
    """One point of a sweep: all that decides its numbers, as text and numbers.

    Attributes:
        parameters: What the sweep or ``--set`` varied: dotted key -> value.
        resolved: The whole scenario with every default filled in; empty where that is not known.
        inputs: The files whose content decides the numbers, by the dotted key that names each.
        identities: What stands for the classes of the user's own, by the dotted key that names each: a digest of all
            that it can see; None where that cannot be told from something else.
    """

    parameters: dict[str, Any]
    resolved: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Path] = field(default_factory=dict)
    identities: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def effective(self) -> Mapping[str, Any]:
        """The resolved scenario without keys on which nothing depends: where it is the same, runs are equal."""
        return self.resolved

    def value(self, key: str, absent: Any = None) -> Any:
        """Return what the sweep made of a dotted *key*, else what the scenario says or its default; else *absent*."""
        return self.parameters[key] if key in self.parameters else lookup(self.resolved, key, absent)
