"""Run the studies whose pictures the pages of algorithms show: ``python docs/algorithms/recorded.py [STUDY...]``.

The site runs none of them when it is built. Kept beside it are, of ``studies/rounds.toml``, a round of each protocol
(``pictures/round-*.png``) and the run played back (``rounds/*.json``); of ``studies/front.toml`` the film on the first
page (``pictures/front.gif``); of the others the regret of each learner (``pictures/regret-*.png``); the thumbnails of
rounds and regret for their cards (``pictures/thumbnails``); and in ``recorded.json`` what was run. A test says which
are to be run again.
"""

import json
import sys
import tempfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from PIL.ImageSequence import all_frames

import netbandit as nb
from netbandit.plots.grouping import arrange
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import encoded
from netbandit.plots.timeline import draw_timeline, first_round
from netbandit.report.animation import playback
from netbandit.report.film import write_film
from netbandit.results.results_folder import ResultsFolder
from netbandit.trace.perfetto import find_trace
from netbandit.trace.read import Lines, first_trace, read_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
STUDIES = HERE / "studies"
KEPT = HERE / "recorded.json"
sys.path.insert(0, str(HERE.parent / "_ext"))

from recorded_names import CURVES, ROUNDS, SLOTS  # noqa: E402
from scenario_gallery import what_runs  # noqa: E402
from thumbnails import thumbnail  # noqa: E402

_COLOURS = 96
"""Of a picture, which takes half as many bytes with them as with all."""

_STILL = 12
"""The first frames of the film, before the first message."""


def keep(study: str) -> None:
    """Run a study and keep its pictures."""
    file = STUDIES / f"{study}.toml"
    with tempfile.TemporaryDirectory() as folder:
        nb.run(file, out=folder, trace=study in ("rounds", "front"))
        if study == "rounds":
            _rounds(Path(folder))
        elif study == "front":
            _film(Path(folder))
        else:
            _curves(study, Path(folder))
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept[study] = what_runs(file)
    KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=2) + "\n", encoding="utf-8")


def _rounds(folder: Path) -> None:
    of_case = {point.parameters["case"]: point for point in ResultsFolder(folder).finished_study().points}
    for name in ROUNDS:
        found = first_trace(folder, of_case[name])
        if found is None:
            raise RuntimeError(f"{name}: no trace")
        lines, run = read_trace(found[0]), replace(found[1], name=name)
        what = first_round(_begin(lines, SLOTS[name]) if name in SLOTS else lines)
        if what is None:
            raise RuntimeError(f"{name}: no round")
        drawn = draw_timeline(run, what)
        if name in SLOTS:
            drawn.texts[0].set_text(f"{name}: messages sent in the first {SLOTS[name]} slots")
        _write(drawn, f"round-{name}")
        _write_small(draw_timeline(run, what), f"round-{name}")
        played = json.dumps(playback(run, lines), separators=(",", ":"))
        (HERE / "rounds" / f"{name}.json").write_text(f"{played}\n", encoding="utf-8")


def _film(folder: Path) -> None:
    written = folder / "film.gif"
    write_film(find_trace(folder), written, "gif")
    with Image.open(written) as film:
        frames = [frame.convert("RGB") for frame in all_frames(film)]
    colours = frames[len(frames) // 2].quantize(_COLOURS // 3, Image.Quantize.MAXCOVERAGE)
    del frames[:_STILL]
    first, *rest = (frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames)
    first.save(HERE / "pictures" / "front.gif", save_all=True, append_images=rest, duration=60, loop=0)


def _begin(lines: Lines, slots: int) -> Lines:
    """Return the messages of the first slots as if they were of one round: nobody waits, so that rounds overlap."""
    some = [message._replace(round=1) for message in lines.messages if message.sent < slots * 10**6]
    return Lines(some, [], len(some))


def _curves(study: str, folder: Path) -> None:
    whole = arrange(ResultsFolder(folder).finished_study())
    for name, (of, *labels) in CURVES.items():
        if of == study:
            some = tuple(point for point in whole.points if point.parameters["case"] in labels)
            part = replace(whole, name=name, points=some).looking_like(whole)
            _write(draw_regret(part), f"regret-{name}")
            _write_small(draw_regret(part), f"regret-{name}")


def _write(drawn: object, name: str) -> None:
    picture = Image.open(BytesIO(encoded(drawn, "png"))).quantize(_COLOURS, dither=Image.Dither.NONE)
    picture.save(HERE / "pictures" / f"{name}.png", optimize=True)


def _write_small(drawn: "Figure", name: str) -> None:
    (HERE / "pictures" / "thumbnails" / f"{name}.png").write_bytes(thumbnail(drawn))


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(file.stem for file in STUDIES.glob("*.toml")):
        keep(name)
