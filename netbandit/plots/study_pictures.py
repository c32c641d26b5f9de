"""The pictures of a study: the few that show the effect of its varied keys, the rest, and the user's requests."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from netbandit.plots.answers import answer, answer_of_two, range_of
from netbandit.plots.bands import Kind
from netbandit.plots.bottleneck import draw_bottleneck, is_busy, most_busy, queues
from netbandit.plots.chart import HOPS, Chart, draw_chart
from netbandit.plots.chart_kinds import (
    BUDGETS,
    axis_key,
    beside_topology,
    chart_of,
    communication_chart,
    cost_chart,
    cost_varies,
    delay_chart,
    diameter_chart,
    diameter_varies,
    diameters_chart,
    family_key,
    has_a_line,
    learners_chart,
    learners_vary,
    lifetime_chart,
    others,
    parameter_chart,
    privacy_chart,
    structure_chart,
    structures_vary,
)
from netbandit.plots.estimates import EPSILONS, compared, measured, privacy_key
from netbandit.plots.facets import Part
from netbandit.plots.grouping import Arrangement, arrange, evenly, metric_names, value_of
from netbandit.plots.heatmap import axis_keys, draw_heatmap, is_map
from netbandit.plots.losses import are_lost, draw_losses, fates
from netbandit.plots.network import MOST_AGENTS, draw_network, lose_alike
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import subtitle
from netbandit.plots.subtitles import privacy_note
from netbandit.plots.timeline import MOST_LINES, draw_timeline, first_round
from netbandit.plots.values import identity, shown
from netbandit.plots.values import name as key_name
from netbandit.plots.waits import draw_waits, have_causes
from netbandit.results.intervals import MEAN, Statistic, StatisticError
from netbandit.results.link_use import link_figures, on_one_network, same_links
from netbandit.results.message_fates import failing
from netbandit.results.picture_names import PICTURE_NAMES, REGRET, REWARD
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.varied_keys import UnknownNameError, distinguishing, parameter_names, resolve
from netbandit.trace.read import TraceError, first_trace, read_trace

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
        """The title of the picture."""
        return " ".join(self.figure.get_suptitle().split())

    @property
    def subtitle(self) -> str:
        """How it was measured and which keys are held fixed."""
        return subtitle(self.figure)


@dataclass(frozen=True)
class Planned:
    """A picture that can be drawn of a study.

    Attributes:
        name: The name of its files, without an ending.
        draw: The function that draws it.
        answers: Whether it is one of the few about the varied keys of the study.
    """

    name: str
    draw: "Callable[[], Figure]"
    answers: bool

    def drawn(self) -> Picture:
        """Draw it."""
        return Picture(self.name, self.draw())


def pictures(
    study: StudyResult, *, every: bool = False, statistic: Statistic = MEAN, bands: Kind = "auto"
) -> Iterator[Picture]:
    """Yield the few pictures about the varied keys of *study*, or *every* picture; none without a run."""
    for one in planned(study, statistic, bands):
        if every or one.answers:
            yield one.drawn()


def planned(study: StudyResult, statistic: Statistic = MEAN, bands: Kind = "auto") -> list[Planned]:
    """Return the pictures that *study* has, with a *statistic* over the replications of each point.

    Each key that varies has the picture that answers it:

    - ``regret``: regret over the slots; or ``reward``, what is measured in its place where it is unknown; always;
    - ``structure``: regret against cost, delay as size, if three protocols or more are compared;
    - ``learners``: regret against data, energy and delay, if three learners or more are compared;
    - ``heatmap``: regret over the two numbers with the most values, if two have three values or more, most pairs of
      them were run, and they make a difference; a map for each combination of the other keys;
    - ``parameter``: regret and waiting against the swept number with the most values, where there is no such map and
      that is no budget of privacy;
    - ``diameter``: cost, delay and regret against the diameter, if the topology has three diameters or more; where
      other keys vary too, regret alone, a panel for each combination of these, if kinds of topology vary; without
      hybrid networks, which have a diameter in each of their components, and those that change;
    - ``privacy``: regret against the epsilon spent, if that differs;
    - ``battery``: how long batteries last against a number of ``[energy]``, or regret against that, if that differs;
    - ``tradeoff``: regret against cost, if three points or more differ in it and a budget of communication varies, or
      none of the above is there;
    - ``waits``: what a round waits for, by cause, if rewards are late or nodes compute;
    - ``losses``: what became of 100 messages, by cause, if one or more of them do not arrive at some point;
    - ``network``: the network with its links coloured by messages, if all points have one and the same, and some links
      carry many more than others or it has several components; and ``lost``, by the share of messages that they lost,
      where most are lost, if links differ by more than chance; and ``bottleneck``, the busiest links and the waits for
      them, if one is occupied for 1 % of the run.

    All others are drawn when every one is asked for: ``communication``, regret against the data sent, along a budget;
    ``delay``, regret against waiting; maps, diameters and parameters one combination at a time, at most six; networks
    of each topology and protocol, at most twelve.
    """
    if not any(point.finished for point in study.points):
        return []
    return planned_of(arrange(study, statistic, bands))


def planned_of(arrangement: Arrangement) -> list[Planned]:
    """Return the pictures that the points of *arrangement* have; see `planned`."""
    networks = _networks(arrangement)
    measure = measured(arrangement.points)
    if measure is None:  # of a log without a click there is nothing to compare
        return networks
    found = [Planned(_over_time(measure), lambda: draw_regret(arrangement), answers=True)]
    # Points of different privacy are not compared as if they were equal: that is on an axis of its own.
    alike = privacy_key(arrangement) is None
    if measure == "regret" and structures_vary(arrangement):
        found.append(Planned("structure", lambda: draw_chart(structure_chart(arrangement)), answers=alike))
    if learners_vary(arrangement):
        found.append(Planned("learners", lambda: draw_chart(learners_chart(arrangement)), answers=alike))
    found += _heatmaps(arrangement)
    tradeoffs = _tradeoffs(arrangement) if measure == "regret" else []
    # The privacy spent, where it is known, shows the effect of a privacy budget.
    told = any(one.name == "heatmap" for one in found) or (
        axis_key(arrangement) in EPSILONS and any(one.name == "privacy" for one in tradeoffs)
    )
    found += _against_parameter(arrangement, answers=not told)
    found += _against_diameter(arrangement)
    answered = any(one.answers for one in [*found[1:], *tradeoffs])
    if cost_varies(arrangement) and not (found[1:2] and found[1].name == "structure" and _only_shapes(arrangement)):
        budget = alike and any(key in (*BUDGETS, "learner.participation") for key in arrangement.keys)
        found.append(Planned("tradeoff", lambda: draw_chart(cost_chart(arrangement)), budget or not answered))
    some_wait = any(map(have_causes, arrangement.points))
    waits = [Planned("waits", lambda: draw_waits(arrangement), answers=True)] if some_wait else []
    some_lost = any(map(are_lost, arrangement.points))
    losses = [Planned("losses", lambda: draw_losses(arrangement), answers=True)] if some_lost else []
    return [*found, *tradeoffs, *waits, *losses, *networks]


def _over_time(measure: str | None) -> str:
    """Return the name of the picture of curves of what is measured."""
    return REGRET if measure in (REGRET, None) else REWARD


def _only_shapes(arrangement: Arrangement) -> bool:
    return all(key.startswith(_SHAPING) for key in arrangement.keys)


def _tradeoffs(arrangement: Arrangement) -> list[Planned]:
    """Return regret against delay, privacy and communication, of those that vary, and how long batteries last."""
    spends = privacy_key(arrangement) is not None or bool(privacy_note(arrangement.points))
    charts = (
        ("delay", delay_chart(arrangement), False),
        ("privacy", privacy_chart(arrangement), spends),
        ("communication", communication_chart(arrangement), False),
        ("battery", lifetime_chart(arrangement), True),
    )
    return [Planned(name, partial(draw_chart, chart), answers) for name, chart, answers in charts if chart is not None]


def _against_diameter(arrangement: Arrangement) -> list[Planned]:
    few, without = _having_a_diameter(arrangement)
    parts = _parts(few, beside_topology(arrangement), diameter_varies)

    def draw(chart: Chart) -> "Figure":
        return draw_chart(replace(chart, title=f"{chart.title}{without}"))

    def alone(part: Part) -> "Figure":
        fixed, points = part
        return draw(diameter_chart(points, fixed))

    if len(parts) == 1:
        return [Planned("diameter", lambda: alone(parts[0]), answers=not parts[0][0])]
    kinds = family_key(few) is not None
    return _together_and_alone(Planned("diameter", lambda: draw(diameters_chart(few, parts)), kinds), parts, alone)


def _having_a_diameter(arrangement: Arrangement) -> tuple[Arrangement, str]:
    """Return the points whose networks have a diameter, and how a title says that others are left out."""
    left_out = {id(point): what for point in arrangement.points if (what := _of_no_diameter(point))}
    some = tuple(point for point in arrangement.points if id(point) not in left_out)
    without = f", without {' and '.join(dict.fromkeys(left_out.values()))}" if left_out else ""
    return replace(arrangement, points=some).looking_like(arrangement), without


def _of_no_diameter(point: PointResult) -> str:
    """Return what networks those of *point* are, if they have no diameter at each time; empty if they have one."""
    if point.value("topology.family") == "hybrid":
        return "hybrid networks"
    if point.value("topology.disconnected"):
        return "networks that may be disconnected"
    changes = point.value("topology.family") in ("mobile", "contacts") or point.value("topology.changes") is not None
    return "networks that change" if changes else ""


def _against_parameter(arrangement: Arrangement, answers: bool) -> list[Planned]:
    key = axis_key(arrangement)
    if key is None:
        return []
    parts = _parts(arrangement, others(arrangement, key), lambda part: has_a_line(part, key))
    return _together_and_alone(
        Planned("parameter", lambda: draw_chart(parameter_chart(arrangement, key, parts)), answers),
        parts,
        lambda part: draw_chart(parameter_chart(arrangement, key, [part])),
    )


def _heatmaps(arrangement: Arrangement) -> list[Planned]:
    pair = axis_keys(arrangement)
    if pair is None:
        return []
    metric = compared(arrangement.points)
    rest = [key for key in arrangement.keys if key not in pair]
    parts = _parts(arrangement, rest, lambda part: is_map(part, *pair, metric))
    return _together_and_alone(
        Planned("heatmap", lambda: draw_heatmap(arrangement, *pair, metric, parts), answers=True),
        parts,
        lambda part: draw_heatmap(arrangement, *pair, metric, [part]),
    )


def _together_and_alone(together: Planned, parts: Sequence[Part], draw: "Callable[[Part], Figure]") -> list[Planned]:
    """Return a picture of all *parts*, and if there are several, one of each; none without parts."""
    if len(parts) < 2:
        return [together] if parts else []
    return [
        together,
        *(Planned(name, partial(draw, part), answers=False) for name, part in _named(together.name, parts)),
    ]


def _networks(arrangement: Arrangement) -> list[Planned]:
    def lost(point: PointResult) -> bool:
        return any(link_figures(run)["lost"].any() for run in point.finished)

    def differ(point: PointResult) -> bool:
        return not lose_alike(on_one_network(point.finished))

    def losses(point: PointResult) -> float:
        found = fates(point)
        return 0.0 if found is None else failing(found)

    def busy(point: PointResult) -> tuple[float, float]:
        return most_busy(point) if queues(point) else (0.0, 0.0)

    networks, lossy = network_points(arrangement), network_points(arrangement, losses)
    busiest = shaped(_worst_first(arrangement, busy), queues)
    return [
        *_of_points("network", arrangement, networks, draw_network, answers=has_much_load),
        *_of_points("lost", arrangement, lossy, partial(draw_network, what="lost"), lost, differ),
        *_of_points("bottleneck", arrangement, busiest, draw_bottleneck, answers=is_busy),
    ]


def _worst_first(arrangement: Arrangement, worst: Callable[[PointResult], Any]) -> Arrangement:
    """Return the same points, those first of which *worst* is largest: of each network one point is drawn."""
    return replace(arrangement, points=tuple(sorted(arrangement.points, key=worst, reverse=True)))


def _of_points(
    name: str,
    arrangement: Arrangement,
    points: Sequence[PointResult],
    draw: "Callable[[Arrangement, PointResult], Figure]",
    worth: Callable[[PointResult], bool] = lambda point: True,
    answers: Callable[[PointResult], bool] = lambda point: True,
) -> list[Planned]:
    """Return a picture of at most twelve of *points*, evenly spread, those of which it is *worth* drawing.

    Of a single point it *answers* a question, or not.
    """
    keys = [key for key in arrangement.keys if key.startswith(_SHAPING)]
    few = evenly(points, _NETWORKS)
    names = stems([stem(name, {key: value_of(point, key) for key in keys}) for point in few])
    return [
        Planned(one, partial(draw, arrangement, point), answers=len(points) == 1 and answers(point))
        for one, point in zip(names, few, strict=True)
        if worth(point)
    ]


def _carried(point: PointResult) -> float:
    return sum(float(run.links.messages.sum()) for run in point.finished) / max(1, len(point.finished))


def network_points(arrangement: Arrangement, most: Callable[[PointResult], float] = _carried) -> list[PointResult]:
    """Return a point for each topology and protocol whose agents do send messages to one another.

    Of several points that with the *most*: messages, if nothing else is given.
    """

    def is_drawn(point: PointResult) -> bool:
        some = any(run.links.messages.any() for run in point.finished)
        return some and (point.finished[0].topology.get("agents") or 0) <= MOST_AGENTS

    places = {id(point): place for place, point in enumerate(arrangement.points)}
    return sorted(shaped(_worst_first(arrangement, most), is_drawn), key=lambda point: places[id(point)])


_MUCH = 1.5
"""A link that carries so many times as many messages as another one is busier than chance makes it."""


def has_much_load(point: PointResult) -> bool:
    """Return whether some links of *point* carry many more messages than others, or its network is in components."""
    messages = np.mean([run.links.messages for run in point.finished if same_links([point.finished[0], run])], axis=0)
    in_parts = point.value("topology.family") == "hybrid"
    return in_parts or bool(messages.max() > _MUCH * messages.min())


def shaped(arrangement: Arrangement, wanted: Callable[[PointResult], bool] = lambda point: True) -> list[PointResult]:
    """Return for each topology and protocol the first point that is *wanted*, with a finished run."""
    keys = [key for key in arrangement.keys if key.startswith(_SHAPING)]
    chosen: dict[str, PointResult] = {}
    for point in arrangement.points:
        if point.finished and wanted(point):
            chosen.setdefault(identity([value_of(point, key) for key in keys]), point)
    return list(chosen.values())


def _parts(arrangement: Arrangement, keys: Sequence[str], worth: Callable[[Arrangement], bool]) -> list[Part]:
    """Return the fixed values and points of the pictures that are *worth* drawing, for each value of *keys*."""
    return [(fixed, part) for fixed, part in arrangement.slices(keys) if worth(part)]


def _named(name: str, parts: Sequence[Part]) -> list[tuple[str, Part]]:
    """Return at most six of *parts*, evenly spread, each with the name of its picture."""
    chosen = evenly(parts, _SLICES)
    return list(zip(stems([stem(name, fixed) for fixed, _ in chosen]), chosen, strict=True))


def stem(name: str, values: dict[str, Any]) -> str:
    """Return a file name made of the picture's name and the values held fixed."""
    words = [name, *(shown(value) for value in values.values())]
    return "-".join(
        filter(None, (re.sub(r"[^a-z0-9._]+", "-", word.replace("∞", "inf").lower()).strip("-.") for word in words))
    )[:80]


