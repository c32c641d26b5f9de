"""Base of bandits with contexts: one user arrives in each slot, with a context for every arm.

The columns of contexts are split among participants.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.bandits.bandit import Bandit, GeneratorOf
from netbandit.parts.component import Checks, Mistake, state


@dataclass(frozen=True)
class Users:
    """The users of one block of slots.

    Attributes:
        contexts: What the learner may see of each user and arm, shape (users, K, m).
        rewards: The reward of each arm, shape (users, K); NaN if unknown.
        regrets: How much less than the best arm each arm pays on average, shape (users, K); NaN if unknown, or
            where the choice does not count.
    """

    contexts: NDArray[np.float64]
    rewards: NDArray[np.float64]
    regrets: NDArray[np.float64]


@dataclass(frozen=True)
class Findings:
    """The figures of a bandit over all decisions of a run.

    Attributes:
        metrics: Its own figures by name, the most telling first; None where one does not exist.
        tracks: Quantities by name, each as it stood after every decision, shape (decisions,).
        remarks: What must be known to read these figures, a line each.
    """

    metrics: Mapping[str, float | int | None] = field(default_factory=dict)
    tracks: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class VerticalContextBandit(Bandit):
    """A bandit whose contexts lie in columns that are split among participants."""

    arm_count: int = state()
    """The number K of arms."""
    seen: int = state()
    """The number m of columns the learner sees."""
    columns: list[NDArray[np.int64]] = state()
    """For each participant, the columns it holds among those that are seen, ascending."""
    block: int = state()
    """The slots of a block; the users of a block are drawn together."""
    knows_best: bool = state(default=True)
    """Whether the mean reward of the best arm is known; if not there is no regret."""

    @abstractmethod
    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of the block that begins at slot ``block * self.block``.

        Args:
            block: The number of the block, from 0.
            generator: Streams of the replication.
        """

    def parameter(self) -> NDArray[np.float64] | None:
        """Return what rewards are linear in, shape (d,), the columns that are seen first; None if unknown."""
        return None

    def findings(self, users: NDArray[np.int64], arms: NDArray[np.int64], generator: GeneratorOf) -> Findings:
        """Return what there is to say of all decisions; nothing by default.

        Args:
            users: The slot in which each user came that was decided for, ascending, shape (decisions,).
            arms: The arm chosen for each, shape (decisions,).
            generator: Streams of the replication.
        """
        return Findings()


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


def seen_columns(dimension: int, parts: int | Sequence[int], partial: float) -> tuple[int, list[NDArray[np.int64]]]:
    """Return how many columns the learner sees, and which of them each participant holds.

    Args:
        dimension: The number d of columns.
        parts: The number of participants, or the number of columns of each.
        partial: The share of the columns that is seen, the first participant's first.
    """
    # The product may be a hair below a whole number: 0.29 * 100 is 28.999999999999996.
    seen = max(1, round(partial * dimension))
    columns, cuts = np.arange(dimension), parts if isinstance(parts, int) else np.cumsum(parts)[:-1]
    return seen, [own[own < seen] for own in np.array_split(columns, cuts)]
