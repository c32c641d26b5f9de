"""A learner that writes down who decided, who heard what and who forgot, in which slot."""

from typing import ClassVar

import numpy as np

import netbandit as nb


class Diary(nb.Learner):
    """Tells its number and the slot in every slot; remembers whose words it has heard, by their slot."""

    heard: ClassVar[list[tuple[int, int, int, int]]] = []
    """(slot, agent, source, slot in which it was said), in order."""
    decided: ClassVar[list[tuple[int, int]]] = []
    """(slot, agent), in order."""
    forgot: ClassVar[list[tuple[int, int]]] = []
    """(slot, agent), in order."""

    def start(self, world, agents, rng):
        for entries in (self.heard, self.decided, self.forgot):
            entries.clear()

    def choose(self, slot, agents):
        self.decided.extend((slot, agent) for agent in agents.tolist())
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        pass

    def share(self, slot, agents):
        return np.column_stack([agents, np.full(len(agents), slot)]).astype(float)

    def receive(self, slot, agents, sources, told, said):
        assert np.array_equal(told, np.column_stack([sources, said]))
        self.heard.extend(zip([slot] * len(agents), agents.tolist(), sources.tolist(), said.tolist(), strict=True))

    def forget(self, slot, agents):
        self.forgot.extend((slot, agent) for agent in agents.tolist())
