"""The interface of call protocols: an agent requests a synchronisation, in which its whole group takes part."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern, state
from netbandit.protocols.protocol import Item, NetworkProtocol


class SyncHandler(Protocol):
    """The actions of agents in a synchronisation; provided by the simulation, which calls the learner."""

    def sync_started(self, agent: int, param_set: int) -> None:
        """Tell *agent* that a synchronisation of a *param_set* is under way: no more calls until it is applied."""

    def release(self, agent: int, param_set: int) -> Item | None:
        """Return what *agent* releases of one of its sets of parameters, now, after the decision of this slot.

        None: it takes part without a release; agents that wait for all releases wait for ever.
        """

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return the aggregate of some releases of a group, in order of their agents' numbers.

        Args:
            items: The releases, or aggregates of several.
            weights: How many releases each item stands for; absent: one each.
        """

    def apply_sync(self, agent: int, param_set: int, aggregate: Item, round: int, included: int | None = None) -> None:
        """Let *agent* adopt the aggregate of the releases of *round*, now, before the decision of this slot.

        Args:
            agent: The agent.
            param_set: The set of parameters.
            aggregate: The aggregate of the releases.
            round: The number of the round.
            included: The number of the agent's own release in it, within its present incarnation, from 1; 0: none is
                included; None: its latest is, as nothing can be lost.
        """

    def sync_missed(self, agent: int, param_set: int) -> None:
        """Tell *agent* that it has missed the result of a synchronisation of a *param_set* in which it took part."""

    @property
    def release_size(self) -> int:
        """The bytes of a release, without the header of the message that carries it."""


class CallProtocol(NetworkProtocol):
    """A protocol in which a synchronisation is called for, by a message, whenever some agent wants one.

    Agents may keep several sets of parameters and use them in turn: the set of slot t is ``t mod sets``. Each set is
    synchronised on its own. Several calls for one set in one slot count once.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"call"})

    sync_handler: SyncHandler = state()
    """The actions of agents."""
    groups: Sequence[int] = state()
    """For each agent the number of its group: agents of a group synchronise together, shape (M,)."""
    sets: int = state(default=1)
    """The number of sets of parameters each agent keeps, at least 1."""

    def start(self, network: Network, sync_handler: SyncHandler) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            sync_handler: The actions of agents.
        """
        self.connect(network)
        self.sync_handler = sync_handler

    def figures(self) -> dict[str, float | int | None]:
        """Return metrics of its own; by default there are none."""
        return {}

    def leave(self, agent: int, *, forgets: bool) -> None:
        """Note that *agent* goes down, and leaves all synchronisations under way; by default there are none.

        Args:
            agent: The agent.
            forgets: Whether it loses its memory.
        """
        return

    @abstractmethod
    def call(self, agent: int, param_set: int) -> None:
        """Call the group of *agent* to a synchronisation of a *param_set*, from this instant on."""

    @abstractmethod
    def begin(self, agent: int, param_set: int) -> None:
        """Start a synchronisation at *agent* that its whole group knows of in advance, without a call."""
