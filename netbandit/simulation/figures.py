"""Validates the metrics that learners, bandits and protocols add to those of every run; names must be unique."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from netbandit.simulation.result import Metric
from netbandit.simulation.return_validation import LARGEST, described
from netbandit.user_code.errors import ReturnedError

OF_EVERY_RUN = frozenset({
    "regret", "regret_per_agent", "regret_per_decision", "decisions", "rounds", "round_slots", "cost", "activations",
    "messages", "bytes", "energy_j", "delivered", "lost", "duplicates", "duplicates_dropped", "in_flight",
    "retransmissions", "given_up", "stalled", "waiting_slots", "absent_slots", "availability", "simulated_s", "epsilon",
    "delta", "epsilon_claimed", "epsilon_basic_composition", "delta_basic_composition", "broadcasts", "events",
    "wall_s", "broadcast_copies", "broadcasts_missed", "may_stall",
})  # fmt: skip
"""Metric names reserved for every run."""


def figures_of(part: object, figures: Any, taken: Collection[str] = (), method: str = "figures") -> dict[str, Metric]:
    """Return *figures* of a *part* as plain numbers; infinities are allowed here.

    Args:
        part: What gives them, for messages.
        figures: Number by name.
        taken: Names that others have given to theirs, besides those of every run.
        method: What returned them, for messages.

    Raises:
        ReturnedError: What is no name, or no number that results can hold; or a name that is taken.
    """
    owner = f"{type(part).__qualname__}.{method}"
    if not isinstance(figures, Mapping):
        raise ReturnedError(f"{owner} must return a dictionary of numbers, not {described(figures)}")
    found: dict[str, Metric] = {}
    for name, value in figures.items():
        if not isinstance(name, str) or not name or not name.isprintable():
            text = repr(name) if isinstance(name, str) else described(name)
            raise ReturnedError(f"{owner} must give each figure a name, a printable text, not {text}")
        if name in OF_EVERY_RUN or name in taken:
            raise ReturnedError(f"{owner} must give its figures names of their own: {name} is one of the run's")
        number = value.item() if isinstance(value, np.generic) else value
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise ReturnedError(f"{owner} must give numbers, or None: {name} is {described(value)}")
        if isinstance(number, int) and abs(number) > LARGEST:
            raise ReturnedError(f"{owner} must give numbers of at most 64 bits: {name} is {described(value)}")
        found[name] = number
    return found
