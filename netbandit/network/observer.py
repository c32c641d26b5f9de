"""Observers of messages: traces, and the models of conditions."""

from netbandit.network.link import Channel
from netbandit.network.message import Message


class Observer:
    """Observes all messages of a network, and changes nothing; see `netbandit.network.network.Network.watch`."""

    def sent(self, channel: Channel, message: Message, begin: int) -> None:
        """Note that the transmission of a *message* on *channel* begins at *begin* (ns), within the horizon.

        It is told once of each message that the ledger counts, each attempt being a message, and once of each copy of a
        broadcast of the server (`Channel.is_broadcast`), which uses no link; not of copies that the network makes. What
        queues may be told of ahead of time.
        """

    def hop(
        self, channel: Channel, message: Message, put_at: int, start: int, arrival: int, lost: bool, copy: bool
    ) -> None:
        """Note a hop, once it is known whether it is lost; broadcasts of the server are hops, too.

        Args:
            channel: The channel.
            message: The message.
            put_at: When (ns) it was put on the channel.
            start: When it starts.
            arrival: When it arrives, or would if it was not lost.
            lost: Whether it is lost.
            copy: Whether it is a copy that the network has made.
        """

    def fate(self, channel: Channel, message: Message, fate: str, time: int) -> None:
        """Note the fate of a message at a *time* (ns), in addition to its hop or without one; see `Fate` in `link`.

        ``"refused"``: it is lost, as it found the inbox of its receiver full.
        """
