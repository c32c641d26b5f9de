"""netbandit: a discrete-event simulator of agents that learn together over a network.

From Python, ``netbandit.run("scenario.toml")`` runs a scenario and ``netbandit.load_results("results/scenario")``
reads what one left behind; both return a table.
"""

from typing import Any

__version__ = "0.1.0"

_LAZY = ("load_results", "run")


def __getattr__(name: str) -> Any:
    """Import what takes time when it is asked for."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module("netbandit.study.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
