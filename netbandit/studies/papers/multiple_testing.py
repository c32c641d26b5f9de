"""Joint judgement of the claims of a figure.

Judging many claims, each at 5 %, produces errors. The claims of a figure that depend on chance form a family: Holm's
procedure tests the one with the smallest p-value at ``level / n``, the next at ``level / (n - 1)``, and so on, so that
at most 5 % of figures contain a wrong verdict. Claims that every run decides are not part of the family.
"""

from collections.abc import Sequence

from netbandit.results.paired import holm_levels
from netbandit.studies.papers.verdicts import Evidence, Judgement


def judged_together(best: Sequence[Evidence], last: Sequence[Evidence]) -> list[Judgement]:
    """Return the verdicts on the claims of a figure, in their order.

    Args:
        best: Each claim at the look at which its p-value is smallest; its p-value counts all looks.
        last: Each claim at the last look; an undecided claim reports this interval.
    """
    statistical = [index for index, one in enumerate(best) if one.p is not None]
    level = min((1 - best[index].claim.confidence for index in statistical), default=0.0)
    p_values = {index: p for index in statistical if (p := best[index].p) is not None}
    levels = dict(zip(p_values, holm_levels(list(p_values.values()), level), strict=True))
    found = []
    for index, (one, latest) in enumerate(zip(best, last, strict=True)):
        if index not in levels:
            found.append(one.judged())
            continue
        which = one if p_values[index] <= levels[index] else latest
        found.append(which.judged(levels[index], family=len(levels), p=p_values[index]))
    return found
