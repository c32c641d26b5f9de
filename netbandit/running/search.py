"""A search for the values of some keys that optimize metrics.

Optuna proposes values, from a seed and what came before, so that a search that is run again proposes the same: it goes
on by repeating itself, and what it has measured need not be run again. All candidates use the same seeds, so their
differences are paired by replication. Candidates that are not significantly worse than the best get twice as many
replications, until one is left or `Search.most` is reached. The best of many noisy means is biased, so the winners are
measured again, with fresh seeds that had no part in the selection.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from math import inf, isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.parts.validation import native
from netbandit.results.intervals import CONFIDENCE, MEAN, Interval
from netbandit.results.safe_files import canonical, make_folder, write_whole
from netbandit.util.nesting import read_json, read_toml
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from optuna import Study, Trial

FRESH = 1_000_003
"""Offset of the root seed for the reported runs."""

_RANGE = re.compile(r"\s*(?P<low>[^\s.]+(?:\.\d+)?[^.\[\]]*?)\s*\.\.\s*(?P<high>.+?)(?P<log>\s+log)?\s*")
_NUMBER = re.compile(r"(?P<number>[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(?P<unit>[A-Za-z/µ]*)")
_ASKED = "search.json"


class SearchError(ValueError):
    """An invalid search; the message says why."""


class RefusedError(Exception):
    """A candidate is no valid scenario, or does not run; the message says why."""


@dataclass(frozen=True)
class Range:
    """The range of a key.

    Attributes:
        key: The dotted key.
        choices: The values; empty for a numeric interval.
        low, high: The ends of the interval.
        whole: Whether values are integers.
        log: Whether values are sampled on a logarithmic scale.
        unit: The unit, as in ``"5 ms"``; empty for plain numbers.
    """

    key: str
    choices: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    log: bool = False
    unit: str = ""

    @classmethod
    def read(cls, key: str, given: Any) -> "Range":
        """Return the range in *given*: ``"0.1..10"``, ``"1 ms..1 s log"``, ``"2..8"``, or a list of values.

        Raises:
            SearchError: It is not a range.
        """
        reason = (
            f'--over {key}: must be LOW..HIGH, such as 1..8, 0.1..10 log or "1 ms..50 ms", or a list such as [1, 5]'
        )
        if isinstance(given, str) and given.lstrip().startswith("["):
            try:
                given = read_toml(f"value = {given}")["value"]
            except ValueError as error:
                raise SearchError(f"--over {key}: {error}") from None
        given = native(given)
        if isinstance(given, list):
            if not given or len({canonical(value) for value in given}) < len(given):
                raise SearchError(f"--over {key}: must list different values")
            return cls(key, tuple(given))
        found = _RANGE.fullmatch(given) if isinstance(given, str) else None
        ends = None if found is None else [_NUMBER.fullmatch(found[end].strip()) for end in ("low", "high")]
        if found is None or ends is None or ends[0] is None or ends[1] is None:
            raise SearchError(reason)
        low, high = (float(end["number"]) for end in ends if end is not None)
        units = {end["unit"] for end in ends if end is not None} - {""}
        if len(units) > 1:
            raise SearchError(f"--over {key}: both ends must have the same unit, not {' and '.join(sorted(units))}")
        log = found["log"] is not None
        if not low < high or (log and low <= 0):
            raise SearchError(f"--over {key}: must go from a smaller to a larger number{', above 0' if log else ''}")
        whole = all(re.fullmatch(r"[+-]?\d+", end["number"]) for end in ends if end is not None)
        return cls(key, (), low, high, whole, log, next(iter(units), ""))

    @property
    def values(self) -> tuple[Any, ...] | None:
        """All values, in order; None if there are infinitely many."""
        if self.choices:
            return self.choices
        return (
            tuple(self.written(number) for number in range(int(self.low), int(self.high) + 1)) if self.whole else None
        )

    def suggest(self, trial: "Trial") -> Any:
        """Return the value for *trial*."""
        if self.choices:
            ordered = all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.choices)
            places = range(len(self.choices))
            if ordered:
                return self.choices[trial.suggest_int(self.key, 0, places[-1])]
            return self.choices[trial.suggest_categorical(self.key, list(places))]
        if self.whole:
            return self.written(trial.suggest_int(self.key, int(self.low), int(self.high), log=self.log))
        return self.written(trial.suggest_float(self.key, self.low, self.high, log=self.log))

    def proposed(self, value: Any) -> Any:
        """Return Optuna's representation of *value*, one of `values`."""
        return self.choices.index(value) if self.choices else int(str(value).split()[0])

    def written(self, number: float) -> Any:
        """Return *number* in the form of the scenario."""
        return f"{number:.6g} {self.unit}" if self.unit else number


