"""The base class of learners that decide in every slot: vectorized over all agents, one call per slot."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import NO_DEFENCE, AnyLearner
from netbandit.learners.world import World
from netbandit.parts.component import CommunicationPattern
from netbandit.privacy.accountant import PrivacySpent, account_openly

Agents = NDArray[np.int64]
Numbers = NDArray[np.float64]

_NUMBER_BYTES = 8


class Learner(AnyLearner):
    """The learner of all agents: one object that holds the state of every agent, one row per agent.

    Methods receive the *agents* concerned as an ascending array of their numbers, shape (n,), and take or return one
    row for each: usually all agents of a network, or some of them if only some act at an instant. In every slot, from
    0, the driver calls :meth:`choose` and :meth:`learn` for the agents that decide in it: all of them, or those that
    ``run.activity`` selects (if users arrive at any time, it calls them several times per slot, but never twice at the
    same instant for one agent). An agent that does not decide still hears, shares and adopts; only messages sent in
    every slot come from the agents that decided in it alone.

    The communication pattern follows from the methods that a learner defines:

    =============================  ===================================================================================
    methods                        what happens
    =============================  ===================================================================================
    none of them                   Nobody tells anything.
    ``share``, ``hear``            *Broadcasts*: after its decision each agent tells the others a row of numbers; each
                                   hears a row when it arrives. In every slot, or in those that ``next_share`` names.
    ``share``, ``adopt``           *Rounds*: after the decision of every slot that ``next_share`` names, known to all,
                                   agents give a row each; each adopts what ``combine`` made of all rows, by default
                                   their mean, when it learns of it. An agent that still waits misses the next round.
    ``share``, ``adopt``,          *Calls*: as rounds, but one begins when any agent ``wants`` it, and by a message
    ``wants``                      of its own (unless ``called`` is False: then all know without one).
    ``ask``, ``answer``, ``hear``  *Questions*: at the beginning of the slots that ``next_ask`` names, before anybody
                                   decides there, those who ``ask`` ask one random neighbour; each hears the row that
                                   was answered when it arrives.
    ``share``, ``mix``             *Exchanges*: in every step each agent tells its neighbours a row after its decision;
                                   when it has theirs, it takes the weighted mean of its own and theirs.
    =============================  ===================================================================================

    Which messages carry this, how long they take and who hears whom is the protocol's affair. A row weighs 8 bytes a
    number, or what :meth:`item_bytes` says. An example, with its keys:

    .. code-block:: python

        class EpsilonGreedy(nb.Learner):
            epsilon: float = 0.1

            def start(self, world, agents, rng):
                self.rng, self.arms = rng, world.arms
                self.pulls, self.sums = np.zeros((agents, world.arms)), np.zeros((agents, world.arms))

            def choose(self, slot, agents):
                means = self.sums[agents] / np.maximum(self.pulls[agents], 1)
                random = self.rng.random(len(agents)) < self.epsilon
                return np.where(random, self.rng.integers(self.arms, size=len(agents)), means.argmax(axis=1))

            def learn(self, slot, agents, arms, rewards):
                self.pulls[agents, arms] += 1
                self.sums[agents, arms] += rewards

    Where a protocol has agents keep several sets of parameters and use them in turn (``local``, for calls), each set is
    a learner of its own, made by :meth:`replicas`: it is asked to decide in every ``sets``-th slot, and never knows.

    An agent that is down when a slot begins does not decide in it, neither tells nor hears anything, and goes on later.
    Where agents lose their memory with it (``faults.nodes.memory = "lost"``), a learner needs one more method,
    :meth:`forget`.

    One that is written in steps (`netbandit.learners.steps.StepLearner`) is played in a compiled loop, many slots at
    once.
    """

    impossible: ClassVar[Mapping[str, str]] = {"robust": NO_DEFENCE}
    late_rewards: ClassVar[bool] = True
    plays: ClassVar[Literal["arms", "vectors", "market"]] = "arms"
    """What it chooses among: arms of any world that has a number of them, arms that are vectors, or quantities."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "talks" not in cls.__dict__:
            talk = cls.communication_pattern()
            cls.talks = frozenset({talk}) if talk else frozenset({"round", "call", "broadcast"})

    @classmethod
    def communication_pattern(cls) -> CommunicationPattern | None:
        """Return the communication pattern that follows from its methods; None: agents never communicate."""
        shares, hears, adopts = (cls.has(name) for name in ("share", "hear", "adopt"))
        if cls.has("ask"):
            return "ask"
        if not shares:
            return None
        if cls.has("mix"):
            return "exchange"
        return ("broadcast" if hears else "call") if hears or adopts else None

    @classmethod
    def unfinished(cls) -> str | None:
        """Return which methods its other methods require but are missing; None: none."""
        if cls.has("share") and not (cls.has("hear") or cls.has("adopt") or cls.has("mix")):
            return "it shares, but has neither hear (of broadcasts) nor adopt (of rounds) nor mix (of exchanges)"
        if cls.has("ask") or cls.has("answer"):
            missing = [name for name in ("ask", "answer", "hear") if not cls.has(name)]
            return f"agents that ask need ask, answer and hear: it has no {missing[0]}" if missing else None
        if not cls.has("share") and any(map(cls.has, ("hear", "adopt", "wants", "mix"))):
            return "nothing is ever told: it has no method share"
        if cls.has("wants") and not cls.has("adopt"):
            return "it wants synchronisations, but has no method adopt"
        return None

    @classmethod
    def has(cls, name: str) -> bool:
        """Return whether it has a method *name* of its own."""
        return getattr(cls, name) is not getattr(Learner, name)

    def replicas(self, sets: int) -> list[Self]:
        """Return *sets* learners with the keys of this one, none of them started."""
        return [self.fresh() for _ in range(sets)]

    @abstractmethod
    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Make the state before the first slot.

        Args:
            world: What agents know of the world and of each other.
            agents: The number M of agents.
            rng: What the learner draws for all agents at once (purpose ``learner``, index: the set of parameters).
        """

    @abstractmethod
    def choose(self, slot: int, agents: Agents) -> NDArray[Any]:
        """Return the arm that each of *agents* pulls in *slot*, integers, shape (n,).

        In a market: the units that each of them buys of each producer, shape (n, m).
        """

    @abstractmethod
    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Learn from the rewards of the chosen *arms*.

        Args:
            slot: The slot.
            agents: Who decided in it, shape (n,).
            arms: What :meth:`choose` returned.
            rewards: The rewards, shape (n,), float64; in a market the good units of each producer, shape (n, m).
        """

    def end_turn(self, decisions: int) -> None:  # most have nothing to note
        """Note that so many agents have decided at an instant; the next decision is at a later one."""

    def share(self, slot: int, agents: Agents) -> Numbers | None:
        """Return the row that each of *agents* sends after its decision of *slot*; None: no agent sends anything.

        Without this method agents never send anything. In exchanges None means that all postpone their first step: the
        driver calls again in the next slot.
        """
        raise NotImplementedError

    def next_share(self, slot: int) -> int | None:
        """Return the first slot from *slot* on in which all agents share, None if none is left; by default *slot*."""
        return slot

    def hear(self, slot: int, agents: Agents, sources: Agents, told: Numbers, said: NDArray[np.int64]) -> None:
        """Process the rows that have reached agents, in order of arrival, before any agent decides in *slot*.

        Row i: ``agents[i]`` receives the numbers ``told[i]`` that ``sources[i]`` sent after its decision of slot
        ``said[i]``. An agent may occur in several rows. An agent without remaining decisions receives nothing.
        """
        raise NotImplementedError

    def next_ask(self, slot: int) -> int | None:
        """Return the first slot from *slot* on at whose beginning agents may ask, None if none; by default *slot*."""
        return slot

    def ask(self, slot: int, agents: Agents) -> NDArray[np.bool_]:
        """Return which of *agents* ask one random neighbour before anybody decides in *slot*, shape (n,).

        Asked once for each slot that :meth:`next_ask` names, of all agents at once.
        """
        raise NotImplementedError

    def answer(self, slot: int, agents: Agents) -> Numbers:
        """Return what each of *agents* answers that is asked in *slot*, a row each."""
        raise NotImplementedError

    def avoided(self, agent: int) -> frozenset[int]:
        """Return the neighbours that *agent* does not ask in this slot, in which it asks; by default it asks any."""
        return frozenset()

    def wants(self, slot: int, agents: Agents) -> NDArray[np.bool_]:
        """Return which of *agents* want a synchronisation after their decision of *slot*, shape (n,).

        It is not asked of an agent that takes part in one already.
        """
        raise NotImplementedError

    def combine(self, shared: Sequence[Numbers], weights: Sequence[int] | None = None) -> Numbers:
        """Combine the rows that agents *shared* in a round: by default, return their mean.

        Args:
            shared: The rows, in order of their agents' numbers.
            weights: The number of agents that each row stands for, if a protocol has combined some on the way; absent:
                one each. The result must not depend on how rows are grouped.
        """
        return np.asarray(np.average(np.asarray(shared), axis=0, weights=weights))

    def adopt(self, slot: int, agents: Agents, combined: Numbers) -> None:
        """Let *agents*, who decide in *slot* next, adopt what a round has *combined*: one row, which stays as it is."""
        raise NotImplementedError

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Let *agents* take what they have mixed, before they decide in *slot*, a row for each.

        It follows on the rows that they told last; what an agent learns from then on is told with its next row.

        Args:
            slot: The slot.
            agents: Who steps, shape (n,).
            mixed: The weighted means of their own row and those of their neighbours, shape (n, k).
            largest: The largest of each number among these rows, shape (n, k), for what is no mean.
        """
        raise NotImplementedError

    def forget(self, slot: int, agents: Agents) -> None:
        """Let *agents*, who decide in *slot* next, begin anew, knowing nothing: they were down and lost their memory.

        What they told before stays with those that heard it.
        """
        raise NotImplementedError

    def sync_missed(self, slot: int, agents: Agents) -> None:
        """Tell *agents* that a synchronisation they took part in has passed them by; by default they need not know.

        Only where agents may be down or messages be lost.
        """

    def included(self, agents: Agents, shared: NDArray[np.int64]) -> None:
        """Tell *agents* which of their own rows are in what they adopt next; by default they need not know.

        Only where agents may be down or messages be lost; else it is always the row that they shared last.

        Args:
            agents: The agents, shape (n,).
            shared: The number of that row among those that the agent has shared in its present life, from 1, shape
                (n,); 0: none of them is.
        """

    @property
    def called(self) -> bool:
        """Whether a synchronisation that agents want must be called for by a message; if not, all know of it."""
        return True

    def sync_started(self, slot: int, agents: Agents) -> None:
        """Tell *agents* that a synchronisation is under way; by default they need not know."""

    def share_numbers(self, dimension: int) -> int:
        """Return how many numbers a row has, for actions of this *dimension*; 0, the default: not known ahead.

        Where bandwidth is limited, ``local`` waits as long as this many numbers take; the rest it cannot know.
        """
        return 0

    def item_bytes(self, numbers: int) -> int:
        """Return the bytes of a row of so many *numbers*, without the header of its message; by default 8 a number.

        It is asked for before `start`, too.
        """
        return _NUMBER_BYTES * numbers

    def account(self, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that shared most often, *releases* times in all its lives.

        By default nothing is private once anything was shared. Say ``within_a_life`` where a unit is part of one life.
        """
        return account_openly(releases)

    @property
    def bounded_releases(self) -> bool:
        """See `AnyLearner.bounded_releases`: by default no noise is added."""
        return True

    def explored_slots(self) -> NDArray[np.int64] | None:
        """Return the slots in which each agent only explores at first, shape (M,), for traces; None: it has none."""
        return None

    def figures(self) -> dict[str, float | int | None]:
        """Return metrics of its own; by default there are none."""
        return {}

    def remarks(self) -> tuple[str, ...]:
        """Return what must be known to read its metrics, a line each; by default there is nothing."""
        return ()
