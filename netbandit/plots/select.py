"""Which pictures a results folder calls for."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.plots import heatmap, network, parameter, structure, timeline, tradeoff, xy
from netbandit.plots.grouping import Arrangement, Point, arrange, evenly, metric_names
from netbandit.plots.metrics import compared, measured
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import save, subtitle
from netbandit.plots.values import identity, shown
from netbandit.results.names import UnknownNameError, resolve
from netbandit.results.run_folder import TRACE
from netbandit.results.safe_files import write_whole
from netbandit.results.store import StudyResult, folder_of, load_finished
from netbandit.results.telling import varied
from netbandit.simulation.result import RunResult
from netbandit.trace.read import TraceError, read_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = "pictures.json"
"""The file of a results folder that says which pictures in it are ours: those a later plot may remove."""

_SLICES = 6
_NETWORKS = 12
_SHAPING = ("topology.", "protocol.")
_FRONTIERS = {
    "delay": xy.delay_view,
    "privacy": xy.privacy_view,
    "communication": xy.communication_view,
}


@dataclass(frozen=True)
class Picture:
    """A picture of some results.

    Attributes:
        name: The name of its files, without an ending.
        figure: The drawing.
    """

    name: str
    figure: "Figure"

    @property
    def title(self) -> str:
        """What is to be seen."""
        return " ".join(self.figure.get_suptitle().split())

    @property
    def subtitle(self) -> str:
        """How it was measured and what is held fixed."""
        return subtitle(self.figure)


def pictures(results: Sequence[RunResult]) -> Iterator[Picture]:
    """Yield the pictures that *results* call for, scenario by scenario.

    - ``regret``: regret over the slots, or what is measured in its place where nobody knows it;
    - ``diameter``: cost and regret against the diameter, if the topology varies;
    - ``parameter``: regret and waiting against the swept number with the most values, if a series has two of them;
    - ``heatmap``: regret over the two numbers with the most values, if two have three values or more, most pairs of
      them were run, and they make a difference;
    - ``tradeoff``: regret against cost, if three points or more differ in cost and ``structure`` does not show it;
    - ``delay``: regret against the slots waited per round, if three points or more differ in these;
    - ``privacy``: regret against epsilon, if it varies;
    - ``communication``: regret against the data sent, along the budget of communication, if that varies;
    - ``structure``: regret against cost, delay as size, if three protocols or more are compared;
    - ``network``: the network with its links coloured by messages, for each point whose topology or protocol
      is another and whose agents do send messages to one another, at most twelve of them evenly spread.

    Where a picture holds other keys fixed there is one per combination, at most six evenly spread; heat maps have one
    scale of colours.

    Args:
        results: Runs in the order of the sweep; runs that differ in the replication alone are one point.
    """
    arrangements = arrange(results)
    names = _distinct([arrangement.name for arrangement in arrangements])
    for name, arrangement in zip(names, arrangements, strict=True):
        prefix = f"{name}-" if len(arrangements) > 1 else ""
        for stem, drawn in _drawn(arrangement):
            yield Picture(prefix + stem, drawn)


def folder_pictures(folder: Path, study: StudyResult) -> Iterator[Picture]:
    """Yield the pictures of *study*, whose results are in *folder*, and its timelines.

    ``round``: the first round in which a message is sent, of the first run of each point that has a trace; of at most
    six points evenly spread.
    """
    yield from pictures([run for point in study.points for run in point.finished])
    traced: list[tuple[Path, RunResult]] = []
    for point in study.points:
        runs = [
            (folder_of(folder, key) / TRACE, run)
            for key, run in zip(point.keys, point.runs, strict=True)
            if run is not None
        ]
        traced += [(trace, run) for trace, run in runs if trace.is_file()][:1]
    keys = [key for key in varied(study) if key != "run.replications"]
    chosen = evenly(traced, _SLICES)
    values = [{key: run.parameters[key] for key in keys if key in run.parameters} for _, run in chosen]
    stems = _distinct([_stem("round", fixed) for fixed in values])
    for stem, (trace, run), fixed in zip(stems, chosen, values, strict=True):
        with suppress(TraceError):  # a trace may be damaged, or of something else: then there is nothing to draw
            found = timeline.first_round(read_trace(trace, timeline.MOST_LINES))
            if found is not None:
                yield Picture(stem, timeline.draw_timeline(run, found, fixed))


def plot_folder(folder: Path, into: Path | None = None, kinds: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Draw the pictures of a results folder and return their files; those of earlier plots that are no more go away.

    Args:
        folder: A results folder.
        into: Where the pictures go, made if it is not there; the results folder itself by default.
        kinds: ``png``, ``svg`` or both.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged, or has no finished run.
    """
    study = load_finished(folder)
    target = folder if into is None else into
    target.mkdir(parents=True, exist_ok=True)
    files = []
    for picture in folder_pictures(folder, study):
        files += save(picture.figure, target / picture.name, kinds)
    _remember(target, files, forget=True)
    return files


