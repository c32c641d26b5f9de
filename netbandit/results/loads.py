"""The load on each link and each node: traffic, utilisation, waiting times of messages, energy.

Energy is charged for every message put on a link, whether it arrives or is lost: the sender spends its share
(``energy.sender_share``), the receiver the rest, but for what is under way at the end. With ``[energy]`` the energy of
an agent covers everything it spends: with batteries as recorded in each run, otherwise the energy of its messages plus
an equal share of the rest. Over all nodes it adds up to ``energy_j``; a server then spends nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.results.link_use import energy_on, means, prices_of_ends, same_links
from netbandit.results.study_result import StudyResult
from netbandit.results.tables import groupable
from netbandit.results.varied_keys import parameter_names
from netbandit.simulation.result import FATES, LinkUse, RunResult
from netbandit.util.key_paths import lookup
from netbandit.util.units import parse_power

Floats = NDArray[np.float64]

_ENDS = ("", "_back", "_sent", "_received")

SERVER = "server"
"""The name of the server among nodes."""

UNITS: tuple[Literal["", "_bytes"], ...] = ("", "_bytes")

OUTCOMES = tuple(f"{name}{unit}" for unit in UNITS for name in ("delivered", *FATES))
"""What became of messages, and of their bytes; see the metrics of these names."""

LINK_COLUMNS = (
    *("messages", "messages_back", "bytes", "bytes_back", "activations", "energy_j"),
    *("utilisation", "utilisation_back", "mean_wait_s", "longest_wait_s"),
    *OUTCOMES,
)
"""The columns of each link, in order."""

NODE_COLUMNS = (
    *("messages_sent", "messages_received", "bytes_sent", "bytes_received"),
    *("energy_sent_j", "energy_received_j", "energy_j", "power_w"),
)
"""The columns of each node, in order."""

COUNTS = frozenset({"activations", *OUTCOMES, *(f"{what}{end}" for what in ("messages", "bytes") for end in _ENDS)})
"""The columns that are whole numbers."""

PEER, UPLINK = "peer", "uplink"


def node_names(run: RunResult, nodes: int | None = None) -> list[str]:
    """Return the names of the nodes of a run: from its graph file, or their numbers.

    Args:
        run: The run.
        nodes: The number of nodes, if the run does not record it.
    """
    known = run.nodes.names if run.nodes is not None else None
    return list(known) if known is not None else [str(node) for node in range(nodes or _agents(run))]


def ends_of_links(run: RunResult) -> tuple[NDArray[np.int64], list[str]]:
    """Return the ends of the links of *run*, uplinks last, shape (links, 2), and the class of each."""
    classes = _classes(run)
    ends = np.concatenate([np.column_stack([use.first, use.second]) for _, use in classes]).reshape(-1, 2)
    return ends.astype(np.int64), [name for name, use in classes for _ in range(len(use.first))]


def link_loads(run: RunResult) -> dict[str, Floats]:
    """Return `LINK_COLUMNS` of each link of *run*, in the order of `ends_of_links`, shape (links,) each.

    ``utilisation`` is the fraction of the run during which messages from the first end to the second occupied the link,
    ``utilisation_back`` the same for the other direction; both are 0 where bandwidth is unlimited. Waiting times are
    spent in the queue. NaN marks values that results of earlier versions do not have.
    """
    found = [_loads(run, name, use) for name, use in _classes(run)]
    return {name: np.concatenate([one[name] for one in found]) for name in LINK_COLUMNS}


def node_loads(run: RunResult) -> dict[str, Floats]:
    """Return `NODE_COLUMNS` of each agent of *run*, and of the server behind them if it has uplinks in use.

    Energy is everything that a node spent; sent and received energy is that of its messages, without the time on shared
    air. Power is energy over simulated time. NaN marks values that results of earlier versions do not have.
    """
    nodes, agents = len(nodes_of(run)), _agents(run)
    energy = run.resolved.get("energy") or {}
    energy = energy if any(energy.values()) else {}
    found = {name: np.zeros(nodes) for name in NODE_COLUMNS}
    for name, use in _classes(run):
        loads = _loads(run, name, use)
        for what, key in (("messages", "energy.per_message"), ("bytes", "energy.per_byte")):
            of_sender, of_receiver = prices_of_ends(run, name, key)
            unit = "_bytes" if what == "bytes" else ""
            back, coming_back = loads[f"{what}_back"], use.count_of(f"in_flight{unit}_back")
            coming = use.count_of(f"in_flight{unit}") - coming_back
            for sender, receiver, carried, under_way in (
                (use.first, use.second, loads[what] - back, coming),
                (use.second, use.first, back, coming_back),
            ):
                for node, end, part, passed in (
                    (sender, "sent", of_sender, carried),
                    (receiver, "received", of_receiver, carried - under_way),
                ):
                    added = np.bincount(node, passed, nodes)
                    found[f"{what}_{end}"] += added
                    if part:
                        found[f"energy_{end}_j"] += part * added
        shared = lookup(run.resolved, f"links.{name}.radio") is not None
        for ends, busy, coming in (
            ((use.first, use.second), use.busy, use.count_of("in_flight_busy")),
            ((use.second, use.first), use.busy_back, use.count_of("in_flight_busy_back")),
        ):
            for node, end, key in zip(ends, ("sent", "received"), ("send", "receive"), strict=True):
                if busy is not None and energy.get(key) is not None and not shared:
                    beside = parse_power(energy[key]) - parse_power(energy["idle"])
                    taken = busy - coming if end == "received" else busy
                    found[f"energy_{end}_j"] += np.bincount(node, taken * (beside / 1e9), nodes)
    if energy:
        for end in ("sent", "received"):
            found[f"energy_{end}_j"][agents:] = 0.0  # the server needs no battery
    if run.uplinks is None:  # its traffic is unknown
        found = {name: np.full(nodes, np.nan) for name in NODE_COLUMNS}
    found["energy_j"] = found["energy_sent_j"] + found["energy_received_j"]
    if run.nodes is not None and run.nodes.energy is not None:
        found["energy_j"][:agents] = run.nodes.energy
    elif energy and (spent := run.metrics.get("energy_j")) is not None:
        found["energy_j"][:agents] += (spent - found["energy_j"][:agents].sum()) / agents
    found["power_w"] = found["energy_j"] / _seconds(run)
    return found


def nodes_of(run: RunResult) -> list[str]:
    """Return the names of the nodes of *run*, the server last if it has uplinks in use."""
    served = run.uplinks is not None and len(run.uplinks.first) > 0
    return [*node_names(run), *([SERVER] if served else [])]


def has_batteries(run: RunResult) -> bool:
    """Return whether *run* records how long the batteries of its agents last."""
    return run.nodes is not None and run.nodes.capacity is not None


def battery_lives(run: RunResult, energy: float | None) -> Floats:
    """Return how long (s) *energy* (J) lasts each node of *run*, shape (nodes,).

    Each node is assumed to continue at its power in *run*, with a battery net of the energy harvested while it was up.
    Infinite for a node that spends nothing, and for the server, which has a supply of its own; NaN where the run was
    too short to tell.

    Args:
        run: The run.
        energy: The energy; None: the capacity of each agent's own battery.
    """
    power = node_loads(run)["power_w"]
    begun = np.full(len(power), 0.0 if energy is None else energy)
    if run.nodes is not None and run.nodes.capacity is not None and run.nodes.drain is not None:
        power[: _agents(run)] = run.nodes.drain
        begun[: _agents(run)] = run.nodes.capacity if energy is None else energy
    elif lookup(run.resolved, "energy.capacity") is not None:  # an earlier version did not record when each was empty
        power[:] = np.nan
    power[_agents(run) :] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(power == 0.0, np.inf, begun / power)


def battery_life(run: RunResult, energy: float | None) -> tuple[float, float, int]:
    """Return the `battery_lives` of the median agent and of the first to run out, and the index of the latter."""
    lives = battery_lives(run, energy)[: _agents(run)]
    first = int(np.argmin(lives))
    return float(np.median(lives)), float(lives[first]), first


Block = dict[str, Any]
"""Rows of a table by column: one value per row, or a single value for all rows, as for each varied key."""


def runs_with_keys(study: StudyResult) -> Iterator[tuple[dict[str, Any], RunResult]]:
    """Yield each run with the values of the varied keys at its point."""
    for point in study.points:
        keys = {key: groupable(point.value(key)) for key in parameter_names(study)}
        yield from ((keys, run) for run in point.finished)


def rows_of(block: Block) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of *block*."""
    columns = [value.tolist() if isinstance(value, np.ndarray) else value for value in block.values()]
    height = max(len(column) for column in columns if isinstance(column, list))
    return zip(*(column if isinstance(column, list) else repeat(column, height) for column in columns), strict=True)