def stems(names: Sequence[str]) -> list[str]:
    """Return *names* as names of files: those that occur again are numbered."""
    plain = [stem(name, {}) or "picture" for name in names]
    return [name if plain.count(name) == 1 else f"{name}-{index + 1}" for index, name in enumerate(plain)]


@dataclass(frozen=True)
class Asked:
    """A user's request for a picture.

    Attributes:
        x: A key that varies, a metric, or ``slot`` for curves over time; if not given, the number with the most values,
            else the first key.
        y: A metric; the regret if not given.
        color: A key that varies; if not given, the key of the series in all other pictures, unless it is *x*.
        where: Keys that vary, and the values, as they are shown, of the points to draw; all points if not given.
        statistic: The statistic over the replications of a point: ``mean``, ``median`` or a quantile such as ``q90``.
        name: One of the pictures that the study has, drawn of these points; then *x* and *y* are its own.
        rows: A key that varies, each value of which is a row of panels.
        columns: The same for columns.
        bands: The kind of the intervals drawn.
    """

    x: str | None = None
    y: str | None = None
    color: str | None = None
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    statistic: str = "mean"
    name: str | None = None
    rows: str | None = None
    columns: str | None = None
    bands: Kind = "auto"

    def as_json(self) -> dict[str, Any]:
        """Return the argument of `from_json`."""
        return {**asdict(self), "where": {key: list(values) for key, values in self.where.items()}}

    @classmethod
    def from_json(cls, found: object) -> "Asked | None":
        """Return the request made by `as_json`; None for other content."""
        if not isinstance(found, dict) or not isinstance(found.get("where"), dict):
            return None
        where = {key: (texts,) if isinstance(texts, str) else texts for key, texts in found["where"].items()}
        try:
            asked = TypeAdapter(cls).validate_python({**found, "where": where})
            Statistic.named(asked.statistic)
        except (ValidationError, StatisticError):
            return None
        return asked if all(asked.where.values()) else None


