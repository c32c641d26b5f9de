"""Communication strategies of slot-based learners: none, broadcasts, rounds of synchronisation, exchanges.

The driver `Slots` calls a strategy between decisions (`should_send`, `send`, `apply_received`, `on_down`, `on_up`); a
strategy calls the learner and its protocol, which hands back what has arrived. Neither calls a driver.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.clock import Clock
from netbandit.protocols.adapters import broadcast_protocol, call_protocol, exchange_protocol
from netbandit.protocols.broadcast import BroadcastProtocol, Heard
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.protocol import Item
from netbandit.simulation.ages import age_figures, ages_of
from netbandit.simulation.byzantine_replies import AnswerLies
from netbandit.simulation.byzantine_sums import SumLies
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.figures import figures_of
from netbandit.simulation.lies import Liars
from netbandit.simulation.result import Metric
from netbandit.simulation.trace_phases import Phases

Learners = Sequence[Learner]
"""One learner per parameter set; usually there is one set."""


def lies_of(context: ReplicationContext, learner: Learner) -> Liars:
    """Return the lie generator for agents of *learner*; it depends on what they share, not on how that is sent.

    Args:
        context: The replication.
        learner: The learner, not yet started.
    """
    match learner.talk():
        case "broadcast" | "exchange":
            return RowLies(context, learner)
        case "call":
            return SumLies(context, learner)
        case "ask":
            return AnswerLies(context)
    return Liars(context)


class CommunicationStrategy:
    """Adapts a vectorized learner (arrays over agents) to a protocol (messages between single agents).

    Items that arrive between two decisions are buffered and passed to the learner in one call before the next decision,
    since nothing else can change an agent's choice in between.

    Args:
        context: The replication context.
        learner: The learner, not yet started.

    Attributes:
        members: The number of agents that each agent learns with, itself included, shape (M,).
        isolated: Whether nothing is ever shared.
        sets: The number of parameter sets that agents use in turn.
        asks: Whether to ask agents if they want to synchronise.
        present: The agents that are up, ascending.
        in_turn: Whether agents decide one after another within a slot, each after receiving from all before it.
        deposits: Whether agents deposit their sums with a keeper.
        log: What counts as time in logarithms.
        quiet: The agents that take part in a synchronisation of a set, shape (sets, M), bool.
        deciding: The agents that decided in the latest turn and may now send, ascending.
        eigenvalue, matrix: For exchanges: see `World`.
        catch_up: Lets some agents learn all rewards due by now.
        new_observations: If rewards may be delayed and agents send each of them: returns the observations that agents
            have learned since they last sent, rows of (arm, reward), shape (n, 2).
        lies: The liars, and the generator of their lies.
    """

    lies: Liars

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        self.context = context
        self.clock: Clock = context.clock
        self.lies = lies_of(context, learner)
        agents = context.topology.agents
        self.everybody = np.arange(agents)
        self.present = self.everybody
        self.deciding = self.everybody
        self.members: NDArray[np.int64] = np.ones(agents, dtype=np.int64)
        self.isolated = True
        self.sets = 1
        self.asks = False
        self.in_turn = False
        self.deposits = False
        self.log: Literal["slots", "pulls"] = "slots"
        self.quiet: NDArray[np.bool_] = np.zeros((1, agents), dtype=np.bool_)
        self.eigenvalue = 0.0
        self.matrix: Callable[[], NDArray[np.float64]] = lambda: np.eye(agents)
        self.learners: Learners = ()
        self.catch_up: Callable[[NDArray[np.int64]], None] = lambda agents: None
        self.new_observations: Callable[[NDArray[np.int64]], list[NDArray[np.float64]]] | None = None

    def open(self, learners: Learners) -> None:
        """Attach the started learners, before the first slot."""
        self.learners = learners

    def last(self, first: int, last: int) -> int:
        """Return the slot, at most *last*, before which agents that play from *first* on must stop to communicate."""
        return last

    def apply_received(self, slot: int) -> None:
        """Pass all items received by the agents, which decide in *slot* next, to the learner."""
        return

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether any agent sends after the decision of *slot*; *calls*: the agents that want to synchronise."""
        return False

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents send, now."""
        raise NotImplementedError

    @property
    def releases(self) -> int:
        """The number of releases of the agent that shared most often."""
        return 0

    def metrics(self) -> dict[str, Metric]:
        """Return ``rounds``, ``round_slots``, and strategy-specific metrics."""
        return {"rounds": 0, "round_slots": 0.0}

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """Note that *agent* goes down; *forgets*: it loses the items received but not yet used."""
        return

    def on_up(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Note that *agents* come back up; they decide in *slot* next."""
        return

    @property
    def waits(self) -> bool:
        """Whether agents wait for others; by default none do."""
        return False

    def waiting(self) -> list[int]:
        """Return the slots that each waiting agent has waited for others; by default none wait."""
        return []

    def finish(self) -> None:
        """Note that the horizon has been reached."""


