"""Acknowledgement timers: how long a sender waits, and what it does on a timeout.

A timer is scheduled only once it is certain that no acknowledgement will arrive in time.
"""

from typing import TYPE_CHECKING

from netbandit.network.calendar import NEVER, enter
from netbandit.network.link import Channel
from netbandit.network.metering import is_uplink
from netbandit.network.retry import Packet

if TYPE_CHECKING:
    from netbandit.network.network import Network

LATE = -1
"""Replaces the index of a message on its channel once its sender no longer waits for the acknowledgement."""

_LONGEST_WAIT = float(NEVER)


def start_ack_timer(network: "Network", channel: Channel, packet: Packet, sent: int, arrival: int, lost: bool) -> int:
    """Start the acknowledgement timeout of a transmission of *packet*.

    Args:
        network: The network.
        channel: The channel that carries it.
        packet: The packet, transmitted for the first time or again.
        sent: When (ns) its transmission ends: the timeout runs from then.
        arrival: When (ns) it arrives, unless it is lost.
        lost: Whether it is lost.

    Returns:
        `LATE` if the acknowledgement comes too late, or never. Otherwise the arrival decides.
    """
    packet.since = sent
    packet.sent += 1
    if lost or is_late(packet, arrival):
        schedule_retransmission(network, channel, packet)
        return LATE
    if network.is_down_during(channel.sender, network.environment._now, arrival):
        give_up(network, channel, packet)
    return packet.index


def is_late(packet: Packet, time: int) -> bool:
    """Return whether the sender of *packet* no longer waits at *time* (ns); in most cases without a random draw."""
    waited = time - packet.since
    return waited > packet.origin.faults.least_timeout and waited > timeout_of(packet)


def timeout_of(packet: Packet) -> int:
    """Return how long (ns) the sender of *packet* waits after its latest transmission; see `Retry`."""
    origin = packet.origin
    faults = origin.faults
    uniform = origin.spreads.number(origin.column, packet.index - origin.undrawn)
    wait = faults.timeout * (1.0 + uniform * (faults.spread - 1.0)) * faults.factors[packet.sent - 1]
    return round(wait) if wait < _LONGEST_WAIT else NEVER


def schedule_retransmission(network: "Network", channel: Channel, packet: Packet) -> None:
    """Schedule the retransmission of *packet* at its timeout, provided its sender stays up until then."""
    if packet.settled:
        return
    until = packet.since + timeout_of(packet)
    if network.is_down_during(channel.sender, network.environment._now, until):
        give_up(network, channel, packet)
    else:
        enter(network, network.timers, until, (packet, channel))


def give_up(network: "Network", channel: Channel, packet: Packet) -> None:
    """Stop waiting for the acknowledgement of *packet*, without a retransmission."""
    if not packet.settled:
        packet.settled = True
        network.tally.given_up += 1
        if is_uplink(network, channel):
            network.tally.given_up_on_uplinks += 1
