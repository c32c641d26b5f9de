"""Maps the name of a kind to the class of the part, built-in or the user's."""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ConfigDict

from netbandit.parts.component import Part
from netbandit.parts.conditions import CONDITIONS
from netbandit.parts.plugins import Offer, look_again, offered, offers
from netbandit.parts.settings import ConditionSettings
from netbandit.user_code.errors import complaint
from netbandit.user_code.loading import RefusedModuleError, import_beside, importing
from netbandit.util.wording import show, unknown_value

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
        "contacts": "netbandit.network.families.contacts:Contacts",
        "mobile": "netbandit.network.families.mobile:Mobile",
    },
    "bandit": {
        "bernoulli": "netbandit.bandits.bernoulli:Bernoulli",
        "gaussian": "netbandit.bandits.gaussian:Gaussian",
        "mixed": "netbandit.bandits.mixed:Mixed",
        "linear": "netbandit.bandits.linear:Linear",
        "procurement": "netbandit.bandits.procurement:Procurement",
        "vertical": "netbandit.bandits.vertical:Vertical",
        "replay": "netbandit.bandits.replay:Replay",
        "table": "netbandit.bandits.table:Table",
        "contexts": "netbandit.bandits.contexts:Contexts",
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
        "queued": "netbandit.learners.queued:Queued",
        "otflinucb": "netbandit.learners.otflinucb:OtfLinUcb",
        "race": "netbandit.learners.race:Race",
        "halving": "netbandit.learners.halving:Halving",
        "fedelim": "netbandit.learners.fedelim:FedElim",
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
        "earliest": "netbandit.protocols.earliest:Earliest",
        "silent": "netbandit.protocols.silent:Silent",
    },
}
"""Table -> kind -> ``module:Class``; a class is imported when a scenario names its kind."""

_USUAL_NAMES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("erdosrenyi", "er", "gnp"), ("random", "G(n, p), the Erdős-Rényi graph")),
    **dict.fromkeys(("barabasialbert", "ba"), ("scale-free", "the Barabási-Albert graph")),
    **dict.fromkeys(("wattsstrogatz", "ws"), ("small-world", "the Watts-Strogatz graph")),
    **dict.fromkeys(("stochasticblockmodel", "sbm"), ("blocks", "the stochastic block model")),
    **dict.fromkeys(("fullyconnected", "clique"), ("complete", "all agents linked")),
    **dict.fromkeys(("line", "chain"), ("path", "a line of agents")),
    **dict.fromkeys(("cycle", "circle"), ("ring", "a cycle")),
    "lattice": ("grid", "a lattice"),
}
"""The family that another name of the field means, in letters alone, and what that is."""

GRAPH = "netbandit.network.families.graph:Graph"
"""The family of a graph that Python gives; a file names one by the family ``file``."""

