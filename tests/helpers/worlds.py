"""Bandits that have been started."""

from typing import TypeVar

from netbandit.bandits.bandit import Bandit, GeneratorOf
from netbandit.util.streams import Streams

World = TypeVar("World", bound=Bandit)


def started(bandit: World, agents: int, generator: GeneratorOf | None = None) -> World:
    """Return an instance of *bandit*, drawn from the streams of seed 0 unless others are given."""
    world = bandit.fresh()
    world.start(agents, generator or Streams(0, 0).generator)
    return world
