"""A graph family by its name."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netbandit.network.families.family import Family


class Topology(dict[str, Any]):
    """The table ``topology`` of a scenario: ``Topology(family="ring", agents=50)``.

    It is the same as ``families.Ring(agents=50)``, for a family whose name is known only at run time.

    Args:
        family: The name of a family, as in a file, or its class.
        keys: The keys of the family.
    """

    def __init__(self, *, family: "str | type[Family]", **keys: Any) -> None:
        super().__init__(family=family, **keys)
