"""Which pictures a results folder calls for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.simulation.result import RunResult
from netbandit.study.plots import network, parameter, structure, tradeoff
from netbandit.study.plots.arrange import Arrangement, Point, arrange, evenly
from netbandit.study.plots.regret import draw_regret
from netbandit.study.plots.style import save, subtitle
from netbandit.study.plots.values import identity, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SLICES = 6
_NETWORKS = 12
_SHAPING = ("topology.", "protocol.")


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

    - ``regret``: regret over the slots;
    - ``diameter``: cost and regret against the diameter, if the topology varies;
    - ``parameter``: regret and waiting against the swept number with the most values, if there is one;
    - ``tradeoff``: regret against cost, if three points or more differ in cost;
    - ``structure``: regret against cost, delay as size, if three protocols or more are compared;
    - ``network``: the network with its links coloured by messages, for each point whose topology or protocol
      is another, at most twelve of them evenly spread.

    Where a picture holds other keys fixed there is one per combination, at most six evenly spread.

    Args:
        results: Runs in the order of the sweep; runs that differ in the replication alone are one point.
    """
    arrangements = arrange(results)
    names = _distinct([arrangement.name for arrangement in arrangements])
    for name, arrangement in zip(names, arrangements, strict=True):
        prefix = f"{name}-" if len(arrangements) > 1 else ""
        for stem, drawn in _drawn(arrangement):
            yield Picture(prefix + stem, drawn)


def plot_folder(folder: Path, into: Path | None = None, kinds: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Draw the pictures of a results folder and return their files.

    Args:
        folder: A results folder.
        into: Where the pictures go, made if it is not there; the results folder itself by default.
        kinds: ``png``, ``svg`` or both.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged, or has no finished run.
    """
    from netbandit.study.results import load_runs

    results = load_runs(folder)
    if not results:
        raise ValueError(f"{folder} has no finished run to draw")
    target = folder if into is None else into
    target.mkdir(parents=True, exist_ok=True)
    files = []
    for picture in pictures(results):
        files += save(picture.figure, target / picture.name, kinds)
    return files


def _drawn(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    yield "regret", draw_regret(arrangement)
    yield from _against_diameter(arrangement)
    yield from _against_parameter(arrangement)
    if tradeoff.cost_varies(arrangement):
        yield "tradeoff", tradeoff.draw_regret_against_cost(arrangement)
    if structure.structures_vary(arrangement):
        yield "structure", structure.draw_structures(arrangement)
    yield from _networks(arrangement)


def _against_diameter(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    for stem, fixed, part in _parts(arrangement, "diameter", tradeoff.beside_topology(arrangement)):
        if tradeoff.diameter_varies(part):
            yield stem, tradeoff.draw_against_diameter(part, fixed)


def _against_parameter(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    key = parameter.axis_key(arrangement)
    if key is None:
        return
    others = [other for other in arrangement.keys if other not in (key, arrangement.series)]
    for stem, fixed, part in _parts(arrangement, "parameter", others):
        yield stem, parameter.draw_against_parameter(part, key, fixed)


def _networks(arrangement: Arrangement) -> "Iterator[tuple[str, Figure]]":
    keys = [key for key in arrangement.keys if key.startswith(_SHAPING)]
    chosen: dict[str, Point] = {}
    for point in arrangement.points:
        if (point.runs[0].topology.get("agents") or 0) <= network.MOST_AGENTS:
            chosen.setdefault(identity({key: point.values[key] for key in keys}), point)
    few = evenly(list(chosen.values()), _NETWORKS)
    stems = _distinct([_stem("network", {key: point.values[key] for key in keys}) for point in few])
    for stem, point in zip(stems, few, strict=True):
        yield stem, network.draw_network(arrangement.name, point)


def _parts(arrangement: Arrangement, name: str, keys: Sequence[str]) -> list[tuple[str, dict[str, Any], Arrangement]]:
    chosen = evenly(list(arrangement.slices(keys)), _SLICES)
    stems = _distinct([_stem(name, fixed) for fixed, _ in chosen])
    return [(stem, fixed, part) for stem, (fixed, part) in zip(stems, chosen, strict=True)]


def _stem(name: str, values: dict[str, Any]) -> str:
    words = [name, *(shown(value) for value in values.values())]
    return "-".join(filter(None, (re.sub(r"[^a-z0-9._]+", "-", word.lower()).strip("-.") for word in words)))[:80]


def _distinct(stems: Sequence[str]) -> list[str]:
    """Return *stems* as names of files: those that occur again are numbered."""
    plain = [_stem(stem, {}) or "scenario" for stem in stems]
    return [stem if plain.count(stem) == 1 else f"{stem}-{place + 1}" for place, stem in enumerate(plain)]
