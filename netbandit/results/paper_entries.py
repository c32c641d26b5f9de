"""A table for a paper: rows by columns of the varied keys, with the significantly best entries marked.

An entry competes with those that differ from it in one key alone. The best is chosen from the data, so each pair of
them is a comparison, and all comparisons of a table form one family for Holm's correction. An entry is marked as best
if its differences from all others are significant at 5 % under this correction.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from netbandit.results.columns import column, parameter_cells
from netbandit.results.failures import ENOUGH, MARKED, Failures, is_regret
from netbandit.results.intervals import CONFIDENCE, Statistic
from netbandit.results.metrics import best_is
from netbandit.results.paired import (
    STATISTICS,
    CompareError,
    Difference,
    Samples,
    chosen_text,
    corrected,
    distinguishing_keys,
    paired_difference,
    parameters_of,
    require_metrics,
    samples_by_point,
    value_text,
    values_by_key,
    whole_key,
    whole_keys,
)
from netbandit.results.summary import Estimate
from netbandit.results.tables import Columns
from netbandit.results.varied_keys import NOT_A_POINT, alternatives, short_names
from netbandit.util.key_paths import CASE
from netbandit.util.text import in_words

LEVEL = 1 - CONFIDENCE
"""The family-wise error rate of all comparisons of a table."""

_UNMARKED = (
    "In a setting without bold, an entry may still be decidedly worse than the best, which the table of differences "
    "shows."
)
"""How to read an entry that is not in bold if no competing entry is."""

_METHODS = (CASE, "learner.kind", "protocol.kind")
"""The keys compared by default, the first that varies."""

_MOST_BLOCKED = 3
"""So many reasons why nothing is in bold are listed."""


@dataclass(frozen=True)
class Entry:
    """One entry of a table: a metric at a point.

    Attributes:
        values: The values of the keys of the table, by key.
        metric: The metric.
        estimate: Its statistic over the replications, with its interval.
        replications: The number of replications behind it.
        best: Whether it is significantly better than every entry that it is compared with.
        from_best: Its difference from the apparent best of these; None for that entry itself, and where nothing is
            compared.
        leads: Whether it is the apparent best of several.
        stalled: Whether the metric is regret and agents stalled.
    """

    values: dict[str, Any]
    metric: str
    estimate: Estimate
    replications: int
    best: bool = False
    from_best: Difference | None = None
    leads: bool = False
    stalled: bool = False


@dataclass(frozen=True)
class PaperEntries:
    """Entries in rows and columns.

    Attributes:
        name: The name of the study.
        rows: The keys whose values are the rows.
        columns: The keys whose values are the columns.
        metrics: The metrics, in their order.
        compared: The key whose values are compared; None where there is nothing to compare.
        statistic: The statistic over the replications.
        entries: All entries.
        comparisons: The number of pairs compared.
        open_pairs: Why some pairs decide nothing, in words.
        notes: Remarks needed to interpret the numbers, one per line.
        where: The keys that vary in the study but have one value here, with that value.
        together: The keys of learner and protocol that each value of *compared* has one value of, such as each learner
            its own protocol: entries that differ in them are compared.
        blocked: Why no entry is in bold, by the entries that prevent it; empty if one is.
    """

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    metrics: tuple[str, ...]
    compared: str | None
    statistic: Statistic
    entries: list[Entry]
    comparisons: int
    open_pairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    together: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """The label of each key."""
        keys = [*self.rows, *self.columns]
        return dict(zip(keys, short_names(keys), strict=True))

    @property
    def caption(self) -> str:
        """All sentences that explain the entries and the bold type."""
        return " ".join([*self.short_caption(), *self.details()])

    @property
    def caption_of_differences(self) -> str:
        """The caption of the table of differences."""
        return " ".join([*self.short_caption(differences=True), *self.details(differences=True)])

    def short_caption(self, *, differences: bool = False) -> list[str]:
        """Return the sentences without which the table cannot be read: what its entries and its bold type are."""
        keys = short_names([key for key, _ in self.where])
        chosen = ", ".join(f"{key} {value}" for key, (_, value) in zip(keys, self.where, strict=True))
        what = f"difference from the best {self._called}{self._same}, " if differences else ""
        which = " or ".join(dict.fromkeys(filter(None, map(best_is, self.metrics))))
        bold = ""
        if differences and self.comparisons:
            bold = "Bold: decided at the 5 % level."
        elif any(each.best for each in self.entries):
            bold = (
                f"Bold: the {which} among the values of {self._called}{self._same}, where it differs from every other "
                "at the 5 % level."
            )
        elif self.blocked and not differences:
            bold = f"No entry is bold: {'; '.join(self.blocked)}."
        stalls = f"{MARKED}." if any(each.stalled for each in self.entries) else ""
        first = f"{self._metrics}: {what}{self._statistic}{f', at {chosen}' if chosen else ''}."
        return [*filter(None, [first, bold, stalls])]

    def details(self, *, differences: bool = False) -> list[str]:
        """Return the sentences on what was compared, and how."""
        every = f"all {self.comparisons:,} comparisons" if self.comparisons > 1 else "the only comparison"
        test = f"Test: pairs of replications with the same seed, Holm's correction for {every}."
        bold = any(each.best for each in self.entries)
        more = "Intervals are not corrected." if differences else _UNMARKED if bold else ""
        why_open = [f"{each[0].upper()}{each[1:]}." for each in self.open_pairs]
        return [*filter(None, [test if self.comparisons else "", more]), *why_open]

    @property
    def _metrics(self) -> str:
        text = in_words([metric_heading(metric, self.entries) for metric in self.metrics], "and")
        return f"{text[0].upper()}{text[1:]}"

    @property
    def _called(self) -> str:
        if self.compared is None:
            return "entry"
        return " and ".join(self.names[key] for key in (self.compared, *self.together))

    @property
    def _same(self) -> str:
        keys = [self.names[key] for key in self.setting]
        return f" with the same {in_words(keys, 'and')}" if keys else ""

    @property
    def setting(self) -> list[str]:
        """The keys that entries agree in where they are compared."""
        apart = (self.compared, *self.together)
        return [key for key in (*self.rows, *self.columns) if key not in apart and self.compared is not None]

    @property
    def _statistic(self) -> str:
        counts = sorted({each.replications for each in self.entries})
        if counts[-1] < 2:
            return "one replication"
        many = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        around = {each.estimate.around for each in self.entries if each.estimate.ends}
        spreads = {True: "± half-width of its 95 % interval", False: "[ends of its 95 % interval]"}
        spread = " or ".join(text for kind, text in spreads.items() if kind in around)
        return f"{self.statistic.name}{f' {spread}' if spread else ''} over {many} replications"


def paper_entries(
    results: Columns,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    metrics: Sequence[str] = ("regret",),
    *,
    compared: str | None = None,
    statistic: str = "mean",
    where: Mapping[str, Any] | None = None,
    name: str = "results",
    notes: Sequence[str] = (),
) -> PaperEntries:
    """Return a table of *metrics*.

    Args:
        results: A table of results: a row for each point, replication and metric.
        rows: The keys whose values are the rows; all that are not in *columns* if not given.
        columns: The keys whose values are the columns; those that are not in *rows*, if rows are given.
        metrics: The metrics; several are columns side by side.
        compared: The key whose values are compared; if not given, the label of a case, the learner or the protocol,
            the first that varies, else the last of the rows, or of the columns.
        statistic: ``mean``, ``median`` or a quantile such as ``q90``, of which no differences are decided.
        where: Keys with the value of the points that are taken, or a list of them.
        name: The name of the study.
        notes: Remarks needed to interpret the numbers.

    Raises:
        CompareError: There is no such metric, key, value or statistic, or an entry would be several points.
        StatisticError: There is no such statistic.
    """
    how = Statistic.named(statistic)
    require_metrics(metrics, results)
    names = [key for key in parameters_of(results) if key not in NOT_A_POINT]
    fixed = {key: alternatives(value) for key, value in whole_keys(where or {}, names).items()}
    down = [whole_key(key, "--rows", names) for key in rows or ()]
    across = [whole_key(key, "--columns", names) for key in columns or ()]
    twice = [key for key in dict.fromkeys([*down, *across]) if [*down, *across].count(key) > 1]
    if twice:
        raise CompareError(f"{', '.join(twice)} stands twice in --rows and --columns: name a key once")
    names = distinguishing_keys(results, names, dict.fromkeys([*fixed, *down, *across]))
    found = {metric: _chosen(samples_by_point(results, names, metric), fixed, names) for metric in metrics}
    points = found[metrics[0]]
    varying = [key for index, key in enumerate(names) if len({identity[index] for identity in points}) > 1]
    left = [key for key in varying if key not in (*down, *across)]
    if left and rows is not None and columns is not None:
        more = f"{left[0]} varies too: name it" if len(left) == 1 else f"{', '.join(left)} vary too: name them"
        raise CompareError(f"{more} in --rows or --columns, or choose one value, as KEY=VALUE")
    down, across = (down + left, across) if rows is None else (down, across + left)
    method = _method(compared, down, across)
    entries = [
        Entry(
            {key: point.parameters[key] for key in (*down, *across)},
            metric,
            _estimate(point, how.of_metric(metric)),
            len(point.values),
            stalled=is_regret(metric) and Failures.of(list(point.failing.values())).stalled,
        )
        for metric in metrics
        for point in found[metric].values()
        if point.values
    ]
    samples = [point for metric in metrics for point in found[metric].values() if point.values]
    together = _together(entries, method)
    entries, comparisons, why_open, blocked = _compared(entries, samples, (method, *together), how)
    return PaperEntries(
        name,
        tuple(down),
        tuple(across),
        tuple(metrics),
        method,
        how,
        entries,
        comparisons,
        why_open,
        tuple(notes),
        tuple((key, str(values[0])) for key, values in fixed.items() if len(values) == 1),
        together,
        blocked,
    )


def _chosen(
    points: Mapping[tuple[str, ...], Samples], fixed: Mapping[str, Sequence[Any]], names: Sequence[str]
) -> dict[tuple[str, ...], Samples]:
    """Return the points with the values of *fixed*."""
    texts = {key: [chosen_text(key, value, points, names) for value in values] for key, values in fixed.items()}
    found = {
        identity: point
        for identity, point in points.items()
        if all(identity[names.index(key)] in known for key, known in texts.items())
    }
    if not found:
        raise CompareError(f"no point has {values_by_key({key: ' or '.join(known) for key, known in texts.items()})}")
    return found


def _method(compared: str | None, rows: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the key whose values are compared."""
    keys = [*rows, *columns]
    if compared is not None:
        return whole_key(compared, "--compare", keys)
    last = (list(rows) or list(columns))[-1:]
    return next((key for key in (*_METHODS, *last) if key in keys), None)


