"""Communication protocols: who sends what to whom, and when a round ends."""

from typing import Any

from netbandit.parts import registry


def __getattr__(name: str) -> Any:
    """Import a protocol that can be named in a scenario when it is asked for."""
    return registry.class_called("protocol", name)


def __dir__() -> list[str]:
    return sorted([*globals(), *registry.class_names("protocol")])
