"""Small scenarios in which a part shows what it does: with each that it goes with, over good links and bad ones."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from netbandit.checks.check import check
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.parts.registry import BUILT_IN, kind_key, part_class
from netbandit.parts.settings import Raw
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.scenario.one_of import laid_over
from netbandit.simulation.drivers.choice import pattern_of
from netbandit.simulation.replication import RunnablePoint

WORLDS: Mapping[str, Raw] = {
    "bernoulli": {"arms": 4},
    "gaussian": {"arms": 4},
    "mixed": {"arms": 4},
    "linear": {"arms": 4, "dimension": 3},
    "procurement": {"producers": 4, "capacity": [1, 9]},
    "vertical": {"arms": 4, "dimension": 8},
    "replay": {"arms": 4, "participants": 4},
    "table": {"path": str(Path(__file__).with_name("rewards.csv")), "rows": "drawn"},
    "contexts": {"path": str(Path(__file__).with_name("queries.csv")), "features": "x*", "scores": "score_*"},
}
"""Keys with which each of our worlds is small."""

LEARNERS: Mapping[str, Raw] = {
    "elimination": {"rounds": 2, "gap": 0.9},
    "feducb": {"threshold": 1.0},
    "oful": {"threshold": 1.0},
    "pfcb": {"start": 10, "stop": 50},
}
"""Keys with which agents share something soon."""

FAULTS: Mapping[str, Raw] = {
    "losses": {"links": {"peer": {"loss": 0.2}, "uplink": {"loss": 0.2}}},
    "bursts": {"links": {"peer": {"loss": {"good": 0.01, "bad": 0.9, "good_for": "9 ms", "bad_for": "3 ms"}}}},
    "disorder": {
        "links": {
            "peer": {"jitter": {"exponential": "2 ms"}, "overtaking": True, "duplicate": 0.2},
            "uplink": {"jitter": "3 ms", "duplicate": 0.2},
        }
    },
    "retries": {
        "links": {
            "peer": {"loss": 0.3, "duplicate": 0.2, "retry": {"timeout": "2 ms"}},
            "uplink": {"loss": 0.3, "retry": {"timeout": "2 ms"}},
        }
    },
    "bandwidth": {"links": {"peer": {"bandwidth": "200 kbit/s"}, "uplink": {"bandwidth": "200 kbit/s"}}},
    "links": {"faults": {"links": {"up_for": "10 ms", "down_for": "3 ms"}}},
    "redrawn": {"faults": {"links": {"up": 0.7}}},
    "server": {"faults": {"server": {"up_for": "10 ms", "down_for": "3 ms"}}},
    "partition": {"faults": {"outages": [{"partition": [[0, 1]], "from": "20 ms", "until": "40 ms"}]}},
    "nodes": {"faults": {"nodes": {"up_for": "20 ms", "down_for": "5 ms"}}},
    "memory": {"faults": {"nodes": {"up_for": "20 ms", "down_for": "5 ms", "memory": "lost"}}},
    "deadline": {"links": {"peer": {"loss": 0.2}, "uplink": {"loss": 0.2}}, "protocol": {"deadline": "4 ms"}},
    "all": {
        "links": {
            "peer": {"loss": 0.1, "jitter": "1 ms", "duplicate": 0.1, "retry": {"timeout": "2 ms"}},
            "uplink": {"loss": 0.1, "jitter": "1 ms", "retry": {"timeout": "2 ms"}},
        },
        "faults": {
            "links": {"up_for": "30 ms", "down_for": "3 ms"},
            "server": {"up_for": "30 ms", "down_for": "3 ms"},
            "nodes": {"up_for": "30 ms", "down_for": "3 ms"},
            "outages": [{"nodes": [2], "from": "60 ms"}],
        },
    },
}
"""Faults: the tables that are merged into those of a scene."""

_WORLD_AND_LEARNER = {
    "round": ("bernoulli", "elimination"),
    "call": ("linear", "feducb"),
    "broadcast": ("bernoulli", "ucb"),
    "gather": ("vertical", "linucb"),
    "exchange": ("bernoulli", "coop-ucb2"),
    "deposit": ("linear", "linucb"),
    "ask": ("bernoulli", "gosine"),
}
"""For each pattern of communication a world and a learner that needs it."""

_PROTOCOLS = {
    "round": ("gis", "local"),
    "call": ("master-worker", "flooding"),
    "broadcast": ("relay", "local"),
    "gather": ("vertical",),
    "exchange": ("consensus",),
    "deposit": ("parameter-server",),
    "ask": ("gossip",),
}
"""For each pattern protocols that offer it."""

_LEARNERS_OF_WORLDS = ("elimination", "ucb", "linucb", "pfcb")
"""Learners of which at least one plays each of our worlds."""

_GRAPHS: tuple[Raw, ...] = ({"family": "star", "agents": 4}, {"family": "ring", "agents": 5})
_TIMINGS = ("slotted", "asynchronous")


class Scene(NamedTuple):
    """A scenario in which a part is tried.

    Attributes:
        name: What it is in words: ``elimination over gis, star, slotted, losses``.
        tables: The scenario.
        point: It, checked.
    """

    name: str
    tables: Raw
    point: RunnablePoint


def tables_of(world: Raw, learner: Raw, protocol: Raw, graph: Raw = _GRAPHS[0], horizon: int | None = None) -> Raw:
    """Return a small scenario of these parts."""
    kind = learner["kind"]
    in_epochs = kind == "elimination" or (isinstance(kind, type) and issubclass(kind, EpochLearner))
    windowed = part_class("learner", kind, Path()).needs_window
    return {
        # An epoch of all arms comes before the first round; who decides in every slot shares sooner, and takes longer.
        "run": {"horizon": horizon or (120 if in_epochs else 60)},
        "topology": dict(graph),
        "links": {"peer": {"latency": "0.4 ms"}},
        "bandit": dict(world),
        "learner": dict(learner),
        "protocol": dict(protocol),
        **({"feedback": {"delay": "2 slots", "window": "5 slots"}} if windowed else {}),
    }


def small(table: str, kind: str) -> Raw:
    """Return one of our worlds, learners or protocols with keys for a small scenario."""
    return {"kind": kind, **{"bandit": WORLDS, "learner": LEARNERS}.get(table, {}).get(kind, {})}


def scenes(table: str, part: Raw, over: Raw, fault: str, refused: list[str]) -> Iterator[Scene]:
    """Yield scenes of a part, those that a check accepts.

    Args:
        table: ``bandit``, ``learner`` or ``protocol``.
        part: Its table: the class as ``kind``, and keys.
        over: Tables to be put over those of each scene, such as another ``topology``.
        fault: One of `FAULTS`, or nothing.
        refused: Takes in why others were not accepted, a line each.
    """
    combinations = list(_combinations(table, part, over))
    turn = list(FAULTS).index(fault) if fault else 0
    for number, tables in enumerate(combinations):
        if fault and len(combinations) > 1 and (number + turn) % 2:
            continue  # every other one is enough for each fault
        # A protocol with each learner in both timings and on both graphs; else one after the other of these.
        for which in range(2) if table == "protocol" and not fault else [number % 2]:
            graph, timing = _GRAPHS[which], _TIMINGS[which]
            whole = {**tables, "topology": graph, "protocol": {**tables["protocol"], "timing": timing}}
            whole = put_over(put_over(whole, over), FAULTS[fault] if fault else {})
            # Where agents may wait for what is lost, some protocols ask for a deadline.
            tries = [whole, put_over(whole, {"protocol": {"deadline": "5 ms"}})] if fault else [whole]
            found = next(((one, point) for one in tries if (point := _checked(one, refused)) is not None), None)
            if found is not None:
                words = (_name(whole, table), str(whole["topology"].get("family")), timing, fault)
                yield Scene(", ".join(word for word in words if word), *found)


def scenes_of_learners() -> Iterator[Scene]:
    """Yield scenes of each built-in learner, in each world, with rewards at once and late ones."""
    for kind in BUILT_IN["learner"]:
        part = {**small("learner", kind), "kind": part_class("learner", kind, Path())}
        for world in WORLDS:
            for late in ({}, {"feedback": {"delay": "2 slots"}}):
                yield from scenes("learner", part, {"bandit": small("bandit", world), **late}, "", [])


def _checked(tables: Raw, refused: list[str]) -> RunnablePoint | None:
    try:
        return check(load_tables(tables)).points[0]
    except ScenarioError as error:
        refused += error.lines
        return None


def _combinations(table: str, part: Raw, over: Raw) -> Iterator[Raw]:
    """Yield scenarios of a part and what it may go with."""
    kind: Any = part["kind"]
    if table == "protocol":
        for pattern in sorted(kind.patterns):
            world, learner = _WORLD_AND_LEARNER[pattern]
            yield tables_of(small("bandit", world), small("learner", learner), part)
        return
    if table == "learner":
        given = over.get("bandit")
        worlds = (
            [dict(given)]
            if isinstance(given, Mapping) and "kind" in given
            else [small("bandit", one) for one in WORLDS]
        )
        played = [(one, talk) for one in worlds for talk in _talks(one["kind"], kind)]
        for one, talk in played[:: max(1, len(played) - 1)]:  # the first and the last
            talks: list[Any] = [talk] if talk is not None else []
            talks += ["deposit"] if talk == "call" and "deposit" in kind.talks else []
            for protocol in [one for each in talks for one in _PROTOCOLS[each]] or ["silent"]:
                yield tables_of(one, part, {"kind": protocol})
        return
    for learner in _LEARNERS_OF_WORLDS:
        yield tables_of(part, small("learner", learner), {"kind": "silent"})
        yield tables_of(part, small("learner", learner), {"kind": "gis"})
    yield tables_of(part, small("learner", "linucb"), {"kind": "vertical"})


def _talks(world: str | type, learner: type[AnyLearner]) -> Iterator[str | None]:
    """Yield how a learner talks in a world; nothing if it does not play it."""
    with suppress(TypeError):
        yield pattern_of(part_class("bandit", world, Path()), learner)


def put_over(tables: Raw, others: Raw) -> Raw:
    """Return *tables* with *others* put over them, key by key; a part that names its kind replaces the whole."""
    replaced = {table for table, part in others.items() if isinstance(part, Mapping) and kind_key(table) in part}
    return laid_over({table: keys for table, keys in tables.items() if table not in replaced}, others)


def _name(tables: Raw, table: str) -> str:
    """Return a scene's other parts in words."""
    words = {"bandit": "in", "learner": "", "protocol": "over"}
    kinds = {other: tables[other]["kind"] for other in words if other != table}
    names = {other: kind.__qualname__ if isinstance(kind, type) else str(kind) for other, kind in kinds.items()}
    return " ".join(f"{words[other]} {name}".strip() for other, name in names.items())
