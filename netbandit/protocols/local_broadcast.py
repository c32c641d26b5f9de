"""Local broadcasts: an agent's message goes to all that are near."""

from collections.abc import Iterator

from pydantic import Field

from netbandit.network.network import Network
from netbandit.protocols.broadcast import Hear
from netbandit.protocols.protocol import GraphFacts, ProtocolSettings
from netbandit.protocols.relay import Relay


class LocalSettings(ProtocolSettings):
    """The keys of the ``local`` protocol.

    Attributes:
        ttl: gamma: hops after which a message is dropped; 0: nobody hears anything.
        stride: Sets of parameters an agent keeps; by default as many as the slots that gamma hops take.
    """

    kind: str = "local"
    ttl: int = Field(default=1, ge=0)
    stride: int | None = Field(default=None, ge=1, le=10_000)


class LocalBroadcast(Relay):
    """As `Relay`, but a message is dropped after ttl hops."""

    Settings = LocalSettings

    def __init__(self, settings: ProtocolSettings, network: Network, hear: Hear) -> None:
        super().__init__(settings, network, hear)
        assert isinstance(settings, LocalSettings)
        self.hops = settings.ttl

    @classmethod
    def problems(cls, settings: ProtocolSettings, graph: GraphFacts) -> Iterator[tuple[str, str]]:
        """Yield sets of parameters, which only agents that call for synchronisations keep."""
        assert isinstance(settings, LocalSettings)
        if settings.stride is not None:
            yield "stride", "leave it out: this learner has no sets of parameters"

    @property
    def reach(self) -> list[int]:
        """Those that its tree leads to; see `BroadcastProtocol.reach`."""
        return [1 + sum(map(len, self._tree(agent))) for agent in range(self.network.agents)]
