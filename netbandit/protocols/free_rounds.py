"""Rounds between neighbours: the free clock ends them, unless agents go on before by clocks of their own."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from simpy import Event

from netbandit.network.network import Network
from netbandit.part import Checks, Mistake, Others
from netbandit.protocols.deadline import DeadlineKey, deadline_without_rounds
from netbandit.protocols.known_items import Labels
from netbandit.protocols.patience import Patience
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item


class HeldItems(Protocol):
    """Who holds which items of a round; see `netbandit.protocols.known_items.KnownItems`."""

    def contribute(self, label: int, item: Item) -> None:
        """Keep what the member with this *label* contributes."""

    def named(self, labels: Labels) -> list[Item]:
        """Return the items that *labels* name, in the order of their labels."""

    def forget(self, label: int) -> None:
        """Let a member know nothing any more."""

    def held(self, label: int, labels: Labels | None = None) -> list[Item]:
        """Return the items that the member holds, of *labels* only if given; its own among them in any case."""


class FreeRounds(DeadlineKey, CallbackRoundProtocol):
    """What ``gis``, ``flooding`` and ``gossip`` have in common.

    The free clock, out of band, ends a round when all who are up and have not committed hold one another's items. With
    a `deadline` an agent goes on without the others when so much time has passed since its own contribution; it keeps
    on passing items to those that still wait. Who contributes to a round that the clock has ended, because it was
    down, goes on at once: with what all have concluded, or, where agents conclude apart, with what it holds of it.
    """

    uses_uplinks: ClassVar[bool] = False
    ends_without: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._apart = aggregation.apart
        self._patience = Patience(self.clock, self.deadline_ns(self.clock.slot), self._holds, self._conclude_apart)
        self._answers: dict[int, Item] = {}
        self._over: dict[int, tuple[HeldItems, Labels]] = {}

    def check_with(self, others: Others) -> Checks:
        """Information cannot reach another component; only learners of rounds go on without others."""
        yield from must_be_connected(others)
        yield from deadline_without_rounds(self, others)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`; of rounds that have ended, too."""
        self._patience.forget(agent)
        for state, _ in self._over.values():
            state.forget(agent)

    @property
    def late(self) -> int:
        """Items that reached an agent when it had gone on without them."""
        return self._patience.late

    def _contribute_afterwards(self, round: int, agent: int, item: Item) -> Event | None:
        """Tell *agent* what was concluded of a round that has ended without it; None: the round has not ended."""
        if round in self._answers:
            return Event(self.clock.environment).succeed(self._answers[round])
        if round not in self._over:
            return None
        state, labels = self._over[round]
        state.contribute(agent, item)
        informed = self._patience.wait(round, agent)
        self._let_go_on(round, agent, state, labels)
        return informed

    def _end_round(self, round: int, state: HeldItems, labels: Labels) -> Item | None:
        """End *round*, of which all hold the items that *labels* name; return what all are told, if all alike are."""
        self.end(round)
        if self._apart:
            self._over[round] = state, labels
            for agent in self._patience.waiting(round):
                self._let_go_on(round, agent, state, labels)
            return None
        answer = self.conclude(round, state.named(labels))
        if self.network.agents_fail:
            self._answers[round] = answer
        return answer

    def _let_go_on(self, round: int, agent: int, state: HeldItems, labels: Labels) -> None:
        """Let *agent* go on in a round that has ended with those of the items of all that it holds itself."""
        items = state.held(agent, labels)
        if len(items) > 1 or labels == 1 << agent:
            self._patience.inform(round, agent, items)
        else:  # it was down, or has lost its memory
            self._patience.tell(round, agent, None)

    def _note_late(self, round: int, agent: int, items: int) -> None:
        """Count *items* that are new to *agent* if it has gone on without them."""
        if items and self._patience.went_on(round, agent):
            self._patience.late += items

    @abstractmethod
    def _holds(self, round: int, agent: int) -> list[Item]:
        """Return the items of an open round that *agent* holds."""

    def _conclude_apart(self, round: int, items: Sequence[Item], agent: int) -> Item:
        return self.conclude(round, items, group=agent)


def must_be_connected(others: Others, what: str = "") -> Checks:
    """Yield the mistake of a protocol that cannot run on a graph of several components.

    Args:
        others: The scenario.
        what: What is not possible: ``"a round over "``; the protocol's kind follows.
    """
    if others.components > 1:
        kind = others.kinds["protocol"]
        yield Mistake("kind", f"{what}{kind} needs a connected graph, but this one has {others.components} components")