class Never(CommunicationStrategy):
    """Agents that never communicate."""


class Broadcasts(CommunicationStrategy):
    """Agents that broadcast to each other in slots known ahead, and receive on arrival.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
        protocol: The started protocol that carries the broadcasts; None for the scenario's.
    """

    lies: RowLies

    def __init__(
        self, context: ReplicationContext, learner: Learner, protocol: BroadcastProtocol | None = None
    ) -> None:
        super().__init__(context, learner)
        self._protocol = protocol or broadcast_protocol(context.protocol, context.network, self._hear)
        self._protocol.absorbs = self._absorbs if hasattr(learner, "absorbs") else None
        self.members = np.array(self._protocol.reach, dtype=np.int64)
        self.isolated = not (self.members > 1).any()
        self._said: list[int] = []
        self._delays = [0, 0]
        self._heard: tuple[list[int], list[int], list[NDArray[np.float64]], list[int]] = [], [], [], []
        self._ages = ages_of(context)
        self._phases: Phases | None = None

    def open(self, learners: Learners) -> None:
        """Attach the learner, and set up the trace of its phases, if any."""
        super().open(learners)
        (self._learner,) = learners
        # A round needs an item from each agent, so all send, whichever have decided.
        self._all_tell = self._learner.has("next_share") or isinstance(self._protocol, BroadcastOverRounds)
        self._next = self._learner.next_share(0)
        if self.isolated and self._learner.explored_slots() is None:
            self._next = None  # no agent could receive it
        trace, explored = self.context.network.trace, self._learner.explored_slots()
        if trace is not None and explored is not None:
            self._phases = Phases(
                trace, self.clock.slot, explored.tolist(), (self.members - 1).tolist(), len(list(self._slots()))
            )

    def _slots(self) -> Iterator[int]:
        """Yield the slots in which agents broadcast."""
        slot = self._learner.next_share(0)
        while slot is not None and slot < self.clock.horizon:
            yield slot
            slot = self._learner.next_share(slot + 1)

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether a broadcast is due; if agents share in every slot, only those that decided in it send."""
        if self._next is None:
            return False
        return slot == self._next if self._all_tell else len(self.deciding) > 0

    def last(self, first: int, last: int) -> int:
        """Stop after the next slot in which agents broadcast; after each turn if those that decided send."""
        if self._next is not None and not self._all_tell:
            return first + 1
        return last if self._next is None else max(first + 1, min(last, self._next + 1))

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents broadcast their rows."""
        self._next = self._learner.next_share(slot + 1)
        agents = self.present if self._all_tell else self.deciding
        if self.new_observations is not None:
            self._said.append(slot)
            self._tell_new(agents, self.new_observations(agents))
            return
        told = self._learner.share(slot, agents) if len(agents) else None
        if told is None:
            return
        told = self.lies.told(slot, agents, told)
        speaking = self.lies.speaking(agents)
        if len(speaking) < len(agents):
            agents, told = speaking, told[np.isin(agents, speaking)]
        self._said.append(slot)
        if self._phases is not None:
            self._phases.tell(slot)
        if len(agents):
            self._tell(agents, told)

    def _tell(self, agents: NDArray[np.int64], told: NDArray[np.float64]) -> None:
        """Let *agents* broadcast one row each, as the newest broadcast."""
        size = self._learner.item_bytes(told[0].size)
        for agent, row in zip(agents.tolist(), told, strict=True):
            self._broadcast(agent, Item(size, row))

    def _tell_new(self, agents: NDArray[np.int64], observations: Sequence[NDArray[np.float64]]) -> None:
        """Let *agents* send their *observations*, shape (n, 2) each, in one message; without any only if all must."""
        for agent, rows in zip(agents.tolist(), observations, strict=True):
            if len(rows) or isinstance(self._protocol, BroadcastOverRounds):
                self._broadcast(agent, Item(len(rows) * self._learner.item_bytes(rows.shape[1]), rows))

    def _broadcast(self, agent: int, item: Item) -> None:
        """Let *agent* send its *item* of the newest broadcast, once that has been computed."""
        number = len(self._said)
        self.context.network.when_computed(agent, "item", lambda _: self._protocol.broadcast(number, agent, item))

    def _absorbs(self, agent: int, item: Item) -> bool:
        return bool(self._learner.absorbs(agent, item.value))  # type: ignore[attr-defined]  # see above

    def _hear(self, agent: int, heard: list[Heard]) -> None:
        """Buffer the items that *agent* receives until its next decision, if it has one."""
        boundary = self.clock.boundary(self.clock.now)
        if boundary >= self.clock.horizon:
            return
        listeners, sources, told, said = self._heard
        for source, round, item in heard:
            slot = self._said[round - 1]
            self._delays[0] += boundary - slot
            for row in np.atleast_2d(item.value):
                listeners.append(agent)
                sources.append(source)
                told.append(row)
                said.append(slot)
        self._delays[1] += len(heard)
        if self._phases is not None:
            self._phases.hear(agent, (message.round for message in heard), boundary)

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`."""
        self._protocol.leave(agent, forgets=forgets)
        if forgets and self._ages is not None:
            self._ages.forget(self.clock.boundary(self.clock.now), agent)
        if forgets and agent in self._heard[0]:
            kept = [place for place, listener in enumerate(self._heard[0]) if listener != agent]
            listeners, sources, told, said = self._heard
            self._heard = (
                [listeners[place] for place in kept],
                [sources[place] for place in kept],
                [told[place] for place in kept],
                [said[place] for place in kept],
            )

    def apply_received(self, slot: int) -> None:
        """Pass all items received since the last decision to the learner, in order of arrival."""
        listeners, sources, told, said = self._heard
        if listeners:
            self._heard = [], [], [], []
            self._learn_of(slot, np.array(listeners), np.array(sources), np.array(told), np.array(said))

    def _learn_of(
        self,
        slot: int,
        listeners: NDArray[np.int64],
        sources: NDArray[np.int64],
        told: NDArray[np.float64],
        said: NDArray[np.int64],
    ) -> None:
        """Pass the items that pass validation to the learner; see `Learner.hear`."""
        if self._ages is not None:
            self._ages.hear(slot, listeners, sources, said)
        sound = self.lies.sound(sources, told, said)
        if sound is not None:
            listeners, sources, told, said = listeners[sound], sources[sound], told[sound], said[sound]
        if len(listeners):
            self._learner.hear(slot, listeners, sources, told, said)

    @property
    def releases(self) -> int:
        """The number of releases; 0 if no agent could receive them."""
        told = self.context.network.ledger.kinds or self.context.protocol.out_of_band
        return len(self._said) if told and not self.isolated else 0

    def metrics(self) -> dict[str, Metric]:
        """Return the number of slots with broadcasts, and their delay to the receivers."""
        waited, heard = self._delays
        return {
            "rounds": self.releases,
            "round_slots": 0.0,
            "delay_slots": waited / heard if heard else None,
            **age_figures(self._ages),
            **figures_of(self._protocol, self._protocol.figures(), taken=("delay_slots", "age_slots")),
        }

    def finish(self) -> None:
        """Write the last phases to the trace."""
        if self._phases is not None:
            self._phases.end(self.clock.horizon)


class _Adoption(NamedTuple):
    """A combined row that some agents adopt before their next decision.

    Attributes:
        param_set: The parameter set.
        combined: The row.
        agents: The agents that adopt it.
        included: For each agent, the number of its own row that is included; empty if it is the last of each.
    """

    param_set: int
    combined: NDArray[np.float64]
    agents: list[int]
    included: list[int]


class Synchronisations(CommunicationStrategy):
    """Agents that synchronise in rounds: each contributes a row, and all adopt the combined row.

    A round begins in a slot known ahead, or when an agent calls for one. See `SyncHandler` for the methods that the
    protocol calls.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: SumLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        self._dimension = getattr(context.bandit, "dimension", 0)
        self._template = learner
        self._protocol = call_protocol(context.protocol, context.network, self)
        self.isolated = self._protocol.isolated
        groups = np.asarray(self._protocol.groups)
        self.members = np.bincount(groups)[groups]
        self.sets = self._protocol.sets
        self._wants = learner.has("wants")
        self._all_slots = context.run.activity == "every" and not context.feedback
        self.quiet = np.zeros((self.sets, len(self.everybody)), dtype=np.bool_)
        self._releases = np.zeros((self.sets, len(self.everybody)), dtype=np.int64)
        self._released_at: dict[tuple[int, int], int] = {}
        self._waits: dict[int, list[int]] = {}
        self._adopting: list[_Adoption] = []

    def open(self, learners: Learners) -> None:
        """Attach the learners, and find when they first share.

        If some agents do not decide, or do not learn their reward, in every slot, agents cannot infer from their own
        observations when a round without a call begins. Such rounds then begin in the slots that the learner names.
        """
        super().open(learners)
        self._wanted = self._wants and (self._all_slots or learners[0].called)
        self.asks = self._wanted and not self.isolated
        self._next = None if self._wanted or self.isolated else learners[0].next_share(0)

    def last(self, first: int, last: int) -> int:
        """Stop after the next slot in which a scheduled round begins."""
        return last if self._next is None else max(first + 1, min(last, self._next + 1))

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether an agent wants to synchronise, or a scheduled round begins."""
        return bool(calls.any()) if self._wanted else slot == self._next

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents call for a round, or begin a scheduled one."""
        if self.isolated:
            return
        param_set = slot % self.sets
        learner = self.learners[param_set]
        begin, agents = self._protocol.begin, self.present
        if self._wanted:
            agents = np.flatnonzero(calls)
            if learner.called:
                begin = self._protocol.call
        else:
            self._next = learner.next_share(slot + 1)
        for agent in agents.tolist():
            if not self.quiet[param_set, agent] and not self.lies.is_mute(agent):
                self.quiet[param_set, agent] = True
                self.context.network.after_own_jobs(agent, partial(begin, agent, param_set))

    def sync_started(self, agent: int, param_set: int) -> None:
        """Tell the learner; see `SyncHandler`."""
        self.quiet[param_set, agent] = True
        if self.learners:
            self.learners[param_set].sync_started(self.clock.now // self.clock.slot, self.everybody[agent : agent + 1])

    @property
    def release_size(self) -> int:
        """Bytes; see `SyncHandler`."""
        return self._template.item_bytes(self._template.share_numbers(self._dimension))

    def release(self, agent: int, param_set: int) -> Item | None:
        """Ask the learner; see `SyncHandler`."""
        if self.lies.is_mute(agent):
            return None
        now = self.clock.now
        self.catch_up(self.everybody[agent : agent + 1])
        self.apply_received(now // self.clock.slot)
        self._released_at[agent, param_set] = now
        self._releases[param_set, agent] += 1
        shared = self.learners[param_set].share(now // self.clock.slot, self.everybody[agent : agent + 1])
        assert shared is not None, "in a round every agent shares"
        said = self.lies.released(agent, param_set, self.sets, shared[0])
        return Item(self.learners[param_set].item_bytes(shared[0].size), said)

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Ask the learner; see `SyncHandler`."""
        learner = self.learners[0]
        sound = self.lies.sound_items(items)
        if len(sound) < len(items):
            items = [items[place] for place in sound]
            weights = None if weights is None else [weights[place] for place in sound]
        if not items:  # no item passed validation
            return Item(self.release_size, np.zeros(self._template.share_numbers(self._dimension)))
        row = learner.combine([item.value for item in items], weights)
        return Item(learner.item_bytes(row.size), row)

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`: the agent leaves the round in progress."""
        for param_set in np.flatnonzero(self.quiet[:, agent]).tolist():
            self.sync_missed(agent, param_set)
        self._protocol.leave(agent, forgets=forgets)
        if forgets:
            for adoption in self._adopting:
                if agent in adoption.agents:
                    place = adoption.agents.index(agent)
                    del adoption.agents[place], adoption.included[place : place + 1]

    def sync_missed(self, agent: int, param_set: int) -> None:
        """Let *agent* call again; see `SyncHandler`."""
        if self.quiet[param_set, agent]:
            self.quiet[param_set, agent] = False
            slot = self.clock.boundary(self.clock.now)
            self.learners[param_set].sync_missed(slot, self.everybody[agent : agent + 1])

    def apply_sync(self, agent: int, param_set: int, aggregate: Item, round: int, included: int | None = None) -> None:
        """Buffer the aggregate until the agent's next decision; see `SyncHandler`."""
        now = self.clock.now
        released = self._released_at.get((agent, param_set), now)
        trace = self.context.network.trace
        if trace is not None and self.sets == 1:  # several sets can wait at once, but an agent has a single track
            trace.phase("exploit", agent, round, released, now)
        self._waits.setdefault(round, []).append(-(-(now - released) // self.clock.slot))
        self.quiet[param_set, agent] = False
        latest = self._adopting[-1] if self._adopting else None
        if latest is None or latest.param_set != param_set or latest.combined is not aggregate.value:
            latest = _Adoption(param_set, aggregate.value, [], [])
            self._adopting.append(latest)
        latest.agents.append(agent)
        if included is not None:
            latest.included.append(included)

    def apply_received(self, slot: int) -> None:
        """Let the learners adopt all aggregates since the last decision, in order."""
        if self._adopting:
            adopting, self._adopting = self._adopting, []
            for param_set, combined, who, included in adopting:
                agents = np.array(who, dtype=np.int64)
                if included:
                    self.learners[param_set].included(agents, np.array(included))
                if who:
                    self.learners[param_set].adopt(slot, agents, combined)

    @property
    def releases(self) -> int:
        """See `CommunicationStrategy.releases`."""
        return int(self._releases.max())

    @property
    def waits(self) -> bool:
        """See `CommunicationStrategy.waits`: for the end of a round."""
        return not self.isolated

    def waiting(self) -> list[int]:
        """See `CommunicationStrategy.waiting`; an agent that has called but not yet released has waited 0 slots.

        A mute agent takes part in no round and never waits.
        """
        slot, horizon = self.clock.slot, self.clock.horizon
        sets, agents = np.nonzero(self.quiet & ~self.lies.mute)
        since: dict[int, int] = {}
        for own, agent in zip(sets.tolist(), agents.tolist(), strict=True):
            released = self._released_at.get((agent, own), self.clock.end)
            since[agent] = min(since.get(agent, horizon), -(-released // slot))
        return [horizon - slots for slots in since.values()]

    def metrics(self) -> dict[str, Metric]:
        """Return the rounds that have ended, their waiting times, and the protocol's own metrics."""
        ended = [round for round, time in self._protocol.ended.items() if time <= self.clock.end]
        waits = [slots for round in ended for slots in self._waits.get(round, [])]
        return {
            "rounds": len(ended),
            # A wait that has not ended is not a wait of zero.
            "round_slots": sum(waits) / len(waits) if waits else None if self._released_at else 0.0,
            **figures_of(self._protocol, self._protocol.figures()),
        }


class Exchanges(CommunicationStrategy):
    """Agents that send a row to their neighbours in every step, and mix the rows received.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        self._protocol = exchange_protocol(context.protocol, context.network, self._mix)
        self.isolated = self._protocol.isolated
        self.eigenvalue = self._protocol.eigenvalue
        self.matrix = self._protocol.matrix
        if not self.isolated:
            self.members = np.full(len(self.everybody), len(self.everybody))
        self._told = np.zeros(len(self.everybody), dtype=np.int64)
        self._mixed: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]] = []

    def open(self, learners: Learners) -> None:
        """Attach the learner."""
        super().open(learners)
        (self._learner,) = learners

    def last(self, first: int, last: int) -> int:
        """Stop after one slot if an agent has a row to send."""
        return first + 1 if self._ready().any() else last

    def _ready(self) -> NDArray[np.bool_]:
        """Return which of the agents that are up have a row to send, shape (n,)."""
        return self._protocol.ready[self.present]

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether an agent has stepped."""
        return bool(self._ready().any())

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let the agents that have stepped send their rows."""
        agents = self.present[self._ready()]
        rows = self._learner.share(slot, agents)
        if rows is None:
            assert not self._told.any(), "who has begun to exchange tells something in every step"
            return
        rows = self.lies.told(slot, agents, rows)
        speaking = self.lies.speaking(agents)
        if len(speaking) < len(agents):
            agents, rows = speaking, rows[np.isin(agents, speaking)]
        self._told[agents] += 1
        self._protocol.tell(agents, rows, self._learner.item_bytes(rows.shape[1]))

    def _mix(self, agents: NDArray[np.int64], mixed: NDArray[np.float64], largest: NDArray[np.float64]) -> None:
        self._mixed.append((agents, mixed, largest))

    def apply_received(self, slot: int) -> None:
        """Pass the mixed rows to the learner."""
        mixed, self._mixed = self._mixed, []
        for agents, rows, largest in mixed:
            self._learner.mix(slot, agents, rows, largest)

    @property
    def releases(self) -> int:
        """The number of releases; 0 if no agent could receive them."""
        return int(self._told.max()) if self.context.network.ledger.kinds else 0

    def metrics(self) -> dict[str, Metric]:
        """Return the number of steps completed by all agents, and the slots per step."""
        steps = int(self._protocol.steps.min())
        return {
            "rounds": steps,
            "round_slots": self.clock.horizon / steps if steps else None,
            **figures_of(self._protocol, self._protocol.figures()),
        }
