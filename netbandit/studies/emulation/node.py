"""One process of an emulation: the unchanged driver, protocol and learner, of which some agents act here.

The simulator is joined to the world at two places: what these agents send goes to `Node.send`, which has the engine
decide when it is due and writes it to the link's socket; and what is read from a socket is handed to the network's
handler when it is due. The process's own calendar is kept at its nominal times, however late it is; a message that
arrives is handled at the time at which that is done.
"""

import gc
import os
import selectors
import socket
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from struct import Struct
from typing import Any

from netbandit.network.link import Channel
from netbandit.network.message import Message
from netbandit.network.network import Network
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.node import OpenRound
from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.emulation.notes import Choice, Stage, digest, put
from netbandit.studies.emulation.sockets import Counted, LinkEnd, Transport, counted
from netbandit.studies.emulation.wire import HEADER, Codec

STAMP = Struct("!QI")
"""The header that the emulation puts before a frame: its due time (virtual ns), and its number on its channel."""

_Held = tuple[int, int, LinkEnd, bytes]
"""A frame that was read: when it is due, its number, between whom, and what it says."""

_APART = 0.01
"""From which wait (s) on its last tenth is slept apart: select, poll and epoll may oversleep by a thousandth."""
_READ_AT_ONCE = 1 << 16


class Node:
    """The agents of one process.

    Args:
        point: What is run.
        replication: Which of its replications.
        agents: The agents that act here.
        ends: The sockets of their links.
        control: Leads to the coordinator.
        transport: What the sockets speak.
        dilation: How many real seconds a virtual one takes.
        compares: Whether the coordinator compares each choice with that of the simulation.
    """

    def __init__(
        self,
        point: RunnablePoint,
        replication: int,
        agents: Sequence[int],
        ends: dict[LinkEnd, socket.socket],
        control: socket.socket,
        transport: Transport,
        dilation: float,
        compares: bool,
    ) -> None:
        from netbandit.util.extras.emulate import msgpack

        self._stage = stage = Stage.of(point, replication)
        self._network: Network = stage.context.network
        self._clock = stage.context.clock
        self._environment = self._clock.environment
        self._engine = self._network.speak_through(self.send, agents)
        stage.start()
        if compares:
            stage.driver.chosen = self._report_choice
        self._rounds = stage.protocol.rounds if isinstance(stage.protocol, NeighbourRounds) else None
        if self._rounds is not None:
            self._rounds.when_complete = self._report_complete
        self._latest = 0
        self._codec = Codec(stage.carries)
        self._ends = ends
        self._control = control
        self._unpacker = msgpack.Unpacker(strict_map_key=False)
        self._pack = msgpack.packb
        self._transport = transport
        self._dilation = dilation
        self._start = 0
        self._stamp = 0
        self._held: list[_Held] = []
        self._early: list[_Held] = []
        self._handled: list[tuple[int, int, int, int]] = []
        self._unread: defaultdict[LinkEnd, bytes] = defaultdict(bytes)
        self._unsent: defaultdict[LinkEnd, deque[bytes]] = defaultdict(deque)
        self._blocked = self._beyond = self._overdue = self._frames = 0
        self._counted: dict[LinkEnd, Counted] = {}
        self._done = self._stopped = False

    def run(self) -> None:
        """Act until the coordinator stops it, or is gone."""
        with selectors.SelectSelector() as selector:  # epoll rounds up to whole milliseconds
            self._selector = selector
            selector.register(self._control, selectors.EVENT_READ, None)
            for end, one in self._ends.items():
                selector.register(one, selectors.EVENT_READ, end)
            gc.freeze()
            gc.disable()
            self._say(ready=True)
            while True:
                wait = self._advance() if self._start and not self._stopped else None
                for key, events in selector.select(wait):
                    if key.data is None:
                        self._obey()
                    elif events & selectors.EVENT_WRITE:
                        self._flush(key.data)
                    else:
                        self._read(key.data)

    # Sending.

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """Put *message* on *channels* now, whatever the nominal time of what has caused it."""
        frame = None
        caused = self._environment._now
        if caused >= self._clock.end:
            return
        for channel in channels:
            if channel.receiver == excepted:
                continue
            number = channel.messages
            self._environment._now = max(caused, min(self._now(), self._clock.end - 1))
            due = put(self._network, self._engine, message, channel)
            self._stage.hop(message, channel, number, caused, due)
            self._environment._now = caused
            if due >= 0:
                frame = frame or self._codec.encode(message, self._items(message.round))
                self._beyond += len(frame) - message.size
                self._write((channel.sender, channel.receiver), STAMP.pack(due, number) + frame)

    def _items(self, round: int) -> dict[int, Any]:
        opened = None if self._rounds is None else self._rounds.open.get(round)
        return {} if opened is None else opened.items

    def _write(self, end: LinkEnd, data: bytes) -> None:
        waits = self._unsent[end]
        waits.append(data)
        if len(waits) == 1:
            self._flush(end)

    def _flush(self, end: LinkEnd) -> None:
        """Write what waits at an *end*; at a full buffer it waits until there is room."""
        waits, one = self._unsent[end], self._ends[end]
        blocked = False
        while waits and not blocked:
            try:
                written = one.send(waits[0])
            except BlockingIOError:
                written = 0
            blocked = written < len(waits[0])
            rest = waits.popleft()[written:]
            if rest:
                waits.appendleft(rest)
        self._blocked += blocked
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if blocked else 0)
        if self._selector.get_key(one).events != events:
            self._selector.modify(one, events, end)

    # Receiving.

    def _read(self, end: LinkEnd) -> None:
        data = self._unread[end] + self._ends[end].recv(_READ_AT_ONCE)
        at, least = 0, STAMP.size + HEADER.size
        while len(data) - at >= least:
            length = STAMP.size + HEADER.unpack_from(data, at + STAMP.size)[0]
            if len(data) - at < length:
                break
            due, number = STAMP.unpack_from(data, at)
            heappush(self._held, (due, number, end, data[at + STAMP.size : at + length]))
            self._overdue += due < self._now()
            self._frames += 1
            at += length
        self._unread[end] = data[at:]

    def _handle(self, number: int, end: LinkEnd, frame: bytes) -> None:
        """Let an agent handle a message at a time of its own: no two of this process arrive at once."""
        agent, sender = end
        self._environment._now = self._stamp
        found = self._codec.decode(frame)
        self._handled.append((sender, agent, number, self._stamp))
        self._stage.protocol.note_items(found.round, found.items)
        round = None if self._rounds is None else self._rounds.get(found.round, agent)
        if round is not None or self._rounds is None:  # else it has ended
            message = found.message(self._stage.carries, round)
            self._network.handler(agent, [(self._stamp, sender, message)])

    # The clock.

    def _now(self) -> int:
        return int((time.monotonic_ns() - self._start) / self._dilation)

    def _advance(self) -> float | None:
        """Do all that is due; return how long (s) to wait for what is next, None: for others."""
        queue = self._environment._queue
        while True:
            stamp = max(self._now(), self._stamp + 1)
            while queue and queue[0][0] < stamp:
                self._environment.step()
            if self._held and self._held[0][0] <= stamp:
                held = heappop(self._held)
                if self._is_early(held[3]):
                    self._early.append(held)
                else:
                    self._stamp = stamp
                    self._handle(*held[1:])
                continue
            first = min(queue[0][0] if queue else inf, self._held[0][0] if self._held else inf)
            if first > self._now():
                break
        self._report_done()
        if not self._done:
            first = min(first, self._clock.end + 1)
        if first == inf:
            return None
        wait = (self._start + first * self._dilation - time.monotonic_ns()) / 1e9
        return max(0.0, wait if wait < _APART else 0.9 * wait)

    def _is_early(self, frame: bytes) -> bool:
        """Return whether a *frame* is of a round to which this process has not come: it has not heard of its begin."""
        return self._rounds is not None and HEADER.unpack_from(frame)[4] > self._latest + 1

    # The coordinator.

    def _say(self, **what: Any) -> None:
        try:
            self._control.sendall(self._pack(what))
        except BrokenPipeError:
            os._exit(1)  # the coordinator is gone

    def _report_choice(self, agent: int, number: int, choice: Choice) -> None:
        self._say(agent=agent, chosen=number, digest=digest(choice))

    def _report_complete(self, round: OpenRound) -> None:
        self._say(complete=round.number, time=self._environment._now)

    def _report_done(self) -> None:
        over = self._now() > self._clock.end
        idle = not self._environment._queue and not self._stage.driver.waiting()
        if not self._done and (idle or over):
            self._done = True
            self._say(done=self._stage.driver.still_waiting())

    def _obey(self) -> None:
        data = self._control.recv(_READ_AT_ONCE)
        if not data:
            os._exit(1)  # the coordinator is gone
        self._unpacker.feed(data)
        for message in self._unpacker:
            if "start" in message:
                self._count()
                self._start = message["start"]
            elif "end" in message:
                self._end(message["end"], message["time"])
            elif "stop" in message:
                self._stopped = True
            else:
                self._report()

    def _end(self, round: int, end: int) -> None:
        """End a *round* at the time (ns) at which it was complete, however much later that is heard here."""
        rounds, queue = self._rounds, self._environment._queue
        assert rounds is not None
        while queue and queue[0][0] < end:
            self._environment.step()
        self._environment._now = end
        rounds.draw_again(end)
        self._latest = round
        rounds.end(rounds.open[round])
        for held in self._early:
            heappush(self._held, held)
        self._early.clear()

    def _count(self) -> None:
        if self._transport == "tcp":
            self._counted = {end: counted(one) for end, one in self._ends.items()}

    def _report(self) -> None:
        before = self._counted
        self._count()
        carried = [[now - then for now, then in zip(self._counted[end], before[end], strict=True)] for end in before]
        notes = self._stage.finish()
        self._say(
            result={
                "notes": {name: getattr(notes, name) for name in ("choices", "waits", "hops", "regret")},
                "handled": self._handled,
                "counted": carried,
                "blocked": self._blocked,
                "beyond": self._beyond,
                "overdue": self._overdue,
                "frames": self._frames,
                "cpu": time.process_time(),
            }
        )
