"""What the files of a run say, and what they can say: whoever reads a run finds in it nothing that no run leaves."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.results.safe_files import native
from netbandit.simulation.result import Curve, LinkUse, Metric, Nodes
from netbandit.units import parse_duration

_LARGEST = 2**63 - 1
_MOST_AGENTS = 10**7
_LARGEST_FIGURE = 1e150
"""Beyond, the square of a figure is no number any more, and it is as good as infinite."""


class ContentError(ValueError):
    """What no run says; the text says what and where."""


def text(value: Any, what: str) -> str:
    """Return *value*, which must be a text that can be written anywhere."""
    if not isinstance(value, str) or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ContentError(f"{what} is no text")
    return value


def integer(value: Any, what: str, least: int = 0, most: int = _LARGEST) -> int:
    """Return *value*, which must be an integer from *least* to *most*."""
    if type(value) is not int or not least <= value <= most:
        raise ContentError(f"{what} is no integer from {least} to {most}")
    return value


def table(value: Any, what: str) -> dict[str, Any]:
    """Return *value*, which must be an object of JSON whose names are texts."""
    if not isinstance(value, dict):
        raise ContentError(f"{what} is no table")
    for name in value:
        text(name, f"a name in {what}")
    return value


def texts(value: Any, what: str) -> tuple[str, ...]:
    """Return *value*, which must be a list of texts."""
    if not isinstance(value, list):
        raise ContentError(f"{what} is no list")
    return tuple(text(entry, f"an entry of {what}") for entry in value)


def keys(value: Any, what: str) -> dict[str, Any]:
    """Return a table of keys and their values, such as a resolved scenario, with infinities as numbers again."""
    _all_writable(table(value, what), what)
    found: dict[str, Any] = native(value)
    return found


def scenario(value: Any) -> dict[str, Any]:
    """Return a resolved scenario; its slots are what curves and traces are measured in."""
    found = keys(value, "the scenario")
    run = table(found.get("run"), "run")
    integer(run.get("horizon"), "run.horizon", 1)
    try:
        parse_duration(text(run.get("slot", "1 ms"), "run.slot")).nanoseconds(1)
    except ValueError as error:
        raise ContentError(f"run.slot {error}") from None
    for name in ("topology", "bandit", "learner", "protocol", "links", "faults"):
        table(found.get(name, {}), name)
    return found


def finite_figures(figures: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return plain Python numbers to be written, with None for what is infinite or does not exist."""
    plain: dict[str, Metric] = {}
    for name, value in figures.items():
        number = value.item() if isinstance(value, np.generic) else value
        plain[name] = number if number is not None and _is_figure(number) else None
    return plain


def figures(value: Any) -> dict[str, Metric]:
    """Return the metrics of a run."""
    for name, figure in table(value, "metrics").items():
        if figure is not None and not _is_figure(figure):
            raise ContentError(f"the metric {name} is no finite number")
    return dict(value)


def counts(value: Any) -> dict[str, Metric]:
    """Return the figures of a graph, of which one may not exist."""
    for name, figure in table(value, "topology").items():
        if figure is not None:
            integer(figure, name, *((1, _MOST_AGENTS) if name == "agents" else ()))
    return dict(value)


def kinds(value: Any) -> dict[str, tuple[int, int]]:
    """Return how many messages there were of each kind, and their bytes."""
    found = {}
    for kind, entry in table(value, "kinds").items():
        if not isinstance(entry, list) or len(entry) != 2:
            raise ContentError(f"the kind {kind} has no two numbers")
        found[kind] = integer(entry[0], kind), integer(entry[1], kind)
    return found


def curves(value: Any) -> dict[str, Curve]:
    """Return the curves of a run."""
    return {name: _curve(curve, f"the curve {name}") for name, curve in table(value, "curves").items()}


_TOLD = ("first", "second", "messages", "bytes", "activations")
"""What every version tells of a link."""


def links_to_write(use: LinkUse, uplinks: LinkUse | None) -> dict[str, object]:
    """Return what links carried, ready for JSON: what is not known is left out."""
    found: dict[str, object] = {
        name: getattr(use, name).tolist() for name in LinkUse.__dataclass_fields__ if getattr(use, name) is not None
    }
    return found if uplinks is None else {**found, "uplinks": links_to_write(uplinks, None)}


