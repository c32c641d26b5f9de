"""Validation of run files: only content that a run can have written is accepted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, PlainValidator, TypeAdapter, ValidationError

from netbandit.results.safe_files import native
from netbandit.simulation.result import Curve, LinkUse, Metric, Nodes, RunResult
from netbandit.util.units import parse_duration

_LARGEST = 2**63 - 1
_MOST_AGENTS = 10**7
_LARGEST_FIGURE = 1e150
"""Above this the square of a figure overflows, so it counts as infinite."""


class ContentError(ValueError):
    """Content that no run can have; the text states the mistake and its place."""


def finite_figures(figures: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return plain Python numbers to be written, with None for infinite and undefined values."""
    plain: dict[str, Metric] = {}
    for name, value in figures.items():
        number = value.item() if isinstance(value, np.generic) else value
        plain[name] = number if number is not None and _is_figure(number) else None
    return plain


_TOLD = ("first", "second", "messages", "bytes", "activations")
"""Columns of a link that every version has."""

NO_LINKS: dict[str, list[int]] = {name: [] for name in _TOLD}
"""Columns that ``links.json`` does not have."""


def links_to_write(use: LinkUse, uplinks: LinkUse | None) -> dict[str, object]:
    """Return the use of links, ready for JSON; unknown columns are omitted."""
    found: dict[str, object] = {
        name: getattr(use, name).tolist() for name in LinkUse.__dataclass_fields__ if getattr(use, name) is not None
    }
    return found if uplinks is None else {**found, "uplinks": links_to_write(uplinks, None)}


def nodes_to_write(nodes: Nodes) -> dict[str, object]:
    """Return names and positions of nodes, ready for JSON; unknown values are None."""
    coordinates = None if nodes.coordinates is None else nodes.coordinates.tolist()
    if coordinates is not None:
        coordinates = [[None if math.isnan(number) else number for number in place] for place in coordinates]
    figures = {
        name: [None if math.isnan(value) else value for value in values.tolist()]
        for name in _OF_AGENTS
        if (values := getattr(nodes, name)) is not None
    }
    return {"names": None if nodes.names is None else list(nodes.names), "coordinates": coordinates, **figures}


_OF_AGENTS = ("energy", "capacity", "drain", "answered", "wrong")


Read = TypeVar("Read")

_ARRAYS = ("curves", "links", "uplinks")
"""Columns read as arrays, whose numbers are checked there."""


def run_of(content: Mapping[str, Any]) -> RunResult:
    """Return the run with *content*, as JSON gives it: a value for each attribute that is not in files of its own.

    Raises:
        ContentError: No run can have this content.
    """
    return RunResult(**vars(_read(_PLAIN, {**content, "curves": {}, "links": NO_LINKS})))


def detailed(run: RunResult, content: Mapping[str, Any]) -> RunResult:
    """Return *run* with the *content* of its other files, as JSON gives it: curves, links, uplinks and nodes.

    Raises:
        ContentError: No run can have this content.
    """
    found = replace(run, **vars(_read(_DETAILS, content)))
    _require_its_agents(found)
    return found


def _read(adapter: TypeAdapter[Read], content: Mapping[str, Any]) -> Read:
    try:
        if wrong := _unwritable({name: value for name, value in content.items() if name not in _ARRAYS}):
            raise ContentError(wrong.removeprefix("."))
        return adapter.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ContentError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None


def _unwritable(value: Any) -> str:
    """Return which value of JSON cannot be written, by the keys to it, and why not; empty if all can.

    That are lone surrogates, and numbers that are too large or not finite.
    """
    kind = type(value)
    if kind is dict:
        for name, entry in value.items():
            if not name.isascii() and _unwritable(name):
                return ": a name is no text"
            if entry is not None and (wrong := _unwritable(entry)):
                return f".{name}{wrong}"
    elif kind is list:
        return next(filter(None, map(_unwritable, value)), "")
    elif kind is str and not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        return ": no text"
    elif kind is int and not -_LARGEST - 1 <= value <= _LARGEST:
        return ": no integer that is written"
    elif kind is float and not math.isfinite(value):
        return ": no number that is written"
    return ""


def _require_its_agents(read: RunResult) -> None:
    """Raise `ContentError` if links or nodes refer to other agents; the number of agents may be unknown."""
    agents, nodes = read.topology.get("agents"), read.nodes
    if nodes is not None and any(one is not None and len(one) != agents for one in vars(nodes).values()):
        raise ContentError(f"there are {agents} agents, and names, places or batteries of others")
    if agents is None:
        return
    if len(read.links.second) and read.links.second.max() >= agents:
        raise ContentError(f"there are {agents} agents, and links of others")
    if read.uplinks is not None and (read.uplinks.second != agents).any():
        raise ContentError(f"there are {agents} agents, and uplinks to something else than the server")


