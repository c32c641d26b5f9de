"""From the name of a kind to the class of the part, ours or the user's."""

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netbandit.own_code import HiddenModuleError, complaint, import_beside
from netbandit.part import Part
from netbandit.wording import show, unknown_value

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "topology": {
        "star": "netbandit.network.families.star:Star",
        "ring": "netbandit.network.families.ring:Ring",
        "complete": "netbandit.network.families.complete:Complete",
        "path": "netbandit.network.families.path:Path",
        "grid": "netbandit.network.families.grid:Grid",
        "tree": "netbandit.network.families.tree:Tree",
        "random": "netbandit.network.families.random:Random",
        "regular": "netbandit.network.families.regular:Regular",
        "small-world": "netbandit.network.families.small_world:SmallWorld",
        "scale-free": "netbandit.network.families.scale_free:ScaleFree",
        "geometric": "netbandit.network.families.geometric:Geometric",
        "multi-star": "netbandit.network.families.multi_star:MultiStar",
        "random-tree": "netbandit.network.families.random_tree:RandomTree",
        "blocks": "netbandit.network.families.blocks:Blocks",
        "hybrid": "netbandit.network.families.hybrid:Hybrid",
        "file": "netbandit.network.families.file:File",
    },
    "bandit": {
        "bernoulli": "netbandit.bandits.bernoulli:Bernoulli",
        "gaussian": "netbandit.bandits.gaussian:Gaussian",
        "mixed": "netbandit.bandits.mixed:Mixed",
        "linear": "netbandit.bandits.linear:Linear",
        "procurement": "netbandit.bandits.procurement:Procurement",
        "vertical": "netbandit.bandits.vertical:Vertical",
        "replay": "netbandit.bandits.replay:Replay",
    },
    "learner": {
        "elimination": "netbandit.learners.elimination:Elimination",
        "ucb": "netbandit.learners.ucb:Ucb",
        "klucb": "netbandit.learners.klucb:KlUcb",
        "thompson": "netbandit.learners.thompson:Thompson",
        "gosine": "netbandit.learners.gosine:Gosine",
        "coop-ucb2": "netbandit.learners.coop_ucb2:CoopUcb2",
        "dducb": "netbandit.learners.dducb:Dducb",
        "dec-ucb": "netbandit.learners.dec_ucb:DecUcb",
        "feducb": "netbandit.learners.feducb:FedUcb",
        "oful": "netbandit.learners.oful:Oful",
        "pfcb": "netbandit.learners.pfcb:Pfcb",
        "linucb": "netbandit.learners.linear:LinUcb",
        "lints": "netbandit.learners.linear:LinTs",
    },
    "protocol": {
        "master-worker": "netbandit.protocols.master_worker:MasterWorker",
        "gis": "netbandit.protocols.gis:Gis",
        "sink": "netbandit.protocols.sink:Sink",
        "flooding": "netbandit.protocols.flooding:Flooding",
        "gossip": "netbandit.protocols.gossip:Gossip",
        "local": "netbandit.protocols.local:Local",
        "relay": "netbandit.protocols.relay:Relay",
        "parameter-server": "netbandit.protocols.parameter_server:ParameterServer",
        "vertical": "netbandit.protocols.vertical:Vertical",
        "consensus": "netbandit.protocols.consensus:Consensus",
        "pooled": "netbandit.protocols.pooled:Pooled",
        "silent": "netbandit.protocols.silent:Silent",
    },
}
"""Table -> kind -> ``module:Class``; a class is imported when a scenario names its kind."""

GRAPH = "netbandit.network.families.graph:Graph"
"""The family of a graph that Python gives; a file names one by the family ``file``."""

BASES: Mapping[str, str] = {
    "topology": "netbandit.network.families.family:Family",
    "bandit": "netbandit.bandits.bandit:Bandit",
    "learner": "netbandit.learners.learner:AnyLearner",
    "protocol": "netbandit.protocols.protocol:NetworkProtocol",
}
"""Table -> what a part must be a subclass of, as ``module:Class``: the registry stands below all of them."""


def kind_key(table: str) -> str:
    """Return the key that names the class of a part: ``family`` of a topology, else ``kind``."""
    return "family" if table == "topology" else "kind"


def load_class(target: str) -> Any:
    """Return the class at ``module:Class``; raises whatever the import raises."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def kind_of(table: str, part: type) -> str:
    """Return how a scenario names the class of a part: its kind, or ``"package.module:Class"``."""
    target = f"{part.__module__}:{part.__qualname__}"
    if target == GRAPH:
        return "graph"
    return next((kind for kind, known in BUILT_IN[table].items() if known == target), target)


def class_names(table: str) -> list[str]:
    """Return the names of our classes of a part."""
    return [target.partition(":")[2] for target in BUILT_IN[table].values()]


def class_called(table: str, name: str) -> Any:
    """Return our class of a part by its name.

    Raises:
        AttributeError: There is none.
    """
    for target in BUILT_IN[table].values():
        if target.endswith(f":{name}"):
            return load_class(target)
    raise AttributeError(f"there is no {table} {name!r}; there are {', '.join(class_names(table))}")


class KindError(Exception):
    """A kind that is no class of a part; the message says what is wrong and what is allowed."""


def part_class(table: str, kind: str | type, folder: Path) -> Any:
    """Return the class of a part.

    Args:
        table: ``topology``, ``bandit``, ``learner`` or ``protocol``.
        kind: One of ours, ``"package.module:Class"``, or the class itself.
        folder: The scenario's folder, in which the user's own modules are found first.

    Raises:
        KindError: There is no such part.
    """
    found = _imported(table, kind, folder) if isinstance(kind, str) else kind
    target = kind_of(table, found) if isinstance(found, type) else str(kind)
    base = load_class(BASES[table])
    if not (isinstance(found, type) and issubclass(found, base)):
        raise KindError(f"{target} is not a {table}: it must be a subclass of {base.__module__}:{base.__name__}")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise KindError(f"{target} cannot be used: it leaves out {lacking}")
    return found


def _imported(table: str, kind: str, folder: Path) -> Any:
    known = BUILT_IN[table]
    target = known.get(kind, kind)
    module_name, colon, class_name = target.partition(":")
    if not colon:
        raise KindError(unknown_value(kind, known, also='or "package.module:Class"'))
    try:
        module = importlib.import_module(module_name) if kind in known else import_beside(module_name, folder)
    except KeyboardInterrupt:
        raise
    except HiddenModuleError as error:
        raise KindError(str(error)) from None
    except BaseException as error:  # a module of the user's own can fail in any way, and leave by any door
        packages = frozenset({module_name.partition(".")[0]})
        raise KindError(f"cannot import {module_name}: {complaint(error, packages)}") from None
    try:
        return getattr(module, class_name)
    except AttributeError:
        raise KindError(f"the module {module_name} has no class {show(class_name)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may import what it is asked for
        raise KindError(f"cannot import {target}: {complaint(error)}") from None


def key_names(part: type[Part]) -> set[str]:
    """Return the keys of a part's class, the one that names it among them."""
    return {part.named_by} | {field.alias or name for name, field in part.model_fields.items()}