def link_blocks(study: StudyResult) -> Iterator[Block]:
    """Yield the load on each link in each run that has links; see `netbandit.api.results.Results.links`."""
    for keys, run in runs_with_keys(study):
        ends, classes = ends_of_links(run)
        names = nodes_of(run)
        first, second = ([names[node] for node in side] for side in ends.T.tolist())
        if first:
            yield {
                **keys,
                "replication": run.replication,
                "link": [f"{one}-{other}" for one, other in zip(first, second, strict=True)],
                "first": first,
                "second": second,
                "class": classes,
                **_counted(link_loads(run)),
            }


def node_blocks(study: StudyResult, battery: float | None) -> Iterator[Block]:
    """Yield what each node sent, received and spent in each run; see `netbandit.api.results.Results.nodes`."""
    for keys, run in runs_with_keys(study):
        lives = {} if battery is None and not has_batteries(run) else {"battery_life_s": battery_lives(run, battery)}
        columns = {"replication": run.replication, "node": nodes_of(run)}
        yield {**keys, **columns, **_counted(node_loads(run)), **lives}


def _counted(loads: Mapping[str, Floats]) -> dict[str, NDArray[Any]]:
    """Return columns with counts converted to integers, where all of them are known."""
    return {
        name: values.astype(np.int64) if name in COUNTS and np.isfinite(values).all() else values
        for name, values in loads.items()
    }


