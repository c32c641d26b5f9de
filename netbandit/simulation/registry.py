"""From the name of a kind to the class of the part, ours or the user's."""

import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from netbandit.bandits.bandit import Bandit
from netbandit.learners.learner import Learner
from netbandit.part import Part
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.wording import show, unknown_value
from netbandit.settings import Settings

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "bandit": {
        "bernoulli": "netbandit.bandits.bernoulli:Bernoulli",
        "linear": "netbandit.bandits.linear:Linear",
        "procurement": "netbandit.bandits.procurement:Procurement",
        "vertical": "netbandit.bandits.vertical:Vertical",
        "replay": "netbandit.bandits.replay:Replay",
    },
    "learner": {
        "elimination": "netbandit.learners.elimination:Elimination",
        "feducb": "netbandit.learners.feducb:FedUcb",
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
        "vertical": "netbandit.protocols.vertical:Vertical",
        "silent": "netbandit.protocols.silent:Silent",
    },
}
"""Table -> kind -> ``module:Class``; a class is imported when a scenario names its kind."""

BASES: Mapping[str, type] = {"bandit": Bandit, "learner": Learner, "protocol": NetworkProtocol}


class KindError(Exception):
    """A kind that is no class of a part; the message says what is wrong and what is allowed."""


def part_class(table: str, kind: str, folder: Path) -> Any:
    """Return the class of a part.

    Args:
        table: ``bandit``, ``learner`` or ``protocol``.
        kind: One of ours, or ``"package.module:Class"``.
        folder: The scenario's folder, in which the user's own modules are found first.

    Raises:
        KindError: There is no such part.
    """
    known = BUILT_IN[table]
    target = known.get(kind, kind)
    module_name, colon, class_name = target.partition(":")
    if not colon:
        raise KindError(unknown_value(kind, known, also='or "package.module:Class"'))
    if kind not in known and str(folder.absolute()) not in sys.path:
        sys.path.insert(0, str(folder.absolute()))
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except AttributeError:
        raise KindError(f"the module {module_name} has no class {show(class_name)}") from None
    except Exception as error:  # a module of the user's own can fail in any way
        raise KindError(f"cannot import {module_name}: {type(error).__name__}: {error}") from error
    base = BASES[table]
    if not (isinstance(found, type) and issubclass(found, base)):
        raise KindError(f"{target} is not a {table}: it must be a subclass of {base.__module__}:{base.__name__}")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise KindError(f"{target} cannot be used: it leaves out {lacking}")
    if not issubclass(found, Part) and not issubclass(getattr(found, "Settings", type), Settings):
        raise KindError(f"{target} cannot be used: its keys are missing, a class Settings beside those of {table}s")
    return found


def keys_of(part: Any) -> type[BaseModel]:
    """Return what validates the keys of a part's class: the class itself, or its ``Settings`` of the old style."""
    found: type[BaseModel] = part if issubclass(part, Part) else part.Settings
    return found


def key_names(part: Any) -> set[str]:
    """Return the keys of a part's class, ``kind`` among them."""
    return {"kind"} | {field.alias or name for name, field in keys_of(part).model_fields.items()}


def class_of(table: str, keys: Any, folder: Path) -> Any:
    """Return the class of a part whose *keys* are validated: a part, or the ``Settings`` of one of the old style."""
    return type(keys) if isinstance(keys, Part) else part_class(table, keys.kind, folder)
