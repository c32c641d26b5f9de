"""Lists of items that nodes fill by telling each other, and what a message about them weighs."""

from netbandit.network.message import LABEL_BYTES
from netbandit.protocols.protocol import Item

Labels = int
"""A set of labels as a bit mask: unions and differences of hundreds of labels in one operation."""


class KnownItems:
    """The lists of a group of nodes in one round.

    Attributes:
        members: The number of nodes in the group.
        items: What each member contributed, by label; None until it has.
        known: For each member, the labels on its list.
        again: What a member contributed once more, after it had lost its memory: for itself alone.
        complete: How many members have a complete list.
        uniform: The size of every item contributed so far, None if they differ.
    """

    def __init__(self, members: int) -> None:
        self.members = members
        self.items: list[Item | None] = [None] * members
        self.again: dict[int, Item] = {}
        self.uniform: int | None = None
        self.known: list[Labels] = [0] * members
        self.complete = 0
        self._any = False

    def contribute(self, label: int, item: Item) -> None:
        """Keep the item that the member with this *label* contributes; what it contributed before stays with others."""
        if self.items[label] is not None:
            self.again[label] = item
            return
        self.items[label] = item
        if not self._any:
            self._any, self.uniform = True, item.size
        elif item.size != self.uniform:
            self.uniform = None

    def add(self, label: int, labels: Labels) -> bool:
        """Put *labels*, of which one at least is new to it, on a member's list; return whether it is complete now."""
        self.known[label] |= labels
        if self.known[label].bit_count() < self.members:
            return False
        self.complete += 1
        return True

    @property
    def everybody_complete(self) -> bool:
        """Whether every list is complete."""
        return self.complete == self.members

    @property
    def contributions(self) -> list[Item]:
        """The items contributed, in the order of their labels."""
        return [item for item in self.items if item is not None]

    def named(self, labels: Labels) -> list[Item]:
        """Return the items that *labels* name, in the order of their labels."""
        return [item for label, item in enumerate(self.items) if item is not None and labels >> label & 1]

    def held(self, label: int, labels: Labels | None = None) -> list[Item]:
        """Return the items that a member holds, its own among them in any case, in the order of their labels.

        Args:
            label: The member.
            labels: Of these only; None: of all.
        """
        labels = (self.known[label] & (-1 if labels is None else labels)) | 1 << label
        if label not in self.again:
            return self.named(labels)
        others = self.named(labels & ~(1 << label))
        place = (labels & ((1 << label) - 1)).bit_count()
        return [*others[:place], self.again[label], *others[place:]]

    def forget(self, label: int) -> None:
        """Let a member know nothing any more."""
        self.known[label] = 0
        self.again.pop(label, None)

    def size(self, labels: Labels) -> int:
        """Return the bytes of the items that *labels* name, each with its label."""
        if self.uniform is not None:
            return labels.bit_count() * (LABEL_BYTES + self.uniform)
        total = 0
        while labels:
            lowest = labels & -labels
            item = self.items[lowest.bit_length() - 1]
            assert item is not None  # only what was contributed is ever on a list
            total += LABEL_BYTES + item.size
            labels ^= lowest
        return total
