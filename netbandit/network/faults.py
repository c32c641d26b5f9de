"""What can go wrong with the messages of a network, as its builder is told."""

from dataclasses import dataclass, field

from netbandit.network.jitter import Jitter
from netbandit.network.loss import Loss
from netbandit.network.outages import OutagePlan
from netbandit.network.retry import Retry


@dataclass(frozen=True)
class ChannelFaults:
    """What can go wrong on the channels of one class of links.

    Attributes:
        loss: With what probability a message is lost; None: never.
        jitter: What is added to its latency; None: nothing.
        overtaking: Whether jitter lets messages overtake each other; if not, they are held back.
        duplicate: The probability that a message which is not lost arrives once more.
        retry: How senders repeat what is not acknowledged; None: they do not.
    """

    loss: Loss | None = None
    jitter: Jitter | None = None
    overtaking: bool = False
    duplicate: float = 0.0
    retry: Retry | None = None

    def __bool__(self) -> bool:
        return self.loss is not None or self.jitter is not None or self.duplicate > 0 or self.retry is not None

    @property
    def in_order(self) -> bool:
        """Whether what is put on a channel arrives in the order of sending, each transmission at most once."""
        return self.jitter is None and not self.duplicate


@dataclass(frozen=True)
class Faults:
    """All that can go wrong in a network.

    Attributes:
        peer: What can go wrong between agents.
        uplink: What can go wrong between agents and the server.
        plan: What is down, and when.
    """

    peer: ChannelFaults = ChannelFaults()
    uplink: ChannelFaults = ChannelFaults()
    plan: OutagePlan = field(default_factory=OutagePlan)

    def __bool__(self) -> bool:
        return bool(self.peer) or bool(self.uplink) or bool(self.plan)

    @property
    def may_lose(self) -> bool:
        """Whether any message may be lost: by a law of loss, or because something is down. A retry loses none."""
        return self.peer.loss is not None or self.uplink.loss is not None or bool(self.plan)

    @property
    def peers_lose_for_good(self) -> bool:
        """Whether messages between agents may be lost that nothing repeats, or because something is down."""
        return (self.peer.loss is not None and self.peer.retry is None) or bool(self.plan)

    @property
    def only_peers_lose(self) -> bool:
        """Whether messages between agents may be lost, and repeated, and nothing else goes wrong."""
        return bool(self.peer) and self.peer.in_order and not self.uplink and not self.plan
