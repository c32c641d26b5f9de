"""Local broadcasts: an agent's message goes to all that are near."""

from pydantic import Field

from netbandit.network.network import Network
from netbandit.part import Checks, Mistake, Others, Part
from netbandit.protocols.broadcast import Hear
from netbandit.protocols.relay import Relay


class LocalKeys(Part):
    """The keys of the ``local`` protocol, in each of its patterns."""

    ttl: int = Field(default=1, ge=0)
    """gamma: hops after which a message is dropped; 0: nobody hears anything."""
    stride: int | None = Field(default=None, ge=1, le=10_000)
    """Sets of parameters an agent keeps; by default as many as the slots that gamma hops take."""


class LocalBroadcast(LocalKeys, Relay):
    """As `Relay`, but a message is dropped after ttl hops."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self.hops = self.ttl

    def check_with(self, others: Others) -> Checks:
        """Yield sets of parameters, which only agents that call for synchronisations keep."""
        if self.stride is not None:
            yield Mistake("stride", "leave it out: this learner has no sets of parameters")

    @property
    def reach(self) -> list[int]:
        """Those that its tree leads to; see `BroadcastProtocol.reach`."""
        return [1 + sum(map(len, self._tree(agent))) for agent in range(self.network.agents)]
