"""Bandwidth: a message occupies its channel while it is transmitted; later ones queue, or are dropped if it is full."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Self

from netbandit.network.downtimes import NEVER
from netbandit.network.link import Channel, Queue
from netbandit.network.message import Message
from netbandit.network.packet import ACK, Packet
from netbandit.network.steps import Model, Steps
from netbandit.parts.metric import Metric


class Fifo(Model):
    """A channel carries one message after the other; see `netbandit.network.link.LinkClass`.

    Messages that would start only after the horizon count as waiting, too.
    """

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        self._steps, self._network = steps, steps.network
        self._most, self._counts_bytes = steps.link_class.most_waiting, steps.link_class.counts_bytes
        self.duration = steps.link_class.transmission
        self._books = self._most is not None and not self._network.deferred_outcomes
        steps.own(queue=self)
        if self._most is not None:
            steps.own(admits=self._admits)

    @classmethod
    def metrics(cls, models: Sequence[Self]) -> Mapping[str, Metric]:
        """See `Model.metrics`: where queues are finite, what was dropped, how many waited, how busy channels were."""
        limited = [model for model in models if model._most is not None]
        if not limited:
            return {}
        network, channels = limited[0]._network, chain.from_iterable(model._steps.channels() for model in limited)
        outcomes, used = network.ledger.outcomes, [channel for channel in channels if channel.messages]
        asked = outcomes.handed - outcomes.unsent
        busy = sum(channel.queue.busy for channel in used if channel.queue is not None)
        return {
            "dropped_share": outcomes.dropped / asked if asked else None,
            "waiting_most": network.tally.waiting_most,
            "links_busy": busy / (len(used) * network.end) if used else None,
        }

    def _admits(self, channel: Channel, message: Message, packet: Packet | None) -> bool:
        """Return whether there is room for a message on *channel*; if not, count it.

        The sender of what is dropped waits for an acknowledgement all the same, and has made an attempt.
        """
        assert self._most is not None
        network, retry = self._network, self._steps.retry
        now = network.environment._now
        waiting = occupied = 0
        if network.deferred_outcomes:
            sizes = [queued.message.size for queued in network.queues[channel]]
            waiting, occupied = len(sizes), sum(sizes)
        elif channel.queue is not None:
            queue = channel.queue
            while queue.starts and queue.starts[0][0] <= now:
                queue.waiting_bytes -= queue.starts.popleft()[1]
            waiting, occupied = len(queue.starts), queue.waiting_bytes
        if channel.free_at <= now and not waiting:
            return True
        if (occupied + message.size if self._counts_bytes else waiting + 1) <= self._most:
            return True
        network.never_begin(channel, message, now, "dropped")
        if retry is not None and message.kind is not ACK:
            retry.dropped(channel, message, packet)
        return False

    def occupy(self, channel: Channel, size: int, duration: int, put_at: int, start: int) -> int:
        """See `netbandit.network.steps.QueueStep.occupy`."""
        if self._books and start > put_at:
            self._wait(channel, start, size)
        channel.free_at = sent = start + duration
        end = self._network.end
        self.count(channel, start - put_at, (sent if sent < end else end) - start)
        return sent

    def count(self, channel: Channel, wait: int, busy: int) -> None:
        """See `netbandit.network.steps.QueueStep.count`."""
        queue = _queue(channel)
        queue.busy += busy
        if wait > 0:
            queue.waited += wait
            if wait > queue.longest_wait:
                queue.longest_wait = wait

    def keep_place(self, channel: Channel, put_at: int, size: int) -> None:
        """See `netbandit.network.steps.QueueStep.keep_place`: to the end, or until its sender loses its whole queue.

        Where messages are carried only for so long, it takes no place.
        """
        network = self._network
        if self._books and put_at + network.carry + 1 >= network.end:
            outages = network.node_outages
            down = NEVER if outages is None else outages.node(channel.sender).down(put_at)
            if down > put_at:
                self._wait(channel, int(min(down, network.end)), size)

    def _wait(self, channel: Channel, until: int, size: int) -> None:
        """Let a message of *size* bytes take a place in the queue of *channel* *until* (ns) it starts, or leaves."""
        queue, tally = _queue(channel), self._network.tally
        queue.starts.append((until, size))
        queue.waiting_bytes += size
        if len(queue.starts) > tally.waiting_most:
            tally.waiting_most = len(queue.starts)


def _queue(channel: Channel) -> Queue:
    """Return the state of the queue of *channel*, made when it is first used."""
    queue = channel.queue
    if queue is None:
        channel.queue = queue = Queue()
    return queue