def mean_loads(runs: Sequence[RunResult]) -> tuple[list[RunResult], dict[str, Floats], dict[str, Floats]]:
    """Return the runs that have the same links, and the means of their `link_loads` and `node_loads`.

    If each replication draws its own network, only the first is used.
    """
    alike = list(runs) if _same(runs) else list(runs[:1])
    return alike, means([link_loads(run) for run in alike]), means([node_loads(run) for run in alike])


def _same(runs: Sequence[RunResult]) -> bool:
    ends = [ends_of_links(run)[0] for run in runs]
    return same_links(runs) and all(np.array_equal(one, ends[0]) for one in ends)


def _classes(run: RunResult) -> list[tuple[str, LinkUse]]:
    return [(PEER, run.links), *([] if run.uplinks is None else [(UPLINK, run.uplinks)])]


def _loads(run: RunResult, name: str, use: LinkUse) -> dict[str, Floats]:
    """Return the columns of the links of one class."""

    def counts_of(column: NDArray[np.int64] | None, otherwise: float = np.nan) -> Floats:
        return np.full(len(use.first), otherwise) if column is None else column.astype(np.float64)

    queues = lookup(run.resolved, f"links.{name}.bandwidth", None) is not None
    unlimited = np.nan if queues else 0.0  # nothing queues; otherwise a run of an earlier version has no record
    nanoseconds = 1e9 * _seconds(run)
    messages = counts_of(use.messages)
    return {
        "messages": messages,
        "messages_back": counts_of(use.messages_back),
        "bytes": counts_of(use.bytes),
        "bytes_back": counts_of(use.bytes_back),
        "activations": counts_of(use.activations),
        "energy_j": energy_on(run, name, use),
        "utilisation": counts_of(use.busy, unlimited) / nanoseconds,
        "utilisation_back": counts_of(use.busy_back, unlimited) / nanoseconds,
        "mean_wait_s": counts_of(use.waited, unlimited) / 1e9 / np.maximum(messages, 1.0),
        "longest_wait_s": counts_of(use.longest_wait, unlimited) / 1e9,
        **{
            f"{name}{unit}": counts_of(use.delivered(unit) if name == "delivered" else use.count_of(f"{name}{unit}"))
            for unit in UNITS
            for name in ("delivered", *FATES)
        },
    }


def _seconds(run: RunResult) -> float:
    return float(run.metrics.get("simulated_s") or np.nan)


def _agents(run: RunResult) -> int:
    return int(run.topology.get("agents") or 0)
