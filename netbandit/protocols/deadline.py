"""How long one waits for others: a key of the protocols that can go on without them."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from netbandit.part import Checks, Mistake, Others, Part
from netbandit.units import DURATION, Duration


def _positive(text: Any) -> Any:
    try:
        if Duration(text).amount > 0:
            return text
    except (TypeError, ValueError):
        pass
    raise PydanticCustomError("deadline", "must be above 0, {what}", {"what": DURATION})


class DeadlineKey(Part):
    """The key of a protocol whose agents wait no longer than so."""

    deadline: Annotated[Duration, BeforeValidator(_positive)] | None = None
    """How long one waits for others, by its own clock; absent: for ever."""

    def deadline_ns(self, slot: int) -> int | None:
        """Return how long one waits (ns), for slots of so many nanoseconds; None: for ever."""
        return None if self.deadline is None else max(1, self.deadline.nanoseconds(slot))


def deadline_without_rounds(keys: DeadlineKey, others: Others) -> Checks:
    """Yield a deadline where agents neither take part in rounds nor call for them."""
    if keys.deadline is not None and not {"round", "call"} & set(getattr(others.learner, "talks", ())):
        kind = others.kinds["learner"]
        yield Mistake(
            "deadline",
            f'works with learners of rounds or calls only, such as elimination and feducb, not with "{kind}"',
        )
