"""The overhead of a round on this host compared with the simulation, and the dilation that makes it small enough."""

from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import Commit, EpochLearner, Phase
from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.emulation.notes import Notes, simulated
from netbandit.studies.emulation.processes import play
from netbandit.studies.emulation.sockets import Transport
from netbandit.util.units import Duration

ROUNDS = 12
"""The number of rounds measured."""
FRAMES_A_SECOND = 2_000
"""The frame rate (per second of real time) that the emulation is designed for."""
_STEPS = (1, 2, 5)
_LARGEST = 1_000_000
_SLOT = "100 us"


class Paced(EpochLearner):
    """Agents that pull each arm once, and share: consecutive rounds, independent of what is learnt."""

    def begin(self, epoch: int) -> Phase | Commit:
        """See `EpochLearner.begin`."""
        return Phase(epoch, self.active, 1) if epoch <= ROUNDS else Commit(0)

    def observe(self, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
        """See `EpochLearner.observe`."""
        self.releases = sums.astype(np.float64)

    def conclude(self, means: NDArray[np.float64]) -> None:
        """See `EpochLearner.conclude`: nothing follows."""


class Calibration(NamedTuple):
    """The overhead of this host.

    Attributes:
        rounds: For each round its time (s) in excess of the simulation, without latency.
        hop: The median time (s) from when a message is due until it is handled.
    """

    rounds: list[float]
    hop: float

    @property
    def most(self) -> float:
        """The 95 % quantile of a round's excess time (s)."""
        return float(np.quantile(self.rounds, 0.95))


def calibrated(point: RunnablePoint, replication: int, transport: Transport, processes: int | None) -> Calibration:
    """Measure rounds of the scenario's protocol over links without latency, with this number of processes."""
    scenario = point.scenario
    peer = scenario.links.peer
    bare = type(peer)(latency=Duration("0 ms"), cost=peer.cost)
    run = scenario.run.model_copy(update={"slot": Duration(_SLOT), "horizon": _LARGEST})
    links = scenario.links.model_copy(update={"peer": bare})
    paced = replace(
        point,
        learner=Paced(),
        protocol=point.protocol.model_copy(update={"timing": "asynchronous"}),
        scenario=scenario.model_copy(update={"run": run, "links": links}),
    )
    reference = simulated(paced, replication)
    played = play(paced, replication, reference, transport=transport, processes=processes)
    expected, found = round_times(reference), round_times(played.notes)
    excesses = [handled - hop.due for hop, handled in played.hops()]
    rounds = [max(0.0, found[number] - expected[number]) for number in sorted(found)]
    return Calibration(rounds, float(np.median(excesses)) / 1e9)


def round_times(notes: Notes) -> dict[int, float]:
    """Return for each round the mean time (s) that its agents wait."""
    waits: dict[int, list[int]] = {}
    for (number, _), (begun, ended) in notes.waits.items():
        waits.setdefault(number, []).append(ended - begun)
    return {number: sum(each) / len(each) / 1e9 for number, each in sorted(waits.items())}


def dilation_for(reference: Notes, calibration: Calibration, tolerance: float, *, slotted: bool) -> float:
    """Return the smallest dilation of 1, 2, 5, 10, ... at which the host's overhead is tolerable.

    The overhead must be below *tolerance* times the shortest round, and smaller than the distance of any arrival from
    its slot boundary if that is not 0; and the frame rate must be low enough to handle frames on time.
    """
    times = {number: time for number, time in round_times(reference).items() if time > 0}
    frames: dict[int, int] = {}
    for hop in reference.hops:
        frames[hop.round] = frames.get(hop.round, 0) + 1
    shortest = min(times.values(), default=inf)
    needed = [calibration.most / (tolerance * shortest)]
    needed += [frames.get(number, 0) / time / FRAMES_A_SECOND for number, time in times.items()]
    if slotted and reference.slack > 0:
        needed.append(calibration.most / (reference.slack / 1e9))
    dilations = (step * 10.0**power for power in range(7) for step in _STEPS)
    return next((each for each in dilations if each >= max(needed)), float(_LARGEST))
