"""Handlers message by message: what the primitives of `netbandit.protocols.primitives` are on Python's objects.

A protocol that passes items on is two texts. ``on_message(network, own, round, node, neighbour, message)`` says what a
node does with a message of an open round that has just reached it. ``act(network, own, round, node, labels)`` says what
it does when it has taken *labels* in, which `later` or `at_once` were given, once all nodes of this instant have, and
the round is still open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from inspect import signature
from types import FunctionType
from typing import Any

from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network, Receive
from netbandit.protocols.handler_texts import Said, read_handler
from netbandit.protocols.open_rounds import Key, Labels, OpenRound, OpenRounds
from netbandit.protocols.primitives import act, note_news, on_message
from netbandit.protocols.protocol import Item, Overhear
from netbandit.texts import is_text, names_in, names_used, primitive, text, written_out

CHOICES = 64
"""How many neighbours a node draws at a time."""

SLOTTED = False
"""Whether hops take effect at slot boundaries."""
LISTENED = False
"""Whether somebody wants to know of each item that reaches a node."""
MERGES = True
"""See `Handlers.merges`."""
ONE_GROUP = False
"""Whether all agents are in one group."""
ALL_COUNT = False
"""Whether all agents count in all rounds."""
NEWS = False
"""Whether somebody wants to know how many items have just reached a node."""

Part = tuple[int, Labels]
"""The number of a round, and what a node takes in of it."""


@dataclass(frozen=True)
class Handlers:
    """The texts of a protocol; see the module.

    Attributes:
        on_message: See there.
        act: See there.
        merges: Whether a node acts once on all that it takes in of a round in an instant, not on each part of it.
        ends_at_once: Whether `on_message` does nothing after `at_once`, and notes tellers of nothing but what it then
            takes in: so what comes alone is taken in, and acted on, where `at_once` is called, which takes less time.
    """

    on_message: Callable[..., None]
    act: Callable[..., None]
    merges: bool = True
    ends_at_once: bool = False

    def __post_init__(self) -> None:
        for one in (self.on_message, self.act):
            if not is_text(one):
                raise TypeError(f"{getattr(one, '__qualname__', one)} is no text: decorate it with netbandit.text")

    @cached_property
    def said(self) -> tuple[Said, Said]:
        """What `on_message` says of each message, and `act` each time, at most."""
        return read_handler(self.on_message, on_message), read_handler(self.act, act)

    @property
    def not_compiled(self) -> list[str]:
        """What a loop cannot execute of them, with the lines."""
        return [one.not_compiled for one in self.said if one.not_compiled is not None]

    @property
    def names(self) -> dict[str, Any]:
        """What the names stand for that the texts read, and others that they call."""
        return names_in(self.on_message) | names_in(self.act)

    @property
    def reads_what_is_new(self) -> bool:
        """Whether what a node does depends on what it has just taken in."""
        *_, taken_in = signature(self.act).parameters
        return taken_in in names_used(self.act)


class HandledRounds(OpenRounds):
    """Rounds in which nodes do what handlers say.

    Args:
        network: The network.
        groups: The agents of each group, ascending; each group must be connected.
        handlers: What they do.
        slotted: Whether hops take effect at slot boundaries.
        turn: The turn of an instant in which nodes take in what they were to take in later.
        conclude: See `OpenRounds`.
        apart: See `OpenRounds`.
        stream: The purpose of the numbers that each node draws to choose neighbours; see `Streams`.

    Attributes:
        handler: What handles all that reaches a node in an instant.
    """

    handler: Receive

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        handlers: Handlers,
        slotted: bool,
        turn: EventPriority,
        conclude: Callable[[OpenRound, Labels], None],
        apart: bool = False,
        stream: str = "",
    ) -> None:
        super().__init__(network, groups, conclude, apart)
        self.horizon = network.clock.horizon
        self.learnt: list[Part] = []
        self.overheard: dict[tuple[int, int], Labels] = {}
        self.teller = -1
        self.heard: Any = None
        self.used: list[Channel | None] = [None] * network.agents
        self.steps: InstantQueue[Part] = InstantQueue(network.clock, self._step, turn)
        self.news: Callable[[int, int, int], None] = _nobody_asks
        self._overhear: Overhear | None = None
        self._handlers = handlers
        # What a node draws alone is its own stream, whoever else draws.
        self._draws = (lambda node: network.streams.generator(stream, node)) if stream else None
        self._generators: dict[int, Any] = {}
        self._choices: dict[int, list[int]] = {}
        self._flags = {"SLOTTED": slotted, "FORGETS": network.forgets, "APART": apart, "ONE_GROUP": len(groups) == 1}
        self._flags["ALL_COUNT"] = not (network.agents_fail or apart)
        self._write()

    def listen(self, overhear: Overhear) -> None:
        """Have *overhear* told of every item that reaches a node; see `CallbackRoundProtocol.listen`."""
        self._overhear = overhear
        self._flags["LISTENED"] = True
        self._write()

    def listen_to_news(self, news: Callable[[int, int, int], None]) -> None:
        """Have *news* told of a round, a node, and how many items the node has just heard, or contributed, in it."""
        self.news = news
        self._flags["NEWS"] = True
        self._write()

    def contribute(self, number: int, agent: int, item: Item) -> OpenRound:
        """See `OpenRounds.contribute`; the agent acts on its item in this instant."""
        round = super().contribute(number, agent, item)
        round.asked[agent] |= 1 << agent
        self.steps.at(self.network.clock.now, agent, (number, 1 << agent))
        return round

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle what reaches *node* in this instant."""
        self.handler(node, arrivals)

    def overhear_all(self) -> None:
        """Tell who listens of what has reached nodes."""
        overheard, self.overheard = self.overheard, {}
        assert self._overhear is not None
        for (node, number), labels in overheard.items():
            self._overhear(node, number, self.open[self.key(number, self.group[node])].named(labels))

    def neighbour(self, node: int) -> Channel | None:
        """Return the channel to a neighbour of *node*, drawn uniformly; None: agents see links, and nobody is there."""
        near = self.network.channels[node]
        choices = self._choices.get(node)
        if not choices:
            if node not in self._generators:
                assert self._draws is not None, "who draws neighbours names the stream"
                self._generators[node] = self._draws(node)
            choices = self._choices[node] = self._generators[node].integers(len(near), size=CHOICES).tolist()
        return self.network.present.one_of(node, near, near[choices.pop()])

    @property
    def draws(self) -> bool:
        """Whether nodes draw neighbours."""
        return self._draws is not None

    def draw_again(self, channel: Channel) -> None:
        """Let the channel that its sender drew last be drawn again, next."""
        self._choices[channel.sender].append(self.network.channels[channel.sender].index(channel))

    def _write(self) -> None:
        """Write the texts out for what can happen."""
        receive, self._act = _written_for(self._handlers, tuple(self._flags.items()))
        self.handler = partial(receive, self.network, self)

    def _step(self, due: list[tuple[int, list[Part]]]) -> None:
        self._act(self.network, self, due)


