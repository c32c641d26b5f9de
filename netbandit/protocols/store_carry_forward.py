"""Store, carry and forward in protocols: the `carry` key, and the items that nodes carry for later contacts."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError
from simpy import Event

from netbandit.network.clock import AGENTS, ScheduledEvent
from netbandit.network.link import Channel
from netbandit.network.models.contacts import next_coming
from netbandit.network.network import Network
from netbandit.parts.component import Part
from netbandit.protocols.protocol import SeenLinks
from netbandit.util.units import DURATION, Duration
from netbandit.util.wording import Allowed

T = TypeVar("T")


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


class CarryBuffer(Generic[T]):
    """The items that each node has sent to its neighbours in contact, kept for neighbours that come into contact later.

    Such a neighbour receives the items that the node has got while it was away: it received the older ones before.

    Args:
        network: The network.
        carry: For how long (ns) after its creation an item is sent.
        comes: Called with a channel when its link has come up, in the turn before nodes send.
    """

    def __init__(self, network: Network, carry: int, comes: Callable[[Channel], None]) -> None:
        self._network, self._carry, self._comes = network, carry, comes
        # Of each node, in the order in which it has got it: when, when it was said, and what.
        self._kept: list[dict[object, tuple[int, int, T]]] = [{} for _ in range(network.agents)]
        self._away_since: dict[Channel, int] = {}
        self._callbacks: list[Callable[[Event], None]] = [self._now]
        # When each link comes up next, and since when it is down, a pending event for the first of them alone.
        self._next: list[tuple[int, int, int]] = []
        self._pairs = list(network.links.pairs())
        for number in range(len(self._pairs)):
            self._expect(number, -1)
        self._appoint()

    def keep(self, node: int, key: object, created_at: int, what: T) -> None:
        """Store *what* a node has got now and was created at *created_at* (ns), in place of the item of this *key*."""
        kept, now = self._kept[node], self._network.clock.now
        while kept and next(iter(kept.values()))[1] + self._carry < now:
            del kept[next(iter(kept))]
        kept.pop(key, None)
        kept[key] = now, created_at, what

    def for_newcomer(self, channel: Channel) -> Iterator[T]:
        """Yield the items that the sender of *channel* has got while the other end was away, the newest first."""
        since, now = self._away_since[channel], self._network.clock.now
        for got, created_at, what in reversed(self._kept[channel.sender].values()):
            if got < since:
                return
            if got < now and now <= created_at + self._carry:
                yield what

    def forget(self, node: int) -> None:
        """Discard the items of *node*."""
        self._kept[node].clear()

    def _now(self, event: Event) -> None:
        now = self._network.clock.now
        while self._next and self._next[0][0] == now:
            _, number, away_since = heappop(self._next)
            for channel in self._pairs[number]:
                self._away_since[channel] = away_since
                self._comes(channel)
            self._expect(number, now)
        self._appoint()

    def _expect(self, number: int, after: int) -> None:
        """Note when a link comes up next that is up at a time (ns), or -1."""
        away_since, comes = next_coming(self._network, self._pairs[number][0], after)
        if comes < self._network.end:
            heappush(self._next, (comes, number, away_since))

    def _appoint(self) -> None:
        if self._next:
            environment = self._network.environment
            environment.schedule(ScheduledEvent(self._callbacks), AGENTS, self._next[0][0] - environment.now)
