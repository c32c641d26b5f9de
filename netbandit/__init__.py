"""netbandit: a discrete-event simulator of agents that learn together over a network.

From Python, ``netbandit.run("scenario.toml")`` runs a scenario, ``netbandit.sweep("scenario.toml", topology__agents=[9,
99])`` a grid of them, and ``netbandit.load_results("results/scenario")`` reads what one left behind; all return a
table, and ``netbandit.compare(table, "regret")`` the differences between its points.
"""

from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "Kind": "netbandit.network.message",
    "Learner": "netbandit.learners.slots",
    "Mechanism": "netbandit.auditing.mechanisms",
    "PrivacySpent": "netbandit.privacy.accountant",
    "audit": "netbandit.api.auditing",
    "RoundProtocol": "netbandit.protocols.rounds",
    **dict.fromkeys(("compare", "load_results", "run", "sweep"), "netbandit.api"),
}


def __getattr__(name: str) -> Any:
    """Import what takes time when it is asked for."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
