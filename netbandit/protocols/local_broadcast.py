"""Local broadcasts: an agent's message goes to all agents within a hop limit."""

from typing import Literal

from pydantic import Field

from netbandit.network.engine import Receive
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Mistake, Note, Others, state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.local_flood import LocalFlood
from netbandit.protocols.protocol import Item
from netbandit.protocols.relay import Relay
from netbandit.protocols.store_carry_forward import Carry


class LocalKeys(DeadlineKey):
    """The keys of the ``local`` protocol, in each of its patterns."""

    ttl: int = Field(default=1, ge=0, le=65_000)
    """gamma: hops after which a message is dropped; 0: no communication."""
    stride: int | None = Field(default=None, ge=1, le=10_000)
    """The number of parameter sets an agent keeps; by default the number of slots that gamma hops take."""
    route: Literal["tree", "flood"] = "tree"
    """How items are forwarded: ``tree``: along the breadth-first tree of their source, so that each agent receives one
    copy; ``flood``: to all neighbours, so that the loss of one copy isolates no agent."""
    absorb: bool = False
    """Whether an agent that has the arm of an observation does not forward it (flooding with absorption)."""
    carry: Carry | None = None
    """Where agents see their links come and go: how long a message waits for its link; absent: for ever. With ``route =
    "flood"``: the greatest age of items sent to neighbours that come into contact later; absent: none are sent. Waiting
    is no hop."""
    stop: float = Field(default=0.0, ge=0, le=1)
    """With ``flood``: the probability with which an agent does not forward a received item (random stop)."""


class LocalTree(Relay):
    """As `Relay`, but a message is dropped after so many hops."""

    @property
    def reach(self) -> list[int]:
        """Those that its tree leads to; see `BroadcastProtocol.reach`."""
        return [1 + sum(map(len, self.tree(agent))) for agent in range(self.network.agents)]


class LocalBroadcast(LocalKeys, BroadcastProtocol):
    """Items go to all agents at most ttl hops away, by one of two routes: `LocalTree` or `LocalFlood`."""

    way: LocalTree | LocalFlood = state()
    """The protocol of the route."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self.way = LocalFlood(timing=self.timing) if self.route == "flood" else LocalTree(timing=self.timing)
        if isinstance(self.way, LocalFlood):
            self.way.stop = self.stop
            self.way.carry = None if self.carry is None else self.carry.nanoseconds(self.clock.slot)
        self.way.start(network, hear)
        self.way.hops = self.ttl
        if self.absorb:
            self.way.absorbs = self._absorbs

    def check_with(self, others: Others) -> Checks:
        """Yield sets of parameters without calls, and absorption where items cannot be identified."""
        if self.deadline is not None and "round" not in others.learner.talks:
            yield Note("deadline", "has no effect with this learner: nobody waits for what others tell")
        if self.stride is not None:
            yield Mistake("stride", "leave it out: this learner has no sets of parameters")
        if self.absorb and self.route != "flood":
            yield Mistake("absorb", 'needs route = "flood": a tree leads to each agent once')
        if self.stop and self.route != "flood":
            yield Mistake("stop", 'needs route = "flood": a tree leads to each agent once')
        if self.absorb and not hasattr(others.learner, "absorbs"):
            yield Mistake("absorb", f"leave it out: {others.kinds['learner']} does not say which items an agent keeps")

    @property
    def reach(self) -> list[int]:
        """See `BroadcastProtocol.reach`."""
        return self.way.reach

    @property
    def hops_at_most(self) -> int:
        """See `BroadcastProtocol.hops_at_most`."""
        return self.ttl

    def figures(self) -> dict[str, float | int | None]:
        """Return those of the route."""
        return self.way.figures()

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Send the item of *agent* to those within ttl hops, from this instant on."""
        self.way.broadcast(round, agent, item)

    def leave(self, agent: int, *, forgets: bool) -> None:
        """See `BroadcastProtocol.leave`."""
        self.way.leave(agent, forgets=forgets)

    def announce(self, round: int, agent: int) -> bool:
        """See `BroadcastProtocol.announce`."""
        return self.way.announce(round, agent)

    @property
    def handler(self) -> Receive:
        """The handler of the messages of the route."""
        return self.way.handler

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Pass arrivals to the route."""
        self.way.receive(node, arrivals)

    def _absorbs(self, agent: int, item: Item) -> bool:
        return self.absorbs is not None and self.absorbs(agent, item)


def unused_by_calls(keys: LocalKeys) -> Checks:
    """Yield keys that only broadcasts use."""
    for key, default in (("route", "tree"), ("absorb", False), ("stop", 0.0)):
        if getattr(keys, key) != default:
            yield Note(key, "has no effect with this learner: its calls and releases go to all neighbours in any case")