def draw_asked(study: StudyResult, asked: Asked, wanted: Collection[PointResult] | None = None) -> Picture:
    """Draw the requested picture; see `plan_asked`."""
    return plan_asked(study, asked, wanted).drawn()


def plan_asked(study: StudyResult, asked: Asked, wanted: Collection[PointResult] | None = None) -> Planned:
    """Return the requested picture.

    Series keep the colours that they have in all other pictures, also where only some points are drawn.

    Args:
        study: The study.
        asked: The request.
        wanted: The points of *study* of which it may be drawn; all if not given.

    Raises:
        UnknownNameError: There is no such key, value or metric.
        StatisticError: There is no such statistic.
    """
    whole = arrange(study, Statistic.named(asked.statistic), asked.bands)
    among = whole
    if wanted is not None:
        kept = {id(point) for point in wanted}
        among = replace(whole, points=tuple(point for point in whole.points if id(point) in kept)).looking_like(whole)
    chosen = _values(study, among, asked.where)
    part = among.among(chosen)
    if chosen:
        said = ", ".join(f"{key_name(key)} {' or '.join(map(shown, values))}" for key, values in chosen.items())
        part = replace(part, name=f"{part.name} ({said})")
    varying = [key for key in whole.keys if len({identity(value_of(point, key)) for point in part.points}) > 1]
    arrangement = _laid_out(replace(part, keys=tuple(varying)).looking_like(whole), asked)
    metrics = metric_names(arrangement)
    draw: Callable[[], Figure]
    if asked.name is None and asked.x != SLOT:
        chart, words = _chart(arrangement, asked, metrics)
        draw = partial(draw_chart, chart)
    elif asked.x == SLOT or asked.name in (REGRET, _over_time(measured(arrangement.points))):
        curve = None if asked.y is None else resolve(asked.y, "--y", (), _curves(arrangement))
        measure = measured(arrangement.points)
        words = [curve or measure or REGRET, "over", "time"] if asked.x == SLOT else [_over_time(measure)]
        words += [] if asked.color is None else ["by", arrangement.color or ""]
        draw = partial(draw_regret, arrangement, curve)
    else:
        words, draw = [asked.name or ""], _named_picture(arrangement, asked)
    words += [asked.statistic] if asked.statistic != "mean" else []
    words += [
        text for given, text in ((asked.rows, "rows"), (asked.columns, "columns")) if given for text in (text, given)
    ]
    words += [asked.bands or "no-bands"] if asked.bands not in ("auto", "mean") else []
    words += ["-".join([name.rpartition(".")[2], *values]) for name, values in asked.where.items()]
    return Planned(stem("-".join(words), {}), draw, answers=True)


