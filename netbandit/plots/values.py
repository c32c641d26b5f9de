"""The values of a sweep, as text and as numbers on an axis."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from netbandit.results.numbers import rounded, scaled, with_its_number
from netbandit.util.units import parse_bandwidth, parse_duration, parse_energy, parse_length, parse_power

_WORDS = {
    "run.horizon": "horizon (slots)",
    "run.slot": "length of a slot",
    "topology.family": "topology",
    "topology.file": "topology",
    "topology.agents": "agents",
    "topology.p": "link probability p",
    "topology.mean_degree": "mean degree (links per agent)",
    "topology.degree": "degree (links per agent)",
    "topology.components": "components",
    "topology.inside": "inside a component",
    "topology.range": "range",
    "topology.speed": "speed",
    "topology.changes.born": "probability that a link comes up",
    "topology.changes.dies": "probability that a link goes down",
    "topology.changes.up": "share of links that are up",
    "topology.changes.up_for": "length of a contact",
    "topology.changes.every": "time from contact to contact",
    "topology.changes.phase": "order of contacts",
    "links.peer.latency": "latency of a peer link",
    "links.peer.bandwidth": "bandwidth of a peer link",
    "links.peer.loss": "loss on a peer link (share of messages)",
    "links.peer.loss.bad_for": "length of a burst (mean)",
    "links.peer.loss.good_for": "time between bursts (mean)",
    "links.peer.jitter": "jitter of a peer link",
    "links.peer.duplicate": "share of messages doubled",
    "links.peer.retry.attempts": "attempts at a message",
    "links.peer.retry.timeout": "timeout of a message",
    "links.peer.radio.preset": "radio",
    "links.peer.radio.airtime.lora.sf": "spreading factor",
    "links.peer.radio.access.aloha": "longest delay before sending",
    "links.peer.radio.access.attempts": "looks at a busy channel",
    "links.peer.radio.duty": "duty cycle",
    "links.peer.cost": "cost of a peer link, c2",
    "links.uplink.latency": "latency of an uplink",
    "links.uplink.loss": "loss on an uplink (share of messages)",
    "links.uplink.bandwidth": "bandwidth of an uplink",
    "links.uplink.cost": "cost of an uplink, c1",
    "links.uplink.queue": "queue of an uplink (messages)",
    "links.peer.queue": "queue of a peer link (messages)",
    "compute.speed.factor": "slowness of the slow nodes (factor)",
    "compute.speed.share": "share of slow nodes",
    "compute.agents.inbox": "inbox of an agent (messages)",
    "compute.server.inbox": "inbox of the server (messages)",
    "feedback.window": "longest wait for a reward",
    "protocol.feedback_deadline": "longest wait for late rewards of a phase",
    "energy.preset": "radio",
    "energy.capacity": "capacity of a battery (J)",
    "energy.idle": "idle power of an agent (W)",
    "energy.harvest": "harvested power (W)",
    "energy.recover": "level at which agents come back (share)",
    "feedback.delay": "delay of the feedback",
    "bandit.cost_weight": "weight of an arm's cost",
    "bandit.made.spread": "spread between agents",
    "faults.nodes.up_for": "time an agent is up (mean)",
    "faults.nodes.down_for": "time an agent is down (mean)",
    "faults.nodes.memory": "memory of an agent that was down",
    "faults.links.up_for": "time a link is up (mean)",
    "faults.links.down_for": "time a link is down (mean)",
    "faults.links.up": "share of links that are up",
    "adversary.attack": "attack",
    "adversary.share": "share of liars",
    "bandit.kind": "bandit",
    "bandit.arms": "arms",
    "bandit.heterogeneity": "heterogeneity h",
    "bandit.dimension": "dimension d",
    "bandit.producers": "producers",
    "bandit.quality_threshold": "threshold of quality α",
    "bandit.sampling": "sampling",
    "bandit.partial": "share of the columns seen",
    "learner.kind": "learner",
    "learner.alpha": "exploration α",
    "learner.band": "acceptance band (confidence widths)",
    "learner.beta_scale": "scale of the bonus β",
    "learner.every": "slots between synchronisations",
    "learner.margin": "margin on the threshold of quality",
    "learner.robust": "rule of combining",
    "learner.share": "sharing",
    "learner.threshold": "threshold D",
    "learner.weight": "weight of received data",
    "learner.discount": "discount",
    "learner.epsilon": "learner's ε",
    "learner.epsilon_total": "privacy ε of a run",
    "learner.rounds": "budget R (rounds)",
    "learner.participation": "participation p",
    "protocol.kind": "protocol",
    "protocol.carry": "longest wait of a message for its link",
    "protocol.timing": "timing",
    "protocol.deadline": "deadline",
    "protocol.ttl": "reach of messages (hops)",
    "protocol.collect": "collection",
    "protocol.masks": "contexts masked",
    "protocol.secure_sum": "parts added up in secret",
    "protocol.pipeline": "users served at a time",
}


def words(key: str) -> str:
    """Return the meaning of a scenario key in words, or the key itself."""
    return _WORDS.get(key, key)


def name(key: str) -> str:
    """Return the meaning of a scenario key in words without the unit."""
    return words(key).split(" (")[0]


def heading(key: str) -> str:
    """Return the meaning of a scenario key above values that have their unit; see `with_unit`."""
    return words(key).removesuffix(" (W)").removesuffix(" (J)")


def identity(value: Any) -> str:
    """Return a text that is equal for two values exactly if they are the same value of a scenario."""
    return json.dumps(value, sort_keys=True)


def shown(value: Any) -> str:
    """Return a value of a sweep as a short text for a legend."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, (int, float)):
        return scaled(value)
    if isinstance(value, str):
        if re.fullmatch(r"[\w./\\ -]+\.(graphml|gml|json|txt|edges|edgelist|csv)", value):
            return PurePosixPath(value.replace("\\", "/")).stem
        return "∞" if value == "inf" else with_its_number(value)
    if isinstance(value, dict):
        if isinstance(value.get("uniform"), list):
            return " to ".join(map(str, value["uniform"]))
        return ", ".join(f"{key} {shown(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        some = len(value) > 1 or (len(value) == 1 and _plain(value[0]) is not None)
        if some and all(identity(inner) == identity(value[0]) for inner in value):
            return f"{len(value)} × {shown(value[0])}"
        if len(value) > 8:
            return f"{len(value)} values"
        return "{" + ", ".join(shown(inner) for inner in value) + "}"
    return str(value)


@dataclass(frozen=True)
class Scale:
    """The values of a key as numbers on an axis.

    Attributes:
        numbers: One number per value, ``inf`` where the value is infinite.
        label: The label of the axis, with the unit if there is one.
    """

    numbers: tuple[float, ...]
    label: str


_REAL = (("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9))
_POWER = (("nW", 1e-9), ("µW", 1e-6), ("mW", 1e-3), ("W", 1))
_ENERGY = (("nJ", 1e-9), ("µJ", 1e-6), ("mJ", 1e-3), ("J", 1))
_UNITS_OF = {"(W)": _POWER, "(J)": _ENERGY}
"""The units of plain numbers, by how the words for their key end."""

_SIZES: tuple[tuple[Callable[[str], float], tuple[tuple[str, float], ...]], ...] = (
    (parse_bandwidth, (("bit/s", 1), ("kbit/s", 10**3), ("Mbit/s", 10**6), ("Gbit/s", 10**9))),
    (parse_length, (("m", 1), ("km", 10**3))),
    (parse_power, _POWER),
    (parse_energy, _ENERGY),
)
"""The parser of each kind of size, with its units."""


def scale(key: str, values: Sequence[Any], slot: str = "1 ms") -> Scale | None:
    """Return *values* of *key* as numbers in one unit, or None if they are not all numbers or sizes.

    Durations that are all in slots stay in slots; a mixture is given in real time.

    Args:
        key: The scenario key.
        values: Its values, as the user wrote them.
        slot: The real length of a slot, which a mixture of slots and seconds needs.
    """
    plain = [_plain(value) for value in values]
    if values and all(value is not None for value in plain):
        numbers = [value for value in plain if value is not None]
        units = _UNITS_OF.get(words(key)[-3:])
        return Scale(tuple(numbers), words(key)) if units is None else _in_unit(key, numbers, units)
    if not values or not all(isinstance(value, str) for value in values):
        return None
    return _durations(key, values, slot) or _sizes(key, values)


def _plain(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        try:
            return None if value != value else float(value)
        except OverflowError:  # an integer that no float holds
            return None
    return math.inf if value == "inf" else None


def _durations(key: str, values: Sequence[str], slot: str) -> Scale | None:
    try:
        durations = [parse_duration(value) for value in values]
        if all(duration.in_slots or not duration.amount for duration in durations) and any(
            duration.in_slots for duration in durations
        ):
            return Scale(tuple(float(duration.amount) for duration in durations), _labelled(key, "slots"))
        length = parse_duration(slot).nanoseconds(1)
        amounts = [duration.nanoseconds(length) for duration in durations]
    except ValueError:
        return None
    return _in_unit(key, amounts, _REAL)


def _sizes(key: str, values: Sequence[str]) -> Scale | None:
    for parse, units in _SIZES:
        try:
            return _in_unit(key, [parse(value) for value in values], units)
        except ValueError:
            pass
    return None


def _in_unit(key: str, amounts: Sequence[float], units: Sequence[tuple[str, float]]) -> Scale:
    typical = sorted(amount for amount in amounts if amount) or [0]
    unit, size = next(((unit, size) for unit, size in reversed(units) if typical[len(typical) // 2] >= size), units[0])
    return Scale(tuple(amount / size for amount in amounts), _labelled(key, unit))


def _labelled(key: str, unit: str) -> str:
    """Return the label of an axis of *key* in a unit, which joins what is in brackets already."""
    label = heading(key)
    return f"{label[:-1]}, {unit})" if label.endswith(")") else f"{label} ({unit})"


def with_unit(key: str, value: Any) -> str:
    """Return a value of *key* for a sentence: ``10 µW`` where a plain number stands for a power or an energy."""
    number, units = _plain(value), _UNITS_OF.get(words(key)[-3:])
    if not number or math.isinf(number) or units is None:
        return shown(value)
    unit, of = next(((unit, of) for unit, of in reversed(units) if abs(number) >= of), units[0])
    return f"{scaled(rounded(number / of, 3))} {unit}"


def in_order(key: str, values: Sequence[Any], slot: str = "1 ms") -> list[Any]:
    """Return *values* as a legend lists them: numbers ascending, all else in the order of the sweep."""
    numeric = scale(key, values, slot)
    if numeric is None:
        return list(values)
    return [values[place] for place in sorted(range(len(values)), key=lambda place: numeric.numbers[place])]