def _is_figure(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= (_LARGEST if type(value) is int else _LARGEST_FIGURE)


def _figure(value: Any) -> Metric:
    if value is not None and not _is_figure(value):
        raise ValueError("no finite number")
    found: Metric = value
    return found


def _graph(figures: dict[str, Metric]) -> dict[str, Metric]:
    agents = figures.get("agents")
    if agents is not None and not 1 <= agents <= _MOST_AGENTS:
        raise ValueError(f"no run has {agents} agents, but 1 to {_MOST_AGENTS}")
    return figures


def _scenario(value: dict[str, Any]) -> dict[str, Any]:
    """Return a resolved scenario; its slots are the unit of curves and traces."""
    run, tables = value.get("run"), ("topology", "bandit", "learner", "protocol", "links", "faults")
    if not isinstance(run, dict) or not all(isinstance(value.get(name, {}), dict) for name in tables):
        raise ValueError(f"run, {', '.join(tables)} are not all tables")
    horizon, slot = run.get("horizon"), run.get("slot", "1 ms")
    if type(horizon) is not int or horizon < 1:
        raise ValueError("run.horizon is no integer from 1")
    if not isinstance(slot, str):
        raise ValueError("run.slot is no text")
    try:
        parse_duration(slot).nanoseconds(1)
    except ValueError as error:
        raise ValueError(f"run.slot {error}") from None
    found: dict[str, Any] = native(value)
    return found


def _integers(value: Any) -> NDArray[np.int64]:
    """Return a list of nonnegative integers, shape (n,)."""
    found = _numbers(value)
    if found.dtype.kind != "i" or (found < 0).any():
        raise ValueError("no list of integers from 0")
    return found


def _numbers(value: Any) -> NDArray[Any]:
    """Return a list of finite numbers, shape (n,)."""
    found = np.array(value if value != [] else np.empty(0, dtype=np.int64))
    if not isinstance(value, list) or found.ndim != 1 or found.dtype.kind not in "fi":
        raise ValueError("no list of numbers")
    if not (np.abs(found) <= (_LARGEST if found.dtype.kind == "i" else _LARGEST_FIGURE)).all():
        raise ValueError("there are values that are no finite numbers")
    return found


def _links(columns: dict[str, NDArray[np.int64]]) -> LinkUse:
    if not columns.keys() >= set(_TOLD) or len({column.shape for column in columns.values()}) != 1:
        raise ValueError("a link needs one entry in each column")
    if (columns["first"] >= columns["second"]).any() or (columns["second"] > _MOST_AGENTS).any():
        raise ValueError("a link has no two ends, the lower one first")
    return LinkUse(**{name: column for name, column in columns.items() if name in LinkUse.__dataclass_fields__})


_Count = Annotated[int, Field(strict=True, ge=0, le=_LARGEST)]


_Amount = Annotated[float, Field(strict=True, ge=0, le=_LARGEST_FIGURE)]
_Degrees = Annotated[float, Field(strict=True, ge=-360, le=360)]
_Links = Annotated[dict[str, Annotated[NDArray[np.int64], PlainValidator(_integers)]], AfterValidator(_links)]


@dataclass(frozen=True)
class _CurveColumns:
    slots: Annotated[NDArray[np.int64], PlainValidator(_integers)]
    values: Annotated[NDArray[Any], PlainValidator(_numbers)]

    def curve(self) -> Curve:
        if self.slots.shape != self.values.shape or not len(self.slots) or (np.diff(self.slots) <= 0).any():
            raise ValueError("slots must ascend, with one value for each")
        return Curve(slots=self.slots, values=self.values.astype(np.float64))


@dataclass(frozen=True)
class _NodeColumns:
    names: tuple[str, ...] | None = None
    coordinates: list[tuple[_Degrees | None, _Degrees | None]] | None = None
    energy: list[_Amount | None] | None = None
    capacity: list[_Amount | None] | None = None
    drain: list[_Amount | None] | None = None
    answered: list[_Amount | None] | None = None
    wrong: list[_Amount | None] | None = None

    def nodes(self) -> Nodes:
        places = self.coordinates
        figures = {
            name: np.array(values, dtype=np.float64)
            for name in _OF_AGENTS
            if (values := getattr(self, name)) is not None
        }
        coordinates = None if places is None else np.array(places, dtype=np.float64).reshape(-1, 2)
        return Nodes(self.names, coordinates, **figures)


@dataclass(frozen=True)
class _Details:
    """The content of a run's files besides its result."""

    curves: dict[str, Annotated[_CurveColumns, AfterValidator(_CurveColumns.curve)]]
    links: _Links
    nodes: Annotated[_NodeColumns, AfterValidator(_NodeColumns.nodes)] | None
    uplinks: _Links | None


@dataclass(frozen=True)
class _Plain(RunResult):
    """The required content of a run's result."""

    parameters: Annotated[dict[str, Any], AfterValidator(native)]
    resolved: Annotated[dict[str, Any], AfterValidator(_scenario)]
    seed: _Count
    replication: _Count
    metrics: dict[str, Annotated[Metric, PlainValidator(_figure)]]
    kinds: dict[str, tuple[_Count, _Count]]
    topology: Annotated[dict[str, _Count | None], AfterValidator(_graph)]  # type: ignore[assignment]
    curves: dict[str, Any]
    links: _Links  # type: ignore[assignment]
    nodes: None = None
    uplinks: None = None


_PLAIN, _DETAILS = TypeAdapter(_Plain), TypeAdapter(_Details)
