"""Traces the phases of agents that broadcast in slots known ahead."""

from collections.abc import Iterable

from netbandit.network.trace_writer import Trace


class Phases:
    """Writes to a trace when agents explore, exploit, and wait for the items of a round.

    From the slot in which it sends, an agent is in the phase of that round until it has received from all others or
    sends again, and then in round 0. So phases follow one another without a gap.

    Args:
        trace: Where to write.
        slot: Length of a slot (ns).
        explore: For each agent the slots it explores at first.
        others: For each agent the number of others from which it receives in a round.
        rounds: The number of rounds.
    """

    def __init__(self, trace: Trace, slot: int, explore: Iterable[int], others: Iterable[int], rounds: int) -> None:
        self._trace = trace
        self._slot = slot
        self._explore = list(explore)
        self._others = list(others)
        self._rounds = rounds
        self._sent = 0
        self._since = [0] * len(self._explore)
        self._missing = [0] * len(self._explore)

    def tell(self, slot: int) -> None:
        """Begin the next round: all agents send, and from *slot* on wait for the items of others."""
        for agent, others in enumerate(self._others):
            self._write(agent, slot)
            self._missing[agent] = others
        self._sent += 1

    def hear(self, agent: int, rounds: Iterable[int], slot: int) -> None:
        """Note that *agent* has received an item of each of *rounds* by *slot*."""
        news = sum(round == self._sent for round in rounds)
        if news and news == self._missing[agent]:
            self._write(agent, slot)
        self._missing[agent] -= news

    def end(self, slot: int) -> None:
        """Write the phases of all agents up to *slot*, the horizon."""
        for agent in range(len(self._others)):
            self._write(agent, slot)

    def _write(self, agent: int, slot: int) -> None:
        """Write the phases of *agent* from the end of its last one to *slot*."""
        since = self._since[agent]
        explored = min(max(self._explore[agent], since), slot)
        awaited = self._sent if self._missing[agent] else 0
        following = self._sent + 1 if self._sent < self._rounds else 0
        for name, round, begin, end in (
            ("explore", awaited or following, since, explored),
            ("exploit", awaited, explored, slot),
        ):
            self._trace.phase(name, agent, round, begin * self._slot, end * self._slot)
        self._since[agent] = slot
