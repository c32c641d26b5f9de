"""``hybrid``: several graphs of one family side by side, without links between them."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from netbandit.network.families.family import COMMON_KEYS, MOST_AGENTS, Family, Shape, graph_of
from netbandit.network.size_limits import too_large
from netbandit.parts.component import Checks, Mistake, Note

if TYPE_CHECKING:
    import networkx

Inside = Literal[
    "complete",
    "star",
    "ring",
    "path",
    "grid",
    "tree",
    "random",
    "regular",
    "small-world",
    "scale-free",
    "geometric",
    "random-tree",
]
"""A family that can stand inside each component."""

_KEYS = ("p", "mean_degree", "degree", "attach", "reach", "branching")


class Hybrid(Family):
    """Components of one family; the keys of that family apply to each of them."""

    agents: int | None = Field(default=None, ge=1, le=MOST_AGENTS)
    """Number of agents (M); may be left out, and must be the sum of the components."""
    components: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)
    """Sizes of the components."""
    inside: Inside = "complete"
    """The family inside each component."""
    p: float | None = Field(default=None, ge=0, le=1)
    """Of the family inside: probability of a link (``random``), of rewiring one (``small-world``)."""
    mean_degree: float | None = Field(default=None, gt=0)
    """Of ``random`` inside: mean number of neighbours."""
    degree: int | None = Field(default=None, ge=0)
    """Of the family inside: number of neighbours (``regular``), of the lattice (``small-world``)."""
    attach: int | None = Field(default=None, ge=1)
    """Of ``scale-free`` inside: links of each new agent."""
    reach: float | None = Field(default=None, gt=0)
    """Of ``geometric`` inside: longest link in the unit square."""
    branching: int | None = Field(default=None, ge=1)
    """Of ``tree`` inside: children of each agent."""

    def _shape(self, size: int) -> Shape:
        """Return the family of a component of *size* agents; not validated, its checks are made here."""
        from netbandit.network.families import shape

        kind = shape(self.inside)
        keys = {key: getattr(self, key) for key in _KEYS if key in kind.model_fields and getattr(self, key) is not None}
        return kind.model_construct(agents=size, **keys)

    def check(self) -> Checks:
        """Yield components that cannot be, and keys of other families."""
        used = type(self._shape(1)).model_fields
        for key in _KEYS:
            if key not in used and getattr(self, key) is not None:
                yield Note(key, f'not used by the family "hybrid" with {self.inside} components')
        total = sum(self.components)
        if total > MOST_AGENTS:
            yield Mistake("components", f"must be {MOST_AGENTS:,} agents together at most, not {total:,}")
            return
        if self.agents is not None and self.agents != total:
            yield Mistake("agents", f"must be the sum of the components, {total}, or absent, not {self.agents}")
            return
        wrong = {size: list(self._shape(size).check_shape()) for size in set(self.components)}
        found: dict[Any, Mistake] = {}
        for index, size in enumerate(self.components) if any(wrong.values()) else ():
            for mistake in wrong[size]:
                # A wrong number of agents concerns a single component; a missing key concerns all.
                path = ("components", index) if mistake.key == "agents" else mistake.key
                found.setdefault(path, Mistake(path, mistake.text))
        yield from found.values()
        if not found:
            yield from too_large("components", total, self.expected())

    def expected(self) -> float:
        """Return the number of links to expect."""
        return sum(times * self._shape(size).expected() for size, times in Counter(self.components).items())

    def table(self) -> dict[str, Any]:
        """Return the keys with all defaults: those of the family inside, and the number of agents."""
        inner = self._shape(1).table()
        keys = {key: value for key, value in inner.items() if key not in ("agents", *COMMON_KEYS)}
        own = {"agents": sum(self.components), "components": self.components, "inside": self.inside}
        common = super().table()
        return {**own, **keys, **{key: common[key] for key in COMMON_KEYS}}

    def build(self, rng: np.random.Generator) -> "networkx.Graph[int]":
        """Return the components side by side, drawn one after the other."""
        self.demand()
        return graph_of(self.components, [self._shape(size).connected(rng) for size in self.components])
