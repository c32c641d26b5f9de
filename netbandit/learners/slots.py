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
    same instant for one agent). An agent that does not decide still receives, shares and adopts; messages that are
    sent in every slot come only from agents that decided in it.

    The communication pattern follows from the methods that a learner defines:

    =============================  ===================================================================================
    methods                        what happens
    =============================  ===================================================================================
    none of them                   No communication.
    ``share``, ``receive``         *Broadcasts*: after its decision each agent sends the others a row of numbers, which
                                   they receive on arrival. In every slot, or in those that ``next_share`` names.
    ``share``, ``adopt``           *Rounds*: after the decision of every slot that ``next_share`` names, known to all,
                                   agents contribute a row each; each adopts the result of ``combine`` on all rows, by
                                   default their mean, on arrival. An agent that still waits misses the next round.
    ``share``, ``adopt``,          *Calls*: as rounds, but one begins when any agent ``wants`` it, announced by a
    ``wants``                      message (unless ``called`` is False: then all know without one).
    ``share``, ``wants``,          *Uploads*: an agent that ``wants`` it sends a row to a server, which takes it in, and
    ``serve``, ``answer_for``,     answers each agent with a row of its own, adopted before its next decision
    ``adopt``                      (``parameter-server``). Over ``master-worker`` and ``pooled`` all upload at once.
    ``ask``, ``answer``,           *Requests*: at the beginning of the slots that ``next_ask`` names, before any
    ``receive``                    decision, agents that ``ask`` ask a random neighbour, and receive its row.
    ``share``, ``mix``             *Exchanges*: in every step each agent sends its neighbours a row after its decision;
                                   with theirs at hand, it adopts the weighted mean of its own row and theirs.
    =============================  ===================================================================================

    The protocol determines the messages that carry the rows, their latency and their receivers. A row weighs 8 bytes a
    number, or what :meth:`item_bytes` returns. An example, with its keys:

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

    If a protocol has agents keep several sets of parameters and use them in turn (``local``, for calls), each set is a
    separate learner, made by :meth:`replicas`, that decides in every ``sets``-th slot.

    An agent that is down when a slot begins does not decide in it, neither sends nor receives, and resumes later. If
    agents lose their memory with it (``faults.nodes.memory = "lost"``), a learner also needs :meth:`forget`.

    A learner written in steps (`netbandit.learners.steps.StepLearner`) runs in a compiled loop, many slots at once.
    """

    impossible: ClassVar[Mapping[str, str]] = {"robust": NO_DEFENCE}
    late_rewards: ClassVar[bool] = True
    plays: ClassVar[Literal["arms", "vectors", "market"]] = "arms"
    """The set it chooses from: arms of any bandit with finitely many, arms that are vectors, or quantities."""

    may_be_silent: ClassVar[bool] = False
    """Whether :meth:`share` may leave out some agents of a broadcast; if so, messages go one by one, not in bulk."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "talks" not in cls.__dict__:
            talk = cls.communication_pattern()
            cls.talks = frozenset({talk}) if talk else frozenset({"round", "call", "broadcast"})
        if cls.has("serve"):
            cls.talks |= {"deposit"}

    @classmethod
    def communication_pattern(cls) -> CommunicationPattern | None:
        """Return the communication pattern that follows from its methods; None: agents never communicate."""
        shares, receives, adopts = (cls.has(name) for name in ("share", "receive", "adopt"))
        if cls.has("ask"):
            return "ask"
        if not shares:
            return None
        if cls.has("mix"):
            return "exchange"
        return ("broadcast" if receives else "call") if receives or adopts else None

    @classmethod
    def unfinished(cls) -> str | None:
        """Return which methods its other methods require but are missing; None: none."""
        if cls.has("serve") or cls.has("answer_for"):
            missing = [name for name in ("serve", "answer_for", "share", "wants", "adopt") if not cls.has(name)]
            return (
                f"a server needs serve, answer_for, share, wants and adopt: it has no {missing[0]}" if missing else None
            )
        if cls.has("share") and not (cls.has("receive") or cls.has("adopt") or cls.has("mix")):
            return "it shares, but has neither receive (of broadcasts) nor adopt (of rounds) nor mix (of exchanges)"
        if cls.has("ask") or cls.has("answer"):
            missing = [name for name in ("ask", "answer", "receive") if not cls.has(name)]
            return f"agents that ask need ask, answer and receive: it has no {missing[0]}" if missing else None
        if not cls.has("share") and any(map(cls.has, ("receive", "adopt", "wants", "mix"))):
            return "nothing is ever sent: it has no method share"
        if cls.has("stopped") and not cls.has("answers"):
            return "agents that stop need answers: it has no method answers"
        if cls.has("wants") and not cls.has("adopt"):
            return "it wants synchronisations, but has no method adopt"
        return None

    @classmethod
    def has(cls, name: str) -> bool:
        """Return whether it has a method *name* of its own."""
        return getattr(cls, name) is not getattr(Learner, name)

    def replicas(self, sets: int) -> list[Self]:
        """Return *sets* learners with the keys of this one, not started."""
        return [self.fresh() for _ in range(sets)]

    @abstractmethod
    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Make the state before the first slot.

        Args:
            world: The environment, as far as agents know it.
            agents: The number M of agents.
            rng: The stream of draws for all agents at once (purpose ``learner``, index: the set of parameters).
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
            agents: The agents that decided in it, shape (n,).
            arms: The return value of :meth:`choose`.
            rewards: The rewards, shape (n,), float64; in a market the good units of each producer, shape (n, m).
        """

    def end_turn(self, decisions: int) -> None:  # most have nothing to note
        """Note that so many agents have decided at an instant; the next decision is at a later one."""

    def share(self, slot: int, agents: Agents) -> Numbers | None:
        """Return the row that each of *agents* sends after its decision of *slot*; None: no agent sends anything.

        Without this method agents never send anything. In exchanges None means that all postpone their first step: the
        driver calls again in the next slot. In broadcasts of a class with ``may_be_silent = True`` it may also return a
        masked array, or rows and a mask of agents, ``(rows, mask)``: agents that are masked send nothing, where others
        wait for them (over protocols of rounds) a message without a row.
        """
        raise NotImplementedError

    def next_share(self, slot: int) -> int | None:
        """Return the first slot from *slot* on in which all agents share, None if none is left; by default *slot*."""
        return slot

    def receive(
        self, slot: int, agents: Agents, sources: Agents, payloads: Numbers, sent_slots: NDArray[np.int64]
    ) -> None:
        """Process the rows that have reached agents, in order of arrival, before any agent decides in *slot*.

        Row i: ``agents[i]`` receives the numbers ``payloads[i]`` that ``sources[i]`` sent after its decision of slot
        ``sent_slots[i]``. An agent may occur in several rows. An agent without remaining decisions receives nothing.
        """
        raise NotImplementedError

    def next_ask(self, slot: int) -> int | None:
        """Return the first slot from *slot* on at whose beginning agents may ask, None if none; by default *slot*."""
        return slot

    def ask(self, slot: int, agents: Agents) -> NDArray[np.bool_]:
        """Return which of *agents* ask one random neighbour before any decision of *slot*, shape (n,), bool.

        Called once for each slot that :meth:`next_ask` names, with all agents at once.
        """
        raise NotImplementedError

    def answer(self, slot: int, agents: Agents) -> Numbers:
        """Return the answers of *agents* that are asked in *slot*, a row each, shape (n, k)."""
        raise NotImplementedError

    def avoided(self, agent: int) -> frozenset[int]:
        """Return the neighbours that *agent* must not ask in this slot; by default there are none."""
        return frozenset()

    def wants(self, slot: int, agents: Agents) -> NDArray[np.bool_]:
        """Return which of *agents* want a synchronisation after their decision of *slot*, shape (n,).

        Not called for an agent that takes part in one already.
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
        """Let *agents*, which decide in *slot* next, adopt what a round has *combined*: one row, not to be modified.

        Of a learner with :meth:`serve`: the answer to each of them, shape (n, k).
        """
        raise NotImplementedError

    def serve(self, sources: Agents, rows: Numbers) -> None:
        """Let the server take in the *rows* that agents uploaded, in order of arrival.

        The server's state, such as ``self.server``, is never lost. Where messages may be lost, a row should hold all
        that its agent knows, since the next row is to replace it.

        Args:
            sources: The agents, shape (n,); those whose uploads arrive at one instant are ascending.
            rows: What each of them shared, shape (n, k).
        """
        raise NotImplementedError

    def answer_for(self, agent: int) -> Numbers | None:
        """Return the row that the server sends to *agent* now: :meth:`answer_numbers` numbers.

        None: it has nothing to say; an agent that waits for an answer is told so by a message without a row. A later
        answer replaces an earlier one. Where all upload at once (``master-worker``, ``pooled``) there must be a row.
        """
        raise NotImplementedError

    def lagging(self) -> Sequence[int]:
        """Return the agents that the server sends its answer to after uploads, with ``answer = "lagging"``.

        By default there are none.
        """
        return ()

    def answer_numbers(self, numbers: int) -> int:
        """Return how many numbers an answer has if an uploaded row has so many *numbers*; by default as many."""
        return numbers

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Let *agents* adopt the rows that they have mixed, before they decide in *slot*.

        The rows result from those that agents sent last; what they learn afterwards belongs to their next row.

        Args:
            slot: The slot.
            agents: The agents that step, shape (n,).
            mixed: The weighted means of their own row and those of their neighbours, shape (n, k).
            largest: The maximum of each number over these rows, shape (n, k), for numbers that are not averaged.
        """
        raise NotImplementedError

    def forget(self, slot: int, agents: Agents) -> None:
        """Reset *agents*, which decide in *slot* next, to their initial state: they were down and lost their memory.

        What they sent before stays with its receivers.
        """
        raise NotImplementedError

    def sync_missed(self, slot: int, agents: Agents) -> None:
        """Note that *agents* missed the result of a synchronisation they took part in; by default does nothing.

        Only where agents may be down or messages be lost.
        """

    def included(self, agents: Agents, shared: NDArray[np.int64]) -> None:
        """Note which of their own rows are in what *agents* adopt next; by default does nothing.

        Only where agents may be down or messages be lost, and always before they adopt what a server answers without
        their waiting for it; else it is always the row that they shared last.

        Args:
            agents: The agents, shape (n,).
            shared: The number of that row among those that the agent has shared in its present incarnation, from 1,
                shape (n,); 0: none is included.
        """

    @property
    def called(self) -> bool:
        """Whether a synchronisation must be announced by a message; if not, all agents know of it."""
        return True

    def sync_started(self, slot: int, agents: Agents) -> None:
        """Note that a synchronisation of *agents* is under way; by default does nothing."""

    def share_numbers(self, dimension: int) -> int:
        """Return how many numbers a row has, for actions of this *dimension*; 0, the default: not known in advance.

        If bandwidth is limited, ``local`` waits as long as this many numbers take.
        """
        return 0

    def item_bytes(self, numbers: int) -> int:
        """Return the bytes of a row of so many *numbers*, without the header of its message; by default 8 a number.

        Also called before `start`.
        """
        return -(-self.item_bits(numbers) // 8)

    def item_bits(self, numbers: int) -> int:
        """Return the bits of a row of so many *numbers*, which `item_bytes` rounds up to bytes; by default 64 each.

        For numbers that are quantised: ``return 3 * numbers``. Also called before `start`.
        """
        return 8 * _NUMBER_BYTES * numbers

    def account(self, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that shared most often, *releases* times in all its lives.

        By default no privacy is left once anything was shared. Set ``within_a_life`` if a unit is part of one life.
        """
        return account_openly(releases)

    @property
    def bounded_releases(self) -> bool:
        """See `AnyLearner.bounded_releases`: by default no noise is added."""
        return True

    def answers(self, agents: Agents) -> NDArray[np.int64]:
        """Return the arm that each of *agents* would recommend now, shape (n,); -1: none yet.

        A learner with this method has the metrics of answers: the world judges them by its means.
        """
        raise NotImplementedError

    def local_answers(self, agents: Agents) -> NDArray[np.int64]:
        """Return the arm that each would recommend for its own means, shape (n,); by default that of :meth:`answers`.

        Where the means of agents differ, ``wrong_local`` judges it.
        """
        return self.answers(agents)

    def stopped(self, agents: Agents) -> NDArray[np.bool_]:
        """Return which of *agents* have answered for good, shape (n,).

        Asked after the decisions of each slot. Without this method nobody has before the horizon. An agent that has
        goes on to choose its answer, or (``run.idle``) chooses no more. Only one that loses its memory may take it
        back.
        """
        return np.zeros(len(agents), dtype=np.bool_)

    def explored_slots(self) -> NDArray[np.int64] | None:
        """Return in how many slots each agent at first only explores, shape (M,), for traces; None: in none."""
        return None

    def figures(self) -> dict[str, float | int | None]:
        """Return additional metrics; by default there are none."""
        return {}

    def remarks(self) -> tuple[str, ...]:
        """Return remarks that readers of its metrics need, a line each; by default there are none."""
        return ()


def largest_mean(pulls: Numbers, sums: Numbers, arms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the arm of the largest mean in each row, of equal ones the first, shape (n,); -1: none was pulled.

    Args:
        pulls: How often each arm was pulled, shape (n, k).
        sums: Its rewards, shape (n, k).
        arms: The arms, shape (n, k) or (1, k).
    """
    means = np.divide(sums, pulls, out=np.full(pulls.shape, -np.inf), where=pulls > 0)
    best = means.argmax(axis=1)
    found = np.broadcast_to(arms, pulls.shape)[np.arange(len(best)), best]
    return np.where((pulls > 0).any(axis=1), found, -1)
