"""Pooled: all agents share all data, free and out of band; a bound on what any network can achieve."""

from collections.abc import Callable
from typing import ClassVar, Literal

from simpy import Event

from netbandit.network.clock import AGENTS, ScheduledEvent
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import Checks, CommunicationPattern, Mistake, Note, Others
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item


class Pooled(BroadcastProtocol):
    """A bound, not a protocol: all agents learn as one, with no message and no delay but a slot.

    Items shared in a slot are known to all others before the decision of the next.

    No message is sent, whatever the graph and the timing: nothing is counted, and nothing is late. Learners
    that call for a synchronisation, or upload, when they know enough new, share in every slot instead; with a fixed
    schedule, in the slots that it names.
    """

    when: Literal["slot", "pull"] = "slot"
    """When all agents know an observation: at the end of the ``slot``; or after each ``pull``: within a slot agents
    then decide in order of their numbers, each with all earlier observations, like a single agent that makes all
    pulls."""
    log: Literal["pulls", "slots"] = "pulls"
    """With ``when = "pull"``: whether the time t of learners is the number of all pulls so far, or of slots."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"broadcast", "round", "call"})
    uses_peer_links: ClassVar[bool] = False
    uses_uplinks: ClassVar[bool] = False
    out_of_band: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True

    def check(self) -> Checks:
        """Yield a time that is not used."""
        if self.when == "slot" and "log" in self.model_fields_set:
            yield Note("log", 'is used only with when = "pull"')

    def check_with(self, others: Others) -> Checks:
        """Yield turns for agents that do not decide slot by slot."""
        if self.when == "pull" and others.talk != "broadcast":
            yield Mistake("when", 'must be "slot": this learner does not share single pulls')

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._sent: list[Heard] = []
        self._callbacks: list[Callable[[Event], None]] = [self._hear]

    @property
    def reach(self) -> list[int]:
        """All agents, in whatever component; see `BroadcastProtocol.reach`."""
        return [self.network.agents] * self.network.agents

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Keep *item* until the next slot begins."""
        slot = self.clock.slot
        now = self.clock.now
        if now >= self.clock.end:
            return
        if not self._sent:  # by one event for all, so that it is heard whoever goes down meanwhile
            self.clock.environment.schedule(ScheduledEvent(self._callbacks), AGENTS, (now // slot + 1) * slot - now)
        self._sent.append(Heard(agent, round, item))

    def _hear(self, _: Event) -> None:
        everything, self._sent = sorted(self._sent), []
        for agent in range(self.network.agents):
            others = [heard for heard in everything if heard.source != agent]
            if others and not self.network.is_down(agent):
                self.hear(agent, others)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: no message is sent."""
        raise RuntimeError("a message was sent although all is known without any")
