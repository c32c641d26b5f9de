"""One picture of what the user wants to see against what."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from netbandit.plots.choice import Picture, stem
from netbandit.plots.grouping import Arrangement, arrange, metric_names, value_of
from netbandit.plots.parameter import axis_key
from netbandit.plots.values import identity, shown
from netbandit.plots.xy import View, draw_against
from netbandit.results.names import UnknownNameError, resolve
from netbandit.results.statistic import Statistic
from netbandit.results.store import StudyResult
from netbandit.results.table import parameter_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_STATISTICS = frozenset({"mean", "median", *(f"q{share}" for share in range(1, 100))})


@dataclass(frozen=True)
class Asked:
    """What is to be drawn against what.

    Attributes:
        x: A key that varies or a metric; if not given, the number with the most values, else the first key.
        y: A metric; the regret if not given.
        color: A key that varies; if not given, the key of the series in all other pictures, unless it is *x*.
        where: Keys that vary, and the value, as it is shown, of the points to draw; all points if not given.
        statistic: What stands for the replications of a point: ``mean``, ``median`` or a quantile such as ``q90``.
    """

    x: str | None = None
    y: str | None = None
    color: str | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    statistic: str = "mean"

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` takes."""
        return {**asdict(self), "where": dict(self.where)}

    @classmethod
    def from_json(cls, found: object) -> "Asked | None":
        """Return what `as_json` made; None of anything else."""
        if not isinstance(found, dict) or not isinstance(found.get("where"), dict):
            return None
        texts = {name: found.get(name) for name in ("x", "y", "color")}
        statistic = found.get("statistic", "mean")
        if statistic not in _STATISTICS:
            return None
        if not all(text is None or isinstance(text, str) for text in texts.values()):
            return None
        if not all(isinstance(text, str) for pair in found["where"].items() for text in pair):
            return None
        return cls(**texts, where=found["where"], statistic=statistic)


def draw_asked(study: StudyResult, asked: Asked) -> Picture:
    """Draw what was asked for.

    Series keep the colours that they have in all other pictures, also where only some points are drawn.

    Raises:
        UnknownNameError: There is no such key, value or metric.
        StatisticError: There is no such statistic.
    """
    whole = arrange(study, Statistic.named(asked.statistic))
    part = whole.only(_values(study, whole, asked.where))
    varying = [key for key in whole.keys if len({identity(value_of(point, key)) for point in part.points}) > 1]
    arrangement = replace(part, keys=tuple(varying)).looking_like(whole)
    view, words = _view(arrangement, asked)
    words += [asked.statistic] if asked.statistic != "mean" else []
    words += [f"{name.rpartition('.')[2]}-{value}" for name, value in asked.where.items()]
    drawn: Figure = draw_against(arrangement, view)
    return Picture(stem("-".join(words), {}), drawn)


def _view(arrangement: Arrangement, asked: Asked) -> tuple[View, list[str]]:
    """Return what is drawn, and the words that the file is called by."""
    metrics = metric_names(arrangement)
    y = "regret" if asked.y is None else resolve(asked.y, "--y", (), metrics)
    color = None if asked.color is None else resolve(asked.color, "--color", arrangement.keys)
    if asked.x is not None:
        x = resolve(asked.x, "--x", arrangement.keys, metrics)
    else:
        free = [key for key in arrangement.keys if key != color]
        best = axis_key(arrangement)
        if not free:
            raise UnknownNameError(f"--x: must be given, one of {', '.join((*arrangement.keys, *metrics))}")
        x = best if best in free else next((key for key in free if arrangement.scale(key) is not None), free[0])
    words = [y, "against", x] + ([] if color is None else ["by", color])
    if color is None and arrangement.series != x:
        color = arrangement.series
    return View(x, y, color), words


def _values(study: StudyResult, arrangement: Arrangement, where: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of each key that *where* means.

    Raises:
        UnknownNameError: There is no such key or value.
    """
    found = {}
    part = arrangement
    for name, text in where.items():
        key = resolve(name, f"{name}={text}", parameter_names(study))
        texts: dict[str, Any] = {}
        for point in part.points:
            value = value_of(point, key)
            texts[str(value)] = texts[shown(value)] = value
        meant = text if text in texts else text.partition(":")[2]  # a class of one's own is drawn by its name alone
        if meant not in texts:
            known = ", ".join(dict.fromkeys(shown(value) for value in texts.values()))
            raise UnknownNameError(f"{name}={text}: {key} has no such value here, only {known}")
        found[key] = texts[meant]
        part = part.only({key: texts[meant]})
    return found