def plot_against(
    folder: Path,
    x: str | None = None,
    y: str | None = None,
    color: str | None = None,
    kinds: Sequence[str] = ("png", "svg"),
    where: Mapping[str, str] | None = None,
) -> list[Path]:
    """Draw one picture of a results folder, of what the user wants to see against what, and return its files.

    Args:
        folder: A results folder.
        x: A key that varies or a metric; if not given, the number with the most values, else the first key.
        y: A metric; the regret if not given.
        color: A key that varies; if not given, the key of the series in all other pictures, unless it is *x*.
        kinds: ``png``, ``svg`` or both.
        where: Keys that vary, and the value, as it is shown, of the runs to draw; all runs if not given.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged, or has no finished run.
        UnknownNameError: There is no such key, value or metric.
    """
    runs = _finished_runs(folder)
    fixed = dict(where or {})
    for name, value in fixed.items():
        runs = _only(runs, name, value)
    arrangement = arrange(runs)[0]
    metrics = metric_names(arrangement)
    found_y = "regret" if y is None else resolve(y, "--y", (), metrics)
    found_color = None if color is None else resolve(color, "--color", arrangement.keys)
    if x is not None:
        found_x = resolve(x, "--x", arrangement.keys, metrics)
    else:
        free = [key for key in arrangement.keys if key != found_color]
        best = parameter.axis_key(arrangement)
        if not free:
            raise UnknownNameError(f"--x: must be given, one of {', '.join((*arrangement.keys, *metrics))}")
        found_x = best if best in free else next((key for key in free if arrangement.scale(key) is not None), free[0])
    if color is None and arrangement.series != found_x:
        found_color = arrangement.series
    drawn = xy.draw_against(arrangement, xy.View(found_x, found_y, found_color))
    words = [found_y, "against", found_x] + ([] if color is None else ["by", str(found_color)])
    words += [f"{name.rpartition('.')[2]}-{value}" for name, value in fixed.items()]
    files = save(drawn, folder / _stem("-".join(words), {}), kinds)
    _remember(folder, files, forget=False)
    return files


def _only(runs: Sequence[RunResult], name: str, value: str) -> list[RunResult]:
    """Return the runs in which the key that *name* means has this *value*."""
    keys = list(dict.fromkeys(key for run in runs for key in run.parameters))
    key = resolve(name, f"{name}={value}", keys)
    texts = {}
    for run in runs:
        if key in run.parameters:
            found = run.parameters[key]
            texts[str(found)] = texts[shown(found)] = found
    if value not in texts:
        known = ", ".join(dict.fromkeys(shown(found) for found in texts.values()))
        raise UnknownNameError(f"{name}={value}: {key} has no such value here, only {known}")
    return [run for run in runs if run.parameters.get(key) == texts[value]]


def _finished_runs(folder: Path) -> list[RunResult]:
    return [run for point in load_finished(folder).points for run in point.finished]


def _remember(folder: Path, files: Sequence[Path], *, forget: bool) -> None:
    """Note which pictures are in *folder*, and remove those of earlier plots that are no longer among them.

    Args:
        folder: The folder of the pictures.
        files: The pictures drawn now.
        forget: Whether these are all there are to be.
    """
    try:
        before = json.loads((folder / PICTURES).read_bytes())["files"]
        known = [name for name in before if isinstance(name, str) and Path(name).name == name]
    except (OSError, ValueError, TypeError, KeyError):
        known = []
    now = [file.name for file in files]
    if forget:
        for name in known:
            if name not in now and Path(name).suffix in (".png", ".svg"):
                (folder / name).unlink(missing_ok=True)
        known = []
    write_whole(folder / PICTURES, json.dumps({"files": sorted({*known, *now})}, indent=2) + "\n")


