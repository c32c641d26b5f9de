"""A claim in words: what the paper says, what was measured, and the verdict, in one line."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from netbandit.papers.regions import HOLDS
from netbandit.papers.verdicts import Judgement
from netbandit.results.numbers import shortest, with_ends
from netbandit.results.statistics import Interval


def line(judgement: Judgement) -> str:
    """Return a claim in one line: what the paper says, what was measured, and the verdict at the end."""
    claim = judgement.claim
    first = judgement.deciding.interval
    parts = [f"{one.what}: {interval_text(one.interval)}" for one in judgement.comparisons]
    how = {"mean": "mean of", "share": "share of runs with", "slope": "slope of"}.get(
        claim.measure, f"{claim.measure} of"
    )
    over = f" over {claim.over}" if claim.over else f" to {claim.to}" if claim.to else ""
    facts = [f"holds if {claim.region}"]
    if first is not None:
        each = " each" if len(parts) > 1 else ""
        facts = [f"{100 * first.confidence:.4g} % intervals{each}", f"{first.replications} replications", *facts]
    if claim.measure in ("difference", "ratio"):
        facts.insert(-1, "paired" if claim.paired else "not paired")
    remark = "".join(f" ({text})" for text in remarks(judgement))
    measured = f"{how} {claim.of}{over}: {'; '.join(parts)} ({', '.join(facts)})"
    said = f'{claim.id}: "{claim.says}" ({claim.where}). Read as: {claim.read_as}'
    return f"{said}. Measured: {measured}{remark}: {judgement.verdict}"


def remarks(judgement: Judgement) -> Iterator[str]:
    """Yield what a reader of the verdict must know, and why a claim that does not hold may not."""
    if judgement.claim.note:
        yield judgement.claim.note
    if judgement.claim.if_not and judgement.verdict != HOLDS:
        yield judgement.claim.if_not


def interval_text(interval: Interval | None) -> str:
    """Return an interval with as many digits as it is wide: ``0.926 [0.921, 0.931]``."""
    if interval is None:
        return "does not exist in some run"
    if not math.isfinite(interval.low) or not math.isfinite(interval.high):
        return f"{shortest(interval.value, 4)} [no interval]"
    return with_ends(interval.value, interval.low, interval.high)


def selector_text(point: Mapping[str, Any], against: Mapping[str, Any] | None) -> str:
    """Return which points a comparison is of: ``star against ring, horizon 10,000``."""
    if against is None:
        return ", ".join(_named(key, value) for key, value in point.items()) or "all runs"
    differ = [key for key in dict.fromkeys([*point, *against]) if point.get(key) != against.get(key)]
    sides = [" ".join(_named(key, side[key]) for key in differ if key in side) or "all" for side in (point, against)]
    alike = [_named(key, value) for key, value in point.items() if key not in differ]
    return ", ".join([" against ".join(sides) if differ else "", *alike]).removeprefix(", ")


def _named(key: str, value: Any) -> str:
    text = shortest(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return text if key in ("series", "scenario") else f"{key.split('.')[-1]} {text}"
