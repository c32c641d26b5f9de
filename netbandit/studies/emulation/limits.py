"""Limits of emulation: why a scenario cannot be emulated, at the key that rules it out."""

import os
from collections.abc import Iterator
from typing import Any

from netbandit.learners.learner import EpochLearner
from netbandit.network.families.meeting import Meeting
from netbandit.network.message import HEADER_BYTES
from netbandit.network.models.loss import BurstLossSettings
from netbandit.parts.settings import Problem, Settings
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.relay import Relay
from netbandit.protocols.rounds import RoundProtocol
from netbandit.scenario.model import PARTS
from netbandit.simulation.replication import RunnablePoint
from netbandit.util.wording import show

MOST_AGENTS = 64
MOST_LINKS = 400
LONGEST = 900
"""The longest emulation (s)."""
_MOST_FILES = 1_024
"""The most open files of a process that waits by ``select``."""
_FILES_BESIDE = 24
"""The files that are open beside the sockets of links and processes, at most: pipes, and modules while they load."""

SERVER = "the server's answer has no content in the simulator to go on with"
_LINK_KEYS = frozenset({"latency", "bandwidth", "cost", "energy", "missing", "loss", "jitter", "overtaking"})


def refusals(point: RunnablePoint, replication: int) -> Iterator[Problem]:
    """Yield why *point* cannot be emulated; nothing is run for that."""
    kinds: dict[str, str] = {table: point.resolved[table]["kind"] for table in PARTS}
    if not hasattr(os, "fork"):
        yield ("run",), "emulate needs Linux"
    if not isinstance(point.learner, EpochLearner):
        text = f"emulate plays learners of rounds; {show(kinds['learner'])} decides for all agents in one call"
        yield ("learner", "kind"), text
    yield from _of_protocol(point, kinds["protocol"])
    yield from _of_links(point)
    scenario = point.scenario
    if scenario.run.header != HEADER_BYTES:
        yield ("run", "header"), f"must be {HEADER_BYTES} to be emulated: what real messages have"
    for key, only in {"until": "horizon", "idle": False}.items():
        if getattr(scenario.run, key) != only:
            yield ("run", key), f"must be {show(only)} to be emulated: real agents play to the horizon"
    for table, condition in sorted(scenario.conditions.items()):
        if condition != type(condition)():
            yield (table,), "is not emulated yet"
    if isinstance(point.family, Meeting):
        yield ("topology", "family"), "links that come and go are not emulated yet"
        return
    topology = point.topology(replication)
    if topology.agents > MOST_AGENTS:
        yield ("topology", "family"), f"emulate plays at most {MOST_AGENTS} agents, not {topology.agents}"
    elif topology.links > MOST_LINKS:
        yield ("topology", "family"), f"emulate plays over at most {MOST_LINKS} links, not {topology.links}"


def too_many_files(links: int, processes: int) -> str | None:
    """Allow this process the open files that an emulation takes; return why they are too many, None: they are not."""
    import resource

    needed = len(os.listdir("/proc/self/fd")) + 2 * links + processes + _FILES_BESIDE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if needed > allowed:
        found = f"emulate needs {needed:,} open files here, two for each link, and {allowed:,} are allowed"
        return f"{found}: use fewer links, or allow more (ulimit -Hn)"
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return None


def too_long(lasts: int, dilation: float) -> str | None:
    """Return why a run whose last round ends at a time (virtual ns) takes too long; None: it does not."""
    seconds = lasts / 1e9 * dilation
    if seconds <= LONGEST:
        return None
    return f"would take {seconds / 60:.0f} min at dilation {dilation:g}: use fewer slots, or longer latencies"


def _of_protocol(point: RunnablePoint, kind: str) -> Iterator[Problem]:
    protocol = point.protocol
    if protocol.isolated:
        yield ("protocol", "kind"), "nothing to compare: its agents tell each other nothing"
    elif getattr(protocol, "served", False) or not protocol.uses_peer_links:
        yield ("protocol", "kind"), SERVER
    elif not isinstance(protocol, NeighbourRounds | RoundProtocol | Relay):
        yield ("protocol", "kind"), f"{show(kind)} is not emulated yet"
    if getattr(protocol, "deadline", None) is not None and not isinstance(protocol, Relay):
        yield ("protocol", "deadline"), "a deadline is not emulated yet"


def _of_links(point: RunnablePoint) -> Iterator[Problem]:
    peer: Settings = point.scenario.links.peer
    for key in sorted(type(peer).model_fields.keys() - _LINK_KEYS):
        if getattr(peer, key) != type(peer).model_fields[key].get_default(call_default_factory=True):
            yield ("links", "peer", key), "is not emulated yet"
    found: dict[str, Any] = dict(peer)
    if isinstance(found["loss"], BurstLossSettings):
        yield ("links", "peer", "loss"), "loss in bursts is not emulated yet"
    if found["bandwidth"] is not None and isinstance(point.protocol, Gossip):
        text = "with a protocol that waits until its messages have left is not emulated yet"
        yield ("links", "peer", "bandwidth"), text
