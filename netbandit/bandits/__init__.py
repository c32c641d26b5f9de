"""Bandits: the environments that return a reward for each action."""

from typing import Any

from netbandit.parts import registry


def __getattr__(name: str) -> Any:
    """Import a bandit that can be named in a scenario when it is asked for."""
    return registry.class_called("bandit", name)


def __dir__() -> list[str]:
    return sorted([*globals(), *registry.class_names("bandit")])
