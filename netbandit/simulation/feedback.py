"""Delayed feedback: the queue of rewards that agents have not yet learned."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.network.delays import NEVER, Delay
from netbandit.network.draws import Draws
from netbandit.network.trace_writer import Trace
from netbandit.simulation.build_feedback import FeedbackPlan
from netbandit.simulation.result import Metric
from netbandit.util.streams import Streams

Agents = NDArray[np.int64]

_MOST_NUMBERS = 1 << 22
"""How many delays are at hand at most, unless there are more agents and laws."""
_MOST_TABLES = 16
"""Tables of `Draws` of which the delays are at hand at most."""
_LEAST_ROOM = 64


class Feedback:
    """The rewards of all agents that have not yet been learned.

    The delay of an agent's n-th pull, counted over all its incarnations, follows the pulled arm's distribution at
    random number n of the agent's column of ``feedback``; number n of ``feedback.never`` decides whether the reward
    never arrives. So the choice of an arm does not change the random numbers of other pulls. Methods ending in ``_one``
    are steps of the compiled decision loop.

    Args:
        plan: How rewards are delayed.
        streams: The streams of the replication.
        agents: The number M of agents.
        arms: The number K of arms.
        slot: The length of a slot (ns).
        dimension: The length d of the vector that is kept with a pull; 0: none is.

    Attributes:
        slots, arms, rewards, vectors: Of each pull that waits its slot, arm, reward and vector, shapes (M, n) and (M,
            n, d); where, says `netbandit.simulation.feedback_queue`.
        slot_ns: The length of a slot (ns).
        fresh: What each agent has learned since it told others last, rows of (arm, reward); None: nobody asks.
        trace: Where late rewards are written, by `put`; None: nowhere.
    """

    def __init__(
        self, plan: FeedbackPlan, streams: Streams, agents: int, arms: int, slot: int, dimension: int = 0
    ) -> None:
        from netbandit.simulation import feedback_queue

        self._queue = feedback_queue
        self._plan = plan
        self._agents = agents
        self.slot_ns = slot
        self._dimension = dimension
        self._window, self._as_zero, self._nonzero = plan.window, plan.as_zero, plan.nonzero
        of_arms = [
            (plan.laws[arm if plan.by == "arm" else 0], plan.never[arm % len(plan.never)]) for arm in range(arms)
        ]
        self._distinct = list(dict.fromkeys(of_arms))
        self._law_of = np.array([self._distinct.index(one) for one in of_arms], dtype=np.int64)
        self._draws = Draws(streams, "feedback", agents)
        self._never_draws = Draws(streams, "feedback.never", agents)
        most = max(1, _MOST_NUMBERS // (agents * len(self._distinct)))
        self._tables = max(1, min(_MOST_TABLES, most // self._draws.rows))
        self._rows = self._draws.rows * self._tables
        self._delays = np.zeros((len(self._distinct), agents, self._rows), dtype=np.int64)
        self._block = np.full(agents, -1)  # of which numbers each agent's delays are at hand
        self._pulls = np.zeros(agents, dtype=np.int64)
        self._count = np.zeros(agents, dtype=np.int64)
        none = np.zeros((agents, 0), dtype=np.int64)
        self._order, self._due, self._numbers, self.slots, self.arms = none, none, none, none, none
        self.rewards, self.vectors = np.zeros((agents, 0)), np.zeros((agents, 0, dimension))
        self._learned, self._lags, self._silent, self._late, self._most = np.zeros((5, agents), dtype=np.int64)
        self.fresh: list[list[tuple[int, float]]] | None = None
        self.trace: Trace | None = None

    def _law(self, place: int, agent: int) -> Delay:
        return self._plan.laws[agent] if self._plan.by == "agent" else self._distinct[place][0]

    @property
    def window_slots(self) -> int:
        """The number of slots after which no reward is learned; 0 without such a limit."""
        return max(0, -(-self._window // self.slot_ns))

    def ready(self, first: int, last: int) -> int:
        """Have delays and room at hand for pulls from *first* on; return to before which, *last* at most."""
        rows = self._rows
        blocks = self._pulls // rows
        for block in np.unique(blocks[blocks != self._block]).tolist():
            self._fill(block, np.flatnonzero((blocks == block) & (self._block != block)))
        until = min(last, first + int((rows - self._pulls % rows).min()))
        needed = int(self._count.max()) + until - first + 1
        if needed > self.slots.shape[1]:
            self._widen(max(2 * self.slots.shape[1], needed, _LEAST_ROOM))
        return until

    def _fill(self, block: int, agents: Agents) -> None:
        """Draw the delays of *block* of these agents."""
        self._block[agents] = block
        tables = range(block * self._tables, (block + 1) * self._tables)
        uniforms = np.concatenate([self._draws.table(table)[agents] for table in tables], axis=1)
        silent = None
        if any(self._plan.never):
            silent = np.concatenate([self._never_draws.table(table)[agents] for table in tables], axis=1)
        for place, (_, never) in enumerate(self._distinct):
            if self._plan.by == "agent":
                rows = zip(agents.tolist(), uniforms, strict=True)
                delays = np.array([self._law(place, agent).times(own) for agent, own in rows])
            else:
                delays = self._law(place, 0).times(uniforms)
            self._delays[place, agents] = delays if silent is None else np.where(silent < never, NEVER, delays)

    def _widen(self, room: int) -> None:
        """Make *room* for so many pulls of each agent."""
        more = room - self.slots.shape[1]
        places = np.broadcast_to(np.arange(self.slots.shape[1], room), (self._agents, more))
        self._order = np.concatenate([self._order, places], axis=1)
        for name in ("_due", "_numbers", "slots", "arms", "rewards", "vectors"):
            kept = getattr(self, name)
            empty = np.zeros((self._agents, more, *kept.shape[2:]), dtype=kept.dtype)
            setattr(self, name, np.concatenate([kept, empty], axis=1))

    def put_one(self, slot: int, agent: int, time: int, arm: int, reward: float) -> Any:
        """Queue the reward of a pull of *agent* at *time* (ns); return its row, -1 if it is never learned."""
        number = self._pulls[agent]
        delay = self._delays[self._law_of[arm], agent, number % self._rows]
        self._pulls[agent] = number + 1
        if self._nonzero and reward == 0.0:
            delay = -1
        silent = delay < 0
        late = self._window >= 0 and delay > self._window
        learned = reward
        if (silent or late) and self._as_zero:
            delay = self._window
            learned = 0.0
            silent = False
            late = False
        row = -1
        if silent:
            self._silent[agent] += 1
        elif late:
            self._late[agent] += 1
        else:
            due = time + delay
            row = self._queue.push(self._order, self._due, self._numbers, self._count, agent, due, number)
            self.slots[agent, row] = slot
            self.arms[agent, row] = arm
            self.rewards[agent, row] = learned
        return row

    def is_due_one(self, agent: int, time: int) -> Any:
        """Return whether a reward of *agent* is due by *time* (ns)."""
        return self._count[agent] > 0 and self._due[agent, self._order[agent, 0]] <= time

    def take_one(self, slot: int, agent: int) -> Any:
        """Return the row of the reward that is due first; *agent* uses it from *slot* on."""
        row = self._queue.pop(self._order, self._due, self._numbers, self._count, agent)
        self._learned[agent] += 1
        self._lags[agent] += max(slot - self.slots[agent, row], 1)
        return row

    def note_one(self, agent: int) -> None:
        """Note how many rewards *agent* has not learned as it decides."""
        self._most[agent] = max(self._most[agent], self._count[agent])

    def put(
        self,
        slot: int,
        time: int,
        agents: Agents,
        arms: NDArray[np.int64],
        rewards: NDArray[np.float64],
        vectors: NDArray[np.float64] | None,
    ) -> None:
        """As `put_one`, of several *agents*, with the vectors of their arms where arms have any, shape (n, d)."""
        for place, agent in enumerate(agents.tolist()):
            row = self.put_one(slot, agent, time, int(arms[place]), float(rewards[place]))
            if vectors is not None and self._dimension and row >= 0:
                self.vectors[agent, row] = vectors[place]
            if self.trace is not None and row >= 0 and (due := int(self._due[agent, row])) > time + self.slot_ns:
                self.trace.reward(int(arms[place]), agent, time, due)

    def note(self, agents: Agents) -> None:
        """As `note_one`, of several *agents*; and have delays and room at hand for a pull of each."""
        self._most[agents] = np.maximum(self._most[agents], self._count[agents])
        self.ready(0, 1)

    def take(self, slot: int, time: int, agents: Agents) -> tuple[Agents, NDArray[np.int64]]:
        """Return those of *agents* of whom a reward is due by *time* (ns), and the row of the first, shape (n,) each.

        Their rewards are all of pulls of one slot; those of others come when it is called again.
        """
        if not self._count.any():
            return agents[:0], agents[:0]
        heads = self._order[agents, 0]
        due = agents[(self._count[agents] > 0) & (self._due[agents, heads] <= time)]
        if len(due):
            slots = self.slots[due, self._order[due, 0]]
            due = due[slots == slots.min()]
        rows = np.array([self.take_one(slot, agent) for agent in due.tolist()], dtype=np.int64)
        if self.fresh is not None:
            for agent, row in zip(due.tolist(), rows.tolist(), strict=True):
                self.fresh[agent].append((int(self.arms[agent, row]), float(self.rewards[agent, row])))
        return due, rows

    def new_observations(self, agents: Agents) -> list[NDArray[np.float64]]:
        """Return what each of *agents* has learned since it was asked last: rows of (arm, reward), shape (n, 2)."""
        assert self.fresh is not None
        found = [np.array(self.fresh[agent]).reshape(-1, 2) for agent in agents.tolist()]
        for agent in agents.tolist():
            self.fresh[agent] = []
        return found

    def forget(self, agent: int) -> None:
        """Drop all pending rewards of the incarnation that *agent* has forgotten."""
        self._late[agent] += self._count[agent]
        self._count[agent] = 0
        if self.fresh is not None:
            self.fresh[agent] = []

    def metrics(self, counted: NDArray[np.bool_], present: NDArray[np.bool_], end: int) -> dict[str, Metric]:
        """Return what became of the rewards of agents whose decisions are *counted*, shape (M,).

        What is due after the last decision of those that are *present*, and before the *end* (ns), is learned as well.
        """
        for agent in np.flatnonzero(present).tolist():
            while self.is_due_one(agent, end - 1):
                self.take_one(end // self.slot_ns, agent)
        learned, pulls = int(self._learned[counted].sum()), int(self._pulls[counted].sum())
        outstanding = self._count[counted]
        return {
            "feedback_slots": int(self._lags[counted].sum()) / learned if learned else None,
            "outstanding": float(outstanding.mean()),
            "outstanding_most": int(self._most[counted].max()),
            "censored": int(self._silent[counted].sum()) / pulls if pulls else None,
            "feedback_late": int(self._late[counted].sum()),
        }
