"""One point of a sweep, as shared by all packages; runnable points add its parts, finished ones its results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netbandit.util.key_paths import lookup


@dataclass(frozen=True)
class Point:
    """One point of a sweep: everything that determines its results, as text and numbers.

    Attributes:
        parameters: The keys varied by the sweep or ``--set``: dotted key -> value.
        resolved: The whole scenario with every default filled in; empty where that is not known.
        inputs: The files whose content affects the results, by the dotted key that names each.
        identities: The fingerprints of user classes, by the dotted key that names each; None if there is none that is
            stable.
    """

    parameters: dict[str, Any]
    resolved: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Path] = field(default_factory=dict)
    identities: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def effective(self) -> Mapping[str, Any]:
        """The resolved scenario without keys that have no effect; equal scenarios have equal runs."""
        return self.resolved

    def value(self, key: str, absent: Any = None) -> Any:
        """Return the sweep's value of a dotted *key*, else the scenario's or its default; else *absent*."""
        return self.parameters[key] if key in self.parameters else lookup(self.resolved, key, absent)