SLOT = "slot"
"""The horizontal axis of requested curves over time."""


def _laid_out(arrangement: Arrangement, asked: Asked) -> Arrangement:
    """Return *arrangement* with the keys of panels, and of colours first, that were asked for.

    Raises:
        UnknownNameError: No such key varies, or one is to be two things.
    """
    keys = {
        option: None if key is None else resolve(key, f"--{option}", arrangement.keys)
        for option, key in (("rows", asked.rows), ("columns", asked.columns), ("color", asked.color))
    }
    given = [key for key in keys.values() if key is not None]
    twice = next((key for key in given if given.count(key) > 1), None)
    if twice is not None:
        options = " and ".join(f"--{option}" for option, key in keys.items() if key == twice)
        raise UnknownNameError(f"{options}: {twice} can be one of them")
    facing = [key for key in (keys["rows"], keys["columns"]) if key is not None]
    order = sorted(arrangement.keys, key=lambda key: (key != keys["color"], key in facing))
    laid_out = replace(arrangement, keys=tuple(order), color=keys["color"], rows=keys["rows"], columns=keys["columns"])
    return laid_out.looking_like(arrangement)


def _curves(arrangement: Arrangement) -> list[str]:
    """Return the curves that all runs have."""
    runs = [run for point in arrangement.points for run in point.finished]
    return [name for name in runs[0].curves if all(name in run.curves for run in runs)]


