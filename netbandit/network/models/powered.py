"""Batteries: agents pay for what they send and receive; over a shared radio channel `radio` charges them."""

from netbandit.network.batteries import Batteries
from netbandit.network.link import Channel
from netbandit.network.steps import Model, Steps


class Powered(Model):
    """Agents pay for a message when they start to send it, and when they have received it; broadcasts are free."""

    def __init__(self, batteries: Batteries) -> None:
        self._batteries = batteries

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        batteries, server, uplink = self._batteries, steps.network.server, steps.uplink
        airtime_of = steps.link_class.transmission

        def spend(channel: Channel, size: int, airtime: int) -> None:
            if channel.sender != server:
                batteries.pay_to_send(channel.sender, uplink=uplink, size=size, airtime=airtime)

        def receive(channel: Channel, size: int) -> None:
            if channel.receiver != server and not channel.is_broadcast:
                batteries.pay_to_receive(channel.receiver, uplink=uplink, size=size, airtime=airtime_of(size))

        steps.own(spend=spend, receive=receive)
