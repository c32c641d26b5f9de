"""Random streams: one for each purpose and index, the same on every worker and in every order."""

from zlib import crc32

import numpy as np


class Streams:
    """All random numbers of one replication.

    A stream is named by what it is for, never by when it was made, so neither the order of creation nor the
    number of workers changes a single number. ``crc32`` stands for the name because Python's ``hash`` of a
    string differs from process to process.

    Args:
        seed: The root seed of the scenario (``run.seed``), at least 0.
        replication: The replication's number, from 0.
    """

    def __init__(self, seed: int, replication: int) -> None:
        self.seed = seed
        self.replication = replication

    def generator(self, purpose: str, index: int = 0) -> np.random.Generator:
        """Return a fresh generator for *purpose*.

        The *index* is the node for what a node draws alone, and the epoch or round for what is drawn for all
        nodes at once (row i of the draw then belongs to node i).
        """
        return np.random.Generator(np.random.PCG64(self._sequence(purpose, index)))

    def words(self, purpose: str, index: int = 0) -> np.random.BitGenerator:
        """Return a fresh source of raw words of 64 bits for *purpose*: one that gives many of them soonest."""
        return np.random.SFC64(self._sequence(purpose, index))

    def _sequence(self, purpose: str, index: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(self.replication, crc32(purpose.encode()), index))
