"""Changes of netbandit that alter the numbers of some scenarios only, and the `NUMBERS` version of each scenario.

Each such change has an entry in `CHANGES`; runs of all other scenarios from earlier versions are still reused.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from netbandit.parts.registry import BUILT_IN
from netbandit.util.units import parse_duration

Scenario = Mapping[str, Any]
"""A resolved scenario, possibly incomplete, with the names of its files: keys that were added later may be missing."""


def numbers_of(scenario: Scenario, least: int) -> int:
    """Return *least*, the version of all scenarios, plus one for each change that affects *scenario*."""
    return least + sum(concerns(scenario) for concerns in CHANGES)


def _gossip_over_limited_bandwidth(scenario: Scenario) -> bool:
    """Return whether a node that gossips waits until its last copy has left it."""
    return _kind(scenario, "protocol") == "gossip" and _links(scenario, "peer").get("bandwidth") is not None


def _calls_that_only_repeat(scenario: Scenario) -> bool:
    """Return whether links between agents retransmit and nothing is lost: sums then carry no versions.

    This was already so with a trace, over limited bandwidth, and where any other fault is possible.
    """
    peer = _links(scenario, "peer")
    if peer.get("retry") is None or peer.get("bandwidth") is not None or any(scenario.get("faults", {}).values()):
        return False
    if any(_goes_wrong(_links(scenario, table), key) for table in ("peer", "uplink") for key in _WRONG):
        return False
    if _links(scenario, "uplink").get("retry") is not None:
        return False
    learner, protocol = _kind(scenario, "learner"), _kind(scenario, "protocol")
    return _is_one_of(learner, *_CALLING) and protocol not in ("silent", "parameter-server")


def _broadcasts_that_are_repeated(scenario: Scenario) -> bool:
    """Return whether a server's broadcasts are acknowledged over uplinks and retransmitted."""
    if _links(scenario, "uplink").get("retry") is None:
        return False
    participation = scenario.get("learner", {}).get("participation", 1.0)
    protocol = _kind(scenario, "protocol")
    return _is_one_of(protocol, "sink") or (protocol == "master-worker" and participation != 1.0)


def _lives_of_agents_that_forget(scenario: Scenario) -> bool:
    """Return whether the epsilons of an agent's incarnations were added up."""
    nodes = (scenario.get("faults") or {}).get("nodes") or {}
    learner = scenario.get("learner") or {}
    private = learner.get("epsilon", inf) != inf or learner.get("epsilon_total") is not None
    return nodes.get("memory") == "lost" and (private or _is_one_of(_kind(scenario, "learner")))


def _tables_of_rewards(scenario: Scenario) -> bool:
    """Return whether rewards come from a table: pandas guessed the types of names and slots."""
    return _kind(scenario, "bandit") == "table"


def _edge_lists(scenario: Scenario) -> bool:
    """Return whether the graph is an edge list: text after a # was cut off, and quotes were part of names."""
    file = str(scenario.get("topology", {}).get("file", ""))
    return _kind(scenario, "topology", "family") == "file" and not file.lower().endswith((".graphml", ".gml", ".json"))


def _tracks_from_files(scenario: Scenario) -> bool:
    """Return whether agents move along tracks from a file: start time, origin and heights were read differently."""
    topology = scenario.get("topology", {})
    return (topology.get("family"), topology.get("model")) == ("mobile", "file")


def _liars_in_exchanges(scenario: Scenario) -> bool:
    """Return whether Byzantine agents sent true values where rows of exchanges took different times."""
    return _kind(scenario, "protocol") == "consensus" and _attack(scenario) not in (None, "none", "mute")


def _agents_that_wait_for_links(scenario: Scenario) -> bool:
    """Return whether agents wait for messages that wait for links: runs may then stall, which was not reported."""
    topology, protocol = scenario.get("topology", {}), scenario.get("protocol", {})
    sensed = topology.get("neighbours", "sensed") == "sensed" and _links_come_and_go(scenario)
    endless = protocol.get("carry") is None and protocol.get("deadline") is None
    carried = _is_one_of(_kind(scenario, "protocol"), *_CARRYING)
    return sensed and endless and carried and _is_one_of(_kind(scenario, "learner"), *_WAITING)


def _agents_that_are_mute(scenario: Scenario) -> bool:
    """Return whether agents that sent nothing waited for the end of a call, or a loop took other agents for them."""
    learner, protocol = _kind(scenario, "learner"), _kind(scenario, "protocol")
    told = _is_one_of(protocol, "flooding", "gis", "gossip") and learner != "elimination"
    return _attack(scenario) == "mute" and (told or _is_one_of(learner, *_CALLING))


def _gossip_that_loses_nothing(scenario: Scenario) -> bool:
    """Return whether lossless gossip that the horizon had cut off was counted as stalled."""
    if _kind(scenario, "protocol") != "gossip" or not _is_one_of(_kind(scenario, "learner"), *_WAITING):
        return False
    links = [_links(scenario, table) for table in ("peer", "uplink")]
    late = any(_goes_wrong(one, "jitter") or _goes_wrong(one, "duplicate") or one.get("retry") for one in links)
    lost = any(_goes_wrong(one, "loss") or one.get("radio") for one in links) or _links_come_and_go(scenario)
    lost |= any(scenario.get("faults", {}).values()) or scenario.get("energy", {}).get("capacity") is not None
    return late and not lost


def _forecasts_of_batteries_that_harvest(scenario: Scenario) -> bool:
    """Return whether the estimated battery life depended on the hour at which the run ended."""
    energy = scenario.get("energy") or {}
    return energy.get("capacity") is not None and isinstance(energy.get("harvest"), Mapping)


CHANGES: Sequence[Callable[[Scenario], bool]] = (
    _gossip_over_limited_bandwidth,
    _lives_of_agents_that_forget,
    _calls_that_only_repeat,
    _broadcasts_that_are_repeated,
    _tables_of_rewards,
    _edge_lists,
    _tracks_from_files,
    _liars_in_exchanges,
    _agents_that_wait_for_links,
    _agents_that_are_mute,
    _gossip_that_loses_nothing,
    _forecasts_of_batteries_that_harvest,
)
"""The scenarios that each change affects; entries are never removed."""

_WRONG = ("loss", "jitter", "duplicate")
_CALLING = ("feducb", "linucb", "lints", "oful")
_WAITING = ("elimination", *_CALLING)
_CARRYING = ("flooding", "relay", "sink", "local", "parameter-server", "vertical")


def _links(scenario: Scenario, table: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = scenario.get("links", {}).get(table, {})
    return found


def _kind(scenario: Scenario, table: str, key: str = "kind") -> str:
    return str(scenario.get(table, {}).get(key, ""))


def _is_one_of(kind: str, *kinds: str) -> bool:
    """Return whether *kind* is among *kinds*, or may act like them: a class of the user or of another package."""
    return kind in kinds or (bool(kind) and not any(kind in ours for ours in BUILT_IN.values()))


def _attack(scenario: Scenario) -> Any:
    """Return the attack of the Byzantine agents; None without one."""
    return (scenario.get("adversary") or {}).get("attack")


def _links_come_and_go(scenario: Scenario) -> bool:
    """Return whether the graph changes."""
    topology = scenario.get("topology", {})
    return topology.get("changes") is not None or topology.get("family") in ("contacts", "mobile")


def _goes_wrong(links: Mapping[str, Any], key: str) -> bool:
    """Return whether a fault key of links is on."""
    value = links.get(key)
    if isinstance(value, str):
        return parse_duration(value).nanoseconds(10**9) > 0
    return any(value.values()) if isinstance(value, Mapping) else bool(value)
