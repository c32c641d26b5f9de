"""The result of one replication of one scenario."""

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from netbandit import __version__
from netbandit.network.link import FATES as FATES
from netbandit.parts.metric import Metric as Metric
from netbandit.util.key_paths import lookup
from netbandit.util.units import parse_duration

STILL_EXPLORING = (
    "no agent had come to the end of its first phase of exploration by the horizon: no round began, and regret is that "
    "of exploring all arms; a longer run.horizon, or fewer arms, end that phase"
)
"""The remark of a run that ended before any agent had anything to share."""


@dataclass(frozen=True)
class Curve:
    """A quantity that grows over the slots, piecewise linear between its knots.

    Attributes:
        slots: The knots, shape (k,), int64, ascending from 0 to the horizon.
        values: The quantity at each knot, shape (k,), float64.
    """

    slots: NDArray[np.int64]
    values: NDArray[np.float64]

    def at(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the quantity at *slots*, shape like *slots*."""
        return np.interp(slots, self.slots, self.values)


@dataclass(frozen=True)
class LinkUse:
    """The use of each link of a class; all arrays have one entry per undirected link, shape (links,).

    Attributes:
        first: The lower-numbered end of each link.
        second: The higher-numbered end of each link.
        messages: Messages sent over it, both directions together.
        bytes: Bytes sent over it, both directions together.
        activations: Slots in which at least one message was put on it.
        lost: Messages and copies lost on it, both directions together; None in results of versions that lost none.
        messages_back: Those of its messages that the second end sent; None in results of versions that did not tell.
        bytes_back: Their bytes; likewise.
        busy: The time (ns) that messages from the first end to the second occupied it; None if bandwidth is unlimited.
        busy_back: The same from the second end to the first.
        waited: The total time (ns) that messages queued behind others, both directions together.
        longest_wait: The longest queueing time (ns) of a message.
        lost_bytes, dropped, dropped_bytes, unsent, unsent_bytes, duplicates, duplicates_bytes, duplicates_dropped,
            duplicates_dropped_bytes, in_flight, in_flight_bytes: What became of messages, both directions together; see
            the metrics of these names. None, as all that follow: nothing.
        in_flight_back, in_flight_bytes_back: Of what is under way at the end, that which the second end sent.
        in_flight_busy, in_flight_busy_back: How much of *busy* and *busy_back* (ns) is that of what is under way.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    messages: NDArray[np.int64]
    bytes: NDArray[np.int64]
    activations: NDArray[np.int64]
    lost: NDArray[np.int64] | None = None
    messages_back: NDArray[np.int64] | None = None
    bytes_back: NDArray[np.int64] | None = None
    busy: NDArray[np.int64] | None = None
    busy_back: NDArray[np.int64] | None = None
    waited: NDArray[np.int64] | None = None
    longest_wait: NDArray[np.int64] | None = None
    lost_bytes: NDArray[np.int64] | None = None
    dropped: NDArray[np.int64] | None = None
    dropped_bytes: NDArray[np.int64] | None = None
    unsent: NDArray[np.int64] | None = None
    unsent_bytes: NDArray[np.int64] | None = None
    duplicates: NDArray[np.int64] | None = None
    duplicates_bytes: NDArray[np.int64] | None = None
    duplicates_dropped: NDArray[np.int64] | None = None
    duplicates_dropped_bytes: NDArray[np.int64] | None = None
    in_flight: NDArray[np.int64] | None = None
    in_flight_bytes: NDArray[np.int64] | None = None
    in_flight_back: NDArray[np.int64] | None = None
    in_flight_bytes_back: NDArray[np.int64] | None = None
    in_flight_busy: NDArray[np.int64] | None = None
    in_flight_busy_back: NDArray[np.int64] | None = None

    def count_of(self, column: str) -> NDArray[np.int64]:
        """Return a *column* of what became of messages, with zeros where nothing did."""
        found: NDArray[np.int64] | None = getattr(self, column)
        return np.zeros_like(self.messages) if found is None else found

    def delivered(self, unit: Literal["", "_bytes"] = "") -> NDArray[np.int64]:
        """Return how many messages, or bytes, were delivered within the run."""
        put = self.bytes if unit else self.messages
        gone = (self.count_of(fate + unit) for fate in ("lost", "duplicates_dropped", "in_flight"))
        return put + self.count_of("duplicates" + unit) - sum(gone)


@dataclass(frozen=True)
class Nodes:
    """Names and coordinates of the nodes, if the topology has them, the state of their batteries, and their answers.

    Attributes:
        names: One name per node, or None.
        coordinates: Latitude and longitude in degrees, shape (nodes, 2), NaN where missing, or None.
        energy: The energy (J) that each agent spent, shape (nodes,); None without batteries, as all that follow.
        capacity: The capacity (J) of each battery, shape (nodes,).
        drain: The power (W) that empties it, net of what is harvested, shape (nodes,): capacity over lifetime; 0 where
            it is sustained, NaN where the run was too short to tell.
        answered: After how many slots each agent had answered for good, shape (nodes,), NaN where it had not; None: the
            run did not end with the answers.
        wrong: Whether that is wrong, 1 or 0, shape (nodes,), NaN where it is not judged; None: likewise.
    """

    names: tuple[str, ...] | None = None
    coordinates: NDArray[np.float64] | None = None
    energy: NDArray[np.float64] | None = None
    capacity: NDArray[np.float64] | None = None
    drain: NDArray[np.float64] | None = None
    answered: NDArray[np.float64] | None = None
    wrong: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class RunResult:
    """The result of one replication of one point of a scenario, with everything needed to run it again.

    Attributes:
        name: The scenario's name.
        parameters: The keys varied by the sweep or ``--set``, key -> value.
        resolved: The whole scenario with every default filled in, ready for JSON.
        seed: The root seed.
        replication: The replication's number, from 0.
        metrics: The figures by name, in the order in which they are shown.
        kinds: For each kind of message, the number sent and their bytes.
        topology: ``agents``, ``links``, ``diameter`` and ``radius`` of this replication's graph.
        curves: Curves by name, including ``regret`` unless the best arm's mean is unknown.
        links: The use of each peer link.
        uplinks: The use of each uplink over which something was sent: from an agent to the server, which is numbered
            behind all agents; None in results of versions that did not tell.
        fingerprint: A hash over time, node, kind and size of every event.
        versions: The versions of netbandit, Python and the libraries that make the numbers.
        machine: The processor, cores and system that it ran on; empty in results of versions that did not tell.
        nodes: Names and coordinates of the nodes, None where the topology has neither.
        privacy_unit: The unit that ``epsilon`` and ``delta`` protect, such as one reward of one agent; empty without
            privacy accounting.
        privacy_accountant: How epsilon was found: the noise, and how releases compose.
        privacy_caveats: The limits of the guarantee of epsilon, a line each.
        privacy_bound: ``exact``, or ``upper`` if epsilon is an upper bound.
        remarks: Notes needed to interpret the metrics, one line each.
    """

    name: str
    parameters: dict[str, Any]
    resolved: dict[str, Any]
    seed: int
    replication: int
    metrics: dict[str, Metric]
    kinds: dict[str, tuple[int, int]]
    topology: dict[str, Metric]
    curves: dict[str, Curve]
    links: LinkUse
    fingerprint: str
    versions: dict[str, str]
    nodes: Nodes | None = None
    uplinks: LinkUse | None = None
    privacy_unit: str = ""
    privacy_accountant: str = ""
    privacy_caveats: tuple[str, ...] = ()
    privacy_bound: Literal["exact", "upper"] = "exact"
    remarks: tuple[str, ...] = ()
    machine: str = ""

    @property
    def slot_ns(self) -> int:
        """The length of a slot (ns)."""
        return parse_duration(str(lookup(self.resolved, "run.slot", "1 ms"))).nanoseconds(1)


def bound_of(runs: Iterable[RunResult]) -> Literal["exact", "upper"]:
    """Return whether the epsilons of *runs* are exact, or at least one of them is an upper bound."""
    return "upper" if any(run.privacy_bound == "upper" for run in runs) else "exact"


@cache
def versions() -> dict[str, str]:
    """Return the versions of all that makes the numbers."""
    from importlib.metadata import (
        version,
    )  # brings a reader of e-mail along, for which whoever only plots need not wait

    libraries = {name: version(name) for name in ("numpy", "scipy", "numba", "simpy", "networkx")}
    return {"netbandit": __version__, "python": platform.python_version(), **libraries}