Measure = Callable[[Mapping[str, Any], int, bool], list[tuple[float, ...]]]
"""Runs a candidate: its values, how many replications, and whether with fresh seeds; the figures of each replication.

Raises `RefusedError`.
"""


@dataclass
class Candidate:
    """A candidate that was tried.

    Attributes:
        values: The value of each key.
        samples: For each replication one objective per goal, the lower the better; infinite where undefined.
        limited: For each replication the metrics that have a limit; infinite where undefined.
        refused: Why it cannot be run, or be compared; empty if it can.
    """

    values: dict[str, Any]
    samples: list[tuple[float, ...]] = field(default_factory=list)
    limited: list[tuple[float, ...]] = field(default_factory=list)
    refused: str = ""

    @property
    def means(self) -> tuple[float, ...]:
        """The mean of each objective."""
        if not self.samples:
            return (inf,)
        return _means(self.samples)

    def excess(self, limits: Sequence[float]) -> list[float]:
        """Return by how much the mean of each limited metric exceeds its limit; infinite where undefined."""
        means = _means(self.limited) or (inf,) * len(limits)
        return [mean - limit for mean, limit in zip(means, limits, strict=True)]

    def is_within(self, limits: Sequence[float]) -> bool:
        """Return whether no mean exceeds its limit."""
        return all(more <= 0 for more in self.excess(limits))


def _means(samples: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(figures) / len(figures) for figures in zip(*samples, strict=True))


