"""Round protocols written as one coroutine per agent and round: the convenience layer.

::

    class Hub(RoundProtocol):
        def round(self, me, item):
            if me.id == 0:
                items = yield me.receive(REPORT, from_=me.neighbours)
                answer = self.aggregate([item, *items])
                me.send(RESULT, answer, to=me.neighbours)
            else:
                me.send(REPORT, item, to=0)
                answer = yield me.receive(RESULT)
            return answer

A coroutine begins when its agent contributes, and resumes once the awaited messages have arrived: slotted, at the slot
boundary that ends the hop; asynchronous, the moment a message arrives. Its return value informs its agent; the round
ends when all coroutines have returned. Messages that arrive before they are awaited are kept; those that arrive
after the coroutine has returned are dropped.

The layer costs some microseconds per message more than callbacks
(`netbandit.protocols.protocol.CallbackRoundProtocol`), which the built-in protocols use.
"""

import inspect
import traceback
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from simpy import Event

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import LABEL_BYTES, NUMBER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item, contributed
from netbandit.util.units import parse_duration

Coroutine = Generator["Wanted", Any, Item]
"""The type of `RoundProtocol.round`: it yields what it waits for, and returns its agent's conclusion."""


class ProtocolError(Exception):
    """A protocol breaks a rule; the message names its class, the agent and the round."""


class Wanted(NamedTuple):
    """A condition of a waiting coroutine; made by `Participant.receive`, `receive_all` and `Participant.wait`.

    Attributes:
        kinds: The kinds of messages; none: only time passes.
        senders: The senders of which one message each is required, ascending; None: one message of any sender.
        single: Whether it yields a payload instead of a list.
        every: Whether it yields all matching messages in the mailbox.
        deadline: The longest wait (ns); None: unlimited.
    """

    kinds: tuple[Kind, ...]
    senders: tuple[int, ...] | None = None
    single: bool = False
    every: bool = False
    deadline: int | None = None

    def __str__(self) -> str:
        if not self.kinds:
            return "for time to pass"
        kinds = " or ".join(kind.name for kind in self.kinds)
        return f"for {kinds}" + (
            "" if self.senders is None else f" from {', '.join(map(str, self.senders)) or 'nobody'}"
        )


@lru_cache(maxsize=64)
def _one_of(kinds: tuple[Kind, ...]) -> Wanted:
    """Return the most common condition: a message of one of these *kinds* from anybody."""
    return Wanted(kinds, None, single=True)


