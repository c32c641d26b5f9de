"""Checks of ``run.until`` and ``run.idle``: see `facts`."""

from collections.abc import Iterator
from math import ceil, sqrt

from netbandit.conditions.facts import Facts
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.learners.slots import Learner
from netbandit.parts.settings import Problem
from netbandit.util.wording import show

_LEVEL, _POWER = 1.645, 0.842
"""Quantiles of the normal law: of a one-sided test at 5 %, and of one that succeeds in 80 %."""


def stops(learner: AnyLearner) -> bool:
    """Return whether agents of *learner* may answer for good before the horizon."""
    return isinstance(learner, EpochLearner) or (isinstance(learner, Learner) and learner.has("stopped"))


def enough(delta: float) -> int:
    """Return from how many replications on a probability *delta* is told from twice as much."""
    return ceil(((_LEVEL * sqrt(2 * delta * (1 - 2 * delta)) + _POWER * sqrt(delta * (1 - delta))) / delta) ** 2)


def problems(facts: Facts) -> Iterator[Problem]:
    """Yield learners that never answer for good, and what agents that have cannot leave to others."""
    run, kind = facts.run, show(facts.kinds["learner"])
    asked = {"until": run.until == "answered", "idle": run.idle}
    if not stops(facts.learner):
        way = f'leave it out with learner.kind = {kind}, which never answers for good; "race" and "elimination" do'
        yield from ((("run", key), way) for key, used in asked.items() if used)
        return
    if not run.idle:
        return
    if run.activity != "every":
        yield ("run", "idle"), 'needs run.activity = "every"'
    learner = facts.learner
    if isinstance(learner, Learner) and learner.communication_pattern() not in (None, "broadcast"):
        way = f"leave it out with learner.kind = {kind}, whose agents need what all the others have"
        yield ("run", "idle"), f"{way}: who decides no more has nothing to share; only broadcasts can be some's"


def notes(facts: Facts) -> Iterator[Problem]:
    """Yield replications that are too few to tell a probability of error from twice as much."""
    delta = getattr(facts.learner, "confidence", None)
    if delta is None or not stops(facts.learner):
        return
    least = enough(delta)
    if facts.run.replications < least:
        text = f"about {least:,} replications tell wrong_any = {delta:g} (learner.confidence) from {2 * delta:g}"
        yield ("run", "replications"), text
