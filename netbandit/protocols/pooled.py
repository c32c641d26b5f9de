"""Pooled: everybody knows what anybody has told, free and out of band; a reference for what a network may reach."""

from typing import ClassVar, Literal

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.part import Checks, Mistake, Note, Others
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item, Pattern


class Pooled(BroadcastProtocol):
    """What is told in a slot is heard by all others before the decision of the next.

    No message is sent, whatever the graph and the timing: there is nothing to count, and nothing to be late.
    """

    when: Literal["slot", "pull"] = "slot"
    """When all know what one has told: at the end of the ``slot``; or after each ``pull``: within a slot agents then
    decide in order of number, each knowing all before it, as one agent would that pulls as often as all together."""
    log: Literal["pulls", "slots"] = "pulls"
    """With ``when = "pull"``: whether learners take for the time the number of all pulls so far, or of slots."""

    patterns: ClassVar[frozenset[Pattern]] = frozenset({"broadcast", "round"})
    uses_peer_links: ClassVar[bool] = False
    out_of_band: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True

    def check(self) -> Checks:
        """Yield a time that is not used."""
        if self.when == "slot" and "log" in self.model_fields_set:
            yield Note("log", 'is used only with when = "pull"')

    def check_with(self, others: Others) -> Checks:
        """Yield turns for agents that do not decide slot by slot."""
        if self.when == "pull" and others.talk != "broadcast":
            yield Mistake("when", 'must be "slot": this learner does not tell others pull by pull')

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._told: InstantQueue[Heard] = InstantQueue(self.clock, self._hear, AGENTS)

    @property
    def reach(self) -> list[int]:
        """All agents, in whatever component; see `BroadcastProtocol.reach`."""
        return [self.network.agents] * self.network.agents

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Keep *item* until the next slot begins."""
        slot = self.clock.slot
        if self.clock.now < self.clock.end:
            self._told.at((self.clock.now // slot + 1) * slot, agent, Heard(agent, round, item))

    def _hear(self, due: list[tuple[int, list[Heard]]]) -> None:
        everything = sorted(heard for _, items in due for heard in items)
        for agent in range(self.network.agents):
            others = [heard for heard in everything if heard.source != agent]
            if others:
                self.hear(agent, others)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: nobody sends."""
        raise RuntimeError("a message was sent although all is known without any")
