"""Plugins: parts that other installed packages register as entry points, one group per table of a scenario.

Entry points are looked up only for names that are not built in, so scenarios without plugins pay no cost.
"""

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

GROUPS: Mapping[str, str] = {
    "topology": "netbandit.families",
    "bandit": "netbandit.bandits",
    "learner": "netbandit.learners",
    "protocol": "netbandit.protocols",
    "condition": "netbandit.conditions",
    "link": "netbandit.links",
}
"""Table -> the group in which a package offers parts of it; of `link` the models of the links of a class."""


class Offer(NamedTuple):
    """A part that a package offers.

    Attributes:
        kind: The name by which a scenario names it.
        target: Where it is, ``module:Class``, as the package has it.
        name: The package's name.
        version: Its version.
    """

    kind: str
    target: str
    name: str
    version: str

    @property
    def package(self) -> str:
        """The package's name and version."""
        return f"{self.name} {self.version}"


def offers(table: str) -> list[Offer]:
    """Return what all packages offer for a *table*, by name; what two of them offer stands there twice."""
    return list(_offers(GROUPS[table], tuple(sys.path)))


def offered(table: str, kind: str) -> list[Offer]:
    """Return which packages offer a part named *kind*: none, as a rule one, or several that are in each other's way."""
    return [offer for offer in offers(table) if offer.kind == kind]


def look_again() -> None:
    """Clear the cache, so that newly installed packages are found."""
    _offers.cache_clear()


def packages_of(kinds: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the packages that offer some *kinds*, each with its table, none of them ours: name -> version."""
    return {offer.name: offer.version for table, kind in kinds for offer in offered(table, kind)}


@lru_cache(maxsize=16)
def _offers(group: str, path: tuple[str, ...]) -> tuple[Offer, ...]:  # the path is where packages are found
    from importlib.metadata import entry_points  # takes its time

    found = set()
    for entry in entry_points(group=group):
        name, version = ("nobody knows which", "") if entry.dist is None else (entry.dist.name, entry.dist.version)
        found.add(Offer(entry.name, entry.value, name, version))
    return tuple(sorted(found))
