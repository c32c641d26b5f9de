"""Consensus: agents average their estimates with their neighbours, step by step."""

from collections.abc import Callable
from functools import cached_property, partial
from itertools import chain
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from simpy import Event

from netbandit.network.clock import AGENTS, SENDS, InstantQueue, ScheduledEvent
from netbandit.network.link import Arrival
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.exchange import Agents, ExchangeProtocol, Mix, Rows
from netbandit.protocols.mixing import mixed_rows, mixing, second_eigenvalue
from netbandit.protocols.neighbour_rounds import must_be_connected
from netbandit.protocols.protocol import SeenLinks

MIX = Kind("MIX")

_LARGEST_STEP = 1e9
"""As which a larger step is checked, whose matrix would have no finite numbers."""


class _Row(NamedTuple):
    """The row of an agent for a step."""

    step: int
    row: NDArray[np.float64]


class Consensus(DeadlineKey, ExchangeProtocol):
    """Every agent averages its estimates with those of its neighbours, step by step.

    In every step an agent's row becomes ``sum_j P_ij x_j``, own term first, then neighbours ascending.

    With ``pace = "step"`` every step applies exactly P, whatever the latencies: an agent in step q sends its row for q
    once, and steps at the first boundary at which it holds the rows for q of all neighbours. If the columns of P add up
    to 1, steps therefore preserve sums over all agents. Neighbours are never more than one step apart. With ``pace =
    "slot"`` an agent steps at every boundary, with the newest unused row of each neighbour, or its own row in place of
    a missing one: rows on which all agents agree stay as they are, but sums are not preserved.

    If links lose messages that are not retransmitted, an agent with ``pace = "step"`` sends the rows of its last two
    steps in every slot, whether it has stepped or not: steps stay exact without acknowledgements, and a step lasts
    until each of these rows has arrived once.

    With a `deadline`, an agent that lacks rows when it has passed since sending mixes without them at the next slot,
    with its own row in their place; sums are then not preserved, as ``mass`` shows. Neighbours may be further apart;
    rows of later steps are kept until they are due.

    If agents see which of their links are up, rows wait for their links with ``pace = "step"``. With ``pace = "slot"``
    rows go to the neighbours in contact, and an agent's own row replaces those of the others: with ``max-degree`` and
    without latency, P is that of the links that are up, ``I - (step / d_max) L(t)``, so that sums are preserved.

    Learners decide at boundaries, so both timings are alike: a row sent in slot t is used in slot t + 1 or later.
    """

    uses_uplinks: ClassVar[bool] = False

    weights: Literal["max-degree", "metropolis", "uniform"] = "max-degree"
    """P: ``max-degree``: ``I - (step / d_max) L``; ``metropolis``: ``1 / max(d_i + 1, d_j + 1)``; ``uniform``: ``1 /
    (d_i + 1)``, whose columns do not add up to 1."""
    step: float | None = Field(default=None, gt=0)
    """kappa of ``max-degree``; by default d_max / (d_max + 1), d_max being the largest degree."""
    pace: Literal["step", "slot"] = "step"
    """When an agent steps: ``step``: when it has the rows of all neighbours; ``slot``: in every slot."""

    def over_seen_links(self, talk: str) -> SeenLinks | None:
        """See `NetworkProtocol.over_seen_links`."""
        return "wait" if self.pace == "step" else "choose"

    def check(self) -> Checks:
        """Yield a deadline and a *step* that have no effect."""
        if self.deadline is not None and self.pace == "slot":
            yield Note("deadline", 'has no effect with pace = "slot": nobody waits')
        if self.step is not None and self.weights != "max-degree":
            yield Note("step", f'has no effect with weights = "{self.weights}"')

    def check_with(self, others: Others) -> Checks:
        """Yield a disconnected graph, and a step with which differences do not shrink."""
        yield from must_be_connected(others)
        if self.step is None or self.weights != "max-degree" or others.components > 1:
            return
        step = min(self.step, _LARGEST_STEP)
        left = second_eigenvalue(mixing(others.agents, others.graph.edges, self.weights, step))
        if left > 1 - 1e-9:
            text = f"differences do not even out, a step makes {left:.3g} times as much of them"
            yield Mistake("step", f"is too large for this graph: {text}; leave it out for d_max / (d_max + 1)")

    def start(self, network: Network, mix: Mix) -> None:
        """See `ExchangeProtocol.start`."""
        super().start(network, mix)
        topology = network.topology
        self._matrix = mixing(network.agents, topology.edges, self.weights, self.step)
        matrix = self._matrix
        pairs = zip(matrix.receivers.tolist(), matrix.senders.tolist(), strict=True)
        self._link = {pair: number for number, pair in enumerate(pairs)}
        # Of each directed link the rows of an even and of an odd step; at the pace of slots the newest of all.
        self._rows: Rows = np.empty((2, len(self._link), 0))
        self._own: Rows = np.empty((network.agents, 0))
        self._missing = np.tile(matrix.degrees, (2, 1))
        self._sent = np.full(network.agents, -1)
        self._newest = np.full((2, len(self._link)), -1)
        self._used = np.full(len(self._link), -1)
        self._arrivals: InstantQueue[list[Arrival] | None] = InstantQueue(self.clock, self._act, AGENTS)
        self._latest: list[tuple[_Row, ...]] = [()] * network.agents
        self._row_bytes = 0
        self._repeats = network.faults.peers_lose_for_good and self.pace == "step"
        self._repeating = False
        self._callbacks: list[Callable[[Event], None]] = [self._repeat]
        self.late = 0
        self._patience = self.deadline_ns(self.clock.slot) if self.pace == "step" else None
        self._gives_up = np.full(network.agents, np.iinfo(np.int64).max)  # when each agent steps without the others
        self._given_up: set[tuple[int, int]] = set()
        self._later: dict[int, dict[tuple[int, int], NDArray[np.float64]]] = {}

    def figures(self) -> dict[str, float | int | None]:
        """Return how many rows came after their step had been made without them; empty without a deadline."""
        return {} if self.deadline is None else {"late": self.late}

    @cached_property
    def eigenvalue(self) -> float:
        """See `ExchangeProtocol.eigenvalue`."""
        return second_eigenvalue(self._matrix)

    @property
    def degrees(self) -> NDArray[np.int64]:
        """See `ExchangeProtocol.degrees`."""
        return self._matrix.degrees

    def matrix(self) -> NDArray[np.float64]:
        """See `ExchangeProtocol.matrix`."""
        return self._matrix.dense()

    def tell(self, agents: Agents, rows: Rows, row_bytes: int) -> None:
        """See `ExchangeProtocol.tell`."""
        network, clock = self.network, self.clock
        if self._own.shape[1] != rows.shape[1]:
            self._own = np.zeros((network.agents, rows.shape[1]))
            self._rows = np.zeros((2, len(self._link), rows.shape[1]))
        self._own[agents] = rows
        self.ready[agents] = False
        self._sent[agents] = self.steps[agents]
        self._row_bytes = row_bytes
        slot = clock.now // clock.slot
        for agent, row, step in zip(agents.tolist(), rows, self.steps[agents].tolist(), strict=True):
            if self._repeats:
                self._latest[agent] = (*self._latest[agent][-1:], _Row(step, row))
            else:
                network.when_computed(agent, "item", partial(self._send, agent, (_Row(step, row),)))
        if self._repeats and not self._repeating:
            self._repeating = True
            clock.environment.schedule(ScheduledEvent(self._callbacks), SENDS, 0)
        if self._patience is not None:
            self._gives_up[agents] = until = clock.boundary(clock.now + self._patience) * clock.slot
            if until < clock.end:
                for agent in agents.tolist():
                    self._arrivals.at(until, agent, None)
        following = (slot + 1) * clock.slot
        if following >= clock.end:
            return
        complete = agents
        if self.pace == "step":  # the others go on when the last row arrives
            complete = agents[self._missing[self.steps[agents] & 1, agents] == 0]
        for agent in complete.tolist():
            self._arrivals.at(following, agent, None)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Keep arrivals for the first slot boundary after both their arrival and the slot in which they were sent."""
        clock = self.clock
        now = clock.now
        time = clock.boundary(now) * clock.slot
        earlier = [arrival for arrival in arrivals if arrival[2].value[1] < now]
        if earlier:
            self._arrivals.at(time, node, earlier)
        if len(earlier) < len(arrivals):  # sent in this very instant
            self._arrivals.at(time + clock.slot, node, [one for one in arrivals if one[2].value[1] == now])

    def _send(self, agent: int, rows: tuple[_Row, ...], _: object = None) -> None:
        """Put *rows* of an agent on its links, in one message."""
        channels = self.network.present_neighbours.of(self.network.channels[agent])
        if channels:
            size = self.network.header + len(rows) * self._row_bytes
            self.network.send(Message(MIX, size, (rows, self.clock.now), rows[-1].step), channels)

    def _repeat(self, _: Event) -> None:
        """Let all agents tell the rows of their last two steps, in this slot and again in the next."""
        clock = self.clock
        for agent, rows in enumerate(self._latest):
            if rows:  # who has been down from the first slot on has nothing to tell
                self._send(agent, rows)
        if clock.now + clock.slot < clock.end:
            clock.environment.schedule(ScheduledEvent(self._callbacks), SENDS, clock.slot)

    def _act(self, due: list[tuple[int, list[list[Arrival] | None]]]) -> None:
        """Let agents process arrivals, and step."""
        link = self._link
        links: list[int] = []
        rows: list[_Row] = []
        for node, inboxes in due:
            for _, sender, message in chain.from_iterable(inbox for inbox in inboxes if inbox is not None):
                for row in message.value[0]:
                    links.append(link[node, sender])
                    rows.append(row)
        if links:
            self._take_in(np.array(links), np.array([row.step for row in rows]), np.array([row.row for row in rows]))
        nodes = np.array([node for node, _ in due])
        if self.clock.now >= self.clock.end:
            return
        stepping = nodes[self._sent[nodes] == self.steps[nodes]]
        if self.pace == "step":
            complete = self._missing[self.steps[stepping] & 1, stepping] == 0
            stepping = stepping[complete | (self._gives_up[stepping] <= self.clock.now)]
        if len(stepping):
            self._step(stepping)
            if self._later:
                self._take_in_kept(stepping.tolist())

    def _take_in(self, links: NDArray[np.int64], steps: NDArray[np.int64], rows: Rows) -> None:
        """Store the new ones of the *rows* that have arrived over *links*, the newest last."""
        if self._patience is not None:
            links, steps, rows = self._due(links, steps, rows)
        places = steps & 1 if self.pace == "step" else np.zeros_like(steps)
        fresh = np.flatnonzero(steps > self._newest[places, links])  # else another copy, or overtaken by a newer one
        fresh = fresh[np.argsort(steps[fresh], kind="stable")]
        places, links = places[fresh], links[fresh]
        self._newest[places, links] = steps[fresh]
        self._rows[places, links] = rows[fresh]
        arrived = np.unique(places * len(self._link) + links)  # two copies of a row can come at once
        which, link = np.divmod(arrived, len(self._link))
        np.subtract.at(self._missing, (which, self._matrix.receivers[link]), 1)

    def _due(
        self, links: NDArray[np.int64], steps: NDArray[np.int64], rows: Rows
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Rows]:
        """Return the *rows* for this step or the next; store those for later steps.

        Where agents wait for a deadline only, neighbours may be any number of steps apart.
        """
        receivers = self._matrix.receivers[links]
        ahead = steps - self.steps[receivers]
        for index in np.flatnonzero(ahead < 0).tolist():
            missed = int(links[index]), int(steps[index])
            if missed in self._given_up:  # each counts once, however often it is told
                self._given_up.discard(missed)
                self.late += 1
        for index in np.flatnonzero(ahead > 1).tolist():
            kept = self._later.setdefault(int(receivers[index]), {})
            kept[int(links[index]), int(steps[index])] = rows[index]
        now = (ahead == 0) | (ahead == 1)
        return links[now], steps[now], rows[now]

    def _take_in_kept(self, agents: list[int]) -> None:
        """Let *agents* that have stepped use the rows that had arrived early."""
        for agent in agents:
            kept = self._later.get(agent, {})
            due = sorted(key for key in kept if key[1] <= self.steps[agent] + 1)
            if due:
                links, steps = np.array(due, dtype=np.int64).T
                self._take_in(links, steps, np.array([kept.pop(key) for key in due]))
            if not kept:
                self._later.pop(agent, None)

    def _step(self, agents: Agents) -> None:
        """Let *agents* mix their rows."""
        matrix = self._matrix
        links = matrix.links_to(agents)
        if self.pace == "step":
            parity = self.steps[agents] & 1
            places = np.repeat(parity, matrix.degrees[agents]) * len(self._link) + links
            if self._patience is not None:
                steps = np.repeat(self.steps[agents], matrix.degrees[agents])
                missing = self._newest[steps & 1, links] != steps
                places[missing] = -1  # the own row stands there
                self._given_up.update(zip(links[missing].tolist(), steps[missing].tolist(), strict=True))
            self._missing[parity, agents] = matrix.degrees[agents]
        else:
            places = np.where(self._newest[0, links] > self._used[links], links, -1)
            self._used[links] = self._newest[0, links]
        table = self._rows.reshape(2 * len(self._link), self._rows.shape[2])
        mixed, largest = mixed_rows(matrix, agents, self._own[agents], table, places)
        self.steps[agents] += 1
        self.ready[agents] = True
        self.mix(agents, mixed, largest)
