"""The text of a claim: the statement of the paper, the measurement, and the verdict, in three lines or one."""

import math
from collections.abc import Iterator, Mapping

from netbandit.results.failures import STALLED, is_regret
from netbandit.results.intervals import Interval
from netbandit.results.numbers import level_text, shortest, with_ends
from netbandit.studies.papers.claims import OF_TWO_POINTS, Claim, Kind
from netbandit.studies.papers.regions import BY_TEXT, FAILS, OPEN, Verdict
from netbandit.studies.papers.verdicts import Comparison, Judgement
from netbandit.util.text import in_words

_HOW = {
    "mean": "mean of",
    "share": "share of runs with",
    "geometric ratio": "geometric mean of ratios of",
    "median difference": "median of differences of",
    "median ratio": "median of ratios of",
}
_BOUND = {"upper": "an upper bound, which refutes nothing", "lower": "a lower bound, which refutes nothing"}

KINDS: Mapping[Kind, tuple[str, str]] = {
    "the paper's": ("claim", ""),
    "not the paper's number": ("claim", " by numbers that are not the paper's"),
    "fitted": ("claim", " that a setting was fitted to"),
    "ours": ("own question", ""),
}
"""How claims of each kind are named when they are counted: the noun, and what follows it."""

_WORTH = {
    "fitted": "the setting was chosen so that this comes out: this is no test of it",
    "not the paper's number": "what decides is ours, not the paper's: a margin, a threshold, a constant or a formula",
}


def line(judgement: Judgement) -> str:
    """Return a claim in one line: the paper's statement, the measured number, and the verdict at the end."""
    claim = judgement.claim
    parts = [f"{one.what}: {comparison_text(judgement, one)}" for one in judgement.comparisons]
    remark = "".join(f" ({text})" for text in remarks(judgement))
    measured = f"{measure_text(judgement)} {claim.what}: {'; '.join(parts)} ({', '.join(_facts(judgement))})"
    said = f"{_asked(claim)}. Read as: {claim.read_as}"
    return f"{said}. Measured: {measured}{remark}: {judgement.verdict}"


def short_lines(judgement: Judgement) -> list[str]:
    """Return a claim in three lines: the paper's statement with the verdict, the deciding number, and its region.

    Remarks are left out, but what the verdict is worth, and why there is none.
    """
    claim, one = judgement.claim, judgement.deciding
    more = f", of {len(judgement.comparisons)} comparisons" if len(judgement.comparisons) > 1 else ""
    number = f"{one.what}: {comparison_text(judgement, one)}{more}"
    aside = "".join(f" ({text})" for text in (_WORTH.get(claim.kind), by_margin_text(judgement.margins)) if text)
    aside += f"; {judgement.verdict}: {claim.no_verdict}" if claim.no_verdict else ""
    return [
        f"{_asked(claim)}: {judgement.verdict}",
        f"  {measure_text(judgement)} {claim.what}: {number}",
        f"  holds if {claim.region}{aside}",
    ]


def _asked(claim: Claim) -> str:
    return f"{claim.id}: {asked(claim)} ({claim.where})"


def tagged(claim: Claim) -> str:
    """Return the name of a claim in a table, with its kind if that is not a claim of the paper's own."""
    return claim.id if claim.kind == "the paper's" else f"{claim.id} ({claim.kind})"


def by_margin_text(margins: Mapping[str, Verdict]) -> str:
    """Return the verdicts by margin: ``margins: does not hold with 5 % and 10 %, holds with 20 % and 50 %``."""
    alike: dict[Verdict, list[str]] = {}
    for name, verdict in margins.items():
        alike.setdefault(verdict, []).append(name)
    said = [f"{verdict} with {in_words(names, 'and')}" for verdict, names in alike.items()]
    return f"margins: {'; '.join(said)}" if said else ""


def asked(claim: Claim) -> str:
    """Return the statement of a claim, and its origin."""
    if claim.ours:
        return f"our own question: {claim.says}"
    return f"in our words: {claim.says}" if claim.paraphrased else f'"{claim.says}"'


def measure_text(judgement: Judgement) -> str:
    """Return the operation on the numbers of the runs: ``mean of``, or ``in each run,``."""
    claim = judgement.claim
    if not claim.every_run:
        return _HOW.get(claim.measure, f"{claim.measure} of")
    return "in each run," if claim.measure == "mean" else f"in each pair of runs, {claim.measure} of"