def _named_picture(arrangement: Arrangement, asked: Asked) -> "Callable[[], Figure]":
    """Return the function that draws the picture of this name.

    Raises:
        UnknownNameError: These points have none, or it has no panels to lay out.
    """
    if asked.rows is not None or asked.columns is not None or asked.color is not None:
        raise UnknownNameError(f"--rows, --columns and --color: {asked.name} has panels and colours of its own")
    there = planned_of(arrangement)
    for one in there:
        if asked.name == one.name or one.name.startswith(f"{asked.name}-"):
            return one.draw
    names = ", ".join(one.name for one in there)
    what = f" ({PICTURE_NAMES[asked.name]})" if asked.name and asked.name in PICTURE_NAMES else ""
    more = "any metric can be drawn against any key"
    raise UnknownNameError(f"there is no picture {asked.name!r}{what} here, only {names}; {more}")


def _chart(arrangement: Arrangement, asked: Asked, metrics: Sequence[str]) -> tuple[Chart, list[str]]:
    """Return the chart, and the words of its file name."""
    y = "regret" if asked.y is None else resolve(asked.y, "--y", (), metrics)
    color = arrangement.color
    if asked.x is not None:
        x = resolve(asked.x, "--x", arrangement.keys, [*metrics, SLOT])
    else:
        free = [key for key in arrangement.keys if key not in (color, *arrangement.facing)]
        best = axis_key(arrangement)
        if not free:
            raise UnknownNameError(f"--x: must be given, one of {', '.join((SLOT, *arrangement.keys, *metrics))}")
        x = best if best in free else next((key for key in free if arrangement.scale(key) is not None), free[0])
    without = ""
    if HOPS in (x, y):
        arrangement, without = _having_a_diameter(arrangement)
        if not arrangement.points:
            raise UnknownNameError(f"{HOPS}: no point is left{without}, which have none of their own")
    words = [y, "against", x] + ([] if color is None else ["by", color])
    if color is None:
        color = next((key for key in arrangement.keys if key not in (x, *arrangement.facing)), None)
        color = arrangement.series if arrangement.series not in (x, *arrangement.facing) else color
    chart = chart_of(arrangement, x, y, color)
    if x not in arrangement.keys:
        title = answer_of_two(arrangement, x, y)
    else:
        title = answer(arrangement, arrangement.points, x, y) if arrangement.scale(x) is not None else ""
    return replace(chart, title=f"{title or range_of(arrangement, y) or chart.title}{without}"), words


