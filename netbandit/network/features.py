"""The features of a network: parameters that differ from their defaults, and the classes of its models.

A kernel names what it knows of these. What is new is in no such list, so that no kernel passes over it.
"""

from collections.abc import Iterator, Set
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netbandit.network.network import Network


class Feature(NamedTuple):
    """A feature of a network.

    Attributes:
        key: What asks for it: ``"links.peer.loss"``. That of a scenario, but where a parameter has no key of its own.
        model: The class of the model that stands there; None: a number, a switch, or what has one interface.
    """

    key: str
    model: type | None = None

    def __str__(self) -> str:
        return self.key if self.model is None else f"{self.key} ({self.model.__name__})"


_TABLES = {
    "faults.peer": "links.peer",
    "faults.uplink": "links.uplink",
    "faults.plan": "faults",
    "faults.radio": "links.peer.radio",
}
"""Where the tables of a scenario stand in `netbandit.network.faults.Faults`."""


def features(network: "Network") -> Set[Feature]:
    """Return the features of *network*, except its graph and the latencies of its links."""
    parameters = {
        "links.peer": network.peer_class,
        "links.uplink": network.uplink_class,
        "energy": network.energy,
        "compute": network.compute,
        "trace": network.trace,
    }
    found = {feature for key, one in parameters.items() if one is not None for feature in _of(key, one)}
    for key, model in _of("faults", network.faults):
        place = next((place for place in _TABLES if f"{key}.".startswith(f"{place}.")), "")
        found.add(Feature(_TABLES.get(place, "") + key.removeprefix(place), model))
    others = [observer for observer in network.observers if observer is not network.trace]
    found.update(Feature("conditions", type(observer)) for observer in others)
    return found


def _of(key: str, value: object) -> Iterator[Feature]:
    """Yield what a *value* that stands under a *key* is: the class of a model, and all that is not at its default."""
    if isinstance(value, tuple | list) and any(map(is_dataclass, value)):
        for one in value:
            yield from _of(key, one)
        return
    if not is_dataclass(value):
        yield Feature(key)
        return
    yield Feature(key, type(value))
    for field in fields(value):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        given = getattr(value, field.name)
        if default is not MISSING and given is not default and given != default:  # without one it belongs to the model
            yield from _of(f"{key}.{field.name}", given)
