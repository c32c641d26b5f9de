"""The fault models of a network's channels, as passed to its constructor."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from netbandit.network.jitter import Jitter
from netbandit.network.loss_models import BitLoss, BurstLoss, ConstantLoss, Loss
from netbandit.network.outages import OutagePlan
from netbandit.network.radio_plan import RadioPlan
from netbandit.network.retry import Retry


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

    @property
    def in_order(self) -> bool:
        """Whether messages arrive on a channel in the order of sending, each transmission at most once."""
        return self.jitter is None and not self.duplicate


@dataclass(frozen=True, slots=True)
class FaultModel:
    """The faults of the channels of one class of links, in the form that the engine reads.

    Attributes:
        loses: Whether messages are lost by chance,
        chance: The probability that a message is lost; that a bit is; or that a message is while its channel is good.
        chance_while_bad: The probability that a message is lost while its channel is bad.
        loses_alike: Whether each message is lost with the same probability.
        loses_bits: Whether *chance* is that of a bit.
        jitters: Whether latencies vary from message to message.
        overtaking: Whether jitter lets messages overtake each other.
        duplicate: The probability that a message arrives once more.
        attempts: The number of transmissions of a message in all; 0: no acknowledgements.
        timeout: The first timeout (ns) of a sender, before its random factor.
        spread: The largest random factor of the timeout.
        least_timeout: The shortest possible timeout (ns).
        factors: The factor of the timeout at each retransmission.
    """

    loses: bool = False
    chance: float = 0.0
    chance_while_bad: float = 0.0
    loses_alike: bool = False
    loses_bits: bool = False
    jitters: bool = False
    overtaking: bool = False
    duplicate: float = 0.0
    attempts: int = 0
    timeout: float = 0.0
    spread: float = 1.0
    least_timeout: int = 0
    factors: Sequence[float] = ()

    @classmethod
    def of(cls, faults: ChannelFaults) -> "FaultModel":
        """Return the fault model of *faults*."""
        loss, retry = faults.loss, faults.retry
        chance = 0.0 if loss is None else loss.good if isinstance(loss, BurstLoss) else loss.probability
        return cls(
            loses=loss is not None,
            chance=float(chance),
            chance_while_bad=float(loss.bad) if isinstance(loss, BurstLoss) else 0.0,
            loses_alike=isinstance(loss, ConstantLoss),
            loses_bits=isinstance(loss, BitLoss),
            jitters=faults.jitter is not None,
            overtaking=faults.overtaking,
            duplicate=float(faults.duplicate),
            attempts=0 if retry is None else retry.attempts,
            timeout=0.0 if retry is None else float(retry.timeout),
            spread=1.0 if retry is None else float(retry.spread),
            least_timeout=0 if retry is None else round(float(retry.timeout)),
            factors=() if retry is None else retry.factors,
        )


NO_FAULTS = FaultModel()
"""Nothing goes wrong."""


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