def _values(study: StudyResult, arrangement: Arrangement, where: Mapping[str, Sequence[str]]) -> dict[str, list[Any]]:
    """Return the values of each key that *where* means.

    Raises:
        UnknownNameError: There is no such key or value.
    """
    found: dict[str, list[Any]] = {}
    part = arrangement
    for name, wanted in where.items():
        key = resolve(name, f"{name}={wanted[0]}", parameter_names(study))
        texts: dict[str, Any] = {}
        for point in part.points:
            value = value_of(point, key)
            texts[str(value)] = texts[shown(value)] = value
        found[key] = []
        for text in wanted:
            meant = text if text in texts else text.partition(":")[2]  # a class of one's own is drawn by its name alone
            if meant not in texts:
                known = ", ".join(dict.fromkeys(shown(value) for value in texts.values()))
                raise UnknownNameError(f"{name}={text}: {key} has no such value here, only {known}")
            found[key].append(texts[meant])
        part = part.among({key: found[key]})
    return found


_ROUNDS = 6


def timelines(folder: Path, study: StudyResult, *, every: bool = False) -> Iterator[Planned]:
    """Yield ``round``, the first round in which a message is sent, of the first run of the first point with a trace.

    Of six points, evenly spread, if *every* picture is wanted.
    """
    traced = [one for point in study.points if (one := first_trace(folder, point)) is not None]
    keys = [key for key in distinguishing(study) if key != "run.replications"]
    chosen = evenly(traced, _ROUNDS if every else 1)
    values = [{key: run.parameters[key] for key in keys if key in run.parameters} for _, run in chosen]
    names = stems([stem("round", fixed) for fixed in values])
    for name, (trace, run), fixed in zip(names, chosen, values, strict=True):
        with suppress(TraceError):  # a trace may be damaged, or of something else: then there is nothing to draw
            found = first_round(read_trace(trace, MOST_LINES))
            if found is not None:
                yield Planned(name, partial(draw_timeline, run, found, fixed), answers=True)