@cache
def _written_for(handlers: Handlers, flags: tuple[tuple[str, bool], ...]) -> tuple[FunctionType, ...]:
    names: dict[Any, Any] = {name: value for name, value in globals().items() if is_text(value)}
    names |= {"on_message": handlers.on_message, "act": handlers.act, "MERGES": handlers.merges, **dict(flags)}
    names |= {kind: kind for kind in handlers.names.values() if isinstance(kind, Kind)}
    all_together = written_out(receive, names)
    one_by_one = names | {"receive_all": all_together}
    if not dict(flags)["SLOTTED"]:
        one_by_one |= {"at_once": take_in_alone, "note_teller": note_only_teller, "tell_others": tell_all_but_one}
    alone = handlers.ends_at_once or "at_once" not in names_used(handlers.on_message)
    return written_out(receive_any, one_by_one) if alone else all_together, written_out(step, names)


def _nobody_asks(round: int, node: int, items: int) -> None:
    pass


# What a node does.


@text
def key_of(own: HandledRounds, number: int, node: int) -> Key:
    return number if ONE_GROUP else (number, own.group[node])


@text
def receive(network: Network, own: HandledRounds, node: int, arrivals: list[Arrival]) -> None:
    """Let *node* handle what reaches it in this instant."""
    for _, neighbour, message in arrivals:
        key = key_of(own, message.round, node)
        if key in own.open:
            on_message(network, own, own.open[key], node, neighbour, message)
    if own.learnt:
        learnt = own.learnt
        own.learnt = []
        step(network, own, [(node, learnt)])


