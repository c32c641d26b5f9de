"""A node in a round: the items that it holds, and the send methods for handler protocols; see `NeighbourRounds`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netbandit.network.clock import effective_time
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message, negative_size

if TYPE_CHECKING:
    from netbandit.protocols.open_rounds import OpenRound, OpenRounds

AgentMask = int
"""A set of agents, or of their items, as a bit mask, bit i for agent i; 0: nobody."""


class LabelMessage(Message):
    """A message about items, in a round.

    Attributes:
        labels: The labels of the items.
        items: Whether it carries the items themselves; None: its size was given explicitly.
        begun: When (ns) the hop began, or the handshake that it belongs to.
    """

    __slots__ = ("begun", "items", "labels")
    value = None

    def __init__(
        self, round: "OpenRound", kind: Kind, labels: AgentMask, items: bool, size: int | None, begun: int
    ) -> None:
        if size is None:
            self.items: bool | None = items
            size = HEADER_BYTES + (round.size(labels) if items else LABEL_BYTES * labels.bit_count())
        elif size >= 0:
            self.items = None
        else:
            raise negative_size(kind, size)
        self.kind = kind
        self.code = kind.code
        self.size = size
        self.round = round.number
        self.labels = labels
        self.begun = begun


class Node:
    """The state of an agent in an open round.

    Its methods that send take the *kind* of the message and the *labels* that it names; with ``items=True`` it carries
    their items as well. The *size* in bytes is that of a header, the labels, and the items, unless it is given.

    Attributes:
        number: The agent.
        round: The round.
        held: The labels of all items that it holds.
        claimed: The labels of the items that it holds or has claimed.
        next_slot: For the protocol to use; -1 at first, and when the agent has lost its memory.
    """

    __slots__ = (
        "_also_told",
        "_channels",
        "_network",
        "_out",
        "_rounds",
        "_told",
        "claimed",
        "held",
        "next_slot",
        "number",
        "round",
    )

    def __init__(self, rounds: "OpenRounds", round: "OpenRound", number: int) -> None:
        self._rounds = rounds
        self._network = rounds.network
        self._out = rounds.network.links.out(number)
        self._channels = rounds.network.channels[number]
        self.round = round
        self.number = number
        self.forget()

    def forget(self) -> None:
        """Hold nothing."""
        self.held: AgentMask = 0
        self.claimed: AgentMask = 0
        self.next_slot = -1
        self._told: dict[AgentMask, tuple[LabelMessage, int]] = {}  # by whom first
        self._also_told: dict[AgentMask, list[int]] = {}

    @property
    def now(self) -> int:
        """The present time (ns)."""
        return self._network.environment._now

    @property
    def neighbours(self) -> Sequence[int]:
        """The agents that it has links to, ascending."""
        return self._network.neighbours[self.number]

    @property
    def is_deserted(self) -> bool:
        """Whether no agent waits in the round any more, nor will, so that no message is needed."""
        return self.round.deserted

    @property
    def busy_until(self) -> int:
        """When (ns) its latest message to a randomly drawn neighbour has been transmitted; 0: there is none."""
        return self._rounds.busy_until(self.number)

    def claim(self, labels: AgentMask) -> AgentMask:
        """Claim those of *labels* that it neither holds nor has claimed, and return them.

        A claim lasts as long as the round, also where what was asked for is lost: none is returned twice.
        """
        fresh = labels & ~self.claimed
        if fresh:
            self.claimed |= fresh
        return fresh

    def take_in(self, message: LabelMessage, labels: AgentMask) -> None:
        """Hold the items with these *labels*, which *message* has brought, and act: slotted, when its hop ends.

        Asynchronous, it acts once on all items that have reached it at this instant.
        """
        rounds = self._rounds
        if rounds.slotted:
            rounds.steps.at(self.effective_time(message), self.number, (self.round.number, labels))
        else:
            rounds.taken_in.append((self, labels))

    def take_in_at(self, time: int, labels: AgentMask) -> None:
        """Hold the items with these *labels* at a *time* (ns), now or later, after all its arrivals, and act."""
        self._rounds.steps.at(time, self.number, (self.round.number, labels))

    def effective_time(self, message: LabelMessage) -> int:
        """Return when (ns) *message* takes effect: slotted, at the slot boundary that ends its hop."""
        network = self._network
        now = network.environment._now
        return effective_time(message.begun, now, network.slot) if self._rounds.slotted else now

    def accept(self, neighbour: int, message: LabelMessage) -> None:
        """Claim, take in, and note the sender of what *message* brings, unless it was passed on already.

        This is what `claim`, `take_in` and `note_teller` do, one after the other, in one call for each message.
        """
        labels = message.labels
        claimed = self.claimed | labels
        if claimed != self.claimed:
            self.claimed = claimed
            rounds = self._rounds
            if rounds.slotted:
                rounds.steps.at(self.effective_time(message), self.number, (self.round.number, labels))
            else:
                rounds.taken_in.append((self, labels))
        elif labels & self.held:
            return
        told = self._told
        if labels not in told:
            told[labels] = message, neighbour
        else:
            self._also_told.setdefault(labels, []).append(neighbour)

    def note_teller(self, neighbour: int, message: LabelMessage) -> None:
        """Note *neighbour* as a sender of the labels of *message*, to which `send_others` does not send them back."""
        labels = message.labels
        if labels not in self._told:
            self._told[labels] = message, neighbour
        else:
            self._also_told.setdefault(labels, []).append(neighbour)

    def send(
        self,
        neighbour: int,
        kind: Kind,
        labels: AgentMask,
        *,
        items: bool = False,
        size: int | None = None,
        begun: int | None = None,
    ) -> None:
        """Send to a neighbour; a hop begins now, or it is part of a handshake that has *begun* (ns) with another."""
        network = self._network
        since = network.environment._now if begun is None else begun
        message = LabelMessage(self.round, kind, labels, items, size, since)
        send = network.send  # loading an attribute, then calling it, is faster than a method call of an attribute
        send(message, (self._out[neighbour],))

    def send_all(self, kind: Kind, labels: AgentMask, *, items: bool = False, size: int | None = None) -> None:
        """Send to all neighbours; a hop begins now."""
        network = self._network
        message = LabelMessage(self.round, kind, labels, items, size, network.environment._now)
        send = network.send
        send(message, self._channels)

    def send_others(self, kind: Kind, labels: AgentMask, *, items: bool = False, size: int | None = None) -> None:
        """Send to all neighbours except those noted as senders of these very *labels* since the last call."""
        told = self._told.pop(labels, None)
        if told is None:
            self.send_all(kind, labels, items=items, size=size)
            return
        network, channels = self._network, self._channels
        message, first = told
        if self._rounds.slotted or message.kind is not kind or message.items is not items or size is not None:
            message = LabelMessage(self.round, kind, labels, items, size, network.environment._now)
        # else it forwards the same object
        if labels in self._also_told:
            others = self._also_told.pop(labels)
            channels = [channel for channel in channels if channel.receiver not in others]
        send = network.send
        send(message, channels, first)

    def send_one(self, kind: Kind, labels: AgentMask, *, items: bool = False, size: int | None = None) -> None:
        """Send to one neighbour, drawn uniformly from the random stream `NeighbourRounds.stream`.

        Where agents see which of their links are up, it is one of the neighbours in contact; without any, nothing is
        sent.
        """
        channel = self._rounds.draw_neighbour(self.number)
        if channel is not None:
            now = self._network.environment._now
            self._network.send(LabelMessage(self.round, kind, labels, items, size, now), (channel,))
