"""The graph families, one file each: keys, checks and generation.

To add one, write its file here, its name in `FAMILIES`, and its kind in `netbandit.parts.registry.BUILT_IN`. A user
plugin needs only a class, see `Family`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netbandit.network.families.blocks import Blocks as Blocks
    from netbandit.network.families.complete import Complete as Complete
    from netbandit.network.families.contacts import Contacts as Contacts
    from netbandit.network.families.family import Family as Family
    from netbandit.network.families.family import Shape as Shape
    from netbandit.network.families.file import File as File
    from netbandit.network.families.geometric import Geometric as Geometric
    from netbandit.network.families.graph import Graph as Graph
    from netbandit.network.families.grid import Grid as Grid
    from netbandit.network.families.hybrid import Hybrid as Hybrid
    from netbandit.network.families.mobile import Mobile as Mobile
    from netbandit.network.families.multi_star import MultiStar as MultiStar
    from netbandit.network.families.path import Path as Path
    from netbandit.network.families.random import Random as Random
    from netbandit.network.families.random_tree import RandomTree as RandomTree
    from netbandit.network.families.regular import Regular as Regular
    from netbandit.network.families.ring import Ring as Ring
    from netbandit.network.families.scale_free import ScaleFree as ScaleFree
    from netbandit.network.families.small_world import SmallWorld as SmallWorld
    from netbandit.network.families.star import Star as Star
    from netbandit.network.families.tree import Tree as Tree

FAMILIES = {
    "star": "star:Star",
    "ring": "ring:Ring",
    "complete": "complete:Complete",
    "path": "path:Path",
    "grid": "grid:Grid",
    "tree": "tree:Tree",
    "random": "random:Random",
    "regular": "regular:Regular",
    "small-world": "small_world:SmallWorld",
    "scale-free": "scale_free:ScaleFree",
    "geometric": "geometric:Geometric",
    "multi-star": "multi_star:MultiStar",
    "random-tree": "random_tree:RandomTree",
    "blocks": "blocks:Blocks",
    "hybrid": "hybrid:Hybrid",
    "file": "file:File",
    "contacts": "contacts:Contacts",
    "mobile": "mobile:Mobile",
}
"""The name of each family in a scenario, and where its class is."""

_CLASSES = {target.partition(":")[2]: target for target in FAMILIES.values()}
_CLASSES |= {"Family": "family:Family", "Shape": "family:Shape", "Graph": "graph:Graph"}
__all__ = sorted(_CLASSES)


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _load(_CLASSES[name])


def __dir__() -> list[str]:
    return sorted([*globals(), *_CLASSES])


def shape(name: str) -> "type[Shape]":
    """Return the class of a family of connected graphs."""
    found: type[Shape] = _load(FAMILIES[name])
    return found


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), name)
