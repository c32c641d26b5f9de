"""Writes the tables and pictures of the page on the suite, from the record that is shipped."""

from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from netbandit.plots.style import COLOURS, FAINT, NEUTRAL, drawing, save
from netbandit.results.numbers import rounded, shortest
from netbandit.results.paper_formats import NOTHING
from netbandit.studies.suite.comparing import recorded
from netbandit.studies.suite.differences import pairing
from netbandit.studies.suite.pictures import draw_fronts, draw_profiles
from netbandit.studies.suite.scores import separation
from netbandit.studies.suite.standing import Standing
from netbandit.studies.suite.tables import LEGEND, Table, of_track, overview

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from sphinx.application import Sphinx


_MOST = 4
"""So many of those who may be the best are named."""

_OPEN = 5
"""So many entries of a track are shown; the others are behind a click."""


def best_of(standing: Standing, track: str) -> list[str]:
    """Return the entries that may be the best on a track, the one with the least regret first."""
    scores, ranks = standing.scores[track], standing.ranks[track]
    return sorted((name for name in standing.ran(track) if ranks[name][0] == 1), key=lambda name: scores[name].value)


def short(name: str) -> str:
    """Return the name of an entry without the keys it was tuned in: ``ucb over relay (tuned)``."""
    learner, _, protocol = name.partition(" over ")
    words = [part.partition(" (") for part in (learner, protocol)]
    tuned = any(mark for _, mark, _ in words)
    return " over ".join(word for word, _, _ in words) + (" (tuned)" if tuned else "")


@drawing()
def draw_winners(standings: list[Standing]) -> "Figure":
    """Draw for each track the gain of the best entry."""
    from netbandit.util.extras.plots import Figure, FigureCanvasAgg

    tracks = [(standing, track) for standing in standings for track in standing.names]
    drawn = Figure(figsize=(4.4, 0.27 * len(tracks) + 0.8), dpi=200, layout="constrained")
    FigureCanvasAgg(drawn)
    panel = drawn.subplots()
    rows = [row + (standing is not standings[0]) for row, (standing, _) in enumerate(tracks)]
    for row, (standing, track) in zip(rows, tracks, strict=True):
        name = best_of(standing, track)[0]
        gain = 1 - standing.scores[track][name].value
        panel.barh(row, gain, height=0.78, color=COLOURS[5], alpha=0.55)
        panel.text(0.012, row, short(name), va="center", fontsize=8)
        panel.text(max(gain, 1) + 0.015, row, f"{100 * gain:.0f} %", va="center", fontsize=8, clip_on=False)
    panel.set_yticks(rows, [track for _, track in tracks])
    panel.set_ylim(rows[-1] + 0.6, -0.6)
    panel.set_xlim(left=0)
    panel.set_xticks([0, 0.5, 1], ["0 %\nas alone", "50 %", "100 %\nas if all\nknew all"])
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    panel.spines["left"].set_color(FAINT)
    panel.set_xlabel("gain of the best entry", fontsize=8, color=NEUTRAL)
    return drawn


def lead(standings: list[Standing]) -> str:
    """Return who is first, and how much of what cooperation could gain, in a sentence for each family."""
    lines = []
    for standing, rewards in zip(standings, ("arms", "linear rewards"), strict=True):
        first, known = standing.entries[0], standing.places[standing.entries[0]]
        gains = [1 - standing.scores[track][first].value for track in standing.common]
        best = sum(first in best_of(standing, track) for track in standing.names)
        sure = "whichever track is left out" if known.worst == 1 else f"place {known.worst} if one track is left out"
        lines.append(
            f"- **With {rewards}, `{short(first)}`** is first of {len(standing.entries)} ({sure}): it may be the best "
            f"on {best} of {len(standing.names)} tracks, and has {100 * median(gains):.0f} % of what cooperation can "
            f"gain on the median of the {len(gains)} that all ran.\n"
        )
    return "".join(lines)


def tracks_table(standings: list[Standing]) -> str:
    """Return the tracks: what each is for, and its size."""
    lines = ["| track | what it is for | agents | slots |", "|---|---|--:|--:|"]
    for standing in standings:
        lines += [f"| `{one.name}` | {one.description} | {one.agents} | {one.horizon:,} |" for one in standing.tracks]
    return "\n".join(lines) + "\n"


