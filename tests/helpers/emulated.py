"""Scenarios that are small and short enough to be emulated in about a second, and one that nothing can emulate."""

from typing import ClassVar

import netbandit as nb
from netbandit.checks.check import check
from netbandit.simulation.replication import RunnablePoint


class Telepathy(nb.RoundProtocol):
    """Agents that find in memory that they share what no message told them."""

    shared: ClassVar[dict] = {}

    def round(self, me, item):
        items = self.shared.setdefault(me.round, {})
        items[me.id] = item
        while len(items) < me.agents:
            yield me.wait("1 slot")
        return self.aggregate([items[agent] for agent in sorted(items)])


def point_of(protocol, timing="asynchronous", family="ring", agents=4, deadline=None, **peer) -> RunnablePoint:
    """Return a point with two rounds, long over at its horizon, also where other processes have the processor."""
    part = {"kind": protocol, "timing": timing} | ({} if deadline is None else {"deadline": deadline})
    return check(
        nb.Scenario(
            topology={"family": family, "agents": agents},
            bandit={"kind": "bernoulli", "means": [0.9, 0.85, 0.1]},
            learner={"kind": "elimination", "rounds": 2, "gap": 0.8},
            protocol=part,
            run={"horizon": 40_000, "slot": "4 ms" if timing == "slotted" else "1 ms"},
            links={"peer": {"latency": "2 ms", **peer}},
        ).document()
    ).points[0]
