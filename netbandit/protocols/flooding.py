"""Flooding: every node sends each new item to all its neighbours."""

from simpy import Event

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network, Receive
from netbandit.protocols.free_clock import FreeClock
from netbandit.protocols.free_rounds import FreeRounds
from netbandit.protocols.known_items import Labels
from netbandit.protocols.protocol import Aggregation, Item, Overhear, contributed

FLOOD = Kind("FLOOD")

_MISSING, _KNOWN, _FRESH = 0, 1, 2

Sources = dict[int, list[int]]
"""Label of a fresh item -> the neighbours it arrived from."""


class FloodRound:
    """One round.

    Attributes:
        items: What each agent contributed; None until it has.
        again: What an agent contributed once more, after it had lost its memory: for itself alone.
        state: For each agent one byte a label: missing, known, or fresh (arrived, not yet passed on).
        waiting: For (agent, label) of a fresh item in slotted time, the neighbours from which it came.
        missing: How many (agent, label) pairs are missing or fresh.
        informed: Happens when every agent has every item.
    """

    def __init__(self, agents: int, informed: Event) -> None:
        self.items: list[Item | None] = [None] * agents
        self.again: dict[int, Item] = {}
        self.state = [bytearray(agents) for _ in range(agents)]
        self.waiting: dict[tuple[int, int], list[int]] = {}
        self.missing = agents * agents
        self.informed = informed

    def known(self, agent: int) -> Labels:
        """Return the labels of the items that *agent* has, as a bit mask."""
        return sum(1 << label for label, state in enumerate(self.state[agent]) if state == _KNOWN)

    def contribute(self, label: int, item: Item) -> None:
        """Keep what an agent contributes; what it contributed before stays with the others."""
        if self.items[label] is None:
            self.items[label] = item
        else:
            self.again[label] = item

    def named(self, labels: Labels) -> list[Item]:
        """Return the items that *labels* name, in the order of their labels."""
        return [item for label, item in enumerate(self.items) if item is not None and labels >> label & 1]

    def held(self, label: int, labels: Labels | None = None) -> list[Item]:
        """Return the items that the agent has, of *labels* only if given; its own among them in any case."""
        labels = (self.known(label) & (-1 if labels is None else labels)) | 1 << label
        items = (self.again.get(at, item) if at == label else item for at, item in enumerate(self.items))
        return [item for at, item in enumerate(items) if item is not None and labels >> at & 1]

    def forget(self, label: int) -> None:
        """Let an agent know nothing any more."""
        self.missing += sum(state == _KNOWN for state in self.state[label])
        self.state[label] = bytearray(len(self.items))
        self.again.pop(label, None)


