"""Outages: links and nodes that are down lose messages in transit."""

from netbandit.network.link import Channel
from netbandit.network.outages import Outages
from netbandit.network.steps import ByColumn, Model, Steps


class LinkOutages(Model):
    """A message is lost if its link is down at any moment from the start of its transmission to its arrival."""

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        steps.cuts.append(lambda channel, size, start, arrival: channel.down.during(start, arrival))


class NodeOutages(Model):
    """A message is lost if its receiver is down on arrival, and not sent if its sender is down before it starts."""

    def __init__(self, outages: Outages) -> None:
        self._outages = outages

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        nodes = ByColumn(self._outages.node)

        def is_missed(channel: Channel, size: int, start: int, arrival: int) -> bool:
            return nodes[channel.receiver].during(arrival, arrival)

        steps.misses.append(is_missed)
        steps.own(absent=lambda node, begin, end: nodes[node].during(begin, end))
