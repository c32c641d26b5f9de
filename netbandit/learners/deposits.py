"""Interface of learners with asynchronous uploads: agents deposit sums with a keeper, which returns the total."""

from abc import abstractmethod
from typing import Any

from netbandit.learners.keeper import Deposit, Keeper, Own, Total
from netbandit.learners.slots import Learner


class DepositLearner(Learner):
    """A learner of calls that can deposit too: nobody waits for others, and nobody else takes part.

    Over a protocol of deposits an agent deposits all that it has observed when it ``wants`` to; it may be given a
    total, at any time and for several deposits at once or for none.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.talks |= {"deposit"}

    @abstractmethod
    def keeper(self) -> Keeper:
        """Return a new keeper, which has nothing yet."""

    @abstractmethod
    def deposit(self, agent: int) -> Deposit:
        """Return all that *agent* has observed; it makes no test until it may `resume`."""

    @abstractmethod
    def resume(self, agent: int) -> None:
        """Let *agent* test again whether it wants to deposit, from its next decision on."""

    @abstractmethod
    def take(self, agent: int, total: Total, own: Own) -> bool:
        """Have *agent* adopt *total* before its next decision, in which these observations are its *own*.

        Returns:
            Whether it does; not if it has adopted more already.
        """

    @property
    @abstractmethod
    def unseen(self) -> float | None:
        """Observations that existed before a decision and were not in its sums, mean over decisions."""

    def deposit_numbers(self, dimension: int) -> int:
        """Return how many numbers a deposit has: what is shared, and how many observations are in it.

        Where agents may forget, the number of the life comes on top.
        """
        return self.share_numbers(dimension) + 1