@dataclass(frozen=True)
class Winner:
    """Values that a search has found, with their estimates.

    Attributes:
        values: The value of each key.
        estimates: The mean of each metric at these values, from runs with fresh seeds, with the 95 % interval of that
            mean: not of the best mean there is, which may be another candidate's.
        limited: The same of each metric that has a limit.
    """

    values: dict[str, Any]
    estimates: tuple[Interval, ...]
    limited: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        winners: The best; for several metrics the Pareto front, ordered by the first metric.
        tried: The number of candidates run,
        refused: and of those that could not be run, or of which a run has no value.
        complete: Whether these were all possible candidates.
        seed: The root seed of the runs that measure the winners,
        replications: and how many there are of each.
        close: Of one metric the number of other candidates that are not decidedly worse than the winner.
    """

    winners: list[Winner]
    tried: int
    refused: int
    complete: bool
    seed: int = 0
    replications: int = 0
    close: int = 0

    @property
    def best(self) -> dict[str, Any]:
        """The values of the first winner."""
        return self.winners[0].values


@dataclass(frozen=True)
class Search:
    """A search.

    Attributes:
        ranges: The keys that vary, and their values.
        signs: For each metric 1 if it is minimized, -1 if it is maximized.
        measure: Runs a candidate.
        folder: The folder of the search.
        asked: The identity of this search, ready for JSON.
        trials: The number of candidates to try.
        first: The number of replications of each at first,
        most: and at most.
        final: The number of replications for measuring the winners again.
        seed: The seed of Optuna's proposals.
        within: For each limited metric the largest mean allowed; *measure* returns these metrics last.
        over: Returns whether the time is up for more candidates or replications.
        tell: Receives lines of progress.
    """

    ranges: Sequence[Range]
    signs: Sequence[int]
    measure: Measure
    folder: Path
    asked: Mapping[str, Any]
    trials: int = 50
    first: int = 5
    most: int = 80
    final: int = 30
    seed: int = 0
    within: Mapping[str, float] = field(default_factory=dict)
    over: Callable[[], bool] = lambda: False
    tell: Callable[[str], None] = lambda line: None

    @property
    def size(self) -> int | None:
        """The number of possible candidates; None: infinite."""
        sizes = [None if one.values is None else len(one.values) for one in self.ranges]
        return None if None in sizes else prod(size for size in sizes if size is not None)

    def run(self) -> SearchResult:
        """Run the search, or go on with an interrupted one of the same kind.

        Raises:
            SearchError: The folder holds another search, or no candidate can be run, or is within the limits.
            MissingExtraError: Optuna is not installed.
        """
        study = self._study()
        found: dict[str, Candidate] = {}
        for number in range(self._wanted):
            if number and self.over():
                break
            asked = study.ask()
            candidate = self._try(found, {one.key: one.suggest(asked) for one in self.ranges})
            if hasattr(asked, "set_constraint"):  # older than Optuna 5, proposals know nothing of the limits
                for metric, more in zip(self.within, candidate.excess(self._limits), strict=True):
                    asked.set_constraint(metric, min(more, 1e300))
            study.tell(asked, [1e300] * len(self.signs) if candidate.refused else list(candidate.means))
            self._report(number, candidate, found)
        known = [candidate for candidate in found.values() if not candidate.refused]
        if not known:
            raise SearchError(f"no candidate can be run: {next(iter(found.values())).refused}")
        best, close = (self._front(known), []) if len(self.signs) > 1 else self._race(known)
        winners = []
        for candidate in best:
            estimates = self._again(candidate)
            winners.append(Winner(candidate.values, estimates[: len(self.signs)], estimates[len(self.signs) :]))
        complete = self.size == len(found)
        refused = len(found) - len(known)
        return SearchResult(winners, len(known), refused, complete, self.seed + FRESH, self.final, len(close))

    @property
    def _limits(self) -> list[float]:
        return [*self.within.values()]

    def _feasible(self, known: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates within the limits."""
        feasible = [one for one in known if one.is_within(self._limits)]
        if not feasible:
            limits = ", ".join(f"{metric} = {limit:.6g}" for metric, limit in self.within.items())
            least = [min(means) for means in zip(*(_means(one.limited) for one in known), strict=True)]
            seen = ", ".join(f"{metric} {value:.6g}" for metric, value in zip(self.within, least, strict=True))
            each = "the least value seen is" if len(least) == 1 else "the least values seen, each alone, are"
            raise SearchError(f"no candidate is within {limits}: {each} {seen}")
        return feasible

    @property
    def _wanted(self) -> int:
        return self.trials if self.size is None else min(self.trials, self.size)

    def _study(self) -> "Study":
        from netbandit.util.extras import optimize as optuna

        make_folder(self.folder)
        asked, file = json.loads(json.dumps(self.asked)), self.folder / _ASKED
        if file.is_file() and (before := read_json(file.read_bytes())) != asked:
            differ = ", ".join(sorted(key for key in {*before, *asked} if before.get(key) != asked.get(key)))
            raise SearchError(f"{self.folder} holds another search, which differs in {differ}: choose another --out")
        write_whole(file, json.dumps(asked))
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(
            sampler=optuna.TPESampler(seed=self.seed, multivariate=True), directions=["minimize"] * len(self.signs)
        )
        if self.size is not None and self.size <= self.trials:
            for values in product(*(one.values or () for one in self.ranges)):
                proposed = {one.key: one.proposed(value) for one, value in zip(self.ranges, values, strict=True)}
                study.enqueue_trial(proposed)
        return study

    def _try(self, found: dict[str, Candidate], values: dict[str, Any]) -> Candidate:
        """Return the candidate with some *values*, which is run unless it has been run already."""
        key = canonical(values)
        if key not in found:
            found[key] = Candidate(values)
            self._measure(found[key], self.first)
        return found[key]

    def _measure(self, candidate: Candidate, replications: int) -> None:
        try:
            samples = self.measure(candidate.values, replications, False)
        except RefusedError as error:
            candidate.refused = str(error)
        else:
            candidate.samples = [self._signed(one[: len(self.signs)]) for one in samples]
            candidate.limited = [tuple(one[len(self.signs) :]) for one in samples]
            if not all(map(isfinite, candidate.means)):
                candidate.refused = "a run has no value"

    def _signed(self, figures: Sequence[float]) -> tuple[float, ...]:
        return tuple(
            sign * figure if isfinite(figure) else inf for sign, figure in zip(self.signs, figures, strict=True)
        )

    def _report(self, number: int, candidate: Candidate, found: Mapping[str, Candidate]) -> None:
        feasible = [one for one in found.values() if not one.refused and one.is_within(self._limits)]
        best = min(feasible, key=lambda one: one.means[0], default=None)
        values = ", ".join(f"{key} = {value}" for key, value in candidate.values.items())
        came = candidate.refused or ", ".join(
            f"{sign * mean:.6g}" for sign, mean in zip(self.signs, candidate.means, strict=True)
        )
        above = [
            f"{metric} exceeds {limit:.6g}"
            for (metric, limit), more in zip(self.within.items(), candidate.excess(self._limits), strict=True)
            if more > 0 and not candidate.refused
        ]
        star = f" ({', '.join(above)})" if above else " (best so far)" if candidate is best else ""
        self.tell(f"{number + 1} of {self._wanted}: {values}: {came}{star}")

    def _race(self, known: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
        """Return the best candidate, and those still close, after giving close competitors more replications."""
        while True:
            best = min(self._feasible(known), key=lambda one: one.means)
            close = [
                one
                for one in known
                if one is not best and _may_be_better(one, best) and _may_be_within(one, self._limits)
            ]
            racing = [one for one in (best, *close) if len(one.samples) < self.most]
            if not close or not racing or self.over():
                return [best], close
            wanted = min(self.most, 2 * max(len(one.samples) for one in racing))
            self.tell(f"{pluralize(len(close) + 1, 'candidate')} too close to tell: {wanted} replications each")
            for one in racing:
                self._measure(one, wanted)

    def _front(self, known: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates on the Pareto front, each with the largest number of replications."""
        while True:
            feasible = self._feasible(known)
            front = [one for one in feasible if not any(_dominates(other.means, one.means) for other in feasible)]
            short = [one for one in front if len(one.samples) < self.most]
            if not short or self.over():
                return sorted(front, key=lambda one: one.means)
            self.tell(f"{pluralize(len(front), 'candidate')} on the front: {self.most} replications each")
            for one in short:
                self._measure(one, self.most)

    def _again(self, candidate: Candidate) -> tuple[Interval, ...]:
        """Return the estimates of a winner with fresh seeds, of objectives and of limited metrics."""
        samples = self.measure(candidate.values, self.final, True)
        return tuple(MEAN.of(figures, CONFIDENCE) for figures in zip(*samples, strict=True))


def _may_be_better(one: Candidate, best: Candidate) -> bool:
    """Return whether the shared replications leave open whether *one* is better than *best*."""
    pairs = list(zip(one.samples, best.samples, strict=False))
    difference = MEAN.of([mine[0] - others[0] for mine, others in pairs], CONFIDENCE)
    return difference.low <= 0 if difference.half_width is not None else difference.value <= 0


def _may_be_within(one: Candidate, limits: Sequence[float]) -> bool:
    """Return whether the replications leave open whether the limited metrics are within their limits."""
    found = [MEAN.of(figures, CONFIDENCE) for figures in zip(*one.limited, strict=True)]
    lows = [each.low if each.half_width is not None else each.value for each in found]
    return all(low <= limit for low, limit in zip(lows, limits, strict=True))


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(mine <= others for mine, others in zip(one, other, strict=True))


def name_of(values: Mapping[str, Any]) -> str:
    """Return the name of the folder of a candidate."""
    return blake2b(canonical(values).encode(), digest_size=8).hexdigest()


def lines_of(result: SearchResult, metrics: Sequence[str], within: Mapping[str, float] | None = None) -> Iterator[str]:
    """Yield what a search among candidates *within* limits has found, a line each."""
    limits = within or {}
    tried = "all" if result.complete else "the"
    have = "has" if result.refused == 1 else "have"
    refused = f", {result.refused} could not be run or {have} no value" if result.refused else ""
    what = "the winner" if len(metrics) == 1 else "the front"
    yield f"{what} of {tried} {pluralize(result.tried, 'candidate')}{refused}, measured again with fresh seeds:"
    for winner in result.winners:
        values = ", ".join(f"{key} = {value}" for key, value in winner.values.items())
        figures = [f"{metric} {_text(each)}" for metric, each in zip(metrics, winner.estimates, strict=True)]
        for (metric, limit), each in zip(limits.items(), winner.limited, strict=True):
            high = each.high if each.half_width else each.value
            reaches = "exceeds" if each.value > limit else "its interval reaches above"
            figures.append(f"{metric} {_text(each)}{f' ({reaches} {limit:.6g})' if high > limit else ''}")
        yield f"  {values}: {', '.join(figures)}"
    others = f"; {pluralize(result.close, 'other')} not decidedly worse" if result.close else ""
    yield f"intervals (95 %) are of the means at these values, not of the best means{others}"


def _text(estimate: Interval) -> str:
    from netbandit.results.numbers import with_ends

    ends = (estimate.value, estimate.low, estimate.high)
    return with_ends(*ends) if estimate.half_width else f"{estimate.value:.6g}"
