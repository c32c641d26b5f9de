"""Broadcasts over any round protocol: the items that agents send at one instant form the round."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Self

from simpy import Event

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.engine import Receive
from netbandit.network.link import Arrival
from netbandit.network.message import LABEL_BYTES
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.protocol import CallbackRoundProtocol, Item


class BroadcastOverRounds(BroadcastProtocol):
    """Each round of another protocol carries the broadcasts of all agents.

    An agent hears an item on arrival: before the round ends where nodes forward items, with the answer where there is
    a server. An aggregate of several items contains all of them, each with its label.
    """

    rounds: CallbackRoundProtocol = state()
    """The protocol of rounds."""

    @classmethod
    def over(cls, rounds: CallbackRoundProtocol) -> Self:
        """Return the broadcasts over a protocol of rounds, which is started with them."""
        found = cls(timing=rounds.timing)
        found.rounds = rounds
        return found

    @property
    def isolated(self) -> bool:
        """Whether the rounds are isolated: see `NetworkProtocol.isolated`."""
        return self.rounds.isolated

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self.rounds.start(network, Everybody(network.agents, _together))
        self.rounds.listen(self._overhear)
        self.rounds.ended = self.ended
        self._reached: dict[int, list[set[int]]] = {}
        self._uninformed: dict[int, int] = {}
        self._unanswered: dict[int, int] = {}  # when each round began
        self._slowest = 0
        self._steps: InstantQueue[Iterable[Heard]] = InstantQueue(self.clock, self._hear, AGENTS)

    @property
    def reach(self) -> list[int]:
        """See `BroadcastProtocol.reach`: a round takes in everybody, if anybody."""
        agents = self.network.agents
        return [1 if self.rounds.isolated else agents] * agents

    def figures(self) -> dict[str, float | int | None]:
        """Return ``unanswered``, where a server answers and messages may be lost.

        A round that began less than the slowest answer before the end of the run is not counted.
        """
        if not (self.rounds.served and self.network.may_lose):
            return {}
        latest = self.clock.end - self._slowest
        return {"unanswered": sum(began < latest for began in self._unanswered.values())}

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Contribute *item* to *round*."""
        if round not in self._reached:
            self._unanswered[round] = self.clock.now
            self._reached[round] = [{other} for other in range(self.network.agents)]
            # An agent that is down does not contribute, and is not informed.
            self._uninformed[round] = 0 if self.network.agents_fail else self.network.agents
        if self.network.agents_fail:
            self._uninformed[round] += 1
        informed = self.rounds.contribute(round, agent, Item(item.size, (Heard(agent, round, item),)))
        if informed.callbacks is None:  # it has happened already
            self._inform(agent, round, informed)
        else:
            informed.callbacks.append(partial(self._inform, agent, round))

    @property
    def handler(self) -> Receive:
        """The handler of all messages, which belong to rounds."""
        return self.rounds.handler

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Pass all arrivals to the round protocol."""
        self.rounds.receive(node, arrivals)

    def _inform(self, agent: int, round: int, informed: Event) -> None:
        conclusion: Item = informed.value  # type: ignore[assignment]  # as contribute() promises
        if (began := self._unanswered.pop(round, None)) is not None:
            self._slowest = max(self._slowest, self.clock.now - began)
        self._overhear(agent, round, [conclusion])
        self._uninformed[round] -= 1
        if not self._uninformed[round]:
            del self._uninformed[round], self._reached[round]

    def _overhear(self, agent: int, round: int, items: Iterable[Item]) -> None:
        """Let *agent* receive, at this instant, the items that are new to it."""
        if round not in self._reached or self.network.is_down(agent):
            return
        reached = self._reached[round][agent]
        fresh: list[Heard] = [heard for item in items for heard in item.value if heard.source not in reached]
        if fresh:
            reached.update(heard.source for heard in fresh)
            self._steps.at(self.clock.now, agent, fresh)

    def _hear(self, due: list[tuple[int, list[Iterable[Heard]]]]) -> None:
        for agent, parts in due:
            self.hear(agent, sorted(heard for part in parts for heard in part))


def _together(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    """Return all that *items* tell, each with its label."""
    payload = tuple(heard for item in items for heard in item.value)
    return Item(sum(LABEL_BYTES + heard.item.size for heard in payload), payload)
