"""Retransmission: ``retry`` of a class of links: acknowledgements hop by hop, timers, and what is sent again.

A timer is scheduled only once it is certain that no acknowledgement will arrive in time.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf

from pydantic import Field

from netbandit.network.downtimes import NEVER
from netbandit.network.link import Channel
from netbandit.network.message import Message
from netbandit.network.models.contacts import latest_start
from netbandit.network.models.settings import nanoseconds
from netbandit.network.packet import ACK, ACK_BYTES, DROPPED, LATE, NOT_SENT, Packet, repetition_of
from netbandit.network.steps import Model, Steps
from netbandit.parts.settings import PositiveDuration, Settings

_LONGEST_WAIT = float(NEVER)


@dataclass(frozen=True)
class Retry(Model):
    """How long a sender waits for an acknowledgement, and how often it tries; the parameters of CoAP.

    The timeout runs from the end of a transmission. It is multiplied by a number drawn once per message from
    [1, spread], so that senders do not repeat in step, and by *factor* at each repetition.

    Source:
        RFC 7252, section 4.8: 2 s, 2, 1.5, 5 transmissions in all.

    Attributes:
        timeout: In nanoseconds.
        factor: The factor of the timeout at each retransmission.
        spread: The largest factor drawn for a message.
        attempts: Transmissions in all.
    """

    timeout: int
    factor: float
    spread: float
    attempts: int

    @cached_property
    def factors(self) -> Sequence[float]:
        """The factor of the timeout at each retransmission, shape (attempts,); infinity on overflow."""
        found = [inf] * self.attempts
        with suppress(OverflowError):
            for repetition in range(self.attempts):
                found[repetition] = float(self.factor**repetition)
        return found

    def join(self, steps: Steps) -> None:
        """See `Model.join`.

        Raises:
            ValueError: Whether a message is sent, and arrives, is not known when it is put on its channel.
        """
        if steps.network.deferred_outcomes:
            text = "cannot be where agents share the air or their batteries may run empty: leave out one of them"
            raise ValueError(f"links.{steps.name}.retry {text}")
        steps.own(retry=Acknowledgements(self, steps))


class RetrySettings(Settings):
    """Hop-by-hop acknowledgements, with the parameters of CoAP (RFC 7252)."""

    timeout: PositiveDuration = Field(default="2 s", description="How long a sender waits for the acknowledgement.")
    factor: float = Field(default=2.0, ge=1, le=1000, description="The factor of the timeout at each retransmission.")
    spread: float = Field(
        default=1.5, ge=1, le=1000, description="Timeouts are multiplied by a number from 1 to this, drawn per message."
    )
    attempts: int = Field(default=5, ge=1, le=1000, description="Transmissions in all, before the sender gives up.")

    def model(self, slot: int) -> Retry:
        """Return the model; *slot* is the length of a slot (ns)."""
        return Retry(max(1, nanoseconds(self.timeout, slot)), self.factor, self.spread, self.attempts)


class Acknowledgements:
    """The acknowledgements of one class of links in a replication; see `netbandit.network.steps.RetryStep`.

    Args:
        retry: The parameters.
        steps: The class of links.
    """

    __slots__ = ("_least", "_network", "_retry", "_spreads", "_steps")

    def __init__(self, retry: Retry, steps: Steps) -> None:
        self._retry, self._steps, self._network = retry, steps, steps.network
        self._spreads = steps.draws("retry")
        self._least = round(float(retry.timeout))

    def begun(
        self,
        channel: Channel,
        message: Message,
        packet: Packet | None,
        index: int,
        sent: int,
        arrival: int,
        stops: bool,
    ) -> tuple[Packet | None, int]:
        """See `RetryStep.begun`."""
        network = self._network
        if packet is None:
            if network.flags.prompt and not stops and channel.latency <= self._least and not channel.rank & 1:
                return None, index  # a message that may be acknowledged in time needs no record yet
            packet = Packet(message, channel, index)
        packet.since = sent
        packet.sent += 1
        if stops or self._is_late(packet, arrival):
            self._repeat_later(channel, packet)
            return packet, LATE
        if network.is_down_during(channel.sender, network.environment._now, arrival):
            self._give_up(channel, packet)
        return packet, packet.index

    def received(self, channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int) -> None:
        """See `RetryStep.received`: send the acknowledgement, or start the timeout of the sender."""
        back = self._network.links.uplink(channel.receiver) if channel.rank & 1 else channel.back  # of a broadcast
        if packet is None and channel.latency + back.latency > self._least:
            packet = _arrived(channel, message, ack_index, now)
        arrival = back.wire.put((back,), Message(ACK, ACK_BYTES, packet, message.round), None)
        if packet is None:
            if arrival < 0:
                self._repeat_later(channel, _arrived(channel, message, ack_index, now))
        elif ack_index != LATE and not packet.settled:
            if arrival < 0 or self._is_late(packet, arrival):
                self._repeat_later(channel, packet)
            elif self._network.is_down_during(channel.sender, now, arrival):
                self._give_up(channel, packet)

    def dropped(self, channel: Channel, message: Message, packet: Packet | None) -> None:
        """See `RetryStep.dropped`."""
        packet = packet or Packet(message, channel, channel.messages)
        packet.since = self._network.environment._now
        packet.sent += 1
        self._repeat_later(channel, packet)

    def refused(self, channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int) -> None:
        """See `RetryStep.refused`."""
        if ack_index == LATE:
            return
        if packet is None:
            packet = _arrived(channel, message, ack_index, now)
            packet.received_in = -1
        self._repeat_later(channel, packet)

    def repeat(self, channel: Channel, packet: Packet) -> None:
        """See `RetryStep.repeat`: unless it was acknowledged after all, or had its last attempt.

        A broadcast is retransmitted over the uplink of the agent that did not acknowledge it.
        """
        network = self._network
        now = network.environment._now
        if packet.settled or now >= network.end:
            return
        if channel.is_broadcast:
            channel = network.links.downlink(channel.receiver)
        if packet.sent >= self._retry.attempts:
            self._give_up(channel, packet)
            return
        message = packet.message
        repetition = Message(repetition_of(message.kind), message.size, message.value, message.round)
        arrival = channel.wire.put((channel,), repetition, packet)
        if arrival not in (NOT_SENT, DROPPED):
            network.tally.retransmissions += 1
        elif arrival == NOT_SENT:  # at the end its sender still waits for its turn, unless that is over before
            stale = self._steps.contacts is not None and latest_start(network, now) < network.end
            if stale or network.is_down_during(channel.sender, now, network.end - 1):
                self._give_up(channel, packet)

    def _is_late(self, packet: Packet, time: int) -> bool:
        """Return whether the sender of *packet* no longer waits at *time* (ns); in most cases without a random draw."""
        waited = time - packet.since
        return waited > self._least and waited > self._timeout_of(packet)

    def _timeout_of(self, packet: Packet) -> int:
        """Return how long (ns) the sender of *packet* waits after its latest transmission; see `Retry`."""
        retry, origin = self._retry, packet.origin
        uniform = self._spreads.number(origin.column, packet.index - origin.undrawn)
        wait = float(retry.timeout) * (1.0 + uniform * (retry.spread - 1.0)) * retry.factors[packet.sent - 1]
        return round(wait) if wait < _LONGEST_WAIT else NEVER

    def _repeat_later(self, channel: Channel, packet: Packet) -> None:
        """Schedule the retransmission of *packet* at its timeout, provided its sender stays up until then."""
        network = self._network
        if packet.settled:
            return
        until = packet.since + self._timeout_of(packet)
        if network.is_down_during(channel.sender, network.environment._now, until):
            self._give_up(channel, packet)
        else:
            network.enter(network.timers, until, (self, channel, packet))

    def _give_up(self, channel: Channel, packet: Packet) -> None:
        """Stop waiting for the acknowledgement of *packet*, without a retransmission."""
        if not packet.settled:
            packet.settled = True
            tally = self._network.tally
            tally.given_up += 1
            tally.given_up_on_uplinks += channel.wire.uplink


def _arrived(channel: Channel, message: Message, index: int, now: int) -> Packet:
    """Return a new packet for a *message* without one, which has arrived on *channel* now (ns)."""
    packet = Packet(message, channel, index)
    packet.since = now - channel.latency
    packet.sent = 1
    packet.received_in = 0
    return packet
