"""The fault models of a network's channels, as passed to its constructor."""

from dataclasses import dataclass, field

from netbandit.network.jitter import Jitter
from netbandit.network.models.loss import Loss
from netbandit.network.models.retransmission import Retry
from netbandit.network.outages import OutagePlan
from netbandit.network.radio_plan import RadioPlan


@dataclass(frozen=True)
class ChannelFaults:
    """The faults of the channels of one class of links.

    Attributes:
        loss: The loss model; None: no message is lost.
        jitter: The model of the time added to the latency; None: nothing is added.
        overtaking: Whether jitter lets messages overtake each other; if not, they are held back.
        duplicate: The probability that a message which is not lost arrives once more.
        retry: How senders retransmit unacknowledged messages; None: they do not.
    """

    loss: Loss | None = None
    jitter: Jitter | None = None
    overtaking: bool = False
    duplicate: float = 0.0
    retry: Retry | None = None

    def __bool__(self) -> bool:
        return self.loss is not None or self.jitter is not None or self.duplicate > 0 or self.retry is not None


@dataclass(frozen=True)
class Faults:
    """All faults of a network.

    Attributes:
        peer: Faults of the channels between agents.
        uplink: Faults of the channels between agents and the server.
        plan: The outages and contacts.
        radio: How agents share a radio channel; None: each link is a separate wire.
    """

    peer: ChannelFaults = ChannelFaults()
    uplink: ChannelFaults = ChannelFaults()
    plan: OutagePlan = field(default_factory=OutagePlan)
    radio: RadioPlan | None = None

    def __bool__(self) -> bool:
        return bool(self.peer) or bool(self.uplink) or bool(self.plan) or self.radio is not None

    @property
    def may_lose(self) -> bool:
        """Whether any message may be lost: by a loss model, by an outage, or by collisions.

        A retry loses none.
        """
        return self.uplink.loss is not None or self.peer.loss is not None or self._peers_lose_unheard

    @property
    def peers_lose_for_good(self) -> bool:
        """Whether messages between agents may be lost without a retransmission."""
        return (self.peer.loss is not None and self.peer.retry is None) or self._peers_lose_unheard

    @property
    def _peers_lose_unheard(self) -> bool:
        """Whether messages may be lost to outages or collisions."""
        return self.plan.loses or self.radio is not None
