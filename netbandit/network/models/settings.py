"""The keys of models of links: each table that a key such as ``links.peer.loss`` takes is in the file of its model."""

from collections.abc import Mapping
from typing import ClassVar

from netbandit.parts.metric import MetricEntry
from netbandit.parts.settings import Settings
from netbandit.util.units import parse_duration


class ModelSettings(Settings):
    """One of the tables that a key of the links of a class takes.

    Ours are named in `netbandit.scenario.link_faults`, those of other packages are entry points of the group
    ``netbandit.links``. Which of them a table is follows from its keys, so no two have one in common.

    Attributes:
        FORM: How it is written, for messages: ``{ per_bit = 1e-6 }``.
        METRICS: The metrics that its model counts; those of netbandit's own stand in `netbandit.results.metrics`.
    """

    FORM: ClassVar[str]
    METRICS: ClassVar[Mapping[str, MetricEntry]] = {}


def nanoseconds(text: str, slot: int) -> int:
    """Return the nanoseconds of a duration, in slots of *slot* (ns)."""
    return parse_duration(text).nanoseconds(slot)
