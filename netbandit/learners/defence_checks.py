"""Checks before a run: whether a defence has enough agents, and how many Byzantine agents it tolerates."""

from typing import Any

from netbandit.learners.defence import Defence
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.util.text import pluralize


def defence_checks(learner: Any, others: Others) -> Checks:
    """Yield a defence of sums for which too few are put together, and one that has no effect.

    Args:
        learner: A learner with the keys ``robust`` and ``tolerate``.
        others: The other parts.
    """
    if learner.robust == "mean":
        if learner.tolerate is not None:
            yield Note("tolerate", 'is not used with robust = "mean"')
        return
    if others.protocol.isolated:
        yield Note("robust", "has no effect: nobody hears of others")
        return
    if learner.robust in ("median", "geometric") and learner.tolerate is not None:
        yield Note("tolerate", f'robust = "{learner.robust}" withstands what it can: only what is noted depends on it')
    yield from enough_contributions(
        Defence(learner.robust, others.liars if learner.tolerate is None else learner.tolerate),
        others.protocol.fewest_together(others.graph),
    )
    yield from more_liars_than_withstood(learner.tolerate, others.liars)


def enough_contributions(defence: Defence, heard: int) -> Checks:
    """Yield a defence that needs more contributions than the number *heard*, or one against half of them."""
    if defence.least > heard and defence.rule != "median":
        key = "groups" if defence.rule == "median-of-means" else "tolerate"
        text = f'robust = "{defence.rule}" with {pluralize(defence.tolerate, "liar")} to withstand needs'
        yield Mistake(key, f"{text} {defence.least} contributions, and there are {heard} at one place")
    elif 2 * defence.tolerate >= heard:
        yield Note("tolerate", half_of(defence, heard))


def half_of(defence: Defence, heard: int) -> str:
    """Return what is to be said of a defence against half of those that are *heard*, or more."""
    return f"{defence.tolerate} of {heard} are half of all, or more, against which nothing helps"


def more_liars_than_withstood(tolerate: int | None, liars: int) -> Checks:
    """Yield more *liars* than the number that was written for a defence to *tolerate*."""
    if tolerate is not None and liars > tolerate:
        yield Note("tolerate", f"{pluralize(liars, 'agent')} lie, more than are to be withstood")
