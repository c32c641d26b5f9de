"""Tables of the suite: entries by tracks of a family, and the entries of one track; for terminals and papers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from netbandit.results.markup import Layout
from netbandit.results.numbers import shortest
from netbandit.results.paper_formats import NOTHING, escaped
from netbandit.studies.suite.cells import Cell, State
from netbandit.studies.suite.profiles import Place
from netbandit.studies.suite.standing import Standing
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_WORDS: dict[State, str] = {"refused": NOTHING, "failed": "error", "late": "late", "private": "ε", "missing": ""}

YOURS = " (yours)"
"""Stands behind the name of the entry that is looked for among the others."""

STALLED = "*"
"""Stands behind the score of an entry of which agents stalled in some replication."""

GAIN = "gain (harm as 0)"
"""The heading of `Standing.gain`."""

SELF = "behind itself"
"""The heading of the tracks on which an entry has more regret than the same learner alone."""

HARM = "harm: tracks on which it is worse than the reference alone (score with its interval above 1)"
"""The heading of the count of tracks with harm."""

LEGEND = (
    "0: as if all knew all; 1: no better than alone; – cannot run there, ε spends too much privacy, error, late: did "
    f"not end in time, {STALLED} agents stalled in some replications, empty: not run"
)
"""The note below a table of scores."""


@dataclass(frozen=True)
class Table:
    """Texts in rows and columns.

    Attributes:
        caption: Its caption.
        head: The heading of each column; the first is that of words, the others those of numbers.
        rows: The texts of each row.
        own: The number of the row of the entry that is looked for, which is shown with `YOURS`; None: there is none.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    own: int | None = None

    def markdown(self) -> str:
        """Return it as Markdown, without its caption."""
        lines = [self.head, ["---", *["--:"] * (len(self.head) - 1)], *self._marked]
        return "".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |\n" for line in lines)

    def latex(self) -> str:
        """Return it as LaTeX, for the package booktabs."""
        return self._layout(escaped).latex(escaped(self.caption))

    def html(self) -> str:
        """Return it as HTML, with its caption."""
        return self._layout(escape).html(escape(self.caption))

    def terminal(self) -> "RichTable":
        """Return it for a terminal, the row that is looked for in bold."""
        from rich.table import Table as RichTable
        from rich.text import Text

        found = RichTable(title=self.caption, title_justify="left", box=None, pad_edge=False, header_style="bold")
        for index, heading in enumerate(self.head):
            found.add_column(Text(heading), justify="right" if index else "left", no_wrap=bool(index))
        for index, row in enumerate(self._marked):
            found.add_row(*map(Text, row), style="bold" if index == self.own else "")
        return found

    @property
    def _marked(self) -> list[list[str]]:
        return [[f"{row[0]}{YOURS}" if index == self.own else row[0], *row[1:]] for index, row in enumerate(self.rows)]

    def _layout(self, text_of: Callable[[str], str]) -> Layout:
        return Layout(
            [[text_of(text)] for text in self.head], [[text_of(text) for text in row] for row in self._marked]
        )


def overview(standing: Standing) -> Table:
    """Return the table of all entries and tracks: their order, the tracks on which they do harm, and scores.

    A place is followed by the places that it may have if any one track is left out. With fewer than two tracks that all
    entries ran none has a place.
    """
    rows = []
    for name in standing.entries:
        ordered = [_place(standing.places[name]), f"{standing.places[name].rank:g}"] if standing.places else []
        behind, both = standing.behind_itself(name)
        harm = [str(len(standing.harmed(name))), f"{len(behind)} of {both}" if both else NOTHING]
        others = [_decimals(standing.gain(name)), str(len(standing.fronts(name)))]
        cells = [score_text(standing, name, track) for track in standing.names]
        rows.append([name, *ordered, *harm, *others, *cells])
    return Table(
        f"Score of each entry on {pluralize(len(standing.names), 'track')}; {_order_text(standing)}{HARM}; {SELF}: "
        "tracks on which it has more regret than its own learner over silent, of those on which both are recorded; "
        f"{GAIN}: mean over tracks of 1 − score from 0 to 1, which leaves out harm and where an entry did not run; "
        "fronts: tracks on which nobody dominates it",
        ["entry", *(("place", "rank") if standing.places else ()), "harm", SELF, GAIN, "fronts", *standing.names],
        rows,
        standing.entries.index(standing.own) if standing.own in standing.entries else None,
    )


def _place(found: Place) -> str:
    return f"{found.place}" if found.best == found.worst else f"{found.place} ({found.best}–{found.worst})"


def _order_text(standing: Standing) -> str:
    """Return how the rows of `overview` are ordered."""
    left_out = [name for name in standing.names if name not in standing.common]
    if not standing.common:
        return "in the order of the record, as no track was run by all of them; "
    over = f"the {len(standing.common)} tracks" if len(standing.common) > 1 else standing.common[0]
    which = f"{over} that all of them ran (not {', '.join(left_out)})" if left_out else over
    if not standing.places:
        return f"in the order of ranks on {which}; "
    return (
        f"rank: median over {which} of midranks, what is undecided being equal; place: in this order, with the places "
        "if any one of these tracks is left out; "
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
        alone = standing.score_alone(name, track)
        rows.append(
            [
                name,
                f"{low}" if low == high else f"{low}–{high}",
                _decimals(found.value) + mark,
                ends,
                "harm" if track in standing.harmed(name) else "",
                NOTHING if alone is None else _decimals(alone),
                shortest(sum(sent) / len(sent), 3),
                "front" if name in front else str(beaten),
            ]
        )
    return Table(
        f"{track}: rank as far as it is decided, score with its 95 % interval, harm where that is above 1, the score "
        "of the same learner over silent, bytes an agent and slot, and by how many entries it is dominated",
        ["entry", "rank", "score", "95 %", "harm", "itself alone", "bytes", "dominated"],
        rows,
        order.index(standing.own) if standing.own in order else None,
    )


def among_all(standing: Standing) -> Table:
    """Return the rank of the user's entry of *standing* on each track, and the best entry there."""
    rows = []
    for track in standing.names:
        cell = standing.record.cell(standing.own, track)
        if cell.state != "ran":
            rows.append([track, _WORDS[cell.state] or "not run", "", "", "", "", "", "", cell.why])
            continue
        table = of_track(standing, track)
        assert table.own is not None
        _, rank, value, ends, harm, alone, size, beaten = table.rows[table.own]
        best = table.rows[0] if table.own else table.rows[min(1, len(table.rows) - 1)]
        rank = f"{rank} of {len(table.rows)}"
        rows.append([track, value, ends, rank, harm, alone, size, beaten, f"{best[0]}: {best[2]}"])
    head = ["track", "score", "95 %", "rank", "harm", "itself alone", "bytes", "dominated", "best other"]
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