def links(value: Any) -> LinkUse:
    """Return what the links of a run carried."""
    columns = table(value, "links")
    names = [name for name in LinkUse.__dataclass_fields__ if name in _TOLD or name in columns]
    arrays = {name: _integers(columns.get(name), name) for name in names}
    if len({array.shape for array in arrays.values()}) != 1:
        raise ContentError("a link needs one entry in each column")
    if (arrays["first"] >= arrays["second"]).any() or (arrays["second"] > _MOST_AGENTS).any():
        raise ContentError("a link has no two ends, the lower one first")
    return LinkUse(**arrays)


def uplinks(value: Any) -> LinkUse | None:
    """Return what the uplinks of a run carried, if it tells."""
    columns = table(value, "links").get("uplinks")
    return None if columns is None else links(columns)


def no_links() -> LinkUse:
    """Return the use of links of a run whose details are not read."""
    return LinkUse(**{name: np.array([], dtype=np.int64) for name in _TOLD})


def nodes_to_write(nodes: Nodes) -> dict[str, object]:
    """Return names and places of nodes, ready for JSON: what is not known is None."""
    coordinates = None if nodes.coordinates is None else nodes.coordinates.tolist()
    if coordinates is not None:
        coordinates = [[None if math.isnan(number) else number for number in place] for place in coordinates]
    return {"names": None if nodes.names is None else list(nodes.names), "coordinates": coordinates}


def nodes(value: Any, agents: Metric) -> Nodes:
    """Return names and places of the nodes of a run that has so many *agents*."""
    columns = table(value, "nodes")
    names = None if columns.get("names") is None else texts(columns["names"], "names")
    places = None
    if columns.get("coordinates") is not None:
        rows = [[math.nan if number is None else number for number in row] for row in columns["coordinates"]]
        if not all(len(row) == 2 and all(type(number) in (int, float) for number in row) for row in rows):
            raise ContentError("the coordinates of a node are no two numbers")
        places = np.array(rows, dtype=np.float64).reshape(-1, 2)
        if (np.abs(places) > 360).any():
            raise ContentError("a node is at no place of the earth")
    if any(known is not None and len(known) != agents for known in (names, places)):
        raise ContentError(f"there are {agents} agents, and names or places of others")
    return Nodes(names=names, coordinates=places)


def consistent(agents: Metric, use: LinkUse, uplinks: LinkUse | None) -> None:
    """Raise `ContentError` where links have other ends than there are *agents*; None: nobody knows how many."""
    if agents is None:
        return
    if len(use.second) and use.second.max() >= agents:
        raise ContentError(f"there are {agents} agents, and links of others")
    if uplinks is not None and (uplinks.second != agents).any():
        raise ContentError(f"there are {agents} agents, and uplinks to something else than the server")


def _is_figure(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= (_LARGEST if type(value) is int else _LARGEST_FIGURE)


def _all_writable(value: Any, what: str) -> None:
    """Look for what can be written nowhere in what a scenario says."""
    if isinstance(value, dict):
        for name, entry in value.items():
            text(name, f"a name in {what}")
            _all_writable(entry, what)
    elif isinstance(value, list):
        for entry in value:
            _all_writable(entry, what)
    elif isinstance(value, str):
        text(value, f"a value in {what}")
    elif type(value) is int:
        integer(value, f"a number in {what}", -_LARGEST - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ContentError(f"a number in {what} is none that is written")


def _curve(value: Any, what: str) -> Curve:
    columns = table(value, what)
    slots, values = _integers(columns.get("slots"), what), _numbers(columns.get("values"), "fi", what)
    if (np.abs(values) > _LARGEST_FIGURE).any() or np.isnan(values).any():
        raise ContentError(f"{what} has values that are no finite numbers")
    if slots.shape != values.shape or not len(slots) or (np.diff(slots) <= 0).any():
        raise ContentError(f"{what} needs slots that ascend, and one value for each")
    return Curve(slots=slots, values=values.astype(np.float64))


def _integers(value: Any, what: str) -> NDArray[np.int64]:
    found = _numbers(value, "i", what)
    if (found < 0).any():
        raise ContentError(f"{what} has numbers below 0")
    return found.astype(np.int64)


def _numbers(value: Any, kinds_of_numbers: str, what: str) -> NDArray[Any]:
    """Return a list of numbers of some kinds, as numpy abbreviates them, shape (n,)."""
    found = np.array(value if value != [] else np.empty(0, dtype=np.int64))
    if not isinstance(value, list) or found.ndim != 1 or found.dtype.kind not in kinds_of_numbers:
        raise ContentError(f"{what} is no list of numbers")
    return found
