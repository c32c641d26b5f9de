"""Delayed feedback: the queue of rewards that agents have not yet learned."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.compilation.steps import Compiled
from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.network.delays import INFINITE, Delay
from netbandit.network.draws import Draws
from netbandit.network.jitter import UniformJitter
from netbandit.network.trace_writer import Trace
from netbandit.parts.metric import Metric
from netbandit.util.streams import Streams

Agents = NDArray[np.int64]

_MOST_NUMBERS = 1 << 22
"""How many delays are at hand at most, unless there are more agents and laws."""
_MOST_TABLES = 16
"""Tables of `Draws` of which the delays are at hand at most."""
_LEAST_ROOM = 64

# In one array each, as every array costs each compiled loop that reads it 10 ms.
_AFTER, _DUE, _NUMBER, SLOT, ARM = range(5)
"""Of a pull that waits: the row after it, when its reward is due (ns), its number, slot and arm; see `rows`."""
_PULLS, _BEGINS, _COUNT, _FREE, _REACHED, _LEARNED, _LAGS, _SILENT, _LATE, _MOST = range(10)
"""Of an agent: its pulls, the number of the first of its delays at hand, how many pulls wait and in which row is room,
which bucket is next; rewards learned, their lags (slots), those never learned, those too late, the most that waited."""


class FeedbackQueue:
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
        rows, rewards, vectors: Of each pull that waits its numbers (such as `SLOT` and `ARM`), its reward and vector,
            shapes (M, n, 5), (M, n) and (M, n, d).
        slot_ns: The length of a slot (ns).
        ages: How many decisions each agent has made since that whose reward it takes, shape (M,).
        fresh: What each agent has learned since it told others last, rows of (arm, reward); None: nobody asks.
        trace: Where late rewards are written, by `put`; None: nowhere.
    """

    def __init__(
        self, plan: FeedbackPlan, streams: Streams, agents: int, arms: int, slot: int, dimension: int = 0
    ) -> None:
        self._plan = plan
        self._agents = agents
        self.slot_ns = slot
        self._slots_a_ns = 1 / slot
        self._dimension = dimension
        self._window, self._as_zero, self._nonzero = plan.window, plan.as_zero, plan.nonzero
        of_arms = [
            (plan.laws[arm if plan.by == "arm" else 0], plan.never[arm % len(plan.never)]) for arm in range(arms)
        ]
        self._distinct = list(dict.fromkeys(of_arms))
        self._law_of = np.array([self._distinct.index(one) for one in of_arms], dtype=np.int64)
        self._drawn = not all(isinstance(law, UniformJitter) and law.shortest == law.longest for law in plan.laws)
        self._draws = Draws(streams, "feedback", agents)
        self._never_draws = Draws(streams, "feedback.never", agents)
        most = max(1, _MOST_NUMBERS // (agents * len(self._distinct)))
        self._tables = max(1, min(_MOST_TABLES, most // self._draws.rows))
        self._ahead = self._draws.rows * self._tables  # delays at hand
        self._delays = np.zeros((len(self._distinct), agents, self._ahead), dtype=np.int64)
        self._block = np.full(agents, -1)  # of which numbers each agent's delays are at hand
        self._agent = np.zeros((agents, 10), dtype=np.int64)
        self._agent[:, _FREE] = -1
        self._heads = np.full((agents, _LEAST_ROOM), -1)
        self.rows = np.zeros((agents, 0, 5), dtype=np.int64)
        self.rewards, self.vectors = np.zeros((agents, 0)), np.zeros((agents, 0, dimension))
        self.ages = np.zeros(agents, dtype=np.int64)
        self._compiled: dict[Callable[..., None], Compiled] = {}
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
        pulls, ahead = self._agent[:, _PULLS], self._ahead
        blocks = pulls // ahead
        for block in np.unique(blocks[blocks != self._block]).tolist():
            self._fill(block, np.flatnonzero((blocks == block) & (self._block != block)))
        until = min(last, first + int((ahead - pulls % ahead).min()))
        waiting = int(self._agent[:, _COUNT].max())
        needed = waiting + until - first + 1
        if needed > self.rows.shape[1]:
            self._widen(max(2 * self.rows.shape[1], needed, _LEAST_ROOM))
        if waiting > self._heads.shape[1]:
            self._distribute(1 << waiting.bit_length())
        return until

    def _fill(self, block: int, agents: Agents) -> None:
        """Draw the delays of *block* of these agents."""
        constant = not self._drawn and not any(self._plan.never) and (self._block[agents] >= 0).all()
        self._block[agents] = block
        self._agent[agents, _BEGINS] = block * self._ahead
        if constant:
            return
        tables = range(block * self._tables, (block + 1) * self._tables)
        uniforms = np.zeros((len(agents), self._ahead))
        if self._drawn:
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
            self._delays[place, agents] = delays if silent is None else np.where(silent < never, INFINITE, delays)

    def _widen(self, room: int) -> None:
        """Make *room* for so many pulls of each agent."""
        before = self.rows.shape[1]
        for name in ("rows", "rewards", "vectors"):
            kept = getattr(self, name)
            empty = np.zeros((self._agents, room - before, *kept.shape[2:]), dtype=kept.dtype)
            setattr(self, name, np.concatenate([kept, empty], axis=1))
        self.rows[:, before, _AFTER] = self._agent[:, _FREE]
        self.rows[:, before + 1 :, _AFTER] = np.arange(before, room - 1)
        self._agent[:, _FREE] = room - 1
        self.rows[:, before:, _NUMBER] = -1

    def _distribute(self, buckets: int) -> None:
        """Distribute what waits among so many *buckets* of each agent, a power of 2."""
        self._heads = np.full((self._agents, buckets), -1)
        agents, rows = np.nonzero(self.rows[:, :, _NUMBER] >= 0)
        due = self.rows[agents, rows, _DUE]
        places = -(-due // self.slot_ns) & (buckets - 1)
        order = np.lexsort((self.rows[agents, rows, _NUMBER], due, places, agents))
        agents, rows, places = agents[order], rows[order], places[order]
        follows = np.zeros(len(rows), dtype=np.bool_)
        follows[1:] = (np.diff(agents) == 0) & (np.diff(places) == 0)
        self._heads[agents[~follows], places[~follows]] = rows[~follows]
        self.rows[agents, rows, _AFTER] = -1
        self.rows[agents[follows], rows[np.roll(follows, -1)], _AFTER] = rows[follows]

    def put_one(self, slot: int, agent: int, time: int, arm: int, reward: float) -> Any:
        """Queue the reward of a pull of *agent* at *time* (ns); return its row, -1 if it is never learned.

        A reward that is NaN is never learned, nor is 0 in its place.
        """
        number = self._agent[agent, _PULLS]
        delay = self._delays[self._law_of[arm], agent, number - self._agent[agent, _BEGINS]]
        self._agent[agent, _PULLS] = number + 1
        known = reward == reward
        if not known or (self._nonzero and reward == 0.0):
            delay = -1
        silent = delay < 0
        late = self._window >= 0 and delay > self._window
        learned = reward
        if (silent or late) and self._as_zero and known:
            delay = self._window
            learned = 0.0
            silent = False
            late = False
        row = -1
        if silent:
            self._agent[agent, _SILENT] += 1
        elif late:
            self._agent[agent, _LATE] += 1
        else:
            due = time + delay
            row = self._agent[agent, _FREE]
            self._agent[agent, _FREE] = self.rows[agent, row, _AFTER]
            self.rows[agent, row, SLOT] = slot
            self.rows[agent, row, ARM] = arm
            self.rewards[agent, row] = learned
            self.rows[agent, row, _NUMBER] = number
            self.rows[agent, row, _DUE] = due
            self.push_one(agent, row, due)
        return row

    def push_one(self, agent: int, row: int, due: int) -> None:
        """Queue the *row* of a pull that is *due* at some time (ns), after others that are due then."""
        boundary = int(due * self._slots_a_ns)  # nearly: a division of whole numbers would take as long as all else
        while boundary * self.slot_ns < due:
            boundary += 1
        while (boundary - 1) * self.slot_ns >= due:
            boundary -= 1
        if self._agent[agent, _COUNT] == 0 or boundary < self._agent[agent, _REACHED]:
            self._agent[agent, _REACHED] = boundary
        self._agent[agent, _COUNT] += 1
        bucket = boundary & (self._heads.shape[1] - 1)
        before = -1
        other = self._heads[agent, bucket]
        while other >= 0 and self.rows[agent, other, _DUE] <= due:
            before = other
            other = self.rows[agent, other, _AFTER]
        if before < 0:
            self._heads[agent, bucket] = row
        else:
            self.rows[agent, before, _AFTER] = row
        self.rows[agent, row, _AFTER] = other

    def first_one(self, agent: int, time: int) -> Any:
        """Return the row of the reward of *agent* that is due first, -1 if none is by *time* (ns)."""
        row = -1
        if self._agent[agent, _COUNT] > 0:
            last = self._heads.shape[1] - 1
            boundary = self._agent[agent, _REACHED]
            row = self._heads[agent, boundary & last]
            # In a bucket, others are due at this boundary plus a multiple of the number of buckets.
            while boundary * self.slot_ns < time and (row < 0 or self.rows[agent, row, _DUE] > boundary * self.slot_ns):
                boundary += 1
                row = self._heads[agent, boundary & last]
            self._agent[agent, _REACHED] = boundary
            if row >= 0:
                due = self.rows[agent, row, _DUE]
                if due > time or due > boundary * self.slot_ns:
                    row = -1
        return row

    def is_due_one(self, agent: int, row: int, time: int) -> Any:
        """Return whether the *row* that `put_one` returned is due by *time* (ns), the time of its pull."""
        return row >= 0 and self.rows[agent, row, _DUE] <= time

    def take_one(self, slot: int, agent: int, row: int) -> None:
        """Take the *row* that is due first out of the queue; *agent* uses it from *slot* on."""
        self._heads[agent, self._agent[agent, _REACHED] & (self._heads.shape[1] - 1)] = self.rows[agent, row, _AFTER]
        self.rows[agent, row, _AFTER] = self._agent[agent, _FREE]
        self._agent[agent, _FREE] = row
        self._agent[agent, _COUNT] -= 1
        self.ages[agent] = self._agent[agent, _PULLS] - self.rows[agent, row, _NUMBER] - 1
        self.rows[agent, row, _NUMBER] = -1
        self._agent[agent, _LEARNED] += 1
        lag = slot - self.rows[agent, row, SLOT]
        self._agent[agent, _LAGS] += lag if lag > 0 else 1  # `max` would be compiled along

    def note_one(self, agent: int) -> None:
        """Note how many rewards *agent* has not learned as it decides."""
        count = self._agent[agent, _COUNT]
        if count > self._agent[agent, _MOST]:
            self._agent[agent, _MOST] = count

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
        rows = np.empty(len(agents), dtype=np.int64)
        self._each(put_each, slot, time, agents, arms, rewards, rows)
        queued = rows >= 0
        if vectors is not None and self._dimension:
            self.vectors[agents[queued], rows[queued]] = vectors[queued]
        if self.trace is not None:
            for agent, arm, row in zip(agents[queued].tolist(), arms[queued].tolist(), rows[queued], strict=True):
                if (due := int(self.rows[agent, row, _DUE])) > time + self.slot_ns:
                    self.trace.reward(arm, agent, time, due)

    def note(self, agents: Agents) -> None:
        """As `note_one`, of several *agents*; and have delays and room at hand for a pull of each."""
        self._agent[agents, _MOST] = np.maximum(self._agent[agents, _MOST], self._agent[agents, _COUNT])
        self.ready(0, 1)

    def take(self, slot: int, time: int, agents: Agents) -> tuple[Agents, NDArray[np.int64]]:
        """Return those of *agents* of whom a reward is due by *time* (ns), and the row of the first, shape (n,) each.

        Their rewards are all of pulls of one slot; those of others come when it is called again.
        """
        waiting = agents[self._agent[agents, _COUNT] > 0]
        rows = np.empty(len(waiting), dtype=np.int64)
        self._each(take_each, slot, time, waiting, rows)
        due, rows = waiting[rows >= 0], rows[rows >= 0]
        if self.fresh is not None:
            for agent, row in zip(due.tolist(), rows.tolist(), strict=True):
                self.fresh[agent].append((int(self.rows[agent, row, ARM]), float(self.rewards[agent, row])))
        return due, rows

    def _each(self, function: Callable[..., None], *given: Any) -> None:
        """Call *function*, which has its steps done for several agents, compiled."""
        if function not in self._compiled:
            self._compiled[function] = Compiled(function, {"feedback": self}, f"{function.__name__}_late")
        self._compiled[function](*given)

    def new_observations(self, agents: Agents) -> list[NDArray[np.float64]]:
        """Return what each of *agents* has learned since it was asked last: rows of (arm, reward), shape (n, 2)."""
        assert self.fresh is not None
        found = [np.array(self.fresh[agent]).reshape(-1, 2) for agent in agents.tolist()]
        for agent in agents.tolist():
            self.fresh[agent] = []
        return found

    def forget(self, agent: int) -> None:
        """Drop all pending rewards of the incarnation that *agent* has forgotten."""
        self._agent[agent, _LATE] += self._agent[agent, _COUNT]
        self._agent[agent, _COUNT] = 0
        self._heads[agent] = self.rows[agent, :, _NUMBER] = -1
        rooms = self.rows.shape[1]
        self.rows[agent, :, _AFTER] = np.arange(-1, rooms - 1)
        self._agent[agent, _FREE] = rooms - 1
        if self.fresh is not None:
            self.fresh[agent] = []

    def metrics(self, counted: NDArray[np.bool_], present: NDArray[np.bool_], end: int) -> dict[str, Metric]:
        """Return what became of the rewards of agents whose decisions are *counted*, shape (M,).

        What is due after the last decision of those that are *present*, and before the *end* (ns), is learned as well.
        """
        for agent in np.flatnonzero(present).tolist():
            while (row := self.first_one(agent, end - 1)) >= 0:
                self.take_one(end // self.slot_ns, agent, row)
        learned, pulls = int(self._agent[counted, _LEARNED].sum()), int(self._agent[counted, _PULLS].sum())
        outstanding = self._agent[counted, _COUNT]
        return {
            "feedback_slots": int(self._agent[counted, _LAGS].sum()) / learned if learned else None,
            "outstanding": float(outstanding.mean()),
            "outstanding_most": int(self._agent[counted, _MOST].max()),
            "censored": int(self._agent[counted, _SILENT].sum()) / pulls if pulls else None,
            "feedback_late": int(self._agent[counted, _LATE].sum()),
        }


def put_each(
    feedback: Any,
    slot: int,
    time: int,
    agents: Agents,
    arms: NDArray[np.int64],
    rewards: NDArray[np.float64],
    rows: NDArray[np.int64],
) -> None:
    """Fill *rows* with what `FeedbackQueue.put_one` returns of each of *agents*, shape (n,)."""
    for place in range(agents.size):
        rows[place] = feedback.put_one(slot, agents[place], time, arms[place], rewards[place])


def take_each(feedback: Any, slot: int, time: int, agents: Agents, rows: NDArray[np.int64]) -> None:
    """Take the first reward that is due of each of *agents* out of its queue, those of the earliest slot among these.

    Args:
        feedback: `FeedbackQueue`.
        slot: From which on they use it.
        time: By which it is due (ns).
        agents: The agents, shape (n,).
        rows: Takes the row of each, -1: none is taken; shape (n,).
    """
    earliest = slot
    for place in range(agents.size):
        rows[place] = feedback.first_one(agents[place], time)
        if rows[place] >= 0 and feedback.rows[agents[place], rows[place], SLOT] < earliest:
            earliest = feedback.rows[agents[place], rows[place], SLOT]
    for place in range(agents.size):
        agent, row = agents[place], rows[place]
        if row >= 0 and feedback.rows[agent, row, SLOT] == earliest:
            feedback.take_one(slot, agent, row)
        else:
            rows[place] = -1
