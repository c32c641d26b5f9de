"""The processes of an emulation: they are started, told when to begin and when rounds end, and always stopped."""

import os
import selectors
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.emulation.forks import become, leave, undisturbed
from netbandit.studies.emulation.node import Node
from netbandit.studies.emulation.notes import Hop, MessageKey, Notes, digest, is_apart
from netbandit.studies.emulation.sockets import Counted, LinkEnd, Transport, Wiring

_BEGIN_AFTER_NS = 200_000_000
"""The delay between all processes being ready and their common start."""
_SETTLE = 0.3
"""How long (s) frames may still be in transit after all agents have continued from their last rounds, and after all
processes have stopped."""


class NoEndError(Exception):
    """The agents did not finish; the message names a process and a round."""


class DifferentChoiceError(Exception):
    """An agent's conclusion differs from the simulation; the message names agent and round."""


class DiedError(Exception):
    """A process ended unexpectedly; its stderr says why."""


class Carried(NamedTuple):
    """Traffic counters of the sockets, from when they were connected.

    Attributes:
        sent: Bytes sent by TCP; 0 over UDP.
        packets: Packets sent by TCP; 0 over UDP.
        again: Bytes retransmitted by TCP, included in those sent; 0 over UDP.
        loopback: Bytes of the loopback interface; 0 if it is not the emulation's own.
        loopback_packets: Its packets.
        beyond: Bytes of frames beyond the ledger's.
        frames: The number of frames read.
        blocked: How often a sender waited for a full buffer.
        overdue: The number of frames read after they were due.
        isolated: Whether the sockets were in a network namespace of their own.
        cpu: The longest computing time of a process (s).
    """

    sent: int
    packets: int
    again: int
    loopback: int
    loopback_packets: int
    beyond: int
    frames: int
    blocked: int
    overdue: int
    isolated: bool
    cpu: float


@dataclass(frozen=True)
class Played:
    """The outcome of an emulation.

    Attributes:
        notes: The record of its agents and messages.
        handled: The time (virtual ns) each message was handled.
        carried: The traffic over the sockets.
        dilation: Real seconds per virtual second.
    """

    notes: Notes
    handled: dict[MessageKey, int]
    carried: Carried
    dilation: float

    def delays(self) -> dict[tuple[int, int, int, int], int]:
        """Return the delay (ns) of each handled message from its cause; see `replayed`."""
        found: dict[tuple[int, int, int, int], int] = {}
        used: Counter[tuple[int, int, int]] = Counter()
        for hop in self.notes.hops:
            channel_and_round = hop.sender, hop.receiver, hop.round
            if hop.key in self.handled:
                found[*channel_and_round, used[channel_and_round]] = self.handled[hop.key] - hop.caused
            used[channel_and_round] += 1
        return found

    def hops(self) -> Iterator[tuple[Hop, int]]:
        """Yield each message that was handled, and when (virtual ns)."""
        return ((hop, self.handled[hop.key]) for hop in self.notes.hops if hop.key in self.handled)