def _together(entries: Sequence[Entry], method: str | None) -> tuple[str, ...]:
    """Return the keys of learner and protocol, other than *method*, of which each of its values has one value."""
    keys = [key for key in (entries[0].values if entries else ()) if key.startswith(("learner.", "protocol."))]
    if method not in (*_METHODS, *keys):
        return ()
    found = {key: {(value_text(each.values[method]), value_text(each.values[key])) for each in entries} for key in keys}
    methods = {value_text(each.values[method]) for each in entries}
    return tuple(key for key, pairs in found.items() if key != method and len(pairs) == len(methods))


def _estimate(point: Samples, statistic: Statistic) -> Estimate:
    values = list(point.values.values())
    if not all(map(math.isfinite, values)):
        return Estimate(None)
    return Estimate.of(statistic.of(values, CONFIDENCE), values, around=statistic.around)


def _compared(
    entries: Sequence[Entry], samples: Sequence[Samples], methods: Sequence[str | None], statistic: Statistic
) -> tuple[list[Entry], int, tuple[str, ...], tuple[str, ...]]:
    """Return *entries* with their differences from the best, the number of pairs, and why some or all are undecided."""
    if methods[0] is None or statistic.key not in STATISTICS:
        return list(entries), 0, (), ()
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, entry in enumerate(entries):
        if best_is(entry.metric) and entry.estimate.value is not None:
            others = [value_text(value) for key, value in entry.values.items() if key not in methods]
            groups.setdefault((entry.metric, *others), []).append(place)
    differences: dict[tuple[int, int], Difference] = {}
    for group in groups.values():
        for pair in combinations(group, 2):
            one, other = (samples[place] for place in pair)
            difference = paired_difference(one, other, entries[pair[0]].metric, statistic, CONFIDENCE)
            if difference is not None:
                differences[pair] = difference
    family = corrected(list(differences.values()))
    for pair, difference in zip(list(differences), family, strict=True):
        differences[pair], differences[pair[::-1]] = difference, _reversed(difference)
    found = list(entries)
    blocked: dict[str, dict[str, None]] = {}  # where each reason holds
    for group in groups.values():
        sign = 1 if best_is(entries[group[0]].metric) == "lowest" else -1
        first = min(group, key=lambda place: sign * (entries[place].estimate.value or 0.0))
        rest = [differences.get((place, first)) for place in group if place != first]
        best = bool(rest) and not entries[first].stalled and all(map(decided, rest))
        found[first] = replace(found[first], best=best, leads=bool(rest))
        if found[first].stalled and rest:
            blocked.setdefault(f"agents stalled at {value_text(found[first].values[methods[0]])}", {})[""] = None
        for place in group:
            found[place] = replace(found[place], from_best=differences.get((place, first)))
            if place != first and not decided(found[place].from_best):
                both = [(found[one], samples[one]) for one in (first, place)]
                for why in _why_undecided(both, methods[0], statistic):
                    blocked.setdefault(why, {})[_where(found[first], methods)] = None
    why_open = dict.fromkeys(each.why_open for each in differences.values() if each.why_open)
    told = [
        f"{why}{where}" for why, places in blocked.items() for where in (places if len(places) < len(groups) else [""])
    ]
    reasons = () if any(each.best for each in found) else tuple(told)
    if len(reasons) > _MOST_BLOCKED:
        reasons = (*reasons[:_MOST_BLOCKED], f"and {len(reasons) - _MOST_BLOCKED} more")
    return found, sum(each.p_holm is not None for each in family), tuple(why_open), reasons