def references_table(standings: list[Standing]) -> str:
    """Return how far apart the references of each track are."""
    lines = ["| track | alone | all known | difference in standard errors | pairs |", "|---|---|---|--:|--:|"]
    for standing in standings:
        for track in standing.tracks:
            found = [
                sum(standing.record.cell(one.name, track.name).of("regret")) / 20 for one in (track.alone, track.all)
            ]
            names = [
                f"`{one.learner['kind']}`: {mean:,.0f}"
                for one, mean in zip((track.alone, track.all), found, strict=True)
            ]
            apart = separation(standing.record, track)
            gained = pairing(standing.ran(track.name))
            paired = NOTHING if gained is None else f"{gained:.2f}"
            lines.append(f"| `{track.name}` | {names[0]} | {names[1]} | {apart:.0f} | {paired} |")
    return "\n".join(lines) + "\n"


def winners_table(standings: list[Standing]) -> str:
    """Return for each track the entries that may be the best, and which of them sends least."""
    lines = ["| track | who may be the best | gain | half of the gain, for the fewest bytes | bytes |"]
    lines.append("|---|---|--:|---|--:|")
    for standing in standings:
        for track in standing.names:
            scores, cells = standing.scores[track], standing.ran(track)
            first = best_of(standing, track)
            named = ", ".join(map(short, first[:_MOST])) + (
                f" and {len(first) - _MOST} more" if len(first) > _MOST else ""
            )
            half = [name for name in standing.front(track) if scores[name].value <= 0.5]
            cheap = f"{short(half[0])} | {size_text(mean(cells[half[0]].of('bytes')))}" if half else "nobody |"
            lines.append(f"| `{track}` | {named} | {100 * (1 - scores[first[0]].value):.0f} % | {cheap} |")
    return "\n".join(lines) + "\n"


def size_text(size: float) -> str:
    """Return a number of bytes as people read it: ``0.04``, ``18``, ``2.04 kB``."""
    return shortest(rounded(size, 3)) if size < 1000 else f"{shortest(rounded(size / 1000, 3))} kB"


def in_two(table: Table, tracks: int) -> list[Table]:
    """Return the order of the entries, and their scores on so many *tracks*, which are the last columns."""
    parts = (lambda row: list(row[:-tracks]), lambda row: [row[0], *row[-tracks:]])
    return [Table(table.caption, part(table.head), [part(row) for row in table.rows]) for part in parts]


def track_text(standing: Standing, track: str) -> str:
    """Return the entries that ran on a track: the best, and the others behind a click."""
    table = of_track(standing, track)
    best = Table(table.caption, table.head, table.rows[:_OPEN]).markdown()
    rest = Table(table.caption, table.head, table.rows[_OPEN:]).markdown()
    more = f"{len(table.rows) - _OPEN} more entries"
    return f"### `{track}`\n\n{best}\n::::{{dropdown}} {more}\n\n{rest}\n::::\n"


def tuned_table(standings: list[Standing]) -> str:
    """Return what tuning is worth: place, harm and gain of each tuned entry, and of the same pair as shipped."""
    lines = [
        "| entry | how it was chosen | place | as shipped | harm | as shipped | gain (harm as 0) | as shipped |",
        _rule(8),
    ]
    for standing in standings:
        known = standing.record.entries
        for name in (name for name in standing.entries if known[name].rank == "tuned"):
            pair = (name, f"{known[name].learner['kind']} over {known[name].protocol['kind']}")
            found = [
                *(str(standing.places[one].place) for one in pair),
                *(str(len(standing.harmed(one))) for one in pair),
                *(f"{standing.gain(one):.2f}" for one in pair),
            ]
            lines.append(f"| {name} | {known[name].note} | {' | '.join(found)} |")
    return "\n".join(lines) + "\n"


def write(app: "Sphinx") -> None:
    """Write tables and pictures into the source folder, where git does not look."""
    folder = Path(app.srcdir) / "suite" / "parts"
    folder.mkdir(exist_ok=True)
    standings = recorded().standings
    texts = {
        "lead": lead(standings),
        "tracks": tracks_table(standings),
        "references": references_table(standings),
        "winners": winners_table(standings),
        "tuned": tuned_table(standings),
    }
    save(draw_winners(standings), folder / "winners", ("png",))
    for standing in standings:
        table = overview(standing)
        order, scores = in_two(table, len(standing.names))
        texts[f"overview-{standing.family}"] = f"{order.markdown()}\n{table.caption}. {LEGEND}.\n"
        texts[f"scores-{standing.family}"] = scores.markdown()
        texts[f"tracks-{standing.family}"] = "\n".join(track_text(standing, track) for track in standing.names)
        save(draw_profiles(standing), folder / f"profiles-{standing.family}", ("png",))
        save(draw_fronts(standing), folder / f"fronts-{standing.family}", ("png",))
    for name, text in texts.items():
        place = folder / f"{name}.md"
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def _rule(columns: int) -> str:
    return "|" + "---|" * 2 + "--:|" * (columns - 2)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the parts written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
