"""The waits of agents for the ends of rounds, and the part of them in which nodes compute."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from netbandit.network.network import Network
from netbandit.simulation.drivers.up_slots import Recovery
from netbandit.simulation.result import Metric


class RoundWaits:
    """The agents that wait, and the lengths of the waits that have ended.

    Args:
        network: The network.

    Attributes:
        now: For each waiting agent the round, the first slot of its wait, and the arm that it pulls.
    """

    def __init__(self, network: Network) -> None:
        self._network, self._clock = network, network.clock
        self.now: dict[int, tuple[int, int, int]] = {}
        self._begun: dict[int, int] = {}
        self._ended: dict[int, Counter[int]] = {}
        self._computing: Counter[int] = Counter()  # for how long (ns) nodes computed in the waits of each round
        ends = None if network.outages is None else network.outages.ends(self._clock.end)
        self._recovery = Recovery(ends, self._clock.slot) if ends else None

    def begin(self, agent: int, round: int, slot: int, arm: int) -> None:
        """Note that *agent* waits for *round* from *slot* on, and pulls *arm*."""
        self.now[agent] = round, slot, arm
        self._begun[agent] = self._computed

    def end(self, agent: int, slot: int) -> None:
        """Note that *agent* goes on in *slot*."""
        round, since, _ = self.now.pop(agent)
        self._ended.setdefault(round, Counter())[slot - since] += 1
        self._computing[round] += self._computed - self._begun.pop(agent)
        if self._recovery is not None:
            self._recovery.waited(since, slot)

    @property
    def _computed(self) -> int:
        """For how long (ns) any node has computed so far."""
        computing = self._network.computing
        return 0 if computing is None else computing.together()

    def lengths(self, before: float = float("inf")) -> list[int]:
        """Return how many slots each agent still waiting at the horizon has waited for a round *before* one."""
        return [self._clock.horizon - since for number, since, _ in self.now.values() if number < before]

    def metrics(self, rounds: Iterable[int]) -> dict[str, Metric]:
        """Return the slots from a contribution to the next phase over agents and *rounds*: mean, median and largest.

        If nodes compute, also in how many of these slots some did.

        Without any ended wait, the mean is 0 if nobody waits, else None: a wait that has not ended is not 0 slots.
        """
        waits: Counter[int] = Counter()
        computed = 0
        for number in rounds:
            waits.update(self._ended.get(number, ()))
            computed += self._computing[number]
        agents = waits.total()
        if not agents:
            nothing = None if self.now else 0.0
            return {"round_slots": nothing, "round_slots_median": None, "round_slots_max": None}
        slots = sorted(waits)
        below = list(accumulate(waits[each] for each in slots))
        middle = [slots[bisect_left(below, rank)] for rank in ((agents + 1) // 2, agents // 2 + 1)]
        found: dict[str, Metric] = {
            "round_slots": sum(each * count for each, count in waits.items()) / agents,
            "round_slots_median": sum(middle) / 2,
            "round_slots_max": slots[-1],
        }
        if self._network.computing is not None:
            found["round_computing_slots"] = computed / self._clock.slot / agents
        return found

    def recovery(self) -> dict[str, Metric]:
        """Return how long waits went on after outages, where some that were known ahead ended."""
        if self._recovery is None:
            return {}
        return {"recovery_slots": self._recovery.slots(since for _, since, _ in self.now.values())}