BASES: Mapping[str, str] = {
    "topology": "netbandit.network.families.family:Family",
    "bandit": "netbandit.bandits.bandit:Bandit",
    "learner": "netbandit.learners.learner:AnyLearner",
    "protocol": "netbandit.protocols.protocol:NetworkProtocol",
    "condition": "netbandit.conditions.condition:Condition",
    "link": "netbandit.network.models.settings:ModelSettings",
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
    """Return how a scenario names the class of a part or an attack: its kind, or ``"package.module:Class"``."""
    target = f"{part.__module__}:{part.__qualname__}"
    if target == GRAPH:
        return "graph"
    return next((kind for kind, known in BUILT_IN.get(table, {}).items() if known == target), target)


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
        kind: One of ours, one that an installed package offers, ``"package.module:Class"``, or the class itself.
        folder: The scenario's folder, which is searched first for user-defined modules.

    Raises:
        KindError: There is no such part.
    """
    if not isinstance(kind, str):
        return _usable(table, kind, kind_of(table, kind) if isinstance(kind, type) else str(kind))
    if kind in BUILT_IN[table]:
        return _usable(table, load_class(BUILT_IN[table][kind]), kind)
    if ":" in kind:
        found = _imported(kind, folder)
        return _usable(table, found, kind_of(table, found) if isinstance(found, type) else kind)
    return offered_class(_offer(table, kind), table)


def attack_class(target: str | type, folder: Path) -> type:
    """Return the class of a user-defined attack, which needs no base class.

    Args:
        target: ``"package.module:Class"``, or the class itself.
        folder: The scenario's folder, which is searched first for user-defined modules.

    Raises:
        KindError: There is none, or it cannot be made.
    """
    found = target if isinstance(target, type) else _imported(target, folder)
    if not isinstance(found, type):
        raise KindError(f"{target} is not a class")
    try:
        found()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code can fail in any way
        packages = frozenset({found.__module__.partition(".")[0]})
        name = kind_of("adversary", target) if isinstance(target, type) else target
        raise KindError(f"{name} cannot be made without arguments: {complaint(error, packages)}") from None
    return found


def offered_class(offer: Offer, table: str) -> Any:
    """Return the class that a package offers.

    Raises:
        KindError: There is none, or it is no part; the message names the package.
    """
    try:
        if ":" not in offer.target:
            raise KindError(f'{show(offer.target)} is not "package.module:Class"')
        return _usable(table, _imported(offer.target, None), offer.target)
    except KindError as error:
        raise KindError(f"{show(offer.kind)} of the package {offer.package}: {error}") from None


def _offer(table: str, kind: str) -> Offer:
    """Return the package's part that is named *kind*."""
    found = offered(table, kind)
    if not found:  # it may have been installed since
        look_again()
        found = offered(table, kind)
    if len(found) > 1:
        both = " and ".join(f"{offer.package} ({offer.target})" for offer in found)
        raise KindError(f"{show(kind)} is offered by {both}: write the class that is meant, such as {found[0].target}")
    if not found:
        others = offers(table)
        names = ", ".join(f"{show(offer.kind)} of {offer.package}" for offer in others)
        also = f'({names}) or "package.module:Class"' if others else 'or "package.module:Class"'
        known = dict.fromkeys([*BUILT_IN[table], *(offer.kind for offer in others)])
        usual = _USUAL_NAMES.get(re.sub(r"graph$|[^a-z]", "", kind.lower())) if table == "topology" else None
        hint = "" if usual is None else f": {show(usual[0])} is {usual[1]}"
        raise KindError(unknown_value(kind, known, also=also, hint=hint))
    return found[0]


class NamedPart(NamedTuple):
    """A part that is available by name.

    Attributes:
        kind: The name.
        package: The package that offers it, with its version; nothing: it is ours.
        found: The class; None if it cannot be used.
        problem: Why it cannot.
    """

    kind: str
    package: str
    found: type[Part] | None
    problem: str = ""


def named_parts(table: str) -> Iterator[NamedPart]:
    """Yield all parts of a *table* that are there by a name: ours, and what installed packages offer."""
    for kind, target in BUILT_IN[table].items():
        yield NamedPart(kind, "", load_class(target))
    for offer in offers(table):
        found, problem = None, ""
        try:
            if offer.kind in BUILT_IN[table]:
                raise KindError(f"netbandit has a {table} of this name, which is the one that is used")
            _offer(table, offer.kind)
            found = offered_class(offer, table)
        except KindError as error:
            problem = str(error)
        yield NamedPart(offer.kind, offer.package, found, problem)


def own_module(table: str, kind: str) -> str | None:
    """Return the module of a *kind* that is not ours, as far as its name says; None if it is ours or unknown."""
    if kind in BUILT_IN.get(table, {}):
        return None
    found = [kind] if ":" in kind else [offer.target for offer in offered(table, kind)]
    return found[0].partition(":")[0] if found else None


def _usable(table: str, found: Any, target: str) -> Any:
    """Return the class *found* at *target* if a scenario can use it."""
    base = load_class(BASES[table])
    if not (isinstance(found, type) and issubclass(found, base)):
        raise KindError(f"{target} is not a {table}: it must be a subclass of {base.__module__}:{base.__name__}")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise KindError(f"{target} cannot be used: it leaves out {lacking}")
    return found


def _imported(target: str, folder: Path | None) -> Any:
    """Return what is at ``module:Class``, of the *folder* of a scenario or installed; None: installed only."""
    module_name, _, class_name = target.partition(":")
    try:
        if folder is not None:
            module = import_beside(module_name, folder)
        else:
            with importing():
                module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except RefusedModuleError as error:
        raise KindError(str(error)) from None
    except BaseException as error:  # a user-defined module can fail in any way, even exit
        packages = frozenset({module_name.partition(".")[0]})
        raise KindError(f"cannot import {module_name}: {complaint(error, packages)}") from None
    try:
        with importing():
            return getattr(module, class_name)
    except AttributeError:
        raise KindError(f"the module {module_name} has no class {show(class_name)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may import what it is asked for
        raise KindError(f"cannot import {target}: {complaint(error)}") from None


def offered_classes(table: str) -> Mapping[str, Any]:
    """Return what installed packages offer for a *table*, by name; without those classes that cannot be used."""
    found: dict[str, Any] = {}
    for offer in offers(table):
        with suppress(KindError):
            found[offer.kind] = offered_class(offer, table)
    return found


def link_models(base: type[Any]) -> Iterator[type[Any]]:
    """Yield what installed packages offer of the tables of a key of links: all that are subclasses of *base*.

    Where they are not to be imported, it yields *base* in their place.

    Raises:
        KindError: What is offered is no such table; the message names the package.
    """
    there = offers("link")
    if not _IMPORTED.get():
        yield from [base][: len(there)]
        return
    yield from (found for found in (offered_class(offer, "link") for offer in there) if issubclass(found, base))


class NotImported(ConditionSettings):
    """A table of a condition that is not to be imported: it may hold anything."""

    model_config = ConfigDict(extra="allow")


_IMPORTED: ContextVar[bool] = ContextVar("imported", default=True)


@contextmanager
def with_own_code(imported: bool) -> Iterator[None]:
    """Import conditions of packages while this lasts, or leave them as `NotImported`."""
    before = _IMPORTED.set(imported)
    try:
        yield
    finally:
        _IMPORTED.reset(before)


def condition_classes(named: tuple[str, ...] = ()) -> Mapping[str, type[ConditionSettings]]:
    """Return our conditions by their tables, and of those *named* what installed packages offer.

    Raises:
        KindError: What is offered is no condition; the message names the package.
    """
    return _condition_classes(named, _IMPORTED.get())


@lru_cache(maxsize=16)
def _condition_classes(named: tuple[str, ...], imported: bool) -> Mapping[str, type[ConditionSettings]]:
    """See `condition_classes`.

    Raises:
        KindError: What is offered is no condition; the message names the package.
    """
    found: dict[str, type[ConditionSettings]] = {table: load_class(target) for table, target in CONDITIONS.items()}
    there = [table for table in named if offered("condition", table)]
    if not imported:
        return found | dict.fromkeys(there, NotImported)
    return found | {table: offered_class(_offer("condition", table), "condition") for table in there}


def key_names(part: type[Part]) -> set[str]:
    """Return the keys of a part's class, the one that names it among them."""
    return {part.named_by} | {field.alias or name for name, field in part.model_fields.items()}