class Participant:
    """An agent in one round, as its coroutine sees it.

    Attributes:
        id: The agent's number.
        neighbours: Its neighbours, ascending.
        agents: The number of agents in all.
        round: The number of the round, from 1.
        senders: The senders of the messages of the latest receive, in the same order.
        kinds: Their kinds, in the same order.
    """

    def __init__(self, protocol: "RoundProtocol", agent: int, round: int) -> None:
        self._protocol = protocol
        self.id = agent
        self.neighbours: tuple[int, ...] = tuple(protocol.network.neighbours[agent])
        self.agents = protocol.network.agents
        self.round = round
        self.senders: tuple[int, ...] = ()
        self.kinds: tuple[Kind, ...] = ()

    @property
    def now(self) -> int:
        """The present time (ns)."""
        return self._protocol.clock.now

    def send(self, kind: Kind, payload: Any = None, *, to: int | Iterable[int]) -> None:
        """Send the same message to one or several neighbours.

        Args:
            kind: What kind of message it is.
            payload: Its payload, which decides its size: 20 bytes for the header, plus those of an `Item`, 8 per
                number, 4 per key (label) of a dictionary, 0 for None; of a list or a tuple, those of its parts.
            to: A neighbour, or several.
        """
        if not isinstance(kind, Kind):
            raise self.error(f'sends a message of {kind!r}, which is no kind: make one, UP = netbandit.Kind("UP")')
        receivers = (to,) if isinstance(to, int) else tuple(to)
        near = self._protocol.near[self.id]
        for receiver in receivers:
            if receiver not in near:
                raise self.error(
                    f"sends {kind.name} to {receiver}, which is no neighbour: they are {self._neighbours()}"
                )
        if receivers:
            self._protocol.send(self, kind, payload, receivers)

    def receive(
        self,
        kind: Kind | tuple[Kind, ...],
        from_: int | Iterable[int] | None = None,
        deadline: str | int | None = None,
    ) -> Wanted:
        """Wait for messages: ``payload = yield me.receive(KIND)``.

        Args:
            kind: The kind, or several, any of which matches.
            from_: None: one message from any neighbour. A neighbour: one message from it. Several: one from each, as
                a list in order of the senders' numbers.
            deadline: The longest wait, ``"500 ms"`` or nanoseconds; absent: unlimited. After it the payload is None,
                or the list has only those that have arrived (`senders` says whose).
        """
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if from_ is None and deadline is None:
            return _one_of(kinds)
        limit = self._nanoseconds(deadline)
        if from_ is None:
            return Wanted(kinds, None, single=True, deadline=limit)
        single = isinstance(from_, int)
        senders = (from_,) if isinstance(from_, int) else tuple(sorted(set(from_)))
        for sender in senders:
            if sender not in self._protocol.near[self.id]:
                names = " or ".join(each.name for each in kinds)
                raise self.error(
                    f"waits for {names} from {sender}, which is no neighbour: they are {self._neighbours()}"
                )
        return Wanted(kinds, senders, single=single, deadline=limit)

    def receive_all(self, kind: Kind | tuple[Kind, ...], deadline: str | int | None = None) -> Wanted:
        """Wait for at least one message: ``payloads = yield me.receive_all(KIND)`` returns all in the mailbox.

        Args:
            kind: The kind, or several.
            deadline: How long to wait; see :meth:`receive`.
        """
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return Wanted(kinds, None, every=True, deadline=self._nanoseconds(deadline))

    def wait(self, duration: str | int) -> Wanted:
        """Wait for a time: ``yield me.wait("2 slots")``, or nanoseconds; slotted, up to the next boundary."""
        return Wanted((), deadline=self._nanoseconds(duration))

    def error(self, text: str) -> ProtocolError:
        """Return an error that names the class, the agent and the round."""
        return ProtocolError(
            f"{type(self._protocol).__qualname__}.round of agent {self.id} in round {self.round} {text}"
        )

    def raised(self, error: Exception) -> ProtocolError:
        """Return the error that names class, agent, round and line for one that the coroutine raised."""
        file = inspect.getsourcefile(type(self._protocol).round)
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
        where = f" in line {lines[-1]}" if lines else ""
        return self.error(f"raised {type(error).__name__}: {error}{where}")

    def _neighbours(self) -> str:
        return ", ".join(map(str, self.neighbours)) or "none"

    def _nanoseconds(self, duration: str | int | None) -> int | None:
        if isinstance(duration, str):
            try:
                duration = parse_duration(duration).nanoseconds(self._protocol.clock.slot)
            except ValueError as error:
                raise self.error(f"waits for {duration!r}: {error}") from None
        if duration is None:
            return None
        if isinstance(duration, bool) or not isinstance(duration, int | np.integer):
            raise self.error(f'waits for {duration!r}: give whole nanoseconds, or a text such as "2 slots"')
        if duration <= 0:
            raise self.error(f"waits for {duration} ns: a wait takes some time")
        return int(duration)


class _Received(NamedTuple):
    """A message that has taken effect."""

    sender: int
    kind: Kind
    payload: Any


class _AgentState:
    """The state of an agent in a round.

    Attributes:
        mailbox: The messages that have arrived and are not consumed, in order of time, then of the senders' numbers.
        me: The agent, once it has contributed.
        coroutine: Its coroutine.
        wanted: The condition that the coroutine waits for.
        until: The time (ns) at which the wait ends.
        informed: Triggered when the coroutine has returned.
    """

    __slots__ = ("coroutine", "informed", "mailbox", "me", "until", "wanted")

    def __init__(self) -> None:
        self.mailbox: list[_Received] = []
        self.me: Participant | None = None
        self.coroutine: Coroutine | None = None
        self.wanted: Wanted | None = None
        self.until: int | None = None
        self.informed: Event | None = None


class _Round:
    """The state of a round.

    Attributes:
        agents: The state of each agent that has contributed or received a message.
        begun: The number of agents that have contributed.
        returned: The agents whose coroutines have returned.
        pending: The number of messages and waits that are still to take effect.
        answers: The aggregates that coroutines have returned, each with its conclusion.
    """

    def __init__(self) -> None:
        self.agents: defaultdict[int, _AgentState] = defaultdict(_AgentState)
        self.begun = 0
        self.returned: set[int] = set()
        self.pending = 0
        self.answers: list[tuple[Item, Item]] = []


_Step = tuple[int, _Received | None]
"""A round, and the message that takes effect in it; None: a wait ends."""


