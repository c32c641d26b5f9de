"""Room for what is new to a node of a flood, and for who told of it."""

import numpy as np

from netbandit.simulation.kernels.fresh_items import Fresh
from netbandit.simulation.machine.rows import Machine


def nothing_fresh(machine: Machine, agents: int) -> Fresh:
    """Return the arrays, in which nothing is fresh to anybody."""
    return Fresh(
        labels=np.empty(agents, dtype=np.int64),
        first=np.full(agents, -1, dtype=np.int64),
        last=np.full(agents, -1, dtype=np.int64),
        tellers=np.empty(0, dtype=np.int64),
        following=np.empty(0, dtype=np.int64),
        told_by=np.zeros(len(machine.channels), dtype=np.uint8),
    )


def roomy(fresh: Fresh, machine: Machine) -> Fresh:
    """Return the arrays with room for as many messages as may reach a node at once."""
    more = max(len(machine.inbox), len(machine.steps)) - len(fresh.tellers)
    if more <= 0:
        return fresh
    lists = (np.concatenate([array, np.empty(more, dtype=np.int64)]) for array in (fresh.tellers, fresh.following))
    return fresh._replace(**dict(zip(("tellers", "following"), lists, strict=True)))
