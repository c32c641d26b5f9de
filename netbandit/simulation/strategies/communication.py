"""The interface of communication strategies, and the strategy of agents that never communicate.

The driver `Slots` calls a strategy between decisions (`should_send`, `send`, `apply_received`, `on_down`, `on_up`); a
strategy calls the learner and its protocol, which hands back what has arrived. Neither calls a driver.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.clock import Clock
from netbandit.simulation.byzantine_items import Liars
from netbandit.simulation.byzantine_replies import AnswerLies
from netbandit.simulation.byzantine_sums import SumLies
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric

Learners = Sequence[Learner]
"""One learner per parameter set; usually there is one set."""


def lies_of(context: ReplicationContext, learner: Learner) -> Liars:
    """Return the lie generator for agents of *learner*; it depends on what they share, not on how that is sent.

    Args:
        context: The replication.
        learner: The learner, not yet started.
    """
    match learner.communication_pattern():
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
    since nothing else can change an agent's choice in between. The base class is the strategy of no communication.

    Args:
        context: The replication context.
        learner: The learner, not yet started.

    Attributes:
        members: The number of agents that each agent learns with, itself included, shape (M,).
        isolated: Whether nothing is ever shared.
        sets: The number of parameter sets that agents use in turn.
        asks: Whether to ask agents if they want to synchronise.
        present: The agents that are up, ascending.
        idle: The agents that decide no more, and send nothing of their own, shape (M,), bool; None: there are none.
        in_turn: Whether agents decide one after another within a slot, each after receiving from all before it.
        uploads: Whether agents upload their sums to a server.
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
        self.idle: NDArray[np.bool_] | None = None
        self.isolated = True
        self.sets = 1
        self.asks = False
        self.in_turn = False
        self.uploads = False
        self.log: Literal["slots", "pulls"] = "slots"
        self.quiet: NDArray[np.bool_] = np.zeros((1, agents), dtype=np.bool_)
        self.eigenvalue = 0.0
        self.matrix: Callable[[], NDArray[np.float64]] = lambda: np.eye(agents)
        self.learners: Learners = ()
        self.catch_up: Callable[[NDArray[np.int64]], None] = lambda agents: None
        self.new_observations: Callable[[NDArray[np.int64]], list[NDArray[np.float64]]] | None = None

    def causal(self) -> bool:
        """Return whether no broadcast reaches an agent before what its sender knew: see `World`."""
        return True

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
