"""Tables of the suite: all entries on all tracks of a family, and the entries of a track; for terminals and papers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from netbandit.plural import counted
from netbandit.results.numbers import shortest
from netbandit.results.paper_formats import NOTHING, escaped
from netbandit.suite.cells import Cell, State
from netbandit.suite.standing import Standing

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.table import Table as RichTable

_WORDS: dict[State, str] = {"refused": NOTHING, "failed": "error", "late": "late", "private": "ε", "missing": ""}

STALLED = "*"
"""Stands behind the score of an entry of which agents stalled in some replication."""

LEGEND = (
    "0: as if all knew all; 1: no better than alone; – cannot run there, ε spends too much privacy, error, late: did "
    f"not end in time, {STALLED} agents stalled in some replications, empty: not run"
)
"""What stands below a table of scores."""


@dataclass(frozen=True)
class Table:
    """Texts in rows and columns.

    Attributes:
        caption: What it shows.
        head: The heading of each column; the first is that of words, the others those of numbers.
        rows: The texts of each row.
        own: The number of the row of the entry that is looked for; None: there is none.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    own: int | None = None

    def markdown(self) -> str:
        """Return it as Markdown, without its caption."""
        lines = [self.head, ["---", *["--:"] * (len(self.head) - 1)], *self.rows]
        return "".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |\n" for line in lines)

    def latex(self) -> str:
        """Return it as LaTeX, for the package booktabs."""
        frame = self._frame(escaped)
        columns = "l" + "r" * (len(self.head) - 1)
        text: str = frame.style.hide(axis="index").to_latex(
            caption=escaped(self.caption), column_format=columns, hrules=True, position_float="centering"
        )
        return text

    def html(self) -> str:
        """Return it as HTML, with its caption."""
        text: str = self._frame(escape).style.hide(axis="index").set_caption(escape(self.caption)).to_html()
        return text

    def terminal(self) -> "RichTable":
        """Return it for a terminal, the row that is looked for in bold."""
        from rich.table import Table as RichTable
        from rich.text import Text

        found = RichTable(title=self.caption, title_justify="left", box=None, pad_edge=False, header_style="bold")
        for place, heading in enumerate(self.head):
            found.add_column(Text(heading), justify="right" if place else "left", no_wrap=bool(place))
        for place, row in enumerate(self.rows):
            found.add_row(*map(Text, row), style="bold" if place == self.own else "")
        return found

    def _frame(self, text_of: Callable[[str], str]) -> "DataFrame":
        from pandas import DataFrame

        rows = [[text_of(text) for text in row] for row in self.rows]
        return DataFrame(rows, columns=[text_of(heading) for heading in self.head])


def overview(standing: Standing) -> Table:
    """Return the table of all entries and tracks: scores, how much of the gain, and the place in that order.

    A place is followed by the places that it may have if any one track is left out.
    """
    rows = []
    for name in standing.entries:
        found = standing.places[name]
        place = f"{found.place}" if found.best == found.worst else f"{found.place} ({found.best}–{found.worst})"
        cells = [score_text(standing, name, track) for track in standing.names]
        rows.append([name, _decimals(standing.gain(name)), place, str(len(standing.fronts(name))), *cells])
    return Table(
        f"Score of each entry on {counted(len(standing.names), 'track')}; gain: share of the gain of free cooperation, "
        "mean over tracks; place: in the order of gain, with the places if any one track is left out; fronts: tracks "
        "on which nobody has less regret and sends less",
        ["entry", "gain", "place", "fronts", *standing.names],
        rows,
        standing.entries.index(standing.own) if standing.own in standing.entries else None,
    )


def of_track(standing: Standing, track: str) -> Table:
    """Return the table of the entries that ran on a *track*, those with the least regret first."""
    cells = standing.ran(track)
    order = sorted(cells, key=lambda name: standing.scores[track][name].value)
    front = standing.front(track)
    rows = []
    for name in order:
        low, high = standing.ranks[track][name]
        found = standing.scores[track][name]
        ends = f"[{_decimals(found.low)}, {_decimals(found.high)}]" if isfinite(found.high - found.low) else NOTHING
        mark = STALLED if cells[name].stalled else ""
        sent = cells[name].of("bytes")
        beaten = len(standing.dominated[track].get(name, []))
        rows.append(
            [
                name,
                f"{low}" if low == high else f"{low}–{high}",
                _decimals(found.value) + mark,
                ends,
                shortest(sum(sent) / len(sent), 3),
                "front" if name in front else str(beaten),
            ]
        )
    return Table(
        f"{track}: rank as far as it is decided, score with its 95 % interval, bytes an agent and slot, and by how "
        "many entries it is dominated",
        ["entry", "rank", "score", "95 %", "bytes", "dominated"],
        rows,
        order.index(standing.own) if standing.own in order else None,
    )


def among_all(standing: Standing) -> Table:
    """Return how the own entry of *standing* fares on each track, and who is best there."""
    rows = []
    for track in standing.names:
        cell = standing.record.cell(standing.own, track)
        if cell.state != "ran":
            rows.append([track, _WORDS[cell.state] or "not run", "", "", "", "", cell.why])
            continue
        table = of_track(standing, track)
        assert table.own is not None
        _, rank, value, ends, size, beaten = table.rows[table.own]
        best = table.rows[0] if table.own else table.rows[min(1, len(table.rows) - 1)]
        rows.append([track, value, ends, f"{rank} of {len(table.rows)}", size, beaten, f"{best[0]}: {best[2]}"])
    head = ["track", "score", "95 %", "rank", "bytes", "dominated", "best other"]
    return Table(f"{standing.own}, among all recorded entries", head, rows)


def not_run(standing: Standing) -> list[str]:
    """Return why the own entry, or without one any entry, has no score on some tracks, a line each reason."""
    names = [standing.own] if standing.own else list(standing.record.entries)
    reasons: dict[tuple[str, str], list[str]] = {}
    for name in names:
        for track in standing.names:
            cell = standing.record.cell(name, track)
            if cell.state not in ("ran", "missing") and standing.record.entries[name].rank != "reference":
                reasons.setdefault((track, cell.why), []).append(name)
    return [f"{track}: {why} ({', '.join(found)})" for (track, why), found in reasons.items()]


def score_text(standing: Standing, entry: str, track: str) -> str:
    """Return the score of an entry on a track, or a word for why there is none."""
    cell: Cell = standing.record.cell(entry, track)
    if cell.state != "ran":
        return _WORDS[cell.state]
    return _decimals(standing.scores[track][entry].value) + (STALLED if cell.stalled else "")


def _decimals(value: float) -> str:
    """Return a score or a share with two decimals; large scores with fewer."""
    text = f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"
    return "0.00" if text == "-0.00" else text