@text
def receive_any(network: Network, own: HandledRounds, node: int, arrivals: list[Arrival]) -> None:
    """As `receive`, in less time where a single message reaches *node*: most of what happens in asynchronous time."""
    if len(arrivals) == 1:
        receive_one(network, own, node, arrivals[0])
    else:
        receive_all(network, own, node, arrivals)


@primitive
def receive_all(network: Network, own: HandledRounds, node: int, arrivals: list[Arrival]) -> None:
    """Stand for `receive`, as it is written out by itself."""
    raise NotImplementedError


@text
def receive_one(network: Network, own: HandledRounds, node: int, arrival: Arrival) -> None:
    """As `receive`, of a single message."""
    _, neighbour, message = arrival
    own.heard = message
    key = key_of(own, message.round, node)
    if key in own.open:
        on_message(network, own, own.open[key], node, neighbour, message)


@text
def end_rounds(own: HandledRounds) -> None:
    """Let those who listen hear what has been taken in, and end the rounds that are complete."""
    if LISTENED and own.overheard:
        own.overhear_all()
    if own.completed:
        own.end_complete()


@text
def take_in_alone(network: Network, own: HandledRounds, round: OpenRound, node: int, labels: Labels) -> None:
    """Stand for `at_once` and `step` where nothing else has reached *node*."""
    learn(network, own, round, node, labels)
    end_rounds(own)
    if key_of(own, round.number, node) in own.open:
        act(network, own, round, node, labels)


@text
def step(network: Network, own: HandledRounds, due: list[tuple[int, list[Part]]]) -> None:
    """Let nodes take in what is due, then end rounds, then let them act in the others."""
    taken_in: Any = {} if MERGES else []
    for node, parts in due:
        for number, labels in parts:
            key = key_of(own, number, node)
            if key in own.open:
                learn(network, own, own.open[key], node, labels)
                if MERGES:
                    taken_in[node, number] = taken_in.get((node, number), 0) | labels
                else:
                    taken_in.append(((node, number), labels))
    end_rounds(own)
    if MERGES:
        taken_in = taken_in.items()
    for (node, number), labels in taken_in:
        key = key_of(own, number, node)
        if key in own.open:
            act(network, own, own.open[key], node, labels)


# Messages.


@text
def kind_of(network: Network, message: Message) -> Kind:
    return message.kind


@text
def labels_of(network: Network, message: Message) -> Labels:
    return message.value[0]  # type: ignore[no-any-return]


@text
def begun_of(network: Network, message: Message) -> int:
    return message.value[1]  # type: ignore[no-any-return]


@text
def answer(
    network: Network,
    own: HandledRounds,
    round: OpenRound,
    node: int,
    neighbour: int,
    kind: Kind,
    size: int,
    labels: Labels,
    begun: int,
) -> None:
    network.send(Message(kind, size, (labels, begun), round.number), (network.channel(node, neighbour),))


@text
def tell_all(
    network: Network, own: HandledRounds, round: OpenRound, node: int, kind: Kind, size: int, labels: Labels
) -> None:
    network.send(Message(kind, size, (labels, network.environment._now), round.number), network.channels[node])


@text
def tell_others(
    network: Network, own: HandledRounds, round: OpenRound, node: int, kind: Kind, size: int, labels: Labels
) -> None:
    tellers = round.tellers.pop((node, labels), ())
    message = Message(kind, size, (labels, network.environment._now), round.number)
    channels = network.channels[node]
    if len(tellers) > 1:
        channels = [channel for channel in channels if channel.receiver not in tellers]
        network.send(message, channels)
    elif tellers:
        network.send(message, channels, tellers[0])
    else:
        network.send(message, channels)


@text
def note_teller(own: HandledRounds, round: OpenRound, node: int, labels: Labels, neighbour: int) -> None:
    if labels & (labels - 1) == 0:  # of a single item
        round.tellers.setdefault((node, labels), []).append(neighbour)


@text
def note_only_teller(own: HandledRounds, round: OpenRound, node: int, labels: Labels, neighbour: int) -> None:
    """Stand for `note_teller` where nothing else has reached *node*."""
    own.teller = neighbour