def grouped(agents: int, processes: int | None) -> list[range]:
    """Return the agents of each of *processes* processes, or one agent each, in order."""
    count = agents if processes is None else min(processes, agents)
    bounds = [agents * index // count for index in range(count + 1)]
    return [range(first, last) for first, last in pairwise(bounds)]


def play(
    point: RunnablePoint,
    replication: int,
    reference: Notes,
    *,
    transport: Transport = "tcp",
    dilation: float = 1.0,
    processes: int | None = None,
    patience: float = 60.0,
    compares: bool = True,
) -> Played:
    """Play a replication in separate processes, over sockets.

    Args:
        point: The scenario's point.
        replication: The replication.
        reference: Its simulation.
        transport: The transport protocol of the sockets.
        dilation: Real seconds per virtual second.
        processes: The number of processes for the agents; None: one for each agent.
        patience: The time limit in seconds.
        compares: Whether choices must equal those of the simulation.

    Raises:
        NoEndError: It exceeds the time limit.
        DifferentChoiceError: A choice differs.
        DiedError: A process ended unexpectedly.
        StrangerError: A foreign peer has connected to a socket.
    """
    topology = point.topology(replication)
    groups = grouped(topology.agents, processes)
    wiring = Wiring([(first, second) for first, second in topology.edges.tolist()], transport)
    children: list[int] = [wiring.helper]
    controls: list[socket.socket] = []
    parent = os.getpid()
    try:
        for agents in groups:
            ours, theirs = socket.socketpair()
            with undisturbed():
                child = os.fork()
                if child == 0:
                    become(parent)
                    try:
                        for each in (ours, *controls):
                            each.close()
                        own: dict[LinkEnd, socket.socket] = {}
                        for end, one in wiring.ends.items():
                            if end[0] in agents:
                                own[end] = one
                            else:
                                one.close()
                        wiring.end()
                        Node(
                            point,
                            replication,
                            agents,
                            own,
                            theirs,
                            transport,
                            dilation,
                            compares and not is_apart(point),
                        ).run()
                    finally:
                        leave()
                children.append(child)
                controls.append(ours)
            theirs.close()
        wiring.close()
        return _Coordinator(wiring, controls, groups, reference, dilation, time.monotonic() + patience).run()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
        for control in controls:
            control.close()
        wiring.close()
        wiring.end()


class _Coordinator:
    """Receives the reports of processes, and ends rounds and the run."""

    def __init__(
        self,
        wiring: Wiring,
        controls: Sequence[socket.socket],
        groups: Sequence[Sequence[int]],
        reference: Notes,
        dilation: float,
        until: float,
    ) -> None:
        from netbandit.util.extras.emulate import msgpack

        self._pack = msgpack.packb
        self._wiring = wiring
        self._controls = controls
        self._groups = groups
        self._reference = reference
        self._dilation = dilation
        self._until = until
        self._unpackers = [msgpack.Unpacker(use_list=False, strict_map_key=False) for _ in controls]
        self._ready: set[int] = set()
        self._done: set[int] = set()
        self._complete: dict[int, dict[int, int]] = {}
        self._ends: dict[int, int] = {}
        self._results: dict[int, Any] = {}
        self._next: list[tuple[float, str]] = []

    def run(self) -> Played:
        """Return the outcome, once all processes have reported."""
        with selectors.DefaultSelector() as selector:
            for number, control in enumerate(self._controls):
                selector.register(control, selectors.EVENT_READ, number)
            while len(self._results) < len(self._controls):
                self._look_at_the_clock()
                for key, _ in selector.select(0.1):
                    data = self._controls[key.data].recv(1 << 20)
                    if not data:
                        raise DiedError(f"the process of {_agents(self._groups[key.data])} has ended: see above")
                    self._unpackers[key.data].feed(data)
                    for message in self._unpackers[key.data]:
                        self._hear(key.data, message)
        return self._played()

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        while self._next and now >= self._next[0][0]:
            self._tell(**{self._next.pop(0)[1]: True})
        if now > self._until:
            missing = [number for number in range(len(self._controls)) if number not in self._done]
            of = _agents(self._groups[missing[0]]) if missing else "nobody"
            first = max(self._ends, default=0) + 1  # the first round that has not ended for all agents
            raise NoEndError(f"no end: the process of {of} waits in round {first}")

    def _hear(self, number: int, message: dict[str, Any]) -> None:
        if "ready" in message:
            self._ready.add(number)
            if len(self._ready) == len(self._controls):
                self._loopback = self._wiring.carried()
                self._tell(start=time.monotonic_ns() + _BEGIN_AFTER_NS)
        elif "complete" in message:
            times = self._complete.setdefault(message["complete"], {})
            times[number] = message["time"]
            if len(times) == len(self._controls):
                end = self._ends[message["complete"]] = max(times.values())
                self._tell(end=message["complete"], time=end)
        elif "digest" in message:
            self._compare(message["agent"], message["chosen"], message["digest"])
        elif "done" in message:
            for round, agent in message["done"]:
                if (round, agent) in self._reference.waits:
                    raise NoEndError(f"no end: the process of {_agents(self._groups[number])} waits in round {round}")
            self._done.add(number)
            if len(self._done) == len(self._controls):
                now = time.monotonic()
                self._next = [(now + _SETTLE, "stop"), (now + 2 * _SETTLE, "report")]
        else:
            self._results[number] = message["result"]

    def _compare(self, agent: int, number: int, found: int) -> None:
        expected = self._reference.choices.get(agent, [])
        if number >= len(expected) or digest(expected[number]) != found:
            text = f"agent {agent} concludes round {number} otherwise than in the simulation"
            raise DifferentChoiceError(f"{text}: it knows something that no message told it, or misses something")

    def _tell(self, **what: Any) -> None:
        for control in self._controls:
            control.sendall(self._pack(what))

    def _played(self) -> Played:
        size, packets = self._wiring.carried()
        notes = Notes(ends=self._ends)
        handled: dict[MessageKey, int] = {}
        for _, result in sorted(self._results.items()):
            noted = result["notes"]
            notes.choices |= {agent: list(made) for agent, made in noted["choices"].items()}
            notes.waits |= noted["waits"]
            notes.hops += [Hop(*hop) for hop in noted["hops"]]
            notes.regret += noted["regret"]
            handled |= {(sender, agent, number): time for sender, agent, number, time in result["handled"]}
        results = self._results.values()
        ends = [Counted(*end) for result in results for end in result["counted"]]
        carried = Carried(
            sum(end.sent for end in ends),
            sum(end.packets for end in ends),
            sum(end.again for end in ends),
            size - self._loopback[0],
            packets - self._loopback[1],
            sum(result["beyond"] for result in results),
            sum(result["frames"] for result in results),
            sum(result["blocked"] for result in results),
            sum(result["overdue"] for result in results),
            self._wiring.isolated,
            max(result["cpu"] for result in results),
        )
        return Played(notes, handled, carried, self._dilation)


def _agents(agents: Sequence[int]) -> str:
    if len(agents) == 1:
        return f"agent {agents[0]}"
    return f"agents {agents[0]} to {agents[-1]}"
