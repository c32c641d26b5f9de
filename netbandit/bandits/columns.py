"""The columns of a context, split among participants."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.parts.component import Checks, Mistake


def _parts(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    # A union reports a mistake once for each alternative; the user made it once.
    if type(value) is int and value >= 1:
        return value
    if isinstance(value, list) and value and all(type(size) is int and size >= 0 for size in value):
        return value
    if value is None:
        return None
    raise PydanticCustomError(
        "participants", "must be the number of participants or a list of their numbers of columns"
    )


Participants = Annotated[int | list[int] | None, WrapValidator(_parts)]
"""The number N of participants, who hold equal parts (the first ones a column more where d is no multiple of N), or the
number of columns of each; absent: one part for each agent."""


def check_shares(parts: int | Sequence[int] | None, dimension: int) -> Checks:
    """Yield *participants* that do not add up to *dimension* columns."""
    if isinstance(parts, int):
        if parts > dimension:
            yield Mistake("participants", f"is {parts}, but there are only {dimension} columns to share")
    elif parts is not None and sum(parts) != dimension:
        yield Mistake("participants", f"lists {sum(parts)} columns, but there are {dimension}")


def check_holders(parts: int | Sequence[int] | None, agents: int) -> Checks:
    """Yield a number of *participants* that is not that of the *agents*."""
    number = parts if isinstance(parts, int) or parts is None else len(parts)
    if number is not None and number != agents:
        yield Mistake("participants", f"makes {number} participants, but the topology has {agents} agents")


def split_columns(dimension: int, parts: int | Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the columns of each participant: as many as *parts* says, in order.

    Args:
        dimension: The number d of columns.
        parts: The number of participants, or the number of columns of each.
    """
    columns = np.arange(dimension)
    if isinstance(parts, int):
        return list(np.array_split(columns, parts))
    return list(np.split(columns, np.cumsum(parts)[:-1]))


def seen_columns(dimension: int, parts: int | Sequence[int], partial: float) -> tuple[int, list[NDArray[np.int64]]]:
    """Return how many columns the learner sees, and which of them each participant holds.

    Args:
        dimension: The number d of columns.
        parts: The number of participants, or the number of columns of each.
        partial: The share of the columns that is seen, the first participant's first.
    """
    # The product may be a hair below a whole number: 0.29 * 100 is 28.999999999999996.
    seen = max(1, round(partial * dimension))
    return seen, [columns[columns < seen] for columns in split_columns(dimension, parts)]