def comparison_text(judgement: Judgement, one: Comparison) -> str:
    """Return a number of a claim: with its interval, or with the least and the largest of all runs."""
    found = one.interval
    if found is None or not judgement.claim.every_run:
        return interval_text(found)
    if found.low == found.high:
        return shortest(found.value, 6)
    return f"{shortest(found.low, 4)} to {shortest(found.high, 4)}"


def each_text(judgement: Judgement) -> Iterator[str]:
    """Yield each number of a claim that has several, with its verdict where that is not the claim's."""
    if len(judgement.comparisons) > 1:
        for one in judgement.comparisons:
            verdict = "" if one.verdict == judgement.verdict else f" ({one.verdict})"
            yield f"{one.what}: {comparison_text(judgement, one)}{verdict}"


def interval_text(interval: Interval | None) -> str:
    """Return an interval with as many digits as it is wide: ``0.926 [0.921, 0.931]``."""
    if interval is None:
        return "does not exist in some run"
    if not math.isfinite(interval.low) or not math.isfinite(interval.high):
        return f"{shortest(interval.value, 4)} [no interval]"
    return with_ends(interval.value, interval.low, interval.high)


def remarks(judgement: Judgement) -> Iterator[str]:
    """Yield remarks needed to interpret the verdict, and possible reasons if the claim does not hold."""
    yield from found_remarks(judgement)
    yield from stated_remarks(judgement.claim, judgement.verdict, judgement.chosen, judgement.margins)


def stated_remarks(claim: Claim, verdict: Verdict, chosen: str, margins: Mapping[str, Verdict]) -> Iterator[str]:
    """Yield the remarks of the claim with its verdict by *margins*, and those on choices (*chosen*) in its figure."""
    if claim.note:
        yield claim.note
    if claim.kind in _WORTH:
        yield _WORTH[claim.kind]
    if margins:
        yield by_margin_text(margins)
    if chosen:
        yield f"chosen after looking: {chosen}"
    if claim.if_not and verdict in (FAILS, OPEN, BY_TEXT):
        yield claim.if_not
    if claim.no_verdict:
        yield f"{verdict}: {claim.no_verdict}"


def found_remarks(judgement: Judgement) -> Iterator[str]:
    """Yield remarks on the runs and on the method of the verdict."""
    claim = judgement.claim
    if judgement.held:
        yield judgement.held
    if claim.bound in _BOUND:
        yield _BOUND[claim.bound]
    if judgement.look.of > 1:
        number, most = judgement.look.number, judgement.look.of
        yield f"look {number} of at most {most}, planned beforehand; each errs {most} times more rarely than one would"
    yield from dict.fromkeys(one.why_open for one in judgement.comparisons if one.why_open)
    yield from _failed(judgement)
    reasons = [one.interval.why_none for one in judgement.comparisons if one.interval is not None]
    yield from (f"no interval: {why}" for why in dict.fromkeys(filter(None, reasons)))


def _failed(judgement: Judgement) -> Iterator[str]:
    """Yield the number of failed runs at the compared points, and the effect of a stall on regret."""
    counts: dict[str, list[tuple[int, int]]] = {}
    for one in judgement.failures:
        for kind, count in one.kinds.items():
            counts.setdefault(kind, []).append((count, one.runs))
    for kind, found in counts.items():
        failed, runs = max(found)
        many = "at one point" if len(found) == 1 else "at most, at some of the points"
        yield f"{kind} in {failed} of {runs} runs {many}"
    claim = judgement.claim
    regret = any(is_regret(name) for formula in claim.formulas for name in formula.metrics)
    if regret and claim.measure in OF_TWO_POINTS and any(one.stalled for one in judgement.failures):
        yield STALLED


def _facts(judgement: Judgement) -> Iterator[str]:
    claim, first = judgement.claim, judgement.deciding.interval
    if first is not None:
        if not claim.every_run:
            yield f"{100 * first.confidence:.4g} % intervals{' each' if len(judgement.comparisons) > 1 else ''}"
        yield f"{first.replications} replication{'s' * (first.replications != 1)}"
    if claim.measure in OF_TWO_POINTS and not claim.every_run:
        yield "paired" if claim.paired else "not paired"
    if judgement.p is not None:
        together = f" (Holm over {judgement.family} claims)" if judgement.family > 1 else ""
        p = level_text(judgement.p)
        relation = "<" if p.startswith("<") else "="
        yield f"p {relation} {p.removeprefix('<')}, judged at level {level_text(judgement.level)}{together}"
    yield f"holds if {claim.region}"
