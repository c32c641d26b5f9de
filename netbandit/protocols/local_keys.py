"""The keys of the ``local`` protocol, in each of its patterns."""

from typing import Literal

from pydantic import Field

from netbandit.part import Part


class LocalKeys(Part):
    """What agents agree on who talk to those that are near."""

    ttl: int = Field(default=1, ge=0)
    """gamma: hops after which a message is dropped; 0: nobody hears anything."""
    stride: int | None = Field(default=None, ge=1, le=10_000)
    """Sets of parameters an agent keeps; by default as many as the slots that gamma hops take."""
    route: Literal["flood", "tree"] | None = None
    """How broadcasts go on: ``flood``, to all neighbours when first heard, or ``tree``, along shortest paths: fewer
    copies, but a loss cuts a branch. By default agents that tell in every slot flood, others use trees."""
