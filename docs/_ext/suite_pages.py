"""Writes the tables and pictures of the page on the suite, from the record that is shipped."""

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from netbandit.plots.style import save
from netbandit.results.paper_formats import NOTHING
from netbandit.suite.comparing import recorded
from netbandit.suite.differences import pairing
from netbandit.suite.pictures import draw_fronts, draw_profiles
from netbandit.suite.scores import separation
from netbandit.suite.standing import Standing
from netbandit.suite.tables import LEGEND, of_track, overview

if TYPE_CHECKING:
    from sphinx.application import Sphinx


_MOST = 4
"""So many of those who may be the best are named."""


def tracks_table(standings: list[Standing]) -> str:
    """Return the tracks: what each is for, its size, and how far apart its references are."""
    lines = [
        "| track | what it is for | agents | slots | alone | all known | (alone − all known) / s.e. | pairs |",
        _rule(8),
    ]
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
            numbers = f"{track.agents} | {track.horizon:,} | {names[0]} | {names[1]} | {apart:.0f} | {paired}"
            lines.append(f"| `{track.name}` | {track.description} | {numbers} |")
    return "\n".join(lines) + "\n"


def winners_table(standings: list[Standing]) -> str:
    """Return for each track the entries that may be the best, and which of them sends least."""
    lines = [
        "| track | who may be the best | score of the first | who of the front has half of the gain for least bytes |"
    ]
    lines.append("|---|---|--:|---|")
    for standing in standings:
        for track in standing.names:
            scores, cells = standing.scores[track], standing.ran(track)
            first = sorted(
                (name for name in cells if standing.ranks[track][name][0] == 1), key=lambda n: scores[n].value
            )
            named = ", ".join(first[:_MOST]) + (f" and {len(first) - _MOST} more" if len(first) > _MOST else "")
            half = [name for name in standing.front(track) if scores[name].value <= 0.5]
            cheap = f"{half[0]}: {mean(cells[half[0]].of('bytes')):,.3g} bytes an agent and slot" if half else "nobody"
            lines.append(f"| `{track}` | {named} | {scores[first[0]].value:.2f} | {cheap} |")
    return "\n".join(lines) + "\n"


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
        "tracks": tracks_table(standings),
        "winners": winners_table(standings),
        "tuned": tuned_table(standings),
    }
    for standing in standings:
        table = overview(standing)
        texts[f"overview-{standing.family}"] = f"{table.markdown()}\n{table.caption}. {LEGEND}.\n"
        parts = [f"### `{track}`\n\n{of_track(standing, track).markdown()}" for track in standing.names]
        texts[f"tracks-{standing.family}"] = "\n".join(parts)
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
