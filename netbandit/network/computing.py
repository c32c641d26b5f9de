"""Nodes that compute: a node handles one message, or does one job of its own, at a time.

A message that reaches a node waits in its inbox; the protocol gets it once it has been handled. Jobs of the node itself
(an item, a decision, an aggregate) go ahead of the messages that wait, not of the one being handled. Acknowledgements,
and copies of a message that the node has, take no time.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Literal

from netbandit.network.delays import Delay
from netbandit.network.draws import Draws
from netbandit.network.engine import Engine
from netbandit.network.jitter import UniformJitter
from netbandit.network.link import Channel
from netbandit.network.message import Message
from netbandit.network.node_changes import NodeChanges

Work = Literal["message", "item", "decision", "aggregate"]
"""A job that a node computes: the handling of a message, or one of its own."""

HANDLED, HELD, REFUSED = 0, 1, 2
"""Outcomes of a message that reaches a node: it takes no time, it is put into the inbox, or the inbox is full."""


@dataclass(frozen=True)
class ServiceTimes:
    """How long the jobs of a class of nodes take at speed factor 1.

    Attributes:
        laws: The law of each kind of job that takes time.
        per_byte: What each byte adds to the handling of a message (ns).
        inbox: How many messages wait at most beside the one being handled; None: unlimited.
    """

    laws: Mapping[Work, Delay] = field(default_factory=dict)
    per_byte: float = 0.0
    inbox: int | None = None

    @property
    def handles(self) -> bool:
        """Whether handling a message takes time."""
        return "message" in self.laws or self.per_byte > 0


@dataclass(frozen=True)
class ComputePlan:
    """The service times and speeds of the nodes.

    Attributes:
        agents, server: The service times of agents, and of the server.
        speeds: The factor of the times of each agent.
        power: What an agent takes while it computes, beside its other power (nW).
    """

    agents: ServiceTimes
    server: ServiceTimes
    speeds: Sequence[float]
    power: int = 0


class _Handling:
    """The handling of a message: from whom and when (ns) it came, and how long (ns) that takes from when on."""

    work: Work = "message"
    begun: int

    __slots__ = ("arrived", "begun", "duration", "message", "sender")

    def __init__(self, message: Message, sender: int, arrived: int, duration: int) -> None:
        self.message, self.sender, self.arrived, self.duration = message, sender, arrived, duration


class _OwnJob:
    """A job of the node itself; see `Computing.submit`.

    Attributes:
        duration: How long it takes (ns).
        begun: When it began (ns).
        taken: What *take* returned.
    """

    message: Message | None = None
    begun: int
    taken: Any

    __slots__ = ("begun", "dropped", "duration", "take", "taken", "then", "work")

    def __init__(
        self,
        work: Work,
        duration: int,
        then: Callable[[Any], object],
        take: Callable[[], Any],
        dropped: Callable[[], object] | None,
    ) -> None:
        self.work, self.duration = work, duration
        self.then, self.take, self.dropped = then, take, dropped


_Job = _Handling | _OwnJob


class _Node:
    """The inbox of a node, its own jobs that wait, and the job that it does.

    Attributes:
        number: The node.
        times: Its service times.
        handles: Whether handling a message takes it time.
        fixed: How long that takes (ns), if it is the same for all messages; else -1.
        speed: The factor of its times.
        inbox: The messages that wait.
        own: Its own jobs that wait.
        job: What it does now; None: nothing.
        busy: For how long (ns) of the run it has computed.
    """

    __slots__ = ("busy", "fixed", "handles", "inbox", "job", "number", "own", "speed", "times")

    def __init__(self, number: int, times: ServiceTimes, speed: float) -> None:
        self.number, self.times, self.speed = number, times, speed
        self.handles = times.handles
        constant = None if times.per_byte else _constant(times.laws.get("message"))
        self.fixed = -1 if constant is None else round(constant * speed)
        self.inbox: deque[_Handling] = deque()
        self.own: deque[_OwnJob] = deque()
        self.job: _Job | None = None
        self.busy = 0


class Computing:
    """The computing of all nodes of a network.

    The n-th job of its kind at a node takes number n of the node's column of ``compute.item``, ``compute.decision`` or
    ``compute.aggregate``; the n-th message that arrives on a channel, number n of the channel's column of
    ``compute.message``.

    Args:
        network: The network.
        plan: What nodes compute.

    Attributes:
        limited: Whether an inbox may be full.
        refused: Messages that found an inbox full.
        most_waiting: The most messages that waited in an inbox.
        waited: How long (ns) messages waited in inboxes until they were handled, all together.
        begun: How many were begun to be handled.
        jobs: The calendar of ends of jobs.
    """

    def __init__(self, network: Engine, plan: ComputePlan) -> None:
        self._network = network
        self._plan = plan
        self.limited = any(times.handles and times.inbox is not None for times in (plan.agents, plan.server))
        self._nodes = [_Node(agent, plan.agents, speed) for agent, speed in enumerate(plan.speeds)]
        self._nodes.append(_Node(network.server, plan.server, 1.0))
        self._columns: dict[Channel, Iterator[float]] = {}
        self._times: dict[tuple[Work, int], Iterator[float]] = {}
        self._draws: dict[Work, Draws] = {}
        self.jobs: dict[int, list[tuple[_Node, _Job]]] = {}
        self.refused = self.most_waiting = self.waited = self.begun = 0
        self._held = self._handled = 0
        self._powered = plan.power > 0 and network.batteries is not None
        self._computing = 0  # how many nodes compute now,
        self._since = self._together = 0  # since when (ns) some do, and for how long some did before
        network.watch_agents(self._changed)
        if network.outages is not None and network.outages.any_nodes:
            NodeChanges(network.clock, network.outages, (network.server,), self._changed)

    def takes(self, node: int, work: Work) -> bool:
        """Return whether a kind of job takes *node* any time."""
        return work in self._nodes[node].times.laws

    def arrive(self, channel: Channel, message: Message) -> int:
        """Put *message*, which has just arrived on *channel*, into the inbox of its receiver, if handling takes time.

        Returns:
            `HANDLED`, `HELD` or `REFUSED`.
        """
        node = self._nodes[channel.receiver]
        if not node.handles:
            return HANDLED
        duration = node.fixed if node.fixed >= 0 else self._duration(node, channel, message)
        waiting, most = len(node.inbox), node.times.inbox
        idle = node.job is None and not waiting
        now = self._network.environment._now
        in_time = now < self._network.end  # else it was under way at the end, and counts as nothing else
        if most is not None and waiting >= most and not idle:
            self.refused += in_time
            return REFUSED
        self._held += in_time
        job = _Handling(message, channel.sender, now, duration)
        if idle and in_time:
            self.begun += 1
            self._begin(node, job, now)
        else:
            node.inbox.append(job)
            if in_time and waiting >= self.most_waiting:
                self.most_waiting = waiting + 1
        return HELD

    def _duration(self, node: _Node, channel: Channel, message: Message) -> int:
        """Return how long (ns) the handling of a message takes that has arrived on *channel*."""
        column = self._columns.get(channel)
        if column is None:
            law = node.times.laws.get("message")
            column = repeat(0) if law is None else self._column("message", law, self._number(channel))
            self._columns[channel] = column
        return round((next(column) + node.times.per_byte * message.size) * node.speed)

    def submit(
        self,
        node: int,
        work: Work,
        then: Callable[[Any], object],
        take: Callable[[], Any] = lambda: None,
        dropped: Callable[[], object] | None = None,
    ) -> None:
        """Give *node* a job of its own.

        Args:
            node: The node.
            work: The kind of job; it is done at once if it takes no time, an item after the jobs that the node has.
            then: Called at its end, with what *take* has returned.
            take: Called when it begins.
            dropped: Called if the node goes down before the end.
        """
        here = self._nodes[node]
        law = here.times.laws.get(work)
        if law is None:
            if work == "item":
                self.after_own(node, lambda: then(take()))
            else:
                then(take())
            return
        column = self._times.get((work, node))
        if column is None:
            column = self._times[work, node] = self._column(work, law, node)
        here.own.append(_OwnJob(work, round(next(column) * here.speed), then, take, dropped))
        if here.job is None:
            self._begin_next(here, self._network.environment._now)

    def after_own(self, agent: int, act: Callable[[], object]) -> None:
        """Call *act* once *agent* has done the jobs of its own that it has; now if it has none."""
        node = self._nodes[agent]
        last = node.own[-1] if node.own else node.job
        if not isinstance(last, _OwnJob):
            act()
            return
        then = last.then

        def both(taken: Any) -> None:
            then(taken)
            act()

        last.then = both

    def finish_jobs(self, now: int) -> None:
        """End all jobs that are due *now* (ns), by node."""
        network = self._network
        jobs = self.jobs.pop(now)
        if len(jobs) > 1:
            jobs.sort(key=_by_number)
        for node, job in jobs:
            if node.job is not job or (network.node_outages is not None and network.is_down(node.number)):
                continue  # it was dropped, or will be in this instant
            self._stop(node, job, now)
            if isinstance(job, _Handling):
                self._handled += 1
                network.handler(node.number, [(now, job.sender, job.message)])
            else:
                job.then(job.taken)
            if node.job is None and (node.inbox or node.own):
                self._begin_next(node, now)

    def _begin_next(self, node: _Node, now: int) -> None:
        """Let an idle *node* begin what comes next; nothing begins at or after the horizon."""
        if now >= self._network.end:
            return
        if node.own:
            own = node.own.popleft()
            own.taken = own.take()
            self._begin(node, own, now)
        else:
            handling = node.inbox.popleft()
            self.waited += now - handling.arrived
            self.begun += 1
            self._begin(node, handling, now)

    def _begin(self, node: _Node, job: _Job, now: int) -> None:
        node.job = job
        job.begun = now
        if not self._computing:
            self._since = now
        self._computing += 1
        if self._powered:
            self._draw_power(node, on=True)
        self._network.enter(self.jobs, now + job.duration, (node, job))

    def _stop(self, node: _Node, job: _Job, now: int) -> None:
        """Note that *node* does its *job* no more."""
        node.job = None
        within = now if now < self._network.end else self._network.end
        node.busy += within - job.begun
        self._computing -= 1
        if not self._computing:
            self._together += within - self._since
        if self._powered:
            self._draw_power(node, on=False)
        if self._network.trace is not None:
            kind = None if job.message is None else job.message.kind.name
            self._network.trace.job(job.work, node.number, job.begun, now, kind)

    def _draw_power(self, node: _Node, *, on: bool) -> None:
        batteries = self._network.batteries
        if batteries is not None and node.number != self._network.server:
            batteries.compute(node.number, self._plan.power if on else 0)

    def _changed(self, node: int, up: bool) -> None:
        """Drop all that a node that goes down has to do."""
        if up:
            return
        here = self._nodes[node]
        here.inbox.clear()
        own = [*here.own]
        here.own.clear()
        if here.job is not None:
            own[:0] = [here.job] if isinstance(here.job, _OwnJob) else []
            self._stop(here, here.job, self._network.environment._now)
        for job in own:
            if job.dropped is not None:
                job.dropped()

    def _column(self, work: Work, law: Delay, number: int) -> Iterator[float]:
        """Return the times (ns) of one kind of job, for a node or a channel of this *number*."""
        if (constant := _constant(law)) is not None:
            return repeat(constant)
        draws = self._draws.get(work)
        if draws is None:
            network = self._network
            columns = 2 * len(network.links) + 3 * network.agents if work == "message" else network.agents + 1
            draws = self._draws[work] = Draws(network.streams, f"compute.{work}", columns)
        return draws.mapped(number, law.times)

    def _number(self, channel: Channel) -> int:
        """Return the number of a channel: those between agents by link, then those of each uplink: up, down, air."""
        network = self._network
        first, second = channel.link.first, channel.link.second
        if second != network.server:
            return 2 * network.links.numbers[first, second] + (channel.sender != first)
        kind = 0 if channel.sender == first else 2 if channel.rank & 1 else 1
        return 2 * len(network.links) + 3 * first + kind

    @property
    def unhandled(self) -> int:
        """Messages that were delivered and never handled: their receivers went down before, or the run ended."""
        return self._held - self._handled

    def busy(self, node: int) -> int:
        """Return for how long (ns) of the run *node* has computed; after the last event."""
        return self._nodes[node].busy

    def together(self) -> int:
        """Return for how long (ns) any node has computed so far."""
        now = min(self._network.environment._now, self._network.end)
        return self._together + (now - min(self._since, now) if self._computing else 0)

    @property
    def energy(self) -> int:
        """The energy that computing has cost all agents (aJ)."""
        return self._plan.power * sum(node.busy for node in self._nodes[:-1])


def _constant(law: Delay | None) -> int | None:
    """Return the only value (ns) of a law; None if it has several, or there is no law."""
    return law.longest if isinstance(law, UniformJitter) and law.shortest == law.longest else None


def _by_number(entry: tuple[_Node, _Job]) -> int:
    return entry[0].number