class Flooding(FreeRounds):
    """One message per item and channel.

    A node sends each new item to all neighbours except every one from which it arrived before the node passes
    it on; it ignores items that it has. The round ends by the free clock that also ends ``gis``, when every agent
    has every item, or for an agent at its `deadline`.
    """

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._rounds: dict[int, FloodRound] = {}
        self._free_clock = FreeClock(network, self._look, self._apart)
        self._steps: InstantQueue[tuple[int, Sources]] = InstantQueue(self.clock, self._act, aggregation.turn)
        self._take_in: Receive = self._receive_slotted if self.slotted else self._asynchronous()

    def listen(self, overhear: Overhear) -> None:
        """See `CallbackRoundProtocol.listen`."""
        super().listen(overhear)
        if not self.slotted:
            self._take_in = self._asynchronous()

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Let the agent send its item in this instant."""
        item = contributed(item)
        afterwards = self._contribute_afterwards(round, agent, item)
        if afterwards is not None:
            return afterwards
        state = self._rounds.get(round)
        if state is None:
            state = self._rounds[round] = FloodRound(self.network.agents, self.clock.environment.event())
            self._free_clock.begin((round, 0))
        state.contribute(agent, item)
        self._steps.at(self.clock.now, agent, (round, {agent: []}))
        return self._patience.wait(round, agent) if self._apart else state.informed

    def done(self, agent: int, round: int) -> None:
        """Let the clock know."""
        self._free_clock.done(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        super().forget(agent)
        self._free_clock.forget(agent)
        for state in self._rounds.values():
            state.forget(agent)
            state.waiting = {key: senders for key, senders in state.waiting.items() if key[0] != agent}

    @property
    def handler(self) -> Receive:
        """See `NetworkProtocol.handler`."""
        return self._take_in if type(self).receive is Flooding.receive else self.receive

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Take in what is new; pass it on now, or at the slot boundary."""
        self._take_in(node, arrivals)

    def _asynchronous(self) -> Receive:
        """Return what takes in, and passes on at once, what reaches a node.

        One message alone, passed on as it is, is most of what happens in asynchronous time; attributes of a part take
        four times as long to read as variables.
        """
        rounds, clock_needed, apart = self._rounds, self._free_clock.needed, self._apart
        channels, send, overhear = self.network.channels, self.network.send, self.overhear

        def receive_together(node: int, arrivals: list[Arrival]) -> None:
            # As _receive_many(), where there is one round at a time and nobody overhears.
            fresh: dict[int, list[int]] = {}
            messages: list[Message] = []
            round: FloodRound | None = None
            for _, sender, message in arrivals:
                found = rounds.get(message.round)
                if found is None:
                    continue
                round = found
                known = round.state[node]
                label = message.value[0]
                if known[label] == _MISSING:
                    known[label] = _FRESH
                    fresh[label] = [sender]
                    messages.append(message)
                elif known[label] == _FRESH:
                    fresh[label].append(sender)
            if round is None or not messages:
                return
            for label in fresh:
                known[label] = _KNOWN
            round.missing -= len(messages)
            if round.missing or self._goes_on(messages[0].round, round):
                near = channels[node]
                for message, senders in zip(messages, fresh.values(), strict=True):
                    if len(senders) == 1:
                        send(message, near, senders[0])
                    else:
                        send(message, [channel for channel in near if channel.receiver not in senders])

        def receive(node: int, arrivals: list[Arrival]) -> None:
            if len(arrivals) > 1:
                if apart or clock_needed or overhear is not None:
                    self._receive_many(node, arrivals)
                else:
                    receive_together(node, arrivals)
                return
            _, sender, message = arrivals[0]
            number = message.round
            if number not in rounds:
                return  # it has ended while the message was under way
            round = rounds[number]
            known = round.state[node]
            label = message.value[0]
            if known[label]:
                return
            known[label] = _KNOWN
            round.missing -= 1
            if apart:
                self._note_late(number, node, 1)
            if overhear is not None:
                overhear(node, number, round.named(1 << label))
            if (round.missing and not clock_needed) or self._goes_on(number, round):
                send(message, channels[node], sender)

        return receive

    def _receive_many(self, node: int, arrivals: list[Arrival]) -> None:
        """Pass on what arrives together, but back to none of the neighbours from which it came."""
        fresh: dict[int, Sources] = {}
        for _, sender, message in arrivals:
            round = self._rounds.get(message.round)
            if round is None:
                continue
            known = round.state[node]
            label, _ = message.value
            if known[label] == _MISSING:
                known[label] = _FRESH
                fresh.setdefault(message.round, {})[label] = [sender]
            elif known[label] == _FRESH:
                fresh[message.round][label].append(sender)
        if fresh:
            self._act([(node, list(fresh.items()))])

    def _receive_slotted(self, node: int, arrivals: list[Arrival]) -> None:
        """Keep what is new until the slot boundary at which the node passes it on."""
        for _, sender, message in arrivals:
            round = self._rounds.get(message.round)
            if round is None:
                continue
            known = round.state[node]
            label, begun = message.value
            if known[label] == _MISSING:
                known[label] = _FRESH
                senders = round.waiting[node, label] = [sender]
                self._steps.at(
                    self.clock.effective_time(begun, self.clock.now), node, (message.round, {label: senders})
                )
            elif known[label] == _FRESH:
                round.waiting[node, label].append(sender)

    def _act(self, due: list[tuple[int, list[tuple[int, Sources]]]]) -> None:
        """Let nodes take in fresh items, end rounds, and pass the items on in the others."""
        for node, parts in due:
            for number, sources in parts:
                round = self._rounds.get(number)
                if round is None:
                    continue
                known = round.state[node]
                if self._apart:
                    self._note_late(number, node, sum(label != node for label in sources))
                for label in sources:
                    known[label] = _KNOWN
                    round.waiting.pop((node, label), None)
                if self.overhear is not None:
                    self.overhear(node, number, round.named(sum(1 << label for label in sources)))
                round.missing -= len(sources)
                self._goes_on(number, round)
        now = self.clock.now
        network = self.network
        for node, parts in due:
            channels = network.channels[node]
            for number, sources in parts:
                round = self._rounds.get(number)
                if round is None:
                    continue
                for label, senders in sources.items():
                    item = round.items[label]
                    assert item is not None  # only what was contributed is ever sent
                    message = Message(FLOOD, HEADER_BYTES + LABEL_BYTES + item.size, (label, now), number)
                    network.send(message, [channel for channel in channels if channel.receiver not in senders])

    def _goes_on(self, number: int, round: FloodRound) -> bool:
        """End a round if the clock says so; return whether it goes on."""
        if self._free_clock.needed:
            self._look((number, 0))
            return number in self._rounds
        if not round.missing:
            self._end(number, (1 << self.network.agents) - 1)
        return round.missing > 0

    def _look(self, key: tuple[int, int]) -> None:
        """End a round in which agents may be down if the clock says so."""
        round = self._rounds[key[0]]
        held = self._free_clock.held(
            key, range(self.network.agents), lambda label, other: round.state[label][other] == _KNOWN, round.known
        )
        if held is not None:
            self._free_clock.end(key)
            self._end(key[0], held)

    def _end(self, number: int, labels: Labels) -> None:
        round = self._rounds.pop(number)
        answer = self._end_round(number, round, labels)
        if answer is not None:
            round.informed.succeed(answer)

    def _holds(self, round: int, agent: int) -> list[Item]:
        return self._rounds[round].held(agent)
