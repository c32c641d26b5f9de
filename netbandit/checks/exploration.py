"""Compares the learners' exploration bonuses (alpha) and knowledge: regrets are comparable only if these are equal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FIXED = ("klucb", "dec-ucb")
"""Learners without a key for alpha."""


def bonus_alpha(learner: Mapping[str, Any]) -> float | None:
    """Return alpha of the bonus ``sigma sqrt(2 alpha ln tau / n)`` that a single agent adds to the mean of n pulls.

    For ``coop-ucb2`` it is the limit for large n, gamma / G. For ``klucb`` it is exact with Gaussian rewards and an
    upper bound with others (Pinsker's inequality). None if a learner has no such bonus.

    Args:
        learner: The table ``learner`` of a scenario with every default filled in.
    """
    match learner.get("kind"):
        case "ucb" | "gosine" | "dducb":
            return float(learner["exploration"])
        case "coop-ucb2":
            margin = 1.0 if learner.get("index") == "coop-ucb" else 1 - float(learner.get("eta", 0.0)) ** 2 / 16
            return float(learner["exploration"]) / margin
        case "klucb":
            return 1.0
        case "dec-ucb":
            return 8 / 3 if learner.get("theorem") == 1 else 6.0
    return None


def unequal_learners(learners: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return warnings if the regrets of *learners*, tables as below, are not comparable."""
    return [*filter(None, [unequal_exploration(learners), unequal_knowledge(learners)])]


def unequal_knowledge(learners: Iterable[Mapping[str, Any]]) -> str:
    """Return a warning if some of *learners*, tables as below, are told the gap of the instance and others are not."""
    told = {learner.get("gap") == "true" and learner.get("rounds") is not None for learner in learners}
    if len(told) < 2:
        return ""
    return (
        'learner.gap = "true" tells some learners the smallest gap of the instance, which is not known beforehand, and '
        "others not: lower regret may come from that; a number tells them nothing"
    )


def unequal_exploration(learners: Iterable[Mapping[str, Any]]) -> str:
    """Return a warning if *learners* of several kinds are compared that share no common bonus.

    Args:
        learners: The tables ``learner`` of some points, with every default filled in.

    Returns:
        A sentence that names the bonuses and how to equalize them; empty if all kinds have a bonus in common.
    """
    tables = [table for table in learners if bonus_alpha(table) is not None]
    found: dict[str, set[float]] = {}
    for table in tables:
        found.setdefault(str(table["kind"]), set()).add(round(bonus_alpha(table) or 0.0, 4))
    if len(found) < 2 or set.intersection(*found.values()):
        return ""
    text = ", ".join(f"{kind} {' or '.join(f'{alpha:g}' for alpha in sorted(found[kind]))}" for kind in found)
    fixed = [kind for kind in _FIXED if kind in found]
    values = sorted({alpha for kind in fixed for alpha in found[kind]})
    if not fixed:
        values = [min(float(table["exploration"]) for table in tables)]
    text = f"exploration bonuses differ, and so does regret: {text} (alpha of sigma sqrt(2 alpha ln t / n))"
    if len(values) > 1:
        return f"{text}; {' and '.join(fixed)} have no key to equalize them"
    eta = ", with learner.eta = 0 for coop-ucb2," if "coop-ucb2" in found else ""
    return f"{text}; learner.exploration = {values[0]:g} for all{' others' if fixed else ''}{eta} equalizes them"
