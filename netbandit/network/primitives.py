"""What the texts of a network take for granted: where rows are kept, how time passes, what is drawn.

They are implemented by `netbandit.simulation.machine`, on arrays. Channels, messages and packets are numbers, of which
`channel_of`, `message_of` and `packet_of` find the rows.
"""

from typing import Any

from netbandit.texts import primitive

Network = Any
Channel = Any
Message = Any
Packet = Any
Pending = Any
Transmission = Any
Kind = Any
Row = Any

NOTHING: Any = None
"""Stands for no packet; texts ask `is_nothing`."""


@primitive
def now_of(network: Network) -> int:
    """Return the present time (ns)."""
    raise NotImplementedError


@primitive
def end_of(network: Network) -> int:
    """Return the end of the last slot (ns): nothing starts then or later."""
    raise NotImplementedError


@primitive
def slot_of(network: Network, time: int) -> int:
    """Return the number of the slot that contains *time* (ns)."""
    raise NotImplementedError


@primitive
def channel_of(network: Network, channel: Channel) -> Row:
    """Return the row of a channel; see `netbandit.network.link.Channel`."""
    raise NotImplementedError


@primitive
def queue_of(network: Network, channel: Channel) -> Row:
    """Return the row of the queue for *channel*, whose bandwidth is limited; see `netbandit.network.link.Queue`."""
    raise NotImplementedError


@primitive
def link_of(network: Network, channel: Channel) -> Row:
    """Return the row of the link that *channel* is one direction of; see `netbandit.network.link.Link`."""
    raise NotImplementedError


@primitive
def law_of(network: Network, channel: Channel) -> Row:
    """Return what can go wrong on *channel*; see `netbandit.network.faults.Law`."""
    raise NotImplementedError


@primitive
def back_of(network: Network, channel: Channel) -> Channel:
    """Return the other direction of *channel*; of the air, over which broadcasts are heard, the agent's uplink."""
    raise NotImplementedError


@primitive
def air_of(network: Network, agent: int) -> Channel:
    """Return the channel over which *agent* hears what the server broadcasts."""
    raise NotImplementedError


@primitive
def repeats_on(network: Network, channel: Channel) -> bool:
    """Return whether what is put on *channel* is acknowledged, and else repeated."""
    raise NotImplementedError


@primitive
def repeating_channel(network: Network, channel: Channel) -> Channel:
    """Return the channel over which what was put on *channel* is repeated: of a broadcast the agent's own."""
    raise NotImplementedError


@primitive
def is_uplink(network: Network, channel: Channel) -> bool:
    """Return whether *channel* leads to the server, or from it."""
    raise NotImplementedError


@primitive
def is_air(network: Network, channel: Channel) -> bool:
    """Return whether broadcasts of the server are heard over *channel*."""
    raise NotImplementedError


@primitive
def message_of(network: Network, message: Message) -> Row:
    """Return the row of a message; see `netbandit.network.message.Message`."""
    raise NotImplementedError


@primitive
def new_packet(network: Network, kind: Kind, message: Message) -> Packet:
    """Return a packet for *message*, of which nothing is known yet; see `netbandit.network.retry.Packet`."""
    raise NotImplementedError


@primitive
def originate(network: Network, packet: Packet, channel: Channel, place: int) -> None:
    """Note of *packet* the channel on which it was put first, and its place among all that were put on it."""
    raise NotImplementedError


@primitive
def forget(network: Network, packet: Packet) -> None:
    """Note that *packet* is not under way: if nobody waits for it to be acknowledged either, nobody asks for it."""
    raise NotImplementedError


@primitive
def packet_of(network: Network, packet: Packet) -> Row:
    """Return the row of a packet."""
    raise NotImplementedError


@primitive
def transmission_of(network: Network, channel: Channel, size: int) -> int:
    """Return how long (ns) *size* bytes occupy *channel*."""
    raise NotImplementedError


@primitive
def duration_of(network: Network, size: int) -> int:
    """As `transmission_of`, on all channels of the class over which is sent."""
    raise NotImplementedError


@primitive
def book(network: Network, channel: Channel, slot: int, now: int) -> None:
    """Count an activation of the link of *channel* in a *slot* that may lie behind what its other direction books."""
    raise NotImplementedError


@primitive
def loss_number_of(network: Network, channel: Channel) -> float:
    """Draw a number, uniform on [0, 1): below the chance of that, the message put on *channel* is lost."""
    raise NotImplementedError


@primitive
def jitter_of(network: Network, channel: Channel) -> int:
    """Draw what is added to the latency of the message that is put on *channel* (ns)."""
    raise NotImplementedError


@primitive
def duplicate_number_of(network: Network, channel: Channel) -> float:
    """Draw a number, uniform on [0, 1): below the probability of that, the message put on *channel* arrives twice."""
    raise NotImplementedError


@primitive
def copy_jitter_of(network: Network, channel: Channel) -> int:
    """Draw what is added to the latency of the copy of the message that is put on *channel* (ns)."""
    raise NotImplementedError


@primitive
def spread_number_of(network: Network, packet: Packet) -> float:
    """Return what *packet* has drawn for its timeouts, uniform on [0, 1)."""
    raise NotImplementedError


@primitive
def timeout_factor(network: Network, channel: Channel, repetition: int) -> float:
    """Return what the timeout of a *repetition* on *channel* (0: the first transmission) is multiplied by."""
    raise NotImplementedError


@primitive
def is_bad(network: Network, channel: Channel, time: int) -> bool:
    """Return whether *channel*, whose losses come in bursts, is bad at a *time* (ns)."""
    raise NotImplementedError


