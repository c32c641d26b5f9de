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
from netbandit.results.metrics import METRICS, best_is
from netbandit.running.candidates import ScenarioMeasure
from netbandit.running.search import Range, Search, SearchError, SearchResult
from netbandit.scenario.load import Document
from netbandit.simulation.result import Metric
from netbandit.util.units import Duration
from netbandit.util.wording import did_you_mean, show

Objective = Callable[[Mapping[str, Metric]], float]
"""Returns the number to minimize, from the metrics of a run."""


def optimize(
    scenario: AnyScenario,
    over: Mapping[str, Any],
    *,
    minimize: str | Sequence[str] | Objective = "regret",
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
        minimize: A metric, several, or a function of the metrics of a run. Of metrics whose highest value is the best,
            such as ``reward``, that is looked for.
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
        SearchError: A range, metric or limit cannot be, the folder holds another search, no candidate runs, or none is
            within the limits.
    """
    return search(
        lambda values: document_of(
            scenario, overrides | {key.replace(".", "__"): value for key, value in values.items()}
        ),
        over,
        minimize=minimize,
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
    minimize: str | Sequence[str] | Objective,
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
        raise SearchError("a search needs a key to search over, such as --over learner.alpha=0.1..10")
    for name, least in (("trials", 1), ("first", 2), ("final", 2)):
        whole({"first": "replications"}.get(name, name), numbers[name], least)
    metrics = [] if callable(minimize) else [minimize] if isinstance(minimize, str) else list(minimize)
    for metric in [*metrics, *within]:
        if metric not in METRICS:
            raise SearchError(f"there is no metric {metric}{did_you_mean(metric, list(METRICS))}")
    limits = {metric: _limit(metric, given) for metric, given in within.items()}
    first = document({one.key: (one.values or (one.written(one.low),))[0] for one in ranges})
    plan = check(first)
    resolved = plan.points[0].resolved
    folder = Path(out) if out is not None else Path("results") / f"{first.data['name']}-search"
    end = None if budget is None else time.monotonic() + _seconds(budget)
    seed = int(resolved["run"]["seed"])

    def figures(found: Mapping[str, Metric]) -> Sequence[float | None]:
        objectives = [minimize(found)] if callable(minimize) else [found.get(metric) for metric in metrics]
        return [*objectives, *(found.get(metric) for metric in limits)]

    return Search(
        ranges,
        [-1 if best_is(metric) == "highest" else 1 for metric in metrics] or [1],
        ScenarioMeasure(document, figures, folder, seed, jobs),
        folder,
        {
            "over": {one.key: repr(one) for one in ranges},
            "minimize": metrics or "own",
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
