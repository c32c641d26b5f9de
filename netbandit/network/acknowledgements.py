"""Senders that wait for acknowledgements: how long, and what they do when none has come.

A timer is set only once it is known that no acknowledgement will come in time.
"""

from typing import TYPE_CHECKING

from netbandit.network.calendar import NEVER, enter
from netbandit.network.link import Channel
from netbandit.network.metering import is_uplink
from netbandit.network.retry import Packet

if TYPE_CHECKING:
    from netbandit.network.network import Network

LATE = -1
"""Stands for the place of a message on its channel, once its sender no longer waits for its acknowledgement."""

_LONGEST_WAIT = float(NEVER)


def wait_for_arrival(network: "Network", channel: Channel, packet: Packet, sent: int, arrival: int, lost: bool) -> int:
    """Let the sender of a transmission of *packet* wait for its acknowledgement.

    Args:
        network: The network.
        channel: Where it was put.
        packet: What is transmitted, for the first time or again.
        sent: When (ns) all of it was on the channel: the timeout runs from then.
        arrival: When (ns) it arrives, if it does.
        lost: Whether it does not.

    Returns:
        `LATE`: the acknowledgement comes too late, or never. Otherwise that is looked at on arrival.
    """
    packet.since = sent
    packet.sent += 1
    if lost or is_late(packet, arrival):
        wait_in_vain(network, channel, packet)
        return LATE
    if network.is_down_during(channel.sender, network.environment._now, arrival):
        give_up(network, channel, packet)
    return packet.place


def is_late(packet: Packet, time: int) -> bool:
    """Return whether the sender of *packet* no longer waits at a *time* (ns); mostly nothing has to be drawn."""
    waited = time - packet.since
    return waited > packet.origin.faults.least_patience and waited > patience_of(packet)


def patience_of(packet: Packet) -> int:
    """Return how long (ns) the sender of *packet* waits after its latest transmission; see `Retry`."""
    origin = packet.origin
    faults = origin.faults
    uniform = origin.spreads.number(origin.column, packet.place - origin.undrawn)
    wait = faults.timeout * (1.0 + uniform * (faults.spread - 1.0)) * faults.factors[packet.sent - 1]
    return round(wait) if wait < _LONGEST_WAIT else NEVER


def wait_in_vain(network: "Network", channel: Channel, packet: Packet) -> None:
    """Let the sender of *packet* repeat it when it no longer waits, if it is up until then."""
    if packet.settled:
        return
    until = packet.since + patience_of(packet)
    if network.is_down_during(channel.sender, network.environment._now, until):
        give_up(network, channel, packet)
    else:
        enter(network, network.timers, until, (packet, channel))


def give_up(network: "Network", channel: Channel, packet: Packet) -> None:
    """Let the sender of *packet* stop waiting, and repeat nothing."""
    if not packet.settled:
        packet.settled = True
        network.tally.given_up += 1
        if is_uplink(network, channel):
            network.tally.given_up_on_uplinks += 1
