"""What is new to a node of a flood, and who told of it; compiled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.rows import Machine
from netbandit.texts import text

LACKED, FRESH, KNOWN = 0, 1, 2
"""What an item is to a node: it lacks it, has just got it, or has passed it on."""


class Fresh(NamedTuple):
    """The items that have come to one node at once; n agents.

    Attributes:
        labels: Their labels, in order of arrival, shape (n,).
        first, last: Where in `tellers` the list of each label begins and ends, -1 for none, shape (n,).
        tellers: Channels that have brought an item; -1: it is the node's own.
        following: Where the list goes on, -1 at its end.
        told_by: Marks channels that are left out.
    """

    labels: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    tellers: NDArray[np.int64]
    following: NDArray[np.int64]
    told_by: NDArray[np.uint8]


@text
def note_teller(fresh: Fresh, place: int, label: int, channel: int, number: int) -> int:
    """Note at *place* that *channel* brought a label, beside so many others; return how many labels are fresh."""
    fresh.tellers[place] = channel
    fresh.following[place] = -1
    if fresh.first[label] < 0:
        fresh.first[label] = place
        fresh.labels[number] = label
        number += 1
    else:
        fresh.following[fresh.last[label]] = place
    fresh.last[label] = place
    return number


@text
def mark_tellers(network: Machine, fresh: Fresh, label: int, mark: int) -> None:
    """Mark the channels to those who told of a label, or unmark them."""
    teller = fresh.first[label]
    while teller >= 0:
        if fresh.tellers[teller] >= 0:
            fresh.told_by[network.channels[fresh.tellers[teller]].reverse] = mark
        teller = fresh.following[teller]
