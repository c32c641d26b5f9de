"""Notes link keys that have no effect because the protocol sends nothing over such links."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netbandit.parts.settings import KeyPath, Problem
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.links import LinksSettings
from netbandit.scenario.load import Document
from netbandit.scenario.sweep import Combination, swept_key
from netbandit.util.wording import show

_NAMES = {"peer": "links between agents", "uplink": "links to the server"}


@dataclass(frozen=True)
class LinkKey:
    """A key of ``[links]`` that a point sets.

    Attributes:
        path: The key.
        idle: The kind of the protocol, if it does not use such links; else None.
        default: Whether the key has its default value.
    """

    path: KeyPath
    idle: str | None
    default: bool


def link_keys(links: LinksSettings, protocol: NetworkProtocol, kind: str) -> list[LinkKey]:
    """Return the written keys of ``[links]``, marking those that *protocol*, of this *kind*, does not use."""
    used = protocol.used_links
    return [
        LinkKey(("links", table, key), None if table in used else kind, key not in changed)
        for table, settings in (("peer", links.peer), ("uplink", links.uplink))
        for changed in [settings.model_dump(exclude_unset=True, exclude_defaults=True)]
        for key in sorted(settings.model_fields_set)
    ]


def ineffective_key_notes(document: Document, found: Sequence[tuple[Combination, list[LinkKey]]]) -> Iterator[Problem]:
    """Yield keys without effect: at all points that set them, or, for a swept key, at some of them.

    Keys that a file inherits, and keys at their default, are not noted.

    Args:
        document: The scenario as it was written.
        found: Each combination of the sweep with its link keys.
    """
    places: dict[KeyPath, list[LinkKey]] = {}
    for combination, keys in found:
        for key in keys:
            path, _ = combination.origin((key.path, ""))
            places.setdefault(swept_key(path), []).append(key)
    for place, there in places.items():
        kinds = sorted({key.idle for key in there if key.idle is not None})
        idle = sum(key.idle is not None for key in there)
        if not idle or (place[0] != "sweep" and (document.inherited(place) or there[0].default)):
            continue
        why = f"protocol.kind = {' or '.join(map(show, kinds))} uses no {_NAMES[str(there[0].path[1])]}"
        if idle == len(there):
            yield place, f"has no effect: {why}"
        elif place[0] == "sweep":  # else it has an effect where it is needed
            points = f"{idle} of {len(there)} points"
            yield place, f"has no effect at {points}, and those that differ in nothing else have equal results: {why}"
