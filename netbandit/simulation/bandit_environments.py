"""Vectorized environments: bandits as the slot driver plays them, for all agents at once, with one call per slot."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from sys import maxsize
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import ArmBandit, Bandit, GeneratorOf
from netbandit.bandits.bernoulli import Bernoulli
from netbandit.bandits.decision_numbers import BLOCK, MOST_NUMBERS, DecisionNumbers, Draw, uniform
from netbandit.bandits.gaussian import Gaussian
from netbandit.bandits.linear import Linear
from netbandit.bandits.procurement import TOLERANCE, Procurement
from netbandit.bandits.varied import VariedArms
from netbandit.conditions.feedback_queue import ARM, SLOT
from netbandit.network.message import Kind
from netbandit.simulation.regret import PRIME
from netbandit.simulation.result import Metric
from netbandit.simulation.return_validation import note_slot
from netbandit.util.rows import rows_of

if TYPE_CHECKING:  # it needs numba, which only runs use
    from netbandit.bandits.procurement_draws import Tables

CHOOSE = Kind("choose")
PROCURE = Kind("procure")

_MOST_MEANS = 1 << 20
"""The most means tabulated at once, if they change."""

Agents = NDArray[np.int64]


class NoArmError(Exception):
    """A learner has chosen an invalid arm; arguments: the slot, the agent, and the choice."""


class BanditEnvironment(ABC):
    """The interface between the slot driver and a bandit.

    Attributes:
        bandit: The bandit.
        arms: The number K of arms, if agents choose one.
        kind: The kind of a decision event in the fingerprint.
        each: Whether regret is added up per agent.
        counted: 1 for each agent whose regret counts, 0 for a liar, shape (M,).
        rewards: The total reward of each agent so far, shape (M,); in a market its expectation.
        regrets: The pseudo-regret of each agent so far, shape (M,); where it is unknown, its rewards.
        knows_best: Whether regret is known; if not, rewards are added up in its place.
        users_own: Whether the learner is of the user's own; None: it is not, and no loop checks what it chooses.
    """

    bandit: Any
    arms: int
    kind: Kind = CHOOSE
    each: bool = False
    knows_best: bool = True
    users_own: bool | None = None

    def __init__(self, bandit: Any) -> None:
        self.bandit = bandit
        self.rewards = np.zeros(bandit.agents)
        self.regrets = np.zeros(bandit.agents)
        self.counted = np.ones(bandit.agents)

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the properties that learners may know: fields of `netbandit.learners.world.World`."""

    @abstractmethod
    def start(self, generator: GeneratorOf, horizon: int, *, each_slot: bool = True) -> None:
        """Start at slot 0, with the random streams of the rewards (purpose ``rewards``, index: the agent).

        Args:
            generator: Provides the streams.
            horizon: T, in slots.
            each_slot: Whether all agents decide in every slot.
        """

    @abstractmethod
    def show(self, slot: int, agents: Agents) -> None:
        """Present to *agents* their action sets of *slot*."""

    def vectors_of(self, agents: Agents, arms: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the vectors of *arms* as shown to *agents*, shape (n, d); None if arms have no vectors."""
        return None

    def recall(self, agents: Agents, arms: NDArray[np.int64], vectors: NDArray[np.float64]) -> None:  # noqa: B027
        """Present to *agents* once more the *vectors* of *arms* they pulled earlier, and of no other arms."""

    @abstractmethod
    def pull(self, slot: int, agents: Agents, arms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return each agent's reward in *slot*, and its expected regret, or the reward if that is unknown."""

    def count(
        self, agents: Agents, rewards: NDArray[np.float64], regrets: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Add up the rewards of *agents*; return the regrets of those that count, or rewards if unknown."""
        rows = rows_of(agents, len(self.rewards))
        counted = self.counted[rows]
        paid = (np.nan_to_num(rewards) if self.bandit.discards else rewards) * counted
        self.rewards[rows] += paid
        self.knows_best = regrets is not None
        added = paid if regrets is None else regrets * counted
        self.regrets[rows] += added
        return added

    def digest(self, digests: NDArray[np.uint64], agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Update the hashes of *agents* with their choices."""
        rows = rows_of(agents, len(digests))
        digests[rows] = (digests[rows] ^ (arms + 1).astype(np.uint64)) * PRIME

    def metrics(self, decisions: int) -> dict[str, Metric]:
        """Return environment-specific metrics after this many counted *decisions*."""
        return {}

    def count_only(self, counted: NDArray[np.float64]) -> None:
        """Count the regret of only these agents; called before the first slot."""
        self.counted = counted

    # Steps of a single agent, compiled together with the loop over agents (`netbandit.simulation.drivers.slot_loop`).

    def why_no_loop(self, *, everybody: bool) -> str | None:
        """Return why it has no compiled steps, None if it has; *everybody*: all agents decide in every slot."""
        return "this world is not written in steps"

    def ready(self, first: int, last: int) -> int:
        """Prepare the data of steps from slot *first* on; return the slot before which it suffices, at most *last*."""
        return last

    def played(self, first: int, last: int, agents: Agents) -> None:  # noqa: B027  # most have nothing to note
        """Note that *agents* have decided in the slots from *first* to before *last*."""

    def decide_one(self, slot: int, agent: int, learner: Any, account: Any, feedback: Any) -> Any:
        """Let *agent* choose and learn; return its expected regret.

        Args:
            slot: The slot.
            agent: The agent.
            learner: `netbandit.learners.steps.StepLearner`.
            account: `netbandit.simulation.regret.SlotAccount`, which hashes the choice.
            feedback: `netbandit.conditions.feedback_queue.FeedbackQueue` of the rewards; None: they are learned at
                once.
        """
        arm = -1
        if feedback is None:
            arm = self.choose_one(slot, agent, learner)
            reward = self.pay_one(slot, agent, arm)
            self.rewards[agent] += reward * self.counted[agent]
            self.learn_one(slot, agent, arm, reward, learner)
        else:
            # Rewards that are due are learned before the choice, and after it one that is due at once: one text for
            # both, which is compiled once.
            now = slot * feedback.slot_ns
            waits = True
            while waits:
                row = feedback.first_one(agent, now)
                if row >= 0:
                    feedback.take_one(slot, agent, row)
                    self.learn_late_one(agent, row, learner, feedback)
                elif arm >= 0:
                    waits = False
                else:
                    feedback.note_one(agent)
                    arm = self.choose_one(slot, agent, learner)
                    reward = self.pay_one(slot, agent, arm)
                    self.rewards[agent] += reward * self.counted[agent]
                    put = feedback.put_one(slot, agent, now, arm, reward)
                    self.put_vector_one(agent, arm, put, feedback)
                    waits = feedback.is_due_one(agent, put, now)
        account.note_arm(agent, arm)
        return self.regret_of(slot, agent, arm)

    def choose_one(self, slot: int, agent: int, learner: Any) -> Any:
        """Return the arm that *agent* chooses, which is valid."""
        arm = learner.choose_one(slot, agent)
        self.check_one(slot, agent, arm)
        return arm

    def learn_one(self, slot: int, agent: int, arm: int, reward: float, learner: Any) -> None:
        """Let *agent* learn the *reward* of the *arm* that it has just pulled."""
        learner.learn_one(slot, agent, arm, reward)

    def put_vector_one(self, agent: int, arm: int, row: int, feedback: Any) -> None:  # noqa: B027
        """Queue the vector of an *arm* with its reward, which is in a *row* of the queue; -1: it is not."""

    def learn_late_one(self, agent: int, row: int, learner: Any, feedback: Any) -> None:
        """Let *agent* learn the reward in a *row* of the queue, from which it has just been taken."""
        pulled, arm = feedback.rows[agent, row, SLOT], feedback.rows[agent, row, ARM]
        learner.learn_one(pulled, agent, arm, feedback.rewards[agent, row])

    def check_one(self, slot: int, agent: int, arm: Any) -> None:
        """Raise a `NoArmError` if *arm*, which a learner of the user's own has chosen, is invalid."""
        if self.users_own is not None and (arm < 0 or arm >= self.arms):
            raise NoArmError(slot, agent, arm)

    def pay_one(self, slot: int, agent: int, arm: int) -> Any:
        """Return the reward of *arm*."""
        raise NotImplementedError

    def regret_of(self, slot: int, agent: int, arm: int) -> Any:
        """Return the expected regret of *arm*."""
        raise NotImplementedError

    def add_regret(self, agent: int, regret: float) -> None:  # noqa: B027
        """Add to the regret of *agent* its *regret* in one or several slots."""


class RewardNumbers:
    """The random numbers behind all rewards, drawn ahead in blocks: number t of an agent's stream decides slot t.

    They do not depend on the arms pulled, so all learners share common random numbers.

    Args:
        generator: Provides the streams (purpose ``rewards``, index: the agent).
        agents: The number M of agents.
        horizon: T, in slots.
        draw: Draws a given count of the next numbers of a stream.
        width: How many numbers a slot takes; None: one, and the block has no axis for it.

    Attributes:
        first: The first slot of the block.
        last: The slot after its last one.
        block: The numbers, shape (M, slots) or (M, slots, width).
    """

    def __init__(self, generator: GeneratorOf, agents: int, horizon: int, draw: Draw, width: int | None = None) -> None:
        self._generators = [generator("rewards", agent) for agent in range(agents)]
        self._horizon = horizon
        self._draw = draw
        self._width = width or 1
        self._axis = () if width is None else (width,)
        self._most = max(1, min(BLOCK, MOST_NUMBERS // max(1, agents * self._width)))
        self.first = self.last = 0
        self.block = np.empty((agents, 0, *self._axis))

    def reach(self, slot: int) -> None:
        """Draw blocks until one holds *slot*, which must not precede a slot requested before."""
        while slot >= self.last:
            slots = min(self._most, self._horizon - self.last)
            shape = (len(self._generators), slots, *self._axis)
            if self.block.shape != shape:
                self.block = np.empty(shape)
            for numbers, generator in zip(self.block, self._generators, strict=True):
                numbers[...] = self._draw(generator, slots * self._width).reshape(numbers.shape)
            self.first, self.last = self.last, self.last + slots

    def of(self, slot: int, agents: Agents) -> NDArray[np.float64]:
        """Return the numbers of *agents* in *slot*, shape (n,) or (n, width)."""
        if slot >= self.last:
            self.reach(slot)
        return np.asarray(self.block[rows_of(agents, len(self.block)), slot - self.first])


class ArmEnvironment(BanditEnvironment):
    """Finitely many arms.

    Args:
        bandit: The bandit.

    Attributes:
        numbers: The random numbers of the rewards, if all agents decide in every slot.
    """

    numbers: RewardNumbers

    def __init__(self, bandit: ArmBandit) -> None:
        super().__init__(bandit)
        self._tables = 0, 0  # the slots whose means are tabulated

    def facts(self) -> dict[str, Any]:
        """See `BanditEnvironment.facts`."""
        bandit = self.bandit
        return {
            "arms": bandit.arm_count,
            "sub_gaussian": bandit.sub_gaussian,
            "law": bandit.law,
            "own_arms": bandit.own_arms,
        }

    def start(self, generator: GeneratorOf, horizon: int, *, each_slot: bool = True) -> None:
        """See `BanditEnvironment.start`."""
        agents, draw = self.bandit.agents, self.bandit.draw
        self._numbers: RewardNumbers | DecisionNumbers
        if each_slot:
            self._numbers = self.numbers = RewardNumbers(generator, agents, horizon, draw)
        else:
            self._numbers = DecisionNumbers(generator, agents, draw)

    def why_no_loop(self, *, everybody: bool) -> str | None:
        """See `BanditEnvironment.why_no_loop`."""
        kind = type(self.bandit)
        if kind not in (Bernoulli, Gaussian):
            return "this world is not written in steps"
        return None if everybody else "not all agents decide in every slot"

    def ready(self, first: int, last: int) -> int:
        """See `BanditEnvironment.ready`: random numbers, means and gaps."""
        self.numbers.reach(first)
        last = min(last, self.numbers.last)
        if not self._tables[0] <= first < self._tables[1]:
            self._tables = first, self._fill(first, self.numbers.last)
        return min(last, self._tables[1])

    def _fill(self, first: int, last: int) -> int:
        """Tabulate the means of the slots from *first* to before *last*, or fewer; return the slot after them."""
        self._tabulate([first])
        return maxsize

    def _tabulate(self, starts: Sequence[int]) -> None:
        """Tabulate the periods that begin at the slots *starts*.

        Means and gaps have shape (periods, 1 or M, K): common to all agents, or per agent.
        """
        bandit = self.bandit  # see why_no_loop
        agents, arms = bandit.agents, bandit.arm_count
        means, gaps = [], []
        each_agent, each_arm = np.repeat(np.arange(agents), arms), np.tile(np.arange(arms), agents)
        for slot in starts:
            of_slot = bandit.means_at(slot)
            shared = of_slot.ndim == 1 or of_slot.strides[0] == 0
            means.append(np.atleast_2d(of_slot)[: 1 if shared else agents])
            few = slice(arms if bandit.own_arms is None else None)
            gaps.append(bandit.regrets(slot, each_agent[few], each_arm[few]).reshape(-1, arms))
        self.means, self.gaps = np.array(means), np.array(gaps)
        self.arms = arms
        # The stride from agent number to row.
        self.own_means, self.own_gaps = int(self.means.shape[1] > 1), int(self.gaps.shape[1] > 1)

    def period_one(self, slot: int) -> Any:
        """Return the row of the tables for *slot*."""
        return 0

    def pay_one(self, slot: int, agent: int, arm: int) -> Any:
        """See `BanditEnvironment.pay_one`."""
        period = self.period_one(slot)
        mean = self.means[period, agent * self.own_means, arm]
        return self.bandit.paid(arm, mean, self.numbers.block[agent, slot - self.numbers.first])

    def regret_of(self, slot: int, agent: int, arm: int) -> Any:
        """See `BanditEnvironment.regret_of`."""
        period = self.period_one(slot)
        return self.gaps[period, agent * self.own_gaps, arm] * self.counted[agent]

    def add_regret(self, agent: int, regret: float) -> None:
        """See `BanditEnvironment.add_regret`."""
        self.regrets[agent] += regret

    def show(self, slot: int, agents: Agents) -> None:
        """Show nothing: arms have no vectors."""

    def pull(self, slot: int, agents: Agents, arms: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `BanditEnvironment.pull`."""
        rewards = self.bandit.pull(slot, agents, arms, self._numbers.of(slot, agents))
        return rewards, self.count(agents, rewards, self.bandit.regrets(slot, agents, arms))

    def metrics(self, decisions: int) -> dict[str, Metric]:
        """Return the largest and the smallest regret of an agent, where it is known."""
        if not self.knows_best:
            return {}
        return {
            "regret_worst_agent": float(self.regrets.max()),
            "regret_best_agent": float(self.regrets[self.counted > 0].min()),
        }


class ChangingArmEnvironment(ArmEnvironment):
    """Arms with changing means; also tracks the regret against the best fixed arm over all slots."""

    _missed_static = 0.0

    def _fill(self, first: int, last: int) -> int:
        begins = np.asarray(self.bandit.course.starts)
        starts = [first, *begins[(begins > first) & (begins < last)].tolist()]
        most = max(1, _MOST_MEANS // (self.bandit.agents * self.bandit.arm_count))
        starts, last = starts[:most], starts[most] if len(starts) > most else last
        self.first_slot = first
        self.periods = np.searchsorted(starts, np.arange(first, last), side="right") - 1
        self.chosen = np.zeros((last - first, self.bandit.agents), dtype=np.int64)
        self._tabulate(starts)
        return last

    def period_one(self, slot: int) -> Any:
        """See `ArmEnvironment.period_one`."""
        return self.periods[slot - self.first_slot]

    def regret_of(self, slot: int, agent: int, arm: int) -> Any:
        """See `BanditEnvironment.regret_of`."""
        self.chosen[slot - self.first_slot, agent] = arm
        period = self.period_one(slot)
        return self.gaps[period, agent * self.own_gaps, arm] * self.counted[agent]

    def played(self, first: int, last: int, agents: Agents) -> None:
        """See `BanditEnvironment.played`."""
        for slot in range(first, last):
            self._note_static(slot, agents, self.chosen[slot - self.first_slot, agents])

    def _note_static(self, slot: int, agents: Agents, arms: NDArray[np.int64]) -> None:
        self._missed_static += float((self.bandit.static_regrets(slot, arms) * self.counted[agents]).sum())

    def pull(self, slot: int, agents: Agents, arms: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `BanditEnvironment.pull`."""
        self._note_static(slot, agents, arms)
        return super().pull(slot, agents, arms)

    def metrics(self, decisions: int) -> dict[str, Metric]:
        """As `ArmEnvironment.metrics`, with the regret against the best fixed arm."""
        return {**super().metrics(decisions), "regret_static": self._missed_static}


class ActionSetEnvironment(BanditEnvironment):
    """Sets of action vectors.

    Args:
        bandit: The bandit.
    """

    def __init__(self, bandit: ActionSetBandit) -> None:
        super().__init__(bandit)
        self._shown: NDArray[np.float64] | None = None

    def facts(self) -> dict[str, Any]:
        """See `BanditEnvironment.facts`."""
        bandit = self.bandit
        return {
            "arms": bandit.arm_count,
            "sub_gaussian": bandit.sub_gaussian,
            "law": bandit.law,
            "dimension": bandit.dimension,
            "fixed_actions": bandit.fixed_actions,
            "actions": self.actions,
        }

    def start(self, generator: GeneratorOf, horizon: int, *, each_slot: bool = True) -> None:
        """See `BanditEnvironment.start`."""
        self.arms = self.bandit.arm_count
        self.bandit.begin(generator)

    def show(self, slot: int, agents: Agents) -> None:
        """Draw the action sets of *slot*."""
        note_slot(self.bandit, slot)
        self._shown = self.bandit.actions(agents)

    def why_no_loop(self, *, everybody: bool) -> str | None:
        """See `BanditEnvironment.why_no_loop`."""
        return None if type(self.bandit) is Linear else "this world is not written in steps"

    def choose_one(self, slot: int, agent: int, learner: Any) -> Any:
        """See `BanditEnvironment.choose_one`; the learner is shown vectors."""
        actions = self.bandit.show_one(agent)
        arm = learner.choose_one(slot, agent, actions)
        self.check_one(slot, agent, arm)
        return arm

    def learn_one(self, slot: int, agent: int, arm: int, reward: float, learner: Any) -> None:
        """See `BanditEnvironment.learn_one`."""
        action = self.bandit.action_one(agent, arm)
        learner.learn_one(slot, agent, arm, reward, action)

    def put_vector_one(self, agent: int, arm: int, row: int, feedback: Any) -> None:
        """See `BanditEnvironment.put_vector_one`."""
        if row >= 0:
            action = self.bandit.action_one(agent, arm)
            for axis in range(action.size):
                feedback.vectors[agent, row, axis] = action[axis]

    def learn_late_one(self, agent: int, row: int, learner: Any, feedback: Any) -> None:
        """See `BanditEnvironment.learn_late_one`; vectors are queued with the rewards."""
        pulled, arm = feedback.rows[agent, row, SLOT], feedback.rows[agent, row, ARM]
        learner.learn_one(pulled, agent, arm, feedback.rewards[agent, row], feedback.vectors[agent, row])

    def pay_one(self, slot: int, agent: int, arm: int) -> Any:
        """See `BanditEnvironment.pay_one`."""
        return self.bandit.pay_one(agent, arm)

    def regret_of(self, slot: int, agent: int, arm: int) -> Any:
        """See `BanditEnvironment.regret_of`."""
        regret = self.bandit.regret_of(agent, arm)
        return regret * self.counted[agent]

    def add_regret(self, agent: int, regret: float) -> None:
        """See `BanditEnvironment.add_regret`."""
        self.regrets[agent] += regret

    def vectors_of(self, agents: Agents, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `BanditEnvironment.vectors_of`."""
        return self.actions(agents)[np.arange(len(agents)), arms]

    def recall(self, agents: Agents, arms: NDArray[np.int64], vectors: NDArray[np.float64]) -> None:
        """See `BanditEnvironment.recall`: the vectors of other arms are 0."""
        self._shown = np.zeros((len(agents), self.bandit.arm_count, vectors.shape[1]))
        self._shown[np.arange(len(agents)), arms] = vectors

    def actions(self, agents: Agents) -> NDArray[np.float64]:
        """Return the vectors shown to *agents*, which are those that decide, shape (n, K, d)."""
        assert self._shown is not None
        return self._shown

    def pull(self, slot: int, agents: Agents, arms: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `BanditEnvironment.pull`."""
        rewards, regrets = self.bandit.pull(agents, arms)
        return rewards, self.count(agents, rewards, regrets)

    def metrics(self, decisions: int) -> dict[str, Metric]:
        """Return the largest regret of an honest agent, if some agents lie."""
        some_lie = self.knows_best and not self.counted.all()
        return {"regret_worst_agent": float(self.regrets.max())} if some_lie else {}


class MarketEnvironment(BanditEnvironment):
    """A market, in which agents choose quantities and observe how many units were good.

    Args:
        bandit: The market.

    Attributes:
        numbers: The random numbers of the good units, one per slot and producer, if all agents decide in every slot.
        best: The optimal revenue of each agent, shape (n,).
        violations: How often each agent's units did not meet the threshold, shape (n,), int64.
    """

    kind = PROCURE
    each = True
    numbers: RewardNumbers

    def __init__(self, bandit: Procurement) -> None:
        super().__init__(bandit)
        self.best = bandit.revenue(optimum(bandit))
        self.violations = np.zeros(bandit.agents, dtype=np.int64)
        self._has_tables = False

    def facts(self) -> dict[str, Any]:
        """See `BanditEnvironment.facts`."""
        bandit = self.bandit
        return {
            "costs": bandit.costs,
            "capacities": bandit.capacities,
            "rho": bandit.rho,
            "quality_threshold": bandit.threshold,
        }

    def start(self, generator: GeneratorOf, horizon: int, *, each_slot: bool = True) -> None:
        """See `BanditEnvironment.start`."""
        agents, width = self.bandit.agents, self.bandit.producers
        self._numbers: RewardNumbers | DecisionNumbers
        self.units, self.good = np.zeros(width), np.zeros(width, dtype=np.int64)
        self.least = self.bandit.least_revenue
        if each_slot:
            self._numbers = self.numbers = RewardNumbers(generator, agents, horizon, uniform, width)
        else:
            self._numbers = DecisionNumbers(generator, agents, uniform, width)

    def why_no_loop(self, *, everybody: bool) -> str | None:
        """See `BanditEnvironment.why_no_loop`."""
        return None if everybody else "not all agents decide in every slot"

    def ready(self, first: int, last: int) -> int:
        """See `BanditEnvironment.ready`."""
        if not self._has_tables:
            from netbandit.bandits import procurement_draws

            self._has_tables, self.draws = True, procurement_draws
            self.tables: Tables = procurement_draws.tables(self.bandit.capacities, self.bandit.qualities)
        self.numbers.reach(first)
        return min(last, self.numbers.last)

    def decide_one(self, slot: int, agent: int, learner: Any, account: Any, feedback: Any) -> Any:
        """See `BanditEnvironment.decide_one`; the agent chooses units, and regret is added up per agent."""
        learner.choose_one(slot, agent, self.units)
        regret = self.pay_units(slot, agent, self.units, self.good, account.digests)
        learner.learn_one(slot, agent, self.units, self.good)
        account.add_to_row(agent, slot, regret, True)
        return regret

    def pay_units(
        self,
        slot: int,
        agent: int,
        units: NDArray[np.float64],
        good: NDArray[np.int64],
        digests: NDArray[np.uint64],
    ) -> Any:
        """Write into *good* how many of the *units* bought by *agent* are good; return its expected regret.

        The outcome is hashed into the agent's entry of *digests*.
        """
        surplus = 0.0
        earned = 0.0
        digest = digests[agent]
        for producer in range(units.shape[0]):
            bought = int(units[producer])
            drawn = 0
            if bought > 0:
                chance = self.numbers.block[agent, slot - self.numbers.first, producer]
                if bought == self.bandit.capacities[agent, producer]:  # the usual case, which is tabulated
                    drawn = self.tables.guides[agent, producer, int(chance * self.tables.guides.shape[2])]
                    start = self.tables.starts[agent, producer]
                    while self.tables.levels[start + drawn] < chance:
                        drawn += 1
                else:
                    drawn = self.draws.quantile(chance, bought, self.bandit.qualities[producer])
                surplus += bought * (self.bandit.qualities[producer] - self.bandit.threshold)
                earned += bought * self.bandit.revenues[agent, producer]
                digest = (digest ^ np.uint64((producer * 1024 + bought) * 1024 + drawn)) * PRIME
            good[producer] = drawn
        digests[agent] = digest
        if surplus < -TOLERANCE:
            self.violations[agent] += 1
            earned = self.least[agent]
        self.rewards[agent] += earned * self.counted[agent]
        return (self.best[agent] - earned) * self.counted[agent]

    def show(self, slot: int, agents: Agents) -> None:
        """Show nothing: a market is always the same."""

    def pull(self, slot: int, agents: Agents, arms: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """See `BanditEnvironment.pull`: *arms* are the units each agent buys of each producer, shape (n, m)."""
        from netbandit.bandits.procurement_draws import quantile

        bandit = self.bandit
        bought = arms.astype(np.int64)
        good = np.zeros_like(bought)
        uniforms = self._numbers.of(slot, agents).reshape(len(agents), -1)
        for row in range(len(agents)):
            for producer in np.flatnonzero(bought[row]).tolist():
                chance, units = uniforms[row, producer], bought[row, producer]
                good[row, producer] = quantile(chance, units, bandit.qualities[producer])
        keeps = bandit.keeps_threshold(bought)
        self.violations[agents] += ~keeps
        paid = (bought * bandit.revenues[agents]).cumsum(axis=1)[:, -1]  # sums in the same order as compiled loops
        earned = np.where(keeps, paid, bandit.least_revenue[agents])
        return good, self.count(agents, earned, self.best[agents] - earned)

    def digest(self, digests: NDArray[np.uint64], agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Hash the units bought and the good ones among them, for each producer with a purchase."""
        bought = arms.astype(np.uint64)
        found = digests[agents]
        for producer in range(bought.shape[1]):
            seen = (np.uint64(producer * 1024) + bought[:, producer]) * np.uint64(1024)
            seen += rewards[:, producer].astype(np.uint64)
            found = np.where(bought[:, producer] > 0, (found ^ seen) * PRIME, found)
        digests[agents] = found

    def metrics(self, decisions: int) -> dict[str, Metric]:
        """Return how often the threshold was violated, and for how many agents that costs anything."""
        bandit = self.bandit
        return {
            "violations": float(self.violations[self.counted > 0].sum()) / decisions if decisions else None,
            "binding": float(bandit.binding.mean()),
        }


def optimum(bandit: Procurement) -> NDArray[np.int64]:
    """Return the oracle's choice for each agent, given the true qualities, shape (n, m)."""
    from netbandit.learners.greedy import choose

    chosen = np.zeros((bandit.agents, bandit.producers))
    order = np.zeros(bandit.producers, dtype=np.int64)
    # Copies that may be written, as learners have: for others the function would be compiled once more.
    qualities, revenues = bandit.qualities.copy(), bandit.revenues.copy()
    for agent in range(bandit.agents):
        choose(qualities, revenues[agent], bandit.capacities[agent], bandit.threshold, order, chosen[agent])
    return chosen.astype(np.int64)


def bandit_environment(bandit: Bandit) -> BanditEnvironment:
    """Return the environment of *bandit* for the slot driver."""
    if isinstance(bandit, ArmBandit):
        changes = isinstance(bandit, VariedArms) and bandit.changing
        return ChangingArmEnvironment(bandit) if changes else ArmEnvironment(bandit)
    if isinstance(bandit, ActionSetBandit):
        return ActionSetEnvironment(bandit)
    assert isinstance(bandit, Procurement)  # checked before anything runs
    return MarketEnvironment(bandit)
