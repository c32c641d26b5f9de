"""From a scenario's topology table to a graph: what cannot be, what is not used, and the drawing itself."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.network import distances, files
from netbandit.network.catalogue import FAMILIES, Family
from netbandit.network.generators import Edges
from netbandit.network.topology import TopologyError
from netbandit.settings import Problem, Raw

if TYPE_CHECKING:
    import networkx

DRAWS = 1_000
"""How often a random graph is drawn in search of a connected one."""

MOST_LINKS = 50_000_000
"""Graphs with more links than this are refused before they exhaust the memory."""


NAMES: tuple[str, ...] = (*FAMILIES, "hybrid", "file")
"""All values of the key `family`: "hybrid" puts several of one family side by side, "file" reads a graph."""


def resolve(family: str, keys: Mapping[str, Any]) -> Raw:
    """Return the keys that *family* uses, with defaults filled in; None for what has no default and is not given."""
    given = {key: value for key, value in keys.items() if value is not None}
    if family == "file":
        defaults: Raw = {"file": None, "component": None}
    elif family == "hybrid":
        inside = given.get("inside", "complete")
        sizes = given.get("components")
        agents = None if sizes is None else sum(sizes)
        defaults = {"agents": agents, "components": None, "inside": inside, **_inside(inside).keys}
    else:
        defaults = {"agents": None, **FAMILIES[family].keys}
    return {key: given.get(key, default) for key, default in defaults.items()}


def unused(family: str, keys: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, reason) for each key given that *family* does not use; `family` and `seed` always count as used."""
    if family not in NAMES:
        return
    used = resolve(family, keys)
    shape = f'"hybrid" with {used["inside"]} components' if family == "hybrid" else f'"{family}"'
    for key, value in keys.items():
        if value is not None and key not in used and key not in ("family", "seed"):
            yield key, f"not used by the family {shape}"


def problems(family: str | None, keys: Mapping[str, Any]) -> list[Problem]:
    """Return what cannot be and needs no graph to see, each at a key path relative to the topology's table.

    Args:
        family: The value of `family`; None if missing.
        keys: The other keys of the table, None for those not given, of the right types.
    """
    if family not in NAMES:
        return [(("family",), _unknown(family, NAMES))]
    if family == "hybrid":
        return _problems_of_hybrid(keys)
    values = resolve(family, keys)
    if family == "file":
        return [] if values["file"] is not None else [(("file",), 'missing; the family "file" needs one')]
    if values["agents"] is None:
        return [(("agents",), f'missing; the family "{family}" needs the number of agents')]
    if values["agents"] < 1:
        return [(("agents",), f"must be at least 1, not {values['agents']}")]
    return list(FAMILIES[family].check(values["agents"], values)) or _too_large(
        ("agents",), FAMILIES[family].expected(values["agents"], values)
    )


def _problems_of_hybrid(keys: Mapping[str, Any]) -> list[Problem]:
    sizes, agents, inside = keys.get("components"), keys.get("agents"), keys.get("inside") or "complete"
    found: list[Problem] = []
    if inside not in FAMILIES:
        found.append((("inside",), _unknown(inside, tuple(FAMILIES))))
    if not sizes:
        text = "missing" if sizes is None else "must not be empty"
        return [*found, (("components",), f'{text}; the family "hybrid" needs the size of each component')]
    found += [
        (("components", index), f"must be at least 1, not {size}") for index, size in enumerate(sizes) if size < 1
    ]
    if agents is not None and agents != sum(sizes):
        found.append((("agents",), f"must be the sum of the components, {sum(sizes)}, or absent, not {agents}"))
    if found:
        return found
    values = resolve("hybrid", keys)
    links = 0.0
    for index, size in enumerate(sizes):
        for path, text in _inside(inside).check(size, values):
            # What a single component lacks in agents is wrong with that component; a missing key is so for all.
            place = ("components", index) if path == ("agents",) else path
            if all(place != other for other, _ in found):
                found.append((place, text))
        links += 0.0 if found else _inside(inside).expected(size, values)
    return found or _too_large(("components",), links)


def _inside(inside: str) -> Family:
    return FAMILIES.get(inside, FAMILIES["complete"])


def _too_large(path: tuple[str], links: float) -> list[Problem]:
    if links <= MOST_LINKS:
        return []
    return [(path, f"too many: the graph would have about {links:.3g} links; at most {MOST_LINKS:,} are possible")]


def _unknown(name: str | None, allowed: tuple[str, ...]) -> str:
    listed = ", ".join(f'"{known}"' for known in allowed)
    if name is None:
        return f"missing; one of {listed}"
    close = difflib.get_close_matches(name, allowed, n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return f'unknown family "{name}"; one of {listed}{hint}'


def build(family: str, *, rng: np.random.Generator, agents: int | None = None, **keys: Any) -> "networkx.Graph[int]":
    """Return a graph of *family* with nodes 0..n-1, all its randomness drawn from *rng*.

    Args:
        family: One of `NAMES`.
        rng: The only source of randomness.
        agents: The number of agents; optional for "hybrid", not used for "file".
        keys: The family's keys, None for those not given; keys it does not use are passed over. `file` is the
            path to read, not relative to any scenario.

    Raises:
        TopologyError: If the keys cannot be, no connected graph is drawn, or the file is not a graph.
    """
    given = {"agents": agents, **keys}
    if found := problems(family, given):
        raise TopologyError(found)
    values = resolve(family, given)
    if family == "file":
        return files.read(Path(values["file"]), values["component"])
    import networkx

    graph: networkx.Graph[int] = networkx.Graph()
    sizes, shape = (values["components"], values["inside"]) if family == "hybrid" else ([values["agents"]], family)
    graph.add_nodes_from(range(sum(sizes)))
    first = 0
    for size in sizes:
        graph.add_edges_from((_connected(FAMILIES[shape], rng, size, values) + first).tolist())
        first += size
    return graph


def _connected(family: Family, rng: np.random.Generator, agents: int, keys: Raw) -> Edges:
    """Return the links of a connected draw; a disconnected one is drawn again as a whole."""
    if family.redraw is None:
        return family.links(rng, agents, keys)
    for _ in range(DRAWS):
        links = family.links(rng, agents, keys)
        # The two cheap tests settle most of the draws that fail.
        if len(links) < agents - 1 or (agents > 1 and not np.bincount(links.ravel(), minlength=agents).all()):
            continue
        if not distances.components(distances.adjacency(agents, links)).any():
            return links
    blame = "mean_degree" if family.redraw == "p" and keys.get("mean_degree") is not None else family.redraw
    raise TopologyError([((blame,), f"none of {DRAWS:,} graphs of {agents} agents drawn with it was connected")])