class RoundProtocol(CallbackRoundProtocol):
    """A round protocol in which each agent runs a coroutine: see the module."""

    near: list[frozenset[int]] = state()
    """The neighbours of each agent."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self.near = [frozenset(near) for near in network.neighbours]
        self._slotted = self.slotted
        self._rounds: defaultdict[int, _Round] = defaultdict(_Round)
        self._steps: InstantQueue[_Step] = InstantQueue(self.clock, self._act, aggregation.turn)
        self._latest: tuple[list[Item], Sequence[int] | None, Item] | None = None

    @abstractmethod
    def round(self, me: Participant, item: Any) -> Coroutine:
        """Run an agent's part in a round, and return the aggregate of all items.

        Args:
            me: The agent in this round.
            item: Its contribution, an `Item`; None if participants were chosen and it is not among them.
        """

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return the aggregate of *items*: an item of the same kind, which may be aggregated again.

        Args:
            items: At least one, in order of their agents' numbers.
            weights: How many agents each item stands for; absent: one each.
        """
        items = list(items)
        latest = self._latest  # agents with the same items usually aggregate one after another
        if latest is not None and latest[1] == weights and list(map(id, latest[0])) == list(map(id, items)):
            return latest[2]
        found = self.aggregation.aggregate(items, weights)
        self._latest = items, weights, found
        return found

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Start the agent's coroutine, at this instant."""
        if not self.chooses:
            item = contributed(item)
        state = self._rounds[round]
        state.begun += 1
        agent_state = state.agents[agent]
        agent_state.me = Participant(self, agent, round)
        agent_state.informed = Event(self.clock.environment)
        try:
            part: Any = self.round(agent_state.me, item)
        except ProtocolError:
            raise
        except Exception as error:  # of a method without a yield, which runs here
            raise agent_state.me.raised(error) from error
        if isinstance(part, Generator):
            agent_state.coroutine = part
        else:  # a method without a yield has returned already
            agent_state.coroutine = _returning(part)
        self._later(round, agent, self.clock.now, None)
        return agent_state.informed

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Put arrivals into the mailbox of their round: now, or at the slot boundary that ends the hop."""
        steps: list[_Step] = []
        for _, sender, message in arrivals:
            payload, begun = message.value
            step = message.round, _Received(sender, message.kind, payload)
            if self._slotted:
                self._steps.at(self.clock.effective_time(begun, self.clock.now), node, step)
            else:
                steps.append(step)
        if steps:
            self._act([(node, steps)])

    def send(self, me: Participant, kind: Kind, payload: Any, receivers: Sequence[int]) -> None:
        """Send a message of *me* to *receivers*, which are neighbours."""
        size = self.network.header + self._size(me, payload)
        self._rounds[me.round].pending += len(receivers)
        network = self.network
        channels = [network.channel(me.id, receiver) for receiver in receivers]
        network.send(Message(kind, size, (payload, self.clock.now), me.round), channels)

    def _size(self, me: Participant, payload: Any) -> int:
        """Return the bytes of a payload."""
        if payload is None:
            return 0
        if isinstance(payload, Item):
            size: Any = payload.size
            if type(size) is not int or size < 0:  # of a learner's items this is so
                raise me.error(f"sends an item of {size!r} bytes: they must be an integer of at least 0")
            return payload.size
        if isinstance(payload, (list, tuple)):
            return sum([self._size(me, part) for part in payload])
        if isinstance(payload, (bool, int, float, np.number)):
            return NUMBER_BYTES
        if isinstance(payload, np.ndarray) and payload.dtype.kind in "biufc":
            return NUMBER_BYTES * payload.size
        if isinstance(payload, dict):
            return sum([LABEL_BYTES + self._size(me, part) for part in payload.values()])
        raise me.error(f"sends a {type(payload).__name__}, whose bytes nobody knows: give it as an Item(size, value)")

    def _later(self, round: int, agent: int, time: int, message: _Received | None) -> None:
        self._rounds[round].pending += 1
        self._steps.at(time, agent, (round, message))

    def _act(self, due: list[tuple[int, list[_Step]]]) -> None:
        """Deliver everything that takes effect at this instant, then resume the coroutines concerned."""
        touched: dict[tuple[int, int], None] = {}
        rounds, ended = self._rounds, self.ended
        for node, steps in due:
            for number, message in steps:
                if number in ended:
                    continue
                state = rounds[number]
                state.pending -= 1
                if node in state.returned:
                    continue
                if message is not None:
                    state.agents[node].mailbox.append(message)
                touched[node, number] = None
        for node, number in touched:
            agent_state = rounds[number].agents[node]
            if agent_state.coroutine is not None and agent_state.me is not None:
                self._go_on(agent_state, agent_state.me, agent_state.coroutine)
        for number in {number for _, number in touched}:
            self._check_progress(number)

    def _go_on(self, agent_state: _AgentState, me: Participant, coroutine: Coroutine) -> None:
        """Run a coroutine until the condition that it waits for is not met."""
        given: Any = None
        if agent_state.wanted is not None:
            found = self._found(agent_state, me, agent_state.wanted)
            if found is None:
                return
            (given,) = found
        while True:
            try:
                wanted = coroutine.send(given)
            except StopIteration as stop:
                self._return(agent_state, me, stop.value)
                return
            except ProtocolError:
                raise
            except Exception as error:
                raise me.raised(error) from error
            if not isinstance(wanted, Wanted):
                raise me.error(
                    f"yields {wanted!r}: it can wait for me.receive(...), me.receive_all(...) and me.wait(...) only"
                )
            agent_state.wanted = wanted
            agent_state.until = None
            found = self._found(agent_state, me, wanted)
            if found is None:
                if wanted.deadline is not None:
                    agent_state.until = self._due(wanted.deadline)
                    self._later(me.round, me.id, agent_state.until, None)
                return
            (given,) = found

    def _found(self, agent_state: _AgentState, me: Participant, wanted: Wanted) -> tuple[Any] | None:
        """Return the value that the coroutine receives, or None if it keeps waiting."""
        passed = agent_state.until is not None and self.clock.now >= agent_state.until
        if not wanted.kinds:
            return (None,) if passed else None
        if wanted.senders is None and not wanted.every:  # what most wait for
            for index, message in enumerate(agent_state.mailbox):
                if message.kind in wanted.kinds:
                    del agent_state.mailbox[index]
                    me.senders, me.kinds = (message.sender,), (message.kind,)
                    return (message.payload,)
            first: list[_Received] = []
            enough = False
        elif wanted.senders is None:
            first = [message for message in agent_state.mailbox if message.kind in wanted.kinds]
            enough = bool(first)
        else:
            firsts: dict[int, _Received] = {}
            for message in agent_state.mailbox:
                if message.kind in wanted.kinds and message.sender in wanted.senders:
                    firsts.setdefault(message.sender, message)
            first = [firsts[sender] for sender in sorted(firsts)]
            enough = len(first) == len(wanted.senders)
        if not enough and not passed:
            return None
        taken = set(map(id, first))
        agent_state.mailbox = [message for message in agent_state.mailbox if id(message) not in taken]
        me.senders = tuple(message.sender for message in first)
        me.kinds = tuple(message.kind for message in first)
        payloads = [message.payload for message in first]
        if wanted.single:
            return (payloads[0] if payloads else None,)
        return (payloads,)

    def _due(self, deadline: int) -> int:
        """Return when a wait ends: slotted, at a boundary."""
        time = self.clock.now + deadline
        return self.clock.boundary(time) * self.clock.slot if self._slotted else time

    def _return(self, agent_state: _AgentState, me: Participant, aggregate: Any) -> None:
        """Conclude from the value that a coroutine has returned, and inform its agent."""
        if not isinstance(aggregate, Item):
            raise me.error(f"returns {aggregate!r}: it must return an item, such as self.aggregate([...]) gives")
        number = me.round
        state = self._rounds[number]
        per_agent = self.aggregation.per_agent
        answer = None if per_agent else next((one for other, one in state.answers if _same(other, aggregate)), None)
        if answer is None:
            try:
                answer = self.aggregation.conclude(number, me.id if per_agent else 0, aggregate)
            except Exception as error:
                raise me.error(f"returns what nothing follows from: {type(error).__name__}: {error}") from error
            state.answers.append((aggregate, answer))
        assert agent_state.informed is not None
        agent_state.informed.succeed(answer)
        del state.agents[me.id]
        state.returned.add(me.id)
        if len(state.returned) == len(self.network.acting):
            del self._rounds[number]
            self.end(number)

    def _check_progress(self, number: int) -> None:
        """Raise an error on a deadlock: all coroutines have begun, no message is in flight, and no wait will end.

        Messages that the horizon cuts off or the network loses count as in flight: the protocol is not at fault.
        """
        state = self._rounds.get(number)
        if state is None or state.pending or state.begun < self.network.agents:
            return
        agent = min(state.agents)
        me, wanted = state.agents[agent].me, state.agents[agent].wanted
        assert me is not None
        others = f", as {len(state.agents) - 1} others do" if len(state.agents) > 1 else ""
        raise me.error(f"never returns: it waits {wanted}{others}, and nothing is under way")


def _returning(value: Any) -> Coroutine:
    """Return a coroutine that returns *value* at once."""
    yield from ()
    return value  # type: ignore[no-any-return]


def _same(one: Item, other: Item) -> bool:
    """Return whether two items have equal size and content."""
    if one is other or one.value is other.value:
        return True
    if isinstance(one.value, np.ndarray) or isinstance(other.value, np.ndarray):
        return one.size == other.size and np.array_equal(one.value, other.value)
    return one.size == other.size and bool(one.value == other.value)
