"""What must be known to read the metrics of a study: the privacy that was spent, and what its runs remark."""

from collections.abc import Sequence

from netbandit.results.numbers import shortest
from netbandit.results.store import StudyResult
from netbandit.simulation.result import RunResult

INFINITE = "infinite"
"""What a table says of an epsilon without a bound."""

_FEW = 4


def privacy_lines(study: StudyResult) -> list[str]:
    """Return what an agent's privacy came to, beside the paper's own statement, and what it protects; a line a unit.

    Nothing is said where no agent's epsilon is finite: nobody asked for privacy then. Of agents alone, which release
    nothing and need no noise, there is nothing to say either.
    """
    lines = []
    runs = [run for point in study.points for run in point.finished if run.privacy_unit and not _kept_all(run)]
    for unit in dict.fromkeys(run.privacy_unit for run in runs):
        alike = [run for run in runs if run.privacy_unit == unit]
        found, claimed = (
            spread([run.metrics.get(metric) for run in alike]) for metric in ("epsilon", "epsilon_claimed")
        )
        delta = spread([value for run in alike if (value := run.metrics.get("delta"))])
        if found != INFINITE:
            with_delta = f"{found} at delta {delta}" if delta else found
            lines.append(f"privacy of {unit}: epsilon {with_delta} for the agent worst off; the paper states {claimed}")
    return lines


def _kept_all(run: RunResult) -> bool:
    return run.metrics.get("epsilon") == 0 == run.metrics.get("epsilon_claimed")


def remarks(study: StudyResult) -> list[str]:
    """Return what must be known to read the metrics, each line once."""
    return list(dict.fromkeys(line for point in study.points for run in point.finished for line in run.remarks))


def spread(values: Sequence[float | int | None]) -> str:
    """Return the few values there are, or the least and the largest; what is infinite is null in a result.

    Of values that are all alike there is one, and of none at all nothing.
    """
    known = sorted({float(value) for value in values if value is not None})
    texts = list(dict.fromkeys(shortest(value, 6) for value in known))
    if None in values:
        texts.append(INFINITE)
    if len(texts) <= _FEW:
        return " or ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))
    return f"{texts[0]} to {texts[-1]}"
