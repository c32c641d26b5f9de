"""A gather: in every slot one node needs a part from every other node before it can decide."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import SENDS, InstantQueue, ScheduledEvent
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.protocols.deadline import DEADLINES
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.store_carry_forward import CarryKey

MASK = Kind("MASK")
CONTEXT = Kind("CONTEXT")

_USERS = EventPriority(6)
"""A user arrives after all other events of a boundary: arrivals, decisions, forwarding, departures."""


def _generator(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    if value == "third-party" or (type(value) is int and value >= 1):
        return value
    raise PydanticCustomError("generator", 'must be the number of an agent other than 0, or "third-party"')


class Vertical(CarryKey, GatherProtocol):
    """One agent decides, with a part of each context, masked if asked, from every other agent.

    The AP (agent 0) gathers a part of a user's contexts from every other participant, then decides.

    One user arrives at the beginning of every slot. If fewer than ``pipeline`` users are under way (their contexts
    sent, no decision yet), all participants send their parts of its contexts at once; otherwise the user leaves
    unserved. Latency and bandwidth therefore limit the decision rate: with transmission time x and latency l on the
    slowest path, a decision is made x + l after the beginning of its slot, and at most ``min(1/slot, 1/x, pipeline/(x +
    l))`` decisions are made per second. All participants observe the arrival of a user themselves: no message announces
    it.

    Parts travel on shortest paths (through lowest-numbered parents of a breadth-first tree from agent 0), each in
    a message of its own. Slotted, a hop takes effect at a boundary after the one it began at, and so does a decision.
    Masks are delivered before the first slot: they are counted on every hop, and take no time of the horizon.
    Decisions at or after the horizon do not count. No user arrives while agent 0 is down.
    """

    uses_uplinks: ClassVar[bool] = False
    counts_slots: ClassVar[bool] = True

    generator: Annotated[int | Literal["third-party"], WrapValidator(_generator)] = 1
    """The agent that makes the mask, or ``"third-party"``: masks come out of band, free."""

    def check(self) -> Checks:
        """Yield secure sums of unmasked parts, and a *generator* where nothing is masked."""
        yield from super().check()
        if not self.masks and "generator" in self.model_fields_set:
            yield Note("generator", "has no effect with masks = false")

    def check_with(self, others: Others) -> Checks:
        """Yield a disconnected graph, too few participants for a secure sum, and a generator that does not exist."""
        agents = others.agents
        if others.components > 1:
            yield Mistake("kind", "needs a connected graph: the parts of all participants must reach agent 0")
        if self.secure_sum and agents < 3:
            text = f"needs at least 3 participants, but there are {agents}: a sum of one hides nothing"
            yield Mistake("secure_sum", text)
        if self.masks and isinstance(self.generator, int) and self.generator >= agents:
            if agents == 1:
                way_out = "agent 0 is alone and sends nothing: set masks = false"
            else:
                way_out = f'the agents are 0 to {agents - 1}: one other than 0, or "third-party"'
            yield Mistake("generator", f"is agent {self.generator}, but {way_out}")

    def start(
        self,
        network: Network,
        part_bytes: Sequence[int],
        mask_bytes: Sequence[int],
        decide: Callable[[int, int], None],
    ) -> None:
        """See `GatherProtocol.start`."""
        super().start(network, part_bytes, mask_bytes, decide)
        self._senders = [agent for agent, size in enumerate(part_bytes) if size and agent]
        parents: list[int] = network.topology.bfs_tree(0).tolist()
        self._hops = [() if node == 0 else (network.channel(node, parent),) for node, parent in enumerate(parents)]
        # Parts of one size are one message to the network, which tells senders by their channels.
        self._parts: dict[int, list[Channel]] = {}
        for agent in self._senders:
            self._parts.setdefault(network.header + part_bytes[agent], []).extend(self._hops[agent])
        self._slotted = self.slotted
        self._steps: InstantQueue[Message] = InstantQueue(self.clock, self._act, SENDS)
        self._missing: dict[int, int] = {}
        self._patience = self.deadline_ns(self.clock.slot)
        self._deadlines: InstantQueue[int] = InstantQueue(self.clock, self._give_up, DEADLINES)
        self._callbacks: list[Callable[[Event], None]] = [self._user]

    def serve(self) -> None:
        """See `GatherProtocol.serve`."""
        if self.masks and isinstance(self.generator, int):
            self._hand_out(self.generator)
        self._schedule(0)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Forward parts; at agent 0, decide when the last has arrived."""
        for arrived, _, message in arrivals:
            if self._slotted:
                begun = message.value[1]
                self._steps.at(self.clock.effective_time(begun, arrived), node, message)
            else:
                self._receive_part(node, message)

    def _act(self, due: list[tuple[int, list[Message]]]) -> None:
        for node, messages in due:
            for message in messages:
                self._receive_part(node, message)

    def _receive_part(self, node: int, part: Message) -> None:
        """Forward a part towards agent 0; there, count it, and decide for its user if it was the last."""
        user = part.value[0]
        if node > 0:
            self._put(user, part.size, self._hops[node])
        elif user not in self._missing:
            self.late += 1
        else:
            self._missing[user] -= 1
            self._decide_if_complete(user)

    def _decide_if_complete(self, user: int) -> None:
        if self._missing[user] == 0:
            del self._missing[user]
            self.complete(user)

    def _put(self, user: int, size: int, channels: Sequence[Channel]) -> None:
        self.network.send(Message(CONTEXT, size, (user, self.clock.environment.now), user), channels)

    def _user(self, event: Event) -> None:
        user = self.clock.now // self.clock.slot
        if not self.network.is_down(0):
            self._serve_or_turn_away(user)
        if user + 1 < self.clock.horizon:
            self._schedule(user + 1)

    def _serve_or_turn_away(self, user: int) -> None:
        """Let all participants send their parts of a user's contexts, unless too many users are under way."""
        if len(self._missing) >= self.pipeline:
            self.turn_away(user)
            return
        self._missing[user] = len(self._senders)
        for size, channels in self._parts.items():
            self._put(user, size, channels)
        if self._patience is not None:
            self._deadlines.at(self.clock.now + self._patience, 0, user)
        self._decide_if_complete(user)

    def _give_up(self, due: list[tuple[int, list[int]]]) -> None:
        """Turn away users whose parts have not all arrived."""
        if self.clock.now >= self.clock.end:
            return
        for _, users in due:
            for user in users:
                if user in self._missing:
                    del self._missing[user]
                    self.turn_away(user)

    @property
    def under_way(self) -> list[int]:
        """See `GatherProtocol.under_way`."""
        return list(self._missing)

    def abandon(self) -> None:
        """See `GatherProtocol.abandon`."""
        for user in self._missing:
            self.turn_away(user)
        self._missing.clear()

    def _schedule(self, slot: int) -> None:
        environment = self.clock.environment
        environment.schedule(ScheduledEvent(self._callbacks), _USERS, slot * self.clock.slot - environment.now)

    def _hand_out(self, generator: int) -> None:
        """Count the masks on every hop, and find how long they take: each link sends one after the other."""
        parents: list[int] = self.network.topology.bfs_tree(generator).tolist()
        moving = []
        for agent, size in enumerate(self.mask_bytes):
            if size and agent != generator:
                path = [agent]
                while path[-1] != generator:
                    path.append(parents[path[-1]])
                moving.append((path[::-1], Message(MASK, self.network.header + size, (agent, 0), 0), 0))
        free: dict[tuple[int, int], int] = {}
        while moving:
            moving.sort(key=lambda item: item[2])
            path, message, ready = moving.pop(0)
            channel = self.network.channel(path[0], path[1])
            self.network.count_before_start(message, channel)
            hop = path[0], path[1]
            free[hop] = max(ready, free.get(hop, 0)) + self.network.transmission(message.size)
            arrival = free[hop] + channel.latency
            if len(path) > 2:
                moving.append((path[1:], message, arrival))
                self.relayed = True
            self.setup = max(self.setup, arrival)
