"""Silent: no communication; the baseline in which every agent learns alone."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.exchange import Agents, ExchangeProtocol, Mix, Rows
from netbandit.protocols.protocol import CallbackRoundProtocol, Item, NetworkProtocol, contributed
from netbandit.protocols.requests import RequestProtocol


class _Isolated(NetworkProtocol):
    """What the silent protocols of all patterns share: no agent sends or hears anything."""

    uses_peer_links: ClassVar[bool] = False

    @property
    def isolated(self) -> bool:
        """Nobody hears anything."""
        return True

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: nobody sends."""
        raise RuntimeError("a message was sent although nobody communicates")


class CalledSilent(_Isolated, CallProtocol):
    """Every agent is a separate group, and no agent calls."""

    def start(self, network: Network, sync_handler: SyncHandler) -> None:
        """See `CallProtocol.start`."""
        super().start(network, sync_handler)
        self.groups = range(network.agents)

    def call(self, agent: int, param_set: int) -> None:
        """Do nothing: no agent receives it."""

    def begin(self, agent: int, param_set: int) -> None:
        """Do nothing: agents do not share."""


class ExchangedSilent(_Isolated, ExchangeProtocol):
    """Every agent steps in every slot, and has its own row alone to mix."""

    @property
    def eigenvalue(self) -> float:
        """See `ExchangeProtocol.eigenvalue`: there is no difference that could even out."""
        return 0.0

    @property
    def degrees(self) -> NDArray[np.int64]:
        """See `ExchangeProtocol.degrees`."""
        return np.zeros(self.network.agents, dtype=np.int64)

    def matrix(self) -> NDArray[np.float64]:
        """See `ExchangeProtocol.matrix`."""
        return np.eye(self.network.agents)

    def start(self, network: Network, mix: Mix) -> None:
        """See `ExchangeProtocol.start`."""
        super().start(network, mix)
        self._steps: InstantQueue[NDArray[np.float64]] = InstantQueue(self.clock, self._step, AGENTS)

    def tell(self, agents: Agents, rows: Rows, row_bytes: int) -> None:
        """Keep the rows until the next slot begins."""
        self.ready[agents] = False
        following = (self.clock.now // self.clock.slot + 1) * self.clock.slot
        if following < self.clock.end:
            for agent, row in zip(agents.tolist(), rows, strict=True):
                self._steps.at(following, agent, row)

    def _step(self, due: list[tuple[int, list[NDArray[np.float64]]]]) -> None:
        agents, rows = np.array([agent for agent, _ in due]), np.array([row for _, (row,) in due])
        self.steps[agents] += 1
        self.ready[agents] = True
        self.mix(agents, rows, rows)


class SilentRequests(_Isolated, RequestProtocol):
    """Nobody can be asked."""

    def ask(self, agent: int, avoided: frozenset[int] = frozenset()) -> None:
        """Do nothing: no agent responds."""


class Silent(_Isolated, CallbackRoundProtocol):
    """Every agent concludes from its own item at once; no message, no wait, no round to count."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"round", "call", "broadcast", "exchange", "ask"})
    stand_ins: ClassVar[Mapping[CommunicationPattern, type[NetworkProtocol]]] = {
        "call": CalledSilent,
        "exchange": ExchangedSilent,
        "ask": SilentRequests,
    }
    uses_uplinks: ClassVar[bool] = False
    forgetful: ClassVar[bool] = True

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Conclude for *agent* alone."""
        return self.clock.environment.event().succeed(self.conclude(round, [contributed(item)], group=agent))
