"""The clock that ends rounds out of band and free, where agents may be down: the papers' oracle, and the only one."""

from collections.abc import Callable, Sequence

from netbandit.network.network import Network
from netbandit.protocols.known_items import Labels

Key = tuple[int, int]
"""A round and a group of agents."""


class FreeClock:
    """Ends a round when all who count in it have contributed, and all of them hold one another's items.

    Who has been up for as long as the round counts in it; who comes back counts from the next round on. Where nobody
    is left that was up all the time, those count that are. Who has committed counts no more.

    Args:
        network: The network.
        look: Called with each open round after a node has gone down, come back or committed: it may end now.
        apart: Whether agents conclude apart, so that some commit before others.

    Attributes:
        needed: Whether agents may be down or commit before others at all; if not, everybody counts, and protocols need
            no such clock.
    """

    def __init__(self, network: Network, look: Callable[[Key], None], apart: bool = False) -> None:
        self._look = look
        self._down: set[int] = set()
        self._done: dict[int, int] = {}
        self._missed: dict[Key, set[int]] = {}
        self._lacking: dict[Key, tuple[int, int]] = {}  # a member that lacked an item at the last look, and whose
        self.needed = network.agents_fail or apart
        if network.agents_fail:
            self._down.update(network.watch_agents(self._changed))

    def begin(self, key: Key) -> None:
        """Begin to watch a round."""
        if self.needed:
            self._missed[key] = set(self._down)

    def end(self, key: Key) -> None:
        """Watch a round no longer."""
        self._missed.pop(key, None)
        self._lacking.pop(key, None)

    def held(
        self, key: Key, members: Sequence[int], has: Callable[[int, int], bool], known: Callable[[int], Labels]
    ) -> Labels | None:
        """Return what all who count hold if the round ends now, else None.

        Args:
            key: The round, and the group.
            members: The agents of the group; the place of each is its label.
            has: Whether the member with a label holds the item of that with another; its own once it has contributed.
            known: The labels of the items that the member with a label holds.
        """
        lacking = self._lacking.get(key)
        if lacking is not None and not has(*lacking) and all(self._counts(key, members[label]) for label in lacking):
            return None  # mostly nothing else has to be looked at
        counting = self.counting(key, members)
        if not counting:
            return None
        needed = sum(1 << label for label in counting)
        held = -1
        for label in counting:
            missing = needed & ~known(label)
            if missing:
                self._lacking[key] = label, missing.bit_length() - 1
                return None
            held &= known(label)
        return held

    def _counts(self, key: Key, agent: int) -> bool:
        """Return whether *agent* was up for as long as the round, and has not committed before it."""
        return self._done.get(agent, key[0] + 1) > key[0] and agent not in self._missed[key]

    def counting(self, key: Key, members: Sequence[int]) -> list[int]:
        """Return the labels of those *members* of a group who count in a round."""
        taking_part = [label for label, agent in enumerate(members) if self._done.get(agent, key[0] + 1) > key[0]]
        missed = self._missed[key]
        counting = [label for label in taking_part if members[label] not in missed]
        if counting:
            return counting
        missed = self._missed[key] = set(self._down)
        return [label for label in taking_part if members[label] not in missed]

    def done(self, agent: int, round: int) -> None:
        """Note that *agent* has committed, and takes part in *round* and all later ones no more."""
        self._done[agent] = round
        for key in list(self._missed):
            self._look(key)

    def forget(self, agent: int) -> None:
        """Note that *agent* knows nothing any more, and takes part anew."""
        self._done.pop(agent, None)

    def _changed(self, agent: int, up: bool) -> None:
        if up:
            self._down.discard(agent)
        else:
            self._down.add(agent)
            for missed in self._missed.values():
                missed.add(agent)
        for key in list(self._missed):
            self._look(key)
