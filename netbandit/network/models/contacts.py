"""Store, carry, forward: messages wait for their link, where agents see which of their links are up."""

from collections.abc import Mapping, Sequence
from typing import Self

from netbandit.network.downtimes import NEVER
from netbandit.network.engine import Engine
from netbandit.network.link import Channel, FaultyChannel
from netbandit.network.message import Message
from netbandit.network.steps import Model, Steps
from netbandit.parts.metric import Metric


class Waiting(Model):
    """A message waits for its link. If the link goes down before arrival, the sender notices, and sends it again.

    It starts once the link is up again; each attempt is a message. When the horizon has come, or `Network.carry` is
    over, it is not started.

    Attributes:
        cut_off: Attempts whose link went down before they were due, as their senders saw.
        started: Messages that started, and were not cut off.
        waited: How long (ns) these waited for their links, all of them together.
    """

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        self._steps, self._network = steps, steps.network
        self.cut_off = self.started = self.waited = 0
        steps.own(contacts=self)

    @classmethod
    def metrics(cls, models: Sequence[Self]) -> Mapping[str, Metric]:
        """See `Model.metrics`: attempts that were cut off, and how many slots those waited that got through."""
        network, waited = models[0]._network, sum(model.waited for model in models)
        started = sum(model.started for model in models)
        return {
            "delivery_ratio": network.ledger.outcomes.delivery_ratio,
            "cut_off": sum(model.cut_off for model in models),
            "waited_slots": waited / network.slot / started if started else None,
        }

    def next_start(self, channel: Channel, time: int) -> int:
        """See `next_start`."""
        in_contact = channel.up_from <= time < channel.up_until  # as there, for less
        return time if in_contact else next_start(self._network, channel, time)

    def attempt(self, channel: Channel, message: Message, put_at: int, start: int, first: bool, duration: int) -> int:
        """See `netbandit.network.steps.ContactStep.attempt`."""
        network = self._network
        last, nodes = latest_start(network, put_at), network.node_outages
        if start >= last or (nodes is not None and nodes.node(channel.sender).during(put_at, start)):
            if first:
                self._steps.withhold(channel, message, put_at)
            return NEVER
        over = channel.up_until if channel.up_from <= start < channel.up_until else contact_end(channel, start)
        if over > start + duration + channel.latency:
            return start
        self._cut_off(channel, message, put_at, start, over, duration)
        again = next_start(network, channel, over)
        return again if again < last else NEVER

    def note_wait(self, waited: int) -> None:
        """See `netbandit.network.steps.ContactStep.note_wait`."""
        self.waited += waited
        self.started += 1

    def taken_in(self, channel: Channel, put_at: int, start: int, arrival: int) -> int:
        """See `netbandit.network.steps.ContactStep.taken_in`.

        Slotted, a transmission from a boundary takes effect at the next one at the earliest. But its hop began when it
        was handed over; so if it arrives at the boundary at which it has started, it is taken in a nanosecond later,
        and what follows on the channel not before it.
        """
        if self._network.waits_for_slots and start > put_at and arrival == start:
            arrival = start + 1
        if self._steps.late is None:  # else what is late holds others back
            if arrival < channel.latest:
                return channel.latest
            channel.latest = arrival
        return arrival

    def _cut_off(self, channel: Channel, message: Message, put_at: int, start: int, over: int, duration: int) -> None:
        """Count a message that its sender sees cut off, as its link goes down at *over* (ns).

        If that is not before the end, it is under way then.
        """
        network, steps, size = self._network, self._steps, message.size
        channel.messages += 1
        channel.bytes += size
        lost = over < network.end
        on_the_link = min(start + duration, over, network.end) - start
        if steps.queue is not None and duration:
            steps.queue.count(channel, start - put_at, on_the_link)
        if lost:
            channel.note("lost", size)
            self.cut_off += 1
        else:
            channel.note_under_way(size, on_the_link)
        if steps.spend is not None:
            steps.spend(channel, size, on_the_link)
        channel.link.activate_ahead(start // network.slot, put_at // network.slot)
        for skip in steps.skips:  # it draws what every message draws, so that later ones are as they are
            skip(channel)
        network.ledger.count(message.kind, size, 1)
        for observer in network.observers:
            observer.sent(channel, message, start)
            observer.hop(channel, message, put_at, start, start + duration + channel.latency, lost, copy=False)


def next_start(network: Engine, channel: Channel, time: int) -> int:
    """Return when (ns) a message that is ready at *time* may start on *channel*: as soon as its link is up.

    Slotted, at the first boundary at which it is up. `NEVER`, or a time from the horizon on: not in time, as a link may
    come up again and again, and never at a boundary.
    """
    if channel.up_from <= time < channel.up_until:  # in the contact looked up last, as in most calls
        return time
    if channel.away_from <= time < channel.away_until:  # in the gap before it: a node sends many messages in a slot
        return channel.up_from
    assert isinstance(channel, FaultyChannel)  # all are where links come and go
    contacts, slot = channel.contacts, network.slot
    up = contacts.up(time)
    channel.away_from, channel.away_until = time, int(min(up, NEVER))
    if network.waits_for_slots and up != time:
        while up < network.end and up % slot:
            up = contacts.up(int(-(-up // slot)) * slot)
    start = channel.up_from = int(min(up, NEVER))
    channel.up_until = int(min(contacts.down(start), NEVER)) if start < NEVER else NEVER
    return start


def contact_end(channel: Channel, time: int) -> int:
    """Return when (ns) the link of *channel*, up at a *time*, goes down next; `NEVER`: never."""
    if channel.up_from <= time < channel.up_until:
        return channel.up_until
    return int(min(channel.contacts.down(time), NEVER))


def latest_start(network: Engine, put_at: int) -> int:
    """Return the time (ns) from which a message put on its channel at *put_at* may no longer start."""
    return network.end if network.carry >= network.end - put_at else put_at + network.carry + 1


def contact_from(network: Engine, channel: Channel, time: int) -> int:
    """Return when (ns) a message ready at *time* may start to get through, if it takes its latency alone.

    Failures that agents do not see count as well.
    """
    if not isinstance(channel, FaultyChannel):
        return time
    start = next_start(network, channel, time)
    while start < network.end and (over := contact_end(channel, start)) <= start + channel.latency:
        start = next_start(network, channel, over)
    return start


def next_coming(network: Engine, channel: Channel, after: int) -> tuple[int, int]:
    """Return when (ns) the neighbour on *channel*, present at time *after*, leaves and returns.

    Slotted, it returns at the first boundary at which it is present. At time -1 no neighbour is present.
    """
    assert isinstance(channel, FaultyChannel)  # all are where links come and go
    goes = 0 if after < 0 else int(min(channel.contacts.down(after), NEVER))
    return goes, next_start(network, channel, goes) if goes < network.end else NEVER