def _where(entry: Entry, methods: Sequence[str | None]) -> str:
    """Return in which of the groups that are compared an entry is: " at latency 20 ms"."""
    keys = [key for key in entry.values if key not in methods]
    texts = [
        f"{name} {parameter_cells([entry.values[key]])[0]}" for name, key in zip(short_names(keys), keys, strict=True)
    ]
    return f" at {in_words(texts, 'and')}" if texts else ""


def _why_undecided(pair: Sequence[tuple[Entry, Samples]], method: str, statistic: Statistic) -> list[str]:
    """Return why the second of *pair* is not decidedly worse than the first, the apparent best, in words."""
    (best, _), (other, _) = pair
    names = [parameter_cells([entry.values[method]])[0] for entry, _ in pair]
    failures = [Failures.of(list(point.failing.values())) for _, point in pair]
    if statistic.is_mean:
        short = [
            f"{name} is not compared: {one.runs} of {ENOUGH} replications"
            for name, one in zip(names, failures, strict=True)
            if one.leave_open(best.metric)
        ]
        if short:
            return short
    if other.from_best is None or other.from_best.p is None:
        why, found = "too few replications in common", other.from_best and other.from_best.interval
        if found and found.replications > 1 and statistic.is_mean:
            if not found.value:
                return [f"{names[1]} and {names[0]} are equal in every replication"]
            why = "all pairs of replications differ alike"
        return [f"{names[1]} is not compared with {names[0]}: {why}"]
    return [f"{names[1]} is not decidedly worse than {names[0]}"]


def _reversed(difference: Difference) -> Difference:
    """Return the difference with its sides swapped; its parameters stay those of the first."""
    found = difference.interval
    return replace(
        difference,
        value=difference.baseline,
        baseline=difference.value,
        interval=replace(found, value=-found.value, low=-found.high, high=-found.low),
        stalled=difference.stalled[::-1],
    )


def decided(difference: Difference | None) -> bool:
    """Return whether a difference is significant at a family-wise error rate of 5 %."""
    return difference is not None and difference.p_holm is not None and difference.p_holm < LEVEL


def metric_heading(metric: str, entries: Sequence[Entry]) -> str:
    """Return the label of a metric, with its unit."""
    return column(metric, [each.estimate for each in entries if each.metric == metric]).heading()
