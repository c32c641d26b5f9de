"""Duplicates: ``duplicate`` of a class of links: the network delivers a message once more."""

from typing import ClassVar

from netbandit.network.link import Channel
from netbandit.network.steps import ByColumn, Model, Steps


class Duplicates(Model):
    """A message that gets through arrives once more, with a *probability*; its copy is not lost by chance."""

    in_order: ClassVar[bool] = False

    def __init__(self, probability: float) -> None:
        self._probability = probability

    def join(self, steps: Steps) -> None:
        """See `Model.join`; it comes after `Jitter`, as a copy takes a jitter of its own."""
        numbers, late, probability = ByColumn(steps.draws("duplicate").numbers), steps.copy_late, self._probability

        def double(channel: Channel) -> int:
            doubled = next(numbers[channel.column]) < probability
            later = 0 if late is None else next(late[channel.column])  # drawn for each message as well
            return later if doubled else -1

        steps.own(double=double)
        steps.skips.append(double)
