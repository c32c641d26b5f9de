"""Outages of links, nodes and the server: scheduled and random."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from math import inf
from typing import Literal, Protocol, TypeAlias

from netbandit.network.downtimes import Downtimes, Interval, failing, redrawn
from netbandit.network.draws import Draws
from netbandit.util.streams import Streams

Memory: TypeAlias = Literal["kept", "lost"]


@dataclass(frozen=True)
class Failing:
    """An entity fails and is repaired again and again, after exponential times.

    Attributes:
        up_for: How long it stays up in the mean (ns).
        down_for: How long it stays down in the mean (ns).
    """

    up_for: int
    down_for: int


@dataclass(frozen=True)
class Redrawn:
    """An entity is up in each period independently, with a given probability.

    Attributes:
        up: The probability.
        every: The length of a period (ns).
    """

    up: float
    every: int


@dataclass(frozen=True)
class Outage:
    """An outage known in advance: down in [begin, end) (ns), and again in each period if there is one.

    Attributes:
        begin: When it begins.
        end: When it ends; infinity: never.
        links: The peer links that are down, by their two ends, the lower first.
        nodes: The agents that are down.
        server: Whether the server is down.
        group: For each agent its group if the graph is cut into parts, with no link between them; else None.
        every: Its period (ns), longer than its duration; None: it occurs once.
    """

    begin: int
    end: float
    links: frozenset[tuple[int, int]] = frozenset()
    nodes: frozenset[int] = frozenset()
    server: bool = False
    group: Sequence[int] | None = None
    every: int | None = None

    def intervals(self) -> Iterator[Interval]:
        """Yield from when until when it lasts, in order."""
        for period in count() if self.every is not None else range(1):
            later = period * (self.every or 0)
            yield self.begin + later, self.end + later


class LinkSchedule(Protocol):
    """When links come and go, whatever is sent; they are numbered as in `netbandit.network.topology.Topology.edges`."""

    def gaps(self, link: int) -> Iterator[Interval]:
        """Yield when a *link* is down: intervals in order of their beginnings, perhaps without an end."""


@dataclass(frozen=True)
class OutagePlan:
    """The outages and contacts of a scenario.

    Attributes:
        links: How peer links fail at random, if they do.
        nodes: How agents fail at random, if they do.
        server: How the server fails at random, if it does.
        memory: Whether an agent keeps its memory while it is down.
        outages: The scheduled outages, in any order.
        contacts: When peer links are up, where the graph changes.
        sensed: Whether agents see that.
        waits: Whether messages for a link that is down wait for it, and wait again if they are cut off.
        carry: Its longest wait (ns); None: unlimited.
        waits_for_slots: Whether it starts at slot boundaries.
    """

    links: Failing | Redrawn | None = None
    nodes: Failing | None = None
    server: Failing | None = None
    memory: Memory = "kept"
    outages: Sequence[Outage] = field(default=())
    contacts: LinkSchedule | None = None
    sensed: bool = False
    waits: bool = False
    carry: int | None = None
    waits_for_slots: bool = False

    def __bool__(self) -> bool:
        return bool(self.links or self.nodes or self.server or self.outages or self.contacts)

    @property
    def loses(self) -> bool:
        """Whether messages may be lost because something is down; what waits for ever for its link is not."""
        waits = self.waits and self.carry is None
        return bool(self.links or self.nodes or self.server or self.outages or (self.contacts and not waits))


class Outages:
    """The downtimes of all links and nodes.

    Args:
        plan: The outages and contacts.
        agents: The number of agents; the server has the number that follows theirs.
        links: The number of each peer link, by its two ends, the lower first.
        streams: The streams of the replication.

    Attributes:
        forgets: Whether a node that comes back has lost its memory.
        any_nodes: Whether any agent, or the server, is ever down.
        fail_unseen: Whether peer links fail by `[faults]`.
        changing: Whether peer links come and go, whatever is sent.
        sensed: Whether agents see when they do.
        waits: Whether their messages wait for that.
    """

    def __init__(self, plan: OutagePlan, agents: int, links: Mapping[tuple[int, int], int], streams: Streams) -> None:
        self._plan = plan
        self._agents = agents
        self._link_numbers = links
        self._link_draws = Draws(streams, "faults.links", len(links))
        self._node_draws = Draws(streams, "faults.nodes", agents)
        self._server_draws = Draws(streams, "faults.server", 1)
        self._scripts = sorted(plan.outages, key=lambda outage: outage.begin)
        self._links: dict[tuple[int, int], Downtimes] = {}
        self._contacts: dict[tuple[int, int], Downtimes] = {}
        self._nodes: dict[int, Downtimes] = {}
        self.forgets = plan.memory == "lost"
        self.any_agents = plan.nodes is not None or any(outage.nodes for outage in plan.outages)
        self.any_nodes = self.any_agents or plan.server is not None or any(outage.server for outage in plan.outages)
        scripted = any(outage.links or outage.group for outage in plan.outages)
        self.changing = plan.contacts is not None
        self.sensed = plan.sensed and self.changing
        self.waits = self.sensed and plan.waits
        self.fail_unseen = plan.links is not None or scripted
        self.any_links = self.fail_unseen or plan.contacts is not None

    def link(self, first: int, second: int) -> Downtimes:
        """Return when the peer link between two agents is down, the lower number first."""
        found = self._links.get((first, second))
        if found is None:
            number = self._link_numbers.get((first, second), 0)
            found = self._links[first, second] = Downtimes.of(
                *(
                    outage.intervals()
                    for outage in self._scripts
                    if (first, second) in outage.links
                    or (outage.group is not None and outage.group[first] != outage.group[second])
                ),
                self._at_random(self._plan.links, self._link_draws, number),
                () if self._plan.contacts is None else self._plan.contacts.gaps(number),
            )
        return found

    def contacts(self, first: int, second: int) -> Downtimes:
        """Return when agents see the peer link between two of them down; lower number first."""
        assert self._plan.contacts is not None
        if self._plan.links is None and not self._scripts:
            return self.link(first, second)  # nothing else lets it be down
        found = self._contacts.get((first, second))
        if found is None:
            gaps = self._plan.contacts.gaps(self._link_numbers[first, second])
            found = self._contacts[first, second] = Downtimes(gaps)
        return found

    def node(self, node: int) -> Downtimes:
        """Return when a node is down: an agent, or the server."""
        found = self._nodes.get(node)
        if found is None:
            if node == self._agents:
                scripted = [outage.intervals() for outage in self._scripts if outage.server]
                random = self._at_random(self._plan.server, self._server_draws, 0)
            else:
                scripted = [outage.intervals() for outage in self._scripts if node in outage.nodes]
                random = self._at_random(self._plan.nodes, self._node_draws, node)
            found = self._nodes[node] = Downtimes.of(*scripted, random)
        return found

    def depend_on(self, downtimes: Sequence[Downtimes]) -> None:
        """Replace the downtimes of the agents by *downtimes*, one each, which include the earlier ones."""
        self._nodes.update(enumerate(downtimes))
        self.any_agents = self.any_nodes = True

    def incarnation(self, node: int, time: int) -> int:
        """Return how often *node* has lost its memory by *time* (ns), while it is up; the server never does."""
        if not self.forgets or node == self._agents:
            return 0
        return self.node(node).ended(time)

    def is_gone(self, agent: int, time: int) -> bool:
        """Return whether *agent* is down at a *time* (ns) and never comes back."""
        return self.node(agent).up(time) == inf

    def ends(self, horizon: int) -> list[int]:
        """Return when outages that are known ahead end before *horizon* (ns), ascending, each once."""
        ends = (
            takewhile(lambda end: end < horizon, (end for _, end in outage.intervals())) for outage in self._scripts
        )
        return sorted({int(end) for some in ends for end in some})

    @staticmethod
    def _at_random(model: Failing | Redrawn | None, draws: Draws, column: int) -> Iterator[Interval]:
        if isinstance(model, Failing):
            return failing(draws, column, model.up_for, model.down_for)
        if isinstance(model, Redrawn):
            return redrawn(draws, column, model.up, model.every)
        return iter(())

    def absent_slots(self, agent: int, slot: int, horizon: int) -> list[tuple[int, int]]:
        """Return the slots at whose beginning *agent* is down, as ascending ranges [first, last) below *horizon*.

        Args:
            agent: The agent.
            slot: The length of a slot (ns).
            horizon: The number of slots.
        """
        ranges: list[tuple[int, int]] = []
        for begin, end in self.node(agent).until(slot * horizon):
            first = -(-begin // slot)
            last = horizon if end == inf else min(horizon, -(-int(end) // slot))
            if first < last:
                ranges.append((first, last))
        return ranges
