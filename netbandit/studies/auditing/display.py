"""Prints the table of audits on a terminal, with an explanation in words."""

from collections.abc import Sequence
from math import isclose, isfinite
from typing import TYPE_CHECKING

from netbandit.results.columns import plain_table
from netbandit.results.numbers import shortest
from netbandit.studies.auditing.audit import Audit
from netbandit.util.text import print_line

if TYPE_CHECKING:
    from rich.console import Console

_DIGITS = 4


def show(audits: Sequence[Audit], console: "Console") -> None:
    """Print one line per audit, and a legend of the columns."""
    table = plain_table()
    table.add_column("mechanism", overflow="fold")
    for heading in ("stated", "exact", "at least", "delta"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for audit in audits:
        exact = "-" if audit.exact is None else shortest(audit.exact, _DIGITS)
        numbers = (_number(audit.spent.epsilon), exact, _number(audit.bound.epsilon), _number(audit.spent.delta))
        table.add_row(audit.name, *numbers, "MORE THAN IS STATED" if audit.caught else "")
    console.print(table)
    for audit in audits:
        print_line(console, f"{audit.name}: {audit.setting}; epsilon is for {audit.spent.unit}")
        if audit.watched:
            print_line(console, f"{audit.name}: watched {audit.watched}")
    for line in words(audits):
        print_line(console, line)


def words(audits: Sequence[Audit]) -> list[str]:
    """Return sentences that explain the columns and the results."""
    sure = " or ".join(dict.fromkeys(f"{audit.confidence * 100:g} %" for audit in audits))
    lines = [
        "stated: by netbandit's account of what was released",
        f"at least: no smaller epsilon fits what was released of two inputs that differ in one unit, with {sure} "
        "confidence; that nothing was found is no proof of privacy",
    ]
    for audit in audits:
        spent, claimed = audit.spent.epsilon, audit.spent.epsilon_claimed
        if isfinite(claimed) and not isclose(spent, claimed, rel_tol=1e-3):
            lines.append(f"{audit.name}: the paper states {_number(claimed)}, by an account of its own")
        if not isfinite(spent):
            lines.append(f"{audit.name}: no privacy is stated, so there is nothing to refute")
        elif audit.caught:
            not_covered = f" (not covered: {'; '.join(audit.spent.caveats)})" if audit.spent.caveats else ""
            lines.append(f"{audit.name}: what leaves is less private than stated{not_covered}")
    return lines


def _number(value: float) -> str:
    return "inf" if not isfinite(value) else shortest(value, _DIGITS)
