"""Learners: how agents choose arms, what they share, and how they use received messages."""

from typing import Any

from netbandit.parts import registry


def __getattr__(name: str) -> Any:
    """Import a learner that can be named in a scenario when it is asked for."""
    return registry.class_called("learner", name)


def __dir__() -> list[str]:
    return sorted([*globals(), *registry.class_names("learner")])
