"""The `carry` key of protocols: how long messages wait for links that come and go."""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from netbandit.parts.component import Part
from netbandit.protocols.protocol import SeenLinks
from netbandit.util.units import DURATION, Duration
from netbandit.util.wording import Allowed


def _duration(text: Any) -> Any:
    try:
        Duration(text)
    except (TypeError, ValueError):
        raise PydanticCustomError("carry", "must be {what}", {"what": DURATION}) from None
    return text


Carry = Annotated[Duration, BeforeValidator(_duration), Allowed(DURATION)]


class CarryKey(Part):
    """The key of a protocol whose messages wait for links that agents see come and go."""

    carry: Carry | None = None
    """How long a message waits for its link to come up, where agents see their links come and go; absent: for ever."""

    seen_links: ClassVar[SeenLinks | None] = "wait"
