"""The jobs that agents do on their own account: what they share is computed, and what they receive put together."""

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
    """The decisions of agents in slots, where they take time.

    Args:
        network: The network.

    Attributes:
        any: Whether they do.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.any = network.computing is not None and network.computing.takes(0, "decision")

    def begin(self, agents: NDArray[np.int64]) -> None:
        """Let *agents*, which have just decided, be busy with that."""
        for agent in agents.tolist() if self.any else ():
            self._network.when_computed(agent, "decision", lambda _: None)


def do_job(network: Network, presence: Presence, agent: int, work: Work) -> Generator[Event, Any, bool]:
    """Let *agent* do a job of its own, anew if it goes down before the end; return whether the run goes on then.

    Who loses its memory begins a new life instead.
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
