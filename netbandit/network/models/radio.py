"""Shared-channel transmission: one transmitter per agent, with a queue, channel access and a duty cycle.

A message that an agent sends to several neighbours at one instant is one transmission. Transmissions leave in the
order in which they were queued. The transmission at the head of the queue begins

- at once;
- by ALOHA, after a random delay, uniform from 0 to a maximum; or
- by unslotted CSMA-CA (IEEE 802.15.4-2006, 7.5.1.4): after a backoff of 0 to 2^b - 1 units, drawn uniformly, the
  agent senses the channel. If it is idle it sends; else it backs off again, with b = 3, 4, 5, 5, ..., and gives up
  after a maximum number of attempts.

With the duty cycle d, the next turn comes at the earliest a / d, rounded up, after a transmission of airtime a began.
A transmission that would begin at or after the horizon is never sent; nor is one queued at an agent that goes down.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Self

import numpy as np
from simpy import Event

from netbandit.network.air import Air
from netbandit.network.clock import ARRIVALS, SENDS, ScheduledEvent
from netbandit.network.downtimes import NEVER
from netbandit.network.engine import Engine
from netbandit.network.link import Channel, FaultyChannel
from netbandit.network.message import Message
from netbandit.network.models.contacts import latest_start
from netbandit.network.radio_plan import Aloha, Csma, RadioPlan
from netbandit.network.steps import Model, Steps
from netbandit.parts.metric import Metric

LEAST_EXPONENT, LARGEST_EXPONENT = 3, 5
"""macMinBE and macMaxBE, by default: a backoff takes up to 2^exponent - 1 units."""


class Transmission:
    """A message queued for transmission.

    Attributes:
        message: The message.
        channels: The channels to its intended receivers.
        put_at: When it was put into the queue (ns).
        turn: When its turn came first (ns); -1: it has not come.
        first: Whether it has not been tried yet.
    """

    __slots__ = ("channels", "first", "message", "put_at", "turn")

    def __init__(self, message: Message, channels: Sequence[Channel], put_at: int) -> None:
        self.message, self.channels, self.put_at = message, channels, put_at
        self.turn = -1
        self.first = True


class Transmitter:
    """The transmitter of an agent.

    Attributes:
        queue: The waiting transmissions, in order.
        free_at: When its next transmission may begin (ns).
        looks: How often it has sensed a busy channel for the head of the queue.
        generator: Its random generator; None: it has drawn nothing.
    """

    __slots__ = ("callbacks", "free_at", "generator", "looks", "queue")

    def __init__(self, callbacks: list[Callable[[Event], None]]) -> None:
        self.queue: deque[Transmission] = deque()
        self.free_at = self.looks = 0
        self.generator: np.random.Generator | None = None
        self.callbacks = callbacks


class Radio(Model):
    """The transmitters of all agents; one event is pending for each with a non-empty queue.

    Args:
        plan: How agents share the air.
        network: The network.

    Attributes:
        transmissions: How many have begun.
        airtime: Their total airtime (ns).
        collided: Receptions destroyed at intended receivers.
        size: Their total bytes.
        heard, heard_size, heard_airtime: The same, once for each agent that hears it by the end, intended or not.
    """

    def __init__(self, plan: RadioPlan, network: Engine) -> None:
        self._plan, self._network, self._clock = plan, network, network.clock
        self._transmitters = [Transmitter([partial(self._act, agent)]) for agent in range(network.agents)]
        self._air = Air(network.agents)
        self._after_contacts: dict[tuple[int, int], list[Transmission]] = {}
        self.transmissions = self.airtime = self.collided = 0
        self.size = self.heard = self.heard_size = self.heard_airtime = 0

    def join(self, steps: Steps) -> None:
        """See `Model.join`: receptions collide."""
        self._steps = steps
        steps.misses.append(lambda channel, size, start, due: self.has_collided(channel, due))

    @classmethod
    def metrics(cls, models: Sequence[Self]) -> Mapping[str, Metric]:
        """See `Model.metrics`: transmissions, their time on the air, and collisions."""
        (radio,) = models
        return {
            "delivery_ratio": radio._network.ledger.outcomes.delivery_ratio,
            "transmissions": radio.transmissions,
            "airtime_s": radio.airtime / 1e9,
            "collided": radio.collided,
        }

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """Queue *message* at the senders of *channels*, for their receivers except *excepted*.

        See `netbandit.network.wire.send`: nodes that send the same at once may share a call.
        """
        now = self._clock.now
        if now < self._clock.end:
            receivers: dict[int, list[Channel]] = {}
            for channel in channels:
                if channel.receiver != excepted:
                    receivers.setdefault(channel.sender, []).append(channel)
            for own in receivers.values():
                self._queue(Transmission(message, own, now))

    def has_collided(self, channel: Channel, due: int) -> bool:
        """Return whether the reception *due* (ns) on *channel* was destroyed, and count it."""
        destroyed = self._air.is_destroyed(channel.sender, channel.receiver, due)
        self.collided += destroyed and due < self._clock.end
        return destroyed

    def free_at(self, agent: int) -> int:
        """Return when (ns) a transmission of *agent* may begin next; while something waits, after now."""
        transmitter = self._transmitters[agent]
        return max(transmitter.free_at, self._clock.now + 1) if transmitter.queue else transmitter.free_at

    def wait_for_contact(self, transmission: Transmission, channel: Channel, time: int, first: bool) -> None:
        """Queue a *transmission* again for the receiver of *channel* at a *time* (ns), when its link comes up.

        A message that waits for several links that come up at once is a single transmission.

        Args:
            transmission: What was to be transmitted now.
            channel: The channel.
            time: When its link comes up.
            first: Whether it has not been tried yet.
        """
        waiting = self._after_contacts.setdefault((channel.sender, time), [])
        for other in waiting:
            if (other.message, other.put_at, other.first) == (transmission.message, transmission.put_at, first):
                other.channels = [*other.channels, channel]
                return
        again = Transmission(transmission.message, [channel], transmission.put_at)
        again.turn, again.first = transmission.turn, first
        waiting.append(again)
        if len(waiting) == 1:
            self._at(time, [partial(self._come_up, channel.sender, time)])

    def _come_up(self, agent: int, time: int, _: Event) -> None:
        for transmission in self._after_contacts.pop((agent, time)):
            self._queue(transmission)

    def _queue(self, transmission: Transmission) -> None:
        agent = transmission.channels[0].sender
        queue = self._transmitters[agent].queue
        queue.append(transmission)
        if len(queue) == 1:
            self._await_turn(agent)

    def _await_turn(self, agent: int) -> None:
        """Schedule the head of the queue of *agent* for when it may begin."""
        self._transmitters[agent].looks = 0
        self._try_at(agent, max(self._transmitters[agent].free_at, self._clock.now) + self._delay(agent))

    def _delay(self, agent: int) -> int:
        """Draw the delay (ns) before *agent* sends, or senses the channel."""
        access = self._plan.access
        if access is None:
            return 0
        transmitter = self._transmitters[agent]
        if transmitter.generator is None:
            transmitter.generator = self._network.streams.generator("radio", agent)
        number = transmitter.generator.random()
        if isinstance(access, Aloha):
            return int(number * (access.longest + 1))
        return int(number * 2 ** min(LEAST_EXPONENT + transmitter.looks, LARGEST_EXPONENT)) * access.unit

    def _try_at(self, agent: int, time: int) -> None:
        transmitter = self._transmitters[agent]
        if time < self._clock.end:
            self._at(time, transmitter.callbacks)
            return
        while transmitter.queue:
            self._leave_unsent(transmitter.queue.popleft())

    def _at(self, time: int, callbacks: list[Callable[[Event], None]]) -> None:
        environment = self._clock.environment
        environment.schedule(ScheduledEvent(callbacks), SENDS, time - environment.now)

    def _act(self, agent: int, _: Event) -> None:
        """Sense the channel, or transmit the head of the queue of *agent*."""
        transmitter, access = self._transmitters[agent], self._plan.access
        first = transmitter.queue[0]
        if isinstance(access, Csma) and self._air.hears_something(agent, self._clock.now):
            transmitter.looks += 1
            if transmitter.looks < access.attempts:
                self._try_at(agent, self._clock.now + self._delay(agent))
                return
            self._leave_unsent(first)
        elif self._is_gone(agent, first.put_at):
            self._leave_unsent(first)
        else:
            self._transmit(agent, first)
        transmitter.queue.popleft()
        if transmitter.queue:
            self._await_turn(agent)

    def _is_gone(self, agent: int, since: int) -> bool:
        """Return whether *agent* has been down since a time (ns)."""
        outages = self._network.outages
        return outages is not None and outages.any_nodes and outages.node(agent).during(since, self._clock.now)

    def _transmit(self, agent: int, transmission: Transmission) -> None:
        network, now = self._network, self._clock.now
        if transmission.turn < 0:
            transmission.turn = now
        if not self._begin(transmission, now):
            return
        airtime = self._steps.link_class.transmission(transmission.message.size)
        near = [channel for channel in network.links.channels[agent] if not is_down(channel, now)]
        self._air.transmit(agent, now, airtime, [(channel.receiver, channel.latency) for channel in near])
        heard = sum(now + airtime + channel.latency < self._clock.end for channel in near)
        self._count(transmission.message.size, airtime, heard)
        if network.batteries is not None:
            self._pay(agent, transmission.message.size, airtime, near)
        self._transmitters[agent].free_at = now + self._plan.period(airtime)

    def _begin(self, transmission: Transmission, now: int) -> int:
        """Start a *transmission* *now* (ns): the first half of a hop to each of its receivers.

        Receivers that are not in contact, or are cut off, get another transmission once they are in contact.

        Returns:
            For how many receivers it starts, including those whose link goes down before it is over; 0: it does not.
        """
        network, contacts = self._network, self._steps.contacts
        message, put_at = transmission.message, transmission.put_at
        duration = self._steps.link_class.transmission(message.size)
        begun = 0
        for channel in transmission.channels:
            before, again = channel.messages, now
            if contacts is not None:
                again = contacts.next_start(channel, now)
                if again == now:
                    again = contacts.attempt(channel, message, put_at, now, transmission.first, duration)
                    if again not in (now, NEVER):
                        self.wait_for_contact(transmission, channel, again, False)
                elif again < latest_start(network, put_at):
                    self.wait_for_contact(transmission, channel, again, transmission.first)
                elif transmission.first:
                    network.never_begin(channel, message, put_at, "unsent")
                if again == now:
                    contacts.note_wait(now - transmission.turn)
            if again == now:
                channel.wire.begin((channel,), message, None, put_at, now)
            begun += channel.messages - before
        return begun

    def _count(self, size: int, airtime: int, hearers: int) -> None:
        self.transmissions += 1
        self.airtime += airtime
        self.size += size
        self.heard += hearers
        self.heard_size += hearers * size
        self.heard_airtime += hearers * airtime

    def _pay(self, agent: int, size: int, airtime: int, near: Sequence[Channel]) -> None:
        """Charge *agent* for a transmission now, and all agents in reach at its end, if they are up then."""
        batteries = self._network.batteries
        assert batteries is not None
        batteries.pay_to_send(agent, uplink=False, size=size, airtime=airtime)

        def hear(hearers: Sequence[int], _: Event) -> None:
            for hearer in hearers if self._clock.now < self._clock.end else ():
                if not self._network.is_down(hearer):
                    batteries.pay_to_receive(hearer, uplink=False, size=size, airtime=airtime)

        hearers: dict[int, list[int]] = {}
        for channel in near:
            hearers.setdefault(channel.latency, []).append(channel.receiver)
        environment = self._clock.environment
        for latency, those in hearers.items():
            environment.schedule(ScheduledEvent([partial(hear, those)]), ARRIVALS, airtime + latency)

    def _leave_unsent(self, transmission: Transmission) -> None:
        if transmission.first:
            for channel in transmission.channels:
                self._network.never_begin(channel, transmission.message, transmission.put_at, "unsent")


def is_down(channel: Channel, time: int) -> bool:
    """Return whether the link of *channel* is down at a *time* (ns)."""
    return isinstance(channel, FaultyChannel) and channel.down.at(time)
