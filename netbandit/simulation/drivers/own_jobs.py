"""The jobs of agents that take computing time: making an item, deciding, aggregating."""

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.network.computing import Work
from netbandit.network.network import Network
from netbandit.simulation.drivers.presence import Presence


class DecisionJobs:
    """The decisions of agents in slots, if they take computing time.

    Args:
        network: The network.

    Attributes:
        any: Whether decisions take time.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.any = network.computing is not None and network.computing.takes(0, "decision")

    def begin(self, agents: NDArray[np.int64]) -> None:
        """Occupy *agents*, which have just decided, for the time of a decision."""
        for agent in agents.tolist() if self.any else ():
            self._network.when_computed(agent, "decision", lambda _: None)


def do_job(network: Network, presence: Presence, agent: int, work: Work) -> Generator[Event, Any, bool]:
    """Let *agent* do a job, again if it goes down before the end; return whether the run is not over then.

    An agent that loses its memory begins a new incarnation instead.
    """
    clock, computing = network.clock, network.computing
    while computing is not None and computing.takes(agent, work):
        if network.is_down(agent):
            slot = yield from presence.until_up(agent, clock.boundary(clock.now))
            if slot >= clock.horizon:
                return False
            yield clock.wait_until(slot)
        done = Event(clock.environment)
        dropped = None if network.forgets else partial(done.succeed, False)
        computing.submit(agent, work, partial(_finish, done), dropped=dropped)
        if (yield done):
            break
    return clock.now < clock.end


def _finish(done: Event, _: object) -> None:
    done.succeed(True)
