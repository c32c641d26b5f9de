"""The swarm: random scenarios in which everything goes wrong, run with invariants on.

A scenario has a graph, a world, a learner and a protocol that go together, one of `FEATURES` if these take it, and
faults of every kind; every other one has a single key of links instead, each in its turn, so that nothing hides what it
does. It is run compiled and in bulk where it can be, event by event, and with a trace, and all must hold
that stands in `netbandit.testing.properties`.

A scenario that fails is made smaller for as long as it fails, and written to a file that one command replays.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from netbandit.checks.check import check
from netbandit.parts.settings import Raw
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.replication import RunnablePoint
from netbandit.testing.properties import ALWAYS
from netbandit.testing.trial import Trial

_MOST_DRAWS = 200
_MOST_WITH_A_FEATURE = 20
"""So many scenarios of two parts are drawn with a feature before it is taken that they do not go with it."""


@dataclass(frozen=True)
class Failure:
    """A scenario that broke an invariant.

    Attributes:
        tables: The scenario, as small as it still fails.
        text: What went wrong.
    """

    tables: Raw
    text: str


def draw(seed: int, number: int) -> Raw:
    """Return the tables of scenario *number* of a swarm: one that `check` accepts.

    Raises:
        RuntimeError: None was accepted of many, which is a mistake of the swarm.
    """
    rng = random.Random(f"{seed}/{number}")
    alone = _KEYS[number // 2 % len(_KEYS)] if number % 2 else None
    bandit, learner, protocols = rng.choice(_PLAYERS)
    players = bandit, learner, rng.choice(protocols.split())
    feature = rng.choice(["", *FEATURES])
    for draws in range(_MOST_DRAWS):
        tables = _drawn(rng, players, feature if draws < _MOST_WITH_A_FEATURE else "", alone)
        try:
            _point(tables)
        except ScenarioError:
            continue
        return tables
    raise RuntimeError(f"no scenario of {_MOST_DRAWS} can be run")


def _drawn(rng: random.Random, players: tuple[Raw, Raw, str], feature: str, alone: tuple[str, str] | None) -> Raw:
    """Return a scenario that may be refused: not everything goes with everything.

    Args:
        rng: What it is drawn from.
        players: The world, the learner, and the protocol's kind.
        feature: One of `FEATURES`, or nothing.
        alone: The table and key of links that is all that goes wrong; None: anything may.
    """
    agents = rng.randint(3 if feature == "adversary" else 2, 8)
    bandit, learner, kind = players
    protocol: Raw = {"kind": kind, "timing": rng.choice(["slotted", "asynchronous"])}
    if kind == "local":
        protocol["ttl"] = rng.randint(0, 3)
        protocol |= rng.choice([{}, {"route": "flood"}, {"route": "flood", "absorb": True}])
    if kind == "consensus":
        protocol |= rng.choice([{}, {"pace": "slot"}])
    if kind == "pooled":
        protocol |= rng.choice([{}, {}, {"when": "pull"}])
    learner = dict(learner)
    if protocol["kind"] == "parameter-server":
        protocol |= {"answer": rng.choice(["uploader", "lagging"]), "server": rng.choice(["uplink", "centre", 0])}
        learner |= {"upload": rng.choice([1.0, 1.2, 2.0]), "decide": rng.choice(["all", "received"])}
    if rng.random() < 0.3:
        protocol["deadline"] = rng.choice(["2 ms", "20 ms", "3 slots", "100 ms"])
    # Rounds take long, what is told in every slot many messages.
    horizons = [100, 300, 600] if learner["kind"] == "elimination" else [10, 30, 100]
    run: Raw = {"horizon": rng.choice(horizons), "slot": "1 ms", "seed": rng.randrange(1000)}
    if rng.random() < 0.2:
        run["activity"] = rng.choice(["one", {"share": 0.5}, {"poisson": "3 ms"}])
        run["skew"] = rng.choice([0.0, 1.0])
    tables: Raw = {
        "run": run,
        "topology": _topology(rng, agents),
        "links": {table: _links(rng, alone is None) for table in _TABLES},
        "bandit": dict(bandit),
        "learner": learner,
        "protocol": protocol,
    }
    if feature == "adversary":
        attack = rng.choice(_ATTACKS)
        tables["adversary"] = {"share": rng.choice([0.4, 0.6]), "attack": attack, "range": rng.choice(_RANGES)}
        tables["adversary"] |= rng.choice([{}, {}, {"from": "9 ms"}])
        tables["learner"] |= rng.choice([{}, {"robust": rng.choice(["median", "trimmed", "geometric"]), "tolerate": 1}])
    if feature in ("contacts", "mobile"):
        tables["topology"] = {"neighbours": rng.choice(["sensed", "unknown"]), **rng.choice(_MEETINGS[feature])}
    if feature == "changes":
        tables["topology"] |= {"changes": rng.choice(_CHANGES), "neighbours": rng.choice(["sensed", "unknown"])}
    if tables["topology"].get("neighbours") == "sensed" and kind in _CARRYING:
        protocol |= rng.choice([{}, {"carry": "4 ms"}])
    if feature == "energy":
        tables["energy"] = rng.choice(_BATTERIES)
        for links in tables["links"].values():
            links.pop("retry", None)  # nothing is repeated where agents may run empty
    if feature == "feedback":
        tables["feedback"] = rng.choice(_LATE)
        if learner["kind"] == "elimination":
            protocol |= rng.choice([{}, {"feedback_deadline": "4 slots"}])
    if feature == "compute":
        tables["compute"] = rng.choice(_COMPUTING)
    if feature == "queue":
        for links in tables["links"].values():
            links |= {"bandwidth": "300 kbit/s", "queue": rng.choice([0, 2, "400 B"])}
    if feature == "radio":
        tables["links"] = _sharing_air(rng, tables["links"])
    if alone is not None:
        table, key = alone
        tables["links"][table][key] = rng.choice(_WRONG[key])
        return tables
    faults = _faults(rng, agents)
    return tables | ({"faults": faults} if faults else {})


FEATURES = ("adversary", "changes", "contacts", "mobile", "energy", "radio", "feedback", "queue", "compute")
"""Features of a random scenario beside faults: one of them, where its learner and protocol support it."""


_LATE: list[Raw] = [
    {"delay": "2500 us"},
    {"delay": {"geometric": 4.0}, "never": 0.2, "window": "6 slots"},
    {"delay": {"pareto": ["1 ms", 1.1]}, "window": "5 ms", "missing": "zero", "reports": "nonzero"},
]
_COMPUTING: list[Raw] = [
    {
        "agents": {"message": "300 us", "item": {"exponential": "1 ms"}, "aggregate": "200 us"},
        "speed": {"lognormal": 0.6},
    },
    {"agents": {"message": {"exponential": "400 us"}, "byte": "1 us", "inbox": 2}, "power": "1 W"},
    {"server": {"message": {"pareto": ["100 us", 1.5]}, "aggregate": "1 ms", "inbox": 3}, "speed": 2.0},
]
_ATTACKS: list[str] = ["none", "flip", "inflate", "collude", "swap", "topple", "noise", "constant"]
_ATTACKS += ["stale", "mute", "naive", "smart"]
_RANGES = ("plausible", "any")
_BERNOULLI = {"kind": "bernoulli", "means": [0.1, 0.9]}
_GAUSSIAN = {"kind": "gaussian", "means": [0.0, 1.0, 2.0]}
_CHANGING = {"kind": "bernoulli", "means": [0.1, 0.9], "changes": [{"slot": 20, "means": [0.8, 0.2]}]}
_LINEAR = {"kind": "linear", "dimension": 2, "arms": 3}
_ROUNDS = "master-worker gis sink flooding gossip local relay silent pooled"
_TOLD = f"{_ROUNDS} earliest"
_MIXED = "consensus silent"
_PLAYERS: list[tuple[Raw, Raw, str]] = [
    *[(_BERNOULLI, {"kind": "elimination", "epsilon": epsilon}, _TOLD) for epsilon in (inf, 5.0)] * 4,
    (_BERNOULLI, {"kind": "elimination", "participation": 0.5}, "master-worker"),
    (_GAUSSIAN, {"kind": "elimination"}, _ROUNDS),
    *[(_BERNOULLI, {"kind": kind}, _TOLD) for kind in ("ucb", "klucb", "thompson")] * 2,
    (_BERNOULLI, {"kind": "ucb", "share": "totals"}, _TOLD),
    (_CHANGING, {"kind": "ucb"}, _TOLD),
    *[(_BERNOULLI, {"kind": kind}, _MIXED) for kind in ("coop-ucb2", "dducb", "dec-ucb")] * 2,
    (_BERNOULLI, {"kind": "gosine"}, "gossip"),
    (_BERNOULLI, {"kind": "queued", "base": {"kind": "klucb"}}, "silent"),
    (_LINEAR, {"kind": "feducb"}, _ROUNDS),
    (_LINEAR, {"kind": "feducb", "epsilon": inf}, _ROUNDS),
    (_LINEAR, {"kind": "feducb", "schedule": "fixed", "every": 5}, _ROUNDS),
    *[(_LINEAR, {"kind": kind}, f"{_ROUNDS} parameter-server") for kind in ("linucb", "lints", "oful")],
    ({"kind": "procurement"}, {"kind": "pfcb"}, _TOLD),
    ({"kind": "procurement"}, {"kind": "pfcb", "start": 3, "stop": 90, "share": "exact"}, _TOLD),
    *[({"kind": "vertical", "dimension": 4, "arms": 3}, {"kind": kind}, "vertical") for kind in ("linucb", "lints")],
]


def _topology(rng: random.Random, agents: int) -> Raw:
    family = rng.choice(["star", "ring", "complete", "path", "grid", "tree", "random", "random-tree", "hybrid"])
    if family == "hybrid":
        return {"family": family, "components": [2, 3], "inside": "path"}
    extra = {"p": 0.6} if family == "random" else {}
    return {"family": family, "agents": max(agents, 3 if family == "ring" else 1), **extra}


_CHANGES: list[Raw] = [
    {"born": 0.2, "dies": 0.3, "every": "3 ms"},
    {"up": 0.7},
    {"matching": "random", "every": "4 ms"},
    {"up_for": "5 ms", "every": "12 ms", "phase": "stagger"},
]
_MEETINGS: Mapping[str, list[Raw]] = {
    "contacts": [{"family": "contacts", "file": str(Path(__file__).with_name("meetings.csv")), "format": "intervals"}],
    "mobile": [
        {"family": "mobile", "agents": 5, "area": ["90 m", "90 m"], "range": "40 m", "speed": ["2000 m/s", "9000 m/s"]},
        {"family": "mobile", "agents": 4, "area": ["60 m", "0 m"], "range": "30 m", "model": "gauss-markov"}
        | {"step": "2 ms", "sigma": "3000 m/s"},
    ],
}
_CARRYING = ("flooding", "relay", "sink", "parameter-server", "vertical", "local")

_TABLES = ("peer", "uplink")
_TIMES: Mapping[str, list[Any]] = {
    "latency": ["0.3 ms", "1 ms", "2500 us", {"uniform": ["0 ms", "3 ms"]}],
    "bandwidth": ["100 kbit/s", "10 Mbit/s"],
}
_WRONG: Mapping[str, list[Any]] = {
    "loss": [0.02, 0.3, {"per_bit": 1e-4}, {"good": 0.0, "bad": 0.8, "good_for": "50 ms", "bad_for": "10 ms"}],
    "jitter": ["2 ms", {"exponential": "1 ms"}, {"lognormal": ["1 ms", 0.5]}, {"geometric": [1, 5]}],
    "overtaking": [True],
    "duplicate": [0.1, 0.5],
    "retry": [{"timeout": "8 ms"}, {"timeout": "3 ms", "attempts": 2, "factor": 1.0}],
}
_KEYS = [(table, key) for table in _TABLES for key in _WRONG]


def _links(rng: random.Random, anything: bool) -> Raw:
    """Return keys of a class of links: how long messages take, and if *anything* may go wrong, that too."""
    keys = {**_TIMES, **_WRONG} if anything else _TIMES
    chosen = {key: rng.choice([None, *values]) for key, values in keys.items()}
    return {key: value for key, value in chosen.items() if value is not None}


_RADIOS: list[Raw] = [
    {},
    {"access": {"aloha": "2 ms"}, "duty": 0.5},
    {"access": {"csma": "20 us", "attempts": 3}},
    {"access": {"aloha": "1 slot"}, "airtime": {"lora": {"sf": 7, "bandwidth": "500 kHz"}}},
]


def _sharing_air(rng: random.Random, links: Raw) -> Raw:
    """Return the tables of links with a radio in place of what does not go together with it."""
    peer = {key: links["peer"][key] for key in ("latency", "loss") if key in links["peer"]}
    peer |= {"bandwidth": rng.choice(["1 Mbit/s", "20 Mbit/s"]), "radio": rng.choice(_RADIOS)}
    return {"peer": peer, "uplink": {key: value for key, value in links["uplink"].items() if key != "retry"}}


_GUSTS = {"power": "4 mW", "on_for": "3 ms", "off_for": "9 ms"}
_DAYS = {"power": "1 mW", "from": "10 ms", "until": "20 ms", "every": "30 ms"}
_BATTERIES: list[Raw] = [
    {"capacity": "30 uJ", "idle": "1 mW"},
    {"capacity": "5 uJ", "idle": "1 mW", "harvest": "800 uW", "recover": 0.4},
    {"capacity": {"uniform": ["1 uJ", "60 uJ"]}, "idle": "1 mW", "harvest": _GUSTS, "recover": 0.1},
    {"capacity": "200 uJ", "idle": "0.5 mW", "harvest": _DAYS},
]


def _faults(rng: random.Random, agents: int) -> Raw:
    def stays() -> Raw:
        return {"up_for": f"{rng.choice([20, 200])} ms", "down_for": f"{rng.choice([2, 30])} ms"}

    keys: Raw = {}
    if rng.random() < 0.3:
        keys["links"] = rng.choice([stays(), {"up": 0.7, "every": rng.choice(["1 slot", "10 slots"])}])
    if rng.random() < 0.3:
        keys["nodes"] = stays() | rng.choice([{}, {"memory": "lost"}])
    if rng.random() < 0.2:
        keys["server"] = stays()
    outages = []
    for _ in range(rng.choice([0, 0, 1, 2])):
        begin = rng.randrange(100)
        what: Raw = rng.choice(
            [{"nodes": [rng.randrange(agents)]}, {"server": True}, {"partition": [[rng.randrange(agents)]]}]
        )
        until = {"until": f"{begin + rng.randint(1, 80)} ms"} if rng.random() < 0.8 else {}
        outages.append({**what, "from": f"{begin} ms", **until})
    return keys | ({"outages": outages} if outages else {})


def _point(tables: Raw) -> RunnablePoint:
    return check(load("swarm.toml", text=toml_text(tables))).points[0]


def broken(tables: Raw) -> str | None:
    """Run a scenario; return what it breaks of all that must always hold, or None."""
    try:
        trial = Trial(_point(tables))
    except ScenarioError as error:
        return f"refused: {error}"
    try:
        return next((breach for holds in ALWAYS for breach in holds(trial)), None)
    except Exception as error:  # whatever it is, the scenario shows it
        return f"{type(error).__name__}: {error}"


def smaller(tables: Raw) -> Iterator[Raw]:
    """Yield scenarios that ask for one thing less than *tables*."""
    for path in _optional(tables):
        yield _without(tables, path)
    horizon = tables["run"]["horizon"]
    if horizon > 1:
        yield tables | {"run": tables["run"] | {"horizon": horizon // 2}}


def _optional(tables: Raw) -> Iterator[tuple[str | int, ...]]:
    for table in ("adversary", "faults", "feedback", "compute"):
        if table in tables:
            yield (table,)
    for table in ("faults", "links"):
        yield from ((table, *path) for path in _paths(tables.get(table, {})))
    yield ("protocol", "timing")
    if "changes" in tables["topology"]:
        yield ("protocol", "carry")
        yield ("topology", "changes")


def _paths(table: Raw) -> Iterator[tuple[str | int, ...]]:
    for key, value in table.items():
        yield (key,)
        if key in ("peer", "uplink"):
            yield from ((key, inner) for inner in value)
        if key == "outages":
            yield from ((key, place) for place in range(len(value)))


def _without(tables: Any, path: tuple[str | int, ...]) -> Any:
    head, *rest = path
    if isinstance(tables, list):
        return [item for place, item in enumerate(tables) if place != head]
    if not rest:
        return {key: value for key, value in tables.items() if key != head}
    return {key: _without(value, tuple(rest)) if key == head else value for key, value in tables.items()}


def shrunk(tables: Raw, fails: Callable[[Raw], bool]) -> Raw:
    """Return the smallest scenario found that still *fails*, leaving one thing out after the other."""
    while True:
        found = next((one for one in smaller(tables) if one != tables and fails(one)), None)
        if found is None:
            return tables
        tables = found


def failure(seed: int, number: int) -> Failure | None:
    """Run scenario *number* of a swarm; return the smallest scenario that fails as it does, or None."""
    tables = draw(seed, number)
    text = broken(tables)
    if text is None:
        return None

    def fails(one: Raw) -> bool:
        found = broken(one)
        return found is not None and not found.startswith("refused") and found[:12] == text[:12]

    least = shrunk(tables, fails)
    return Failure(least, broken(least) or text)