@text
def tell_all_but_one(
    network: Network, own: HandledRounds, round: OpenRound, node: int, kind: Kind, size: int, labels: Labels
) -> None:
    """Stand for `tell_others` where nothing else has reached *node*."""
    message = own.heard
    passed_on = message.value[0] is labels and message.size == size and message.kind is kind
    if not passed_on:
        message = Message(kind, size, (labels, network.environment._now), round.number)
    network.send(message, network.channels[node], own.teller)


@text
def tell_one(
    network: Network, own: HandledRounds, round: OpenRound, node: int, kind: Kind, size: int, labels: Labels
) -> None:
    channel = own.neighbour(node)
    if channel is not None:
        own.used[node] = channel
        network.send(Message(kind, size, (labels, network.environment._now), round.number), (channel,))


@text
def busy_until(network: Network, own: HandledRounds, node: int) -> int:
    return 0 if own.used[node] is None else network.free_from(own.used[node])  # type: ignore[arg-type]


# Time.


@text
def now_of(network: Network) -> int:
    return network.environment._now


@text
def slot_length(network: Network) -> int:
    return network.slot


@text
def horizon_of(own: HandledRounds) -> int:
    return own.horizon


@text
def is_slotted(own: HandledRounds) -> bool:
    return SLOTTED


@text
def later(network: Network, own: HandledRounds, round: OpenRound, node: int, due: int, labels: Labels) -> None:
    own.steps.at(due, node, (round.number, labels))


@text
def at_once(network: Network, own: HandledRounds, round: OpenRound, node: int, labels: Labels) -> None:
    own.learnt.append((round.number, labels))


# Sets of labels.


@text
def number_of(own: HandledRounds, labels: Labels) -> int:
    return labels.bit_count()


@text
def is_empty(labels: Labels) -> bool:
    return labels == 0


@text
def nothing(own: HandledRounds) -> Labels:
    return 0


@text
def bytes_of(own: HandledRounds, round: OpenRound, labels: Labels) -> int:
    return labels.bit_count() * round.uniform if round.uniform else round.size(labels)


# What a node holds in a round.


@text
def held(own: HandledRounds, round: OpenRound, node: int) -> Labels:
    return round.known[node]


@text
def holds_nothing(own: HandledRounds, round: OpenRound, node: int) -> bool:
    return round.known[node] == 0


@text
def held_of(own: HandledRounds, round: OpenRound, node: int, labels: Labels) -> Labels:
    return labels & round.known[node]


@text
def learn(network: Network, own: HandledRounds, round: OpenRound, node: int, labels: Labels) -> None:
    news = labels & ~round.known[node]
    if NEWS:
        own.news(round.number, node, news.bit_count())
    if news:
        round.known[node] |= news
        if LISTENED:
            own.overheard[node, round.number] = own.overheard.get((node, round.number), 0) | news
        items = news.bit_count()
        if ALL_COUNT:
            note_news(own, round, node, items, items)
        elif round.counting >> node & 1:
            note_news(own, round, node, items, (news & round.counting).bit_count())
        else:
            note_news(own, round, node, items, 0)


@text
def has_gone_on(own: HandledRounds, round: OpenRound, node: int) -> bool:
    return round.went_on >> node & 1 == 1


@text
def count_late(own: HandledRounds, items: int) -> None:
    own.late += items


@text
def need_less(own: HandledRounds, round: OpenRound, items: int) -> int:
    round.missing -= items
    return round.missing


@text
def complete(own: HandledRounds, round: OpenRound) -> None:
    own.completed.append(round)


@text
def unasked(own: HandledRounds, round: OpenRound, node: int, labels: Labels) -> Labels:
    return labels & ~round.asked[node]


@text
def ask(own: HandledRounds, round: OpenRound, node: int, labels: Labels) -> None:
    round.asked[node] |= labels


@text
def next_slot(own: HandledRounds, round: OpenRound, node: int) -> int:
    return round.next_slot[node]


@text
def set_next_slot(own: HandledRounds, round: OpenRound, node: int, slot: int) -> None:
    round.next_slot[node] = slot


@text
def is_deserted(own: HandledRounds, round: OpenRound) -> bool:
    return round.deserted