@primitive
def is_link_down(network: Network, channel: Channel, begin: int, end: int) -> bool:
    """Return whether the link of *channel* is down at any moment from *begin* to *end* (ns), both included."""
    raise NotImplementedError


@primitive
def next_start(network: Network, channel: Channel, time: int) -> int:
    """Return when (ns) a message may start that is ready at a *time*: then, if the link of *channel* is up.

    Else as soon as it is: slotted, at the first boundary at which it is. `netbandit.network.hop.NEVER`: never.
    """
    raise NotImplementedError


@primitive
def contact_end(network: Network, channel: Channel, time: int) -> int:
    """Return when (ns) the link of *channel*, up at a *time*, goes down next; `netbandit.network.hop.NEVER`: never."""
    raise NotImplementedError


@primitive
def carry_of(network: Network) -> int:
    """Return how long (ns) a message waits for its link at most."""
    raise NotImplementedError


@primitive
def waits_for_slots(network: Network) -> bool:
    """Return whether what waits for its link starts at slot boundaries only."""
    raise NotImplementedError


@primitive
def waiting_of(network: Network) -> Row:
    """Return what is counted of messages that wait for their links; see `netbandit.network.ledger.Waiting`."""
    raise NotImplementedError


@primitive
def is_node_down(network: Network, node: int, begin: int, end: int) -> bool:
    """Return whether *node* is down at any moment from *begin* to *end* (ns), both included."""
    raise NotImplementedError


@primitive
def life_of(network: Network, node: int, time: int) -> int:
    """Return how often *node* has lost its memory by *time* (ns)."""
    raise NotImplementedError


@primitive
def code_of(network: Network, kind: Kind) -> int:
    """Return the code of a kind of messages, for the fingerprint."""
    raise NotImplementedError


@primitive
def is_nothing(packet: Packet) -> bool:
    """Return whether *packet* is `NOTHING`."""
    raise NotImplementedError


@primitive
def acknowledgement(network: Network) -> Kind:
    """Return the kind of acknowledgements."""
    raise NotImplementedError


@primitive
def is_acknowledgement(network: Network, kind: Kind) -> bool:
    """Return whether *kind* is that of acknowledgements."""
    raise NotImplementedError


@primitive
def count_acknowledgement(network: Network) -> None:
    """As `count`, of one acknowledgement."""
    raise NotImplementedError


@primitive
def repetition(network: Network, kind: Kind) -> Kind:
    """Return the kind under which repetitions of messages of *kind* are counted."""
    raise NotImplementedError


@primitive
def count(network: Network, kind: Kind, size: int, messages: int) -> None:
    """Enter into the ledger that so many *messages* of *size* bytes each were sent."""
    raise NotImplementedError


@primitive
def tally_of(network: Network) -> Row:
    """Return what has become of messages so far; see `netbandit.network.ledger.Tally`."""
    raise NotImplementedError


@primitive
def record(network: Network, time: int, node: int, code: int, size: int) -> None:
    """Enter an event into the fingerprint."""
    raise NotImplementedError


@primitive
def deliver_at(
    network: Network,
    arrival: int,
    channel: Channel,
    kind: Kind,
    size: int,
    message: Message,
    packet: Packet,
    waits: int,
) -> None:
    """Let `netbandit.network.hop.take` happen when what was put on *channel* arrives (ns)."""
    raise NotImplementedError


@primitive
def wake_at(network: Network, time: int, packet: Packet, channel: Channel) -> None:
    """Let `netbandit.network.hop.repeat` happen at a *time* (ns), after all that arrives then."""
    raise NotImplementedError


@primitive
def write_trace(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    now: int,
    start: int,
    arrival: int,
    lost: bool,
) -> None:
    """Write a line of the trace."""
    raise NotImplementedError


# Where the fate of messages is open.


@primitive
def pay_to_send(network: Network, channel: Channel, size: int, airtime: int) -> None:
    """Let the sender of *channel* pay for a message of so many bytes that occupies it so long (ns)."""
    raise NotImplementedError


@primitive
def pay_to_receive(network: Network, channel: Channel, size: int) -> None:
    """Let the receiver of *channel* pay for a message of so many bytes that it hears."""
    raise NotImplementedError


@primitive
def new_pending(
    network: Network,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    now: int,
    slot: int,
    duration: int,
) -> Pending:
    """Return what is known of a message that waits at its sender; see `netbandit.network.line.Pending`."""
    raise NotImplementedError


@primitive
def line_of(network: Network, channel: Channel) -> Row:
    """Return what waits for *channel*; see `netbandit.network.line.Line`."""
    raise NotImplementedError


@primitive
def start_at(network: Network, time: int, channel: Channel, pending: Pending) -> None:
    """Let `netbandit.network.hop.go_on` happen at a *time* (ns), before all that arrives then."""
    raise NotImplementedError


@primitive
def expect_arrival(
    network: Network,
    arrival: int,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    handed: int,
    start: int,
    due: int,
    copy: bool,
) -> None:
    """Let `netbandit.network.hop.arrive` happen when what was put on *channel* arrives (ns)."""
    raise NotImplementedError


# Where agents share the air.


@primitive
def has_collided(network: Network, channel: Channel, due: int) -> bool:
    """Return whether what is *due* (ns) on *channel* was destroyed, see `netbandit.network.air`, and count it."""
    raise NotImplementedError


@primitive
def wait_for_contact(network: Network, transmission: Transmission, channel: Channel, time: int, first: bool) -> None:
    """Hand what is transmitted over once more, for the receiver of *channel*, when its link comes up (ns).

    *first*: whether it has not been tried yet.
    """
    raise NotImplementedError