def _drawn(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    telling = measured(arrangement.points)
    if telling is None:  # of a log without a click there is nothing to compare
        yield from _networks(arrangement)
        return
    yield "regret", draw_regret(arrangement)
    yield from _against_diameter(arrangement)
    yield from _against_parameter(arrangement)
    yield from _heatmaps(arrangement)
    structures = telling == "regret" and structure.structures_vary(arrangement)
    if tradeoff.cost_varies(arrangement) and not (
        structures and all(key.startswith(_SHAPING) for key in arrangement.keys)
    ):
        yield "tradeoff", tradeoff.draw_regret_against_cost(arrangement)
    for name, view_of in _FRONTIERS.items():
        view = view_of(arrangement) if telling == "regret" else None
        if view is not None:
            yield name, xy.draw_against(arrangement, view)
    if structures:
        yield "structure", structure.draw_structures(arrangement)
    yield from _networks(arrangement)


def _against_diameter(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    others = tradeoff.beside_topology(arrangement)
    for stem, fixed, part in _parts(arrangement, "diameter", others, tradeoff.diameter_varies):
        yield stem, tradeoff.draw_against_diameter(part, fixed)


def _against_parameter(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    key = parameter.axis_key(arrangement)
    if key is None:
        return
    others = [other for other in arrangement.keys if other not in (key, arrangement.series)]
    for stem, fixed, part in _parts(arrangement, "parameter", others, lambda part: parameter.has_a_line(part, key)):
        yield stem, parameter.draw_against_parameter(part, key, fixed)


def _heatmaps(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    pair = heatmap.axis_keys(arrangement)
    if pair is not None:
        others = [key for key in arrangement.keys if key not in pair]
        metric = compared(arrangement.points)
        maps = _parts(arrangement, "heatmap", others, lambda part: heatmap.is_map(part, *pair, metric))
        shared = heatmap.limits([part for _, _, part in maps], *pair, metric) if len(maps) > 1 else None
        for stem, fixed, part in maps:
            yield stem, heatmap.draw_heatmap(part, *pair, fixed, metric, shared)


def _networks(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    keys = [key for key in arrangement.keys if key.startswith(_SHAPING)]
    chosen: dict[str, Point] = {}
    for point in arrangement.points:
        talking = any(run.links.messages.any() for run in point.runs)
        if talking and (point.runs[0].topology.get("agents") or 0) <= network.MOST_AGENTS:
            chosen.setdefault(identity({key: point.values[key] for key in keys}), point)
    few = evenly(list(chosen.values()), _NETWORKS)
    stems = _distinct([_stem("network", {key: point.values[key] for key in keys}) for point in few])
    for stem, point in zip(stems, few, strict=True):
        yield stem, network.draw_network(arrangement.name, point)


def _parts(
    arrangement: Arrangement, name: str, keys: Sequence[str], worth: Callable[[Arrangement], bool]
) -> list[tuple[str, dict[str, Any], Arrangement]]:
    """Return name, fixed values and points of the pictures that are *worth* drawing, for each value of *keys*."""
    chosen = evenly([(fixed, part) for fixed, part in arrangement.slices(keys) if worth(part)], _SLICES)
    stems = _distinct([_stem(name, fixed) for fixed, _ in chosen])
    return [(stem, fixed, part) for stem, (fixed, part) in zip(stems, chosen, strict=True)]


def _stem(name: str, values: dict[str, Any]) -> str:
    words = [name, *(shown(value) for value in values.values())]
    return "-".join(
        filter(None, (re.sub(r"[^a-z0-9._]+", "-", word.replace("∞", "inf").lower()).strip("-.") for word in words))
    )[:80]


def _distinct(stems: Sequence[str]) -> list[str]:
    """Return *stems* as names of files: those that occur again are numbered."""
    plain = [_stem(stem, {}) or "scenario" for stem in stems]
    return [stem if plain.count(stem) == 1 else f"{stem}-{place + 1}" for place, stem in enumerate(plain)]
