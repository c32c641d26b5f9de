"""The interface of gather protocols: agent 0 needs a part from every other participant before it can decide."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from netbandit.network.network import Network
from netbandit.parts.component import Checks, CommunicationPattern, Mistake, state
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.protocol import NetworkProtocol


class GatherProtocol(DeadlineKey, NetworkProtocol):
    """A gather protocol; the driver that decides for users reads its keys, too.

    A user leaves unserved at its deadline, which is counted from the beginning of its slot.
    """

    masks: bool = True
    """Whether contexts are masked; if not they are sent in the clear, as in the central algorithm."""
    secure_sum: bool = False
    """Whether pairwise one-time pads hide each part, so that only their sum is revealed. The seeds of the pads are
    agreed beforehand, out of band."""
    pipeline: int = Field(default=1, ge=1)
    """The number of users whose contexts may be in transit at a time."""
    unserved: Literal["free", "worst", "random"] = "free"
    """The regret of an unserved user: ``free``: none, so that serving fewer looks like a gain (compare
    ``regret_per_decision``); ``worst``: that of the user's worst arm; ``random``: that of an arm drawn at random, in
    expectation."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"gather"})

    part_bytes: Sequence[int] = state()
    """Bytes of each agent's part of a user's contexts; 0: it sends nothing. Agent 0's does not travel."""
    mask_bytes: Sequence[int] = state()
    """Bytes of the mask of each agent; 0: none."""
    decide: Callable[[int, int], None] = state()
    """Called to decide for a user, with its slot and the time (ns); see :meth:`complete`."""
    setup: int = state(default=0)
    """The time (ns) taken to deliver the masks before the first slot."""
    waited: int = state(default=0)
    """The time (ns) from the slot of a user to its decision, summed over decisions."""
    decisions: int = state(default=0)
    """The number of decisions."""
    turned_away: int = state(default=0)
    """The number of users who left unserved."""
    gone: list[int] = state()
    """The slots of unserved users, in the order in which they left; empty if their regret is not counted."""
    late: int = state(default=0)
    """Parts that reached agent 0 after their user had left."""
    relayed: bool = state(default=False)
    """Whether masks passed through nodes other than their recipients."""

    def check(self) -> Checks:
        """Yield a secure sum of unmasked parts."""
        if self.secure_sum and not self.masks:
            yield Mistake("secure_sum", "needs masks = true: in the clear there is nothing to hide")

    def start(
        self,
        network: Network,
        part_bytes: Sequence[int],
        mask_bytes: Sequence[int],
        decide: Callable[[int, int], None],
    ) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            part_bytes: Bytes of each agent's part of a user's contexts; 0: it sends nothing.
            mask_bytes: Bytes of the mask of each agent; 0: none.
            decide: Called with the slot of a user and the time (ns), once all parts of its contexts are at agent 0.
        """
        self.connect(network)
        self.part_bytes = part_bytes
        self.mask_bytes = mask_bytes
        self.decide = decide
        self.gone = []

    def figures(self) -> dict[str, float | int | None]:
        """Return how many parts came too late, if there is a deadline."""
        return {} if self.deadline is None else {"late": self.late}

    @abstractmethod
    def serve(self) -> None:
        """Deliver the masks, if any, and schedule the first user; the event loop has not run yet."""

    @property
    def under_way(self) -> list[int]:
        """The slots of the users whose parts have not all reached agent 0; by default none are known."""
        return []

    def abandon(self) -> None:
        """Turn away all users under way: agent 0 was down, and has forgotten them."""
        return

    def complete(self, user: int) -> None:
        """Decide for the *user* of a slot, all of whose parts are at agent 0, unless the horizon has passed."""
        time = self.clock.now
        if time < self.clock.end:
            self.decisions += 1
            self.waited += time - user * self.clock.slot
            self.decide(user, time)

    def turn_away(self, user: int) -> None:
        """Turn away the *user* of a slot, unserved."""
        self.turned_away += 1
        if self.unserved != "free":
            self.gone.append(user)
