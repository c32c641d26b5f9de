"""Searching for the best values of some keys, from Python and for the command."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from netbandit.api.running import AnyScenario, document_of
from netbandit.checks.check import check
from netbandit.parts.arguments import whole
from netbandit.results.metrics import best_is, catalogue
from netbandit.running.candidates import ScenarioMeasure
from netbandit.running.search import Range, Search, SearchError, SearchResult
from netbandit.scenario.load import Document
from netbandit.simulation.result import Metric
from netbandit.util.units import Duration
from netbandit.util.wording import did_you_mean, show

Objective = Callable[[Mapping[str, Metric]], float]
"""Returns the number to minimize or maximize, from the metrics of a run."""

Objectives = str | Sequence[str] | Objective
"""A metric, several, or a function of the metrics of a run."""


def optimize(
    scenario: AnyScenario,
    over: Mapping[str, Any],
    *,
    minimize: Objectives | None = None,
    maximize: Objectives | None = None,
    within: Mapping[str, float] | None = None,
    trials: int = 50,
    budget: str | None = None,
    replications: int = 5,
    most: int = 80,
    final: int = 30,
    jobs: int = 1,
    out: str | PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
    **overrides: Any,
) -> SearchResult:
    """Search for the values of some keys at which a metric is best, and measure the winner again with fresh seeds.

    All candidates have the same seeds; those close to the best get more replications. Of several metrics the result is
    the front: all candidates that none is better than in each. A search goes on from where an interrupted one with the
    same folder has come to.

    Args:
        scenario: As for `run`, of one point.
        over: Keys and the values that each may have: ``"0.1..10"``, ``"1 ms..1 s log"``, or a list.
        minimize: A metric, several, or a function of the metrics of a run; the regret if nothing is given.
        maximize: The same of what is to be as high as possible, such as ``reward`` or ``alive``.
        within: Metrics with the largest mean that a winner may have, such as ``{"bytes": 400_000}``. Candidates whose
            mean over their replications exceeds it are not chosen; with fresh seeds the winner may still exceed it.
        trials: The number of candidates tried; at most all.
        budget: A time such as ``"30 min"`` after which no further candidate begins.
        replications: The initial number of replications of each candidate.
        most: The largest number.
        final: With how many the winners are measured again.
        jobs: As for `run`.
        out: The folder of the search; if not given ``results/NAME-search``.
        tell: A function that takes a line of progress.
        overrides: Keys of the scenario to set, with ``__`` for each dot.

    Returns:
        The winners with the mean of each metric, in ``winners``, and of each in *within* in their ``limited``; the
        values of the first in ``best``.

    Raises:
        ScenarioError: The scenario has mistakes.
        SearchError: A range, metric or limit cannot be, a metric whose highest value is the best is to be minimized,
            the folder holds another search, no candidate runs, or none is within the limits.
    """
    return search(
        lambda values: document_of(
            scenario, overrides | {key.replace(".", "__"): value for key, value in values.items()}
        ),
        over,
        minimize=[] if minimize is None else minimize,
        maximize=[] if maximize is None else maximize,
        within=within or {},
        numbers={"trials": trials, "first": replications, "most": most, "final": final},
        budget=budget,
        jobs=whole("jobs", jobs, 0),
        out=out,
        tell=tell,
    )


def search(
    document: Callable[[Mapping[str, Any]], Document],
    over: Mapping[str, Any],
    *,
    minimize: Objectives,
    maximize: Objectives,
    within: Mapping[str, Any],
    numbers: Mapping[str, int],
    budget: str | None,
    jobs: int,
    out: str | PathLike[str] | None,
    tell: Callable[[str], None],
) -> SearchResult:
    """Search over a scenario that is given as a function of some keys and their values; see `optimize`."""
    ranges = [Range.read(key, given) for key, given in over.items()]
    if not ranges:
        raise SearchError("a search needs a key to search over, such as --over 'links.peer.latency=1 ms..50 ms'")
    for name, least in (("trials", 1), ("first", 2), ("final", 2)):
        whole({"first": "replications"}.get(name, name), numbers[name], least)
    goals = [*_goals(minimize, 1), *_goals(maximize, -1)] or _goals("regret", 1)
    metrics = [(goal, sign) for goal, sign in goals if isinstance(goal, str)]
    for metric in [*(metric for metric, _ in metrics), *within]:
        if metric not in catalogue():
            raise SearchError(f"there is no metric {metric}{did_you_mean(metric, list(catalogue()))}")
    for metric, sign in metrics:
        if sign > 0 and best_is(metric) == "highest":
            raise SearchError(f"--minimize {metric}: the highest {metric} is the best: --maximize {metric}")
    limits = {metric: _limit(metric, given) for metric, given in within.items()}
    first = document({one.key: (one.values or (one.written(one.low),))[0] for one in ranges})
    points = check(first).points
    if len(points) != 1:
        raise SearchError("a search takes a scenario of one point: leave out its sweep, or search over its keys")
    resolved = points[0].resolved
    folder = Path(out) if out is not None else Path("results") / f"{first.data['name']}-search"
    end = None if budget is None else time.monotonic() + _seconds(budget)
    seed = int(resolved["run"]["seed"])

    def figures(found: Mapping[str, Metric]) -> Sequence[float | None]:
        objectives = [found.get(goal) if isinstance(goal, str) else goal(found) for goal, _ in goals]
        return [*objectives, *(found.get(metric) for metric in limits)]

    return Search(
        ranges,
        [sign for _, sign in goals],
        ScenarioMeasure(document, figures, folder, seed, jobs),
        folder,
        {
            "over": {one.key: repr(one) for one in ranges},
            "minimize": [goal if isinstance(goal, str) else "own" for goal, sign in goals if sign > 0],
            "maximize": [goal if isinstance(goal, str) else "own" for goal, sign in goals if sign < 0],
            "seed": seed,
            "first": numbers["first"],
            **({"within": limits} if limits else {}),
        },
        **numbers,
        seed=seed,
        within=limits,
        over=lambda: end is not None and time.monotonic() > end,
        tell=tell,
    ).run()


def _goals(given: Objectives, sign: int) -> list[tuple[str | Objective, int]]:
    """Return each objective with *sign*: 1 if it is minimized, -1 if it is maximized."""
    return [(goal, sign) for goal in ([given] if isinstance(given, str) or callable(given) else given)]


def _limit(metric: str, given: Any) -> float:
    try:
        limit = float(given)
    except (TypeError, ValueError):
        limit = math.nan
    if not math.isfinite(limit):
        raise SearchError(f"--within {metric}: must be a number, such as 1000, not {show(given)}")
    return limit


def _seconds(budget: str) -> float:
    try:
        found = Duration(budget)
    except ValueError as error:
        raise SearchError(f"budget {error}") from None
    if found.in_slots:
        raise SearchError("budget must be a time, such as 30 min: there are no slots here")
    return float(found.amount) / 1e9
