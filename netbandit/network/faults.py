"""The fault models of a network's channels, as passed to its constructor."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from netbandit.network.jitter import Jitter
from netbandit.network.loss_laws import BitLoss, BurstLoss, ConstantLoss, Loss
from netbandit.network.outages import OutagePlan
from netbandit.network.radio_plan import RadioPlan
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


@dataclass(frozen=True, slots=True)
class FaultModel:
    """What can go wrong on the channels of one class of links, as the engine looks at it.

    Attributes:
        loses: Whether messages are lost by chance,
        chance: The probability that a message is lost; that a bit is; or that a message is while its channel is good.
        chance_while_bad: The probability that a message is lost while its channel is bad.
        loses_alike: Whether each message is lost with the same probability.
        loses_bits: Whether *chance* is that of a bit.
        loses_in_bursts: Whether channels are good and bad for a time.
        jitters: Whether latencies vary from message to message.
        overtaking: Whether jitter lets messages overtake each other.
        duplicate: The probability that a message arrives once more.
        attempts: How often a message is sent in all; 0: nothing is acknowledged.
        timeout: How long (ns) a sender waits at the first time, but for what it draws.
        spread: The largest factor that a message draws for that.
        least_patience: How long (ns) a sender waits at the least.
        factors: What the timeout of each repetition is multiplied by.
    """

    loses: bool = False
    chance: float = 0.0
    chance_while_bad: float = 0.0
    loses_alike: bool = False
    loses_bits: bool = False
    loses_in_bursts: bool = False
    jitters: bool = False
    overtaking: bool = False
    duplicate: float = 0.0
    attempts: int = 0
    timeout: float = 0.0
    spread: float = 1.0
    least_patience: int = 0
    factors: Sequence[float] = ()

    @classmethod
    def of(cls, faults: ChannelFaults) -> "FaultModel":
        """Return what *faults* come to."""
        loss, retry = faults.loss, faults.retry
        chance = 0.0 if loss is None else loss.good if isinstance(loss, BurstLoss) else loss.probability
        return cls(
            loses=loss is not None,
            chance=float(chance),
            chance_while_bad=float(loss.bad) if isinstance(loss, BurstLoss) else 0.0,
            loses_alike=isinstance(loss, ConstantLoss),
            loses_bits=isinstance(loss, BitLoss),
            loses_in_bursts=isinstance(loss, BurstLoss),
            jitters=faults.jitter is not None,
            overtaking=faults.overtaking,
            duplicate=float(faults.duplicate),
            attempts=0 if retry is None else retry.attempts,
            timeout=0.0 if retry is None else float(retry.timeout),
            spread=1.0 if retry is None else float(retry.spread),
            least_patience=0 if retry is None else round(float(retry.timeout)),
            factors=() if retry is None else retry.factors,
        )


NO_FAULTS = FaultModel()
"""Nothing goes wrong."""


@dataclass(frozen=True)
class Faults:
    """All that can go wrong in a network.

    Attributes:
        peer: What can go wrong between agents.
        uplink: What can go wrong between agents and the server.
        plan: What is down, and when.
        radio: How agents share the air; None: each link is a wire of its own.
    """

    peer: ChannelFaults = ChannelFaults()
    uplink: ChannelFaults = ChannelFaults()
    plan: OutagePlan = field(default_factory=OutagePlan)
    radio: RadioPlan | None = None

    def __bool__(self) -> bool:
        return bool(self.peer) or bool(self.uplink) or bool(self.plan) or self.radio is not None

    @property
    def may_lose(self) -> bool:
        """Whether any message may be lost: by a law of loss, because something is down, or by collisions.

        A retry loses none.
        """
        return self.uplink.loss is not None or self.peer.loss is not None or self._peers_lose_unheard

    @property
    def peers_lose_for_good(self) -> bool:
        """Whether messages between agents may be lost that nothing repeats."""
        return (self.peer.loss is not None and self.peer.retry is None) or self._peers_lose_unheard

    @property
    def _peers_lose_unheard(self) -> bool:
        """Whether messages may be lost because something is down, or agents send at the same time."""
        return self.plan.loses or self.radio is not None
