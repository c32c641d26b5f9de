"""The audited mechanisms: releasing code, run on two inputs that differ maximally in one unit.

Each mechanism runs the learner's own code, not a copy, so that the audit detects errors in the learner.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.elimination import Elimination
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.pfcb_schedule import round_epsilon
from netbandit.learners.world import World
from netbandit.privacy.accountant import PrivacySpent
from netbandit.privacy.tree import Tree
from netbandit.privacy.tree_calibration import OBSERVATION, Calibration, account_tree, calibrate
from netbandit.util.streams import Streams

Draw = Callable[[int, int, np.random.Generator], NDArray[np.float64]]
"""Returns the releases of one input: ``draw(input 0 or 1, samples, generator)``, shape (samples, numbers)."""


@dataclass(frozen=True)
class Mechanism:
    """A mechanism that releases numbers, with its stated guarantee.

    Attributes:
        name: The name on the command line.
        setting: The audited setting, in words.
        spent: The accountant's statement, or a function that returns it once all releases are drawn.
        draw: Draws releases of either input.
        samples: The default number of samples of each input.
        exact: Epsilon at the same delta from an independent accountant (dp_accounting); None if unknown.
        choose: Selects what to observe from a given number of releases of each input, which are used for nothing else,
            and returns the mechanism restricted to it; None if there is nothing to select.
        watched: The selection, in words.
    """

    name: str
    setting: str
    spent: PrivacySpent | Callable[[], PrivacySpent]
    draw: Draw
    samples: int = 100_000
    exact: Callable[[], float] | None = None
    choose: "Callable[[int, np.random.Generator], Mechanism] | None" = None
    watched: str = ""


def elimination(epsilon: float = 0.1, participants: int = 10) -> Mechanism:
    """Return the mechanism of elimination: the means released in two epochs; one reward of the first is 0 or 1."""
    learner = Elimination(epsilon=epsilon)

    def draw(world: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        # The members of a cohort draw independent noise: each is a sample.
        cohort = learner.fresh()
        members = max(samples, participants)
        cohort.start(arms=2, horizon=10_000, members=members, participants=participants, smallest_gap=None)
        released = []
        for epoch in (1, 2):
            phase = cohort.begin(epoch)
            sums = np.full((members, 2), phase.pulls // 2)  # type: ignore[union-attr]
            if epoch == 1:
                sums[:, 0] += world
            cohort.observe(sums, rng)
            released.append(cohort.releases)
            cohort.conclude(np.array([0.5, 0.5]))
        return np.hstack(released)[:samples]

    return Mechanism(
        name="elimination",
        setting=f"{participants} participants, epsilon = {epsilon:g}, two epochs",
        spent=learner.account(participants=participants, members=participants, releases=2),
        draw=draw,
        exact=lambda: _laplace(participants * epsilon),
    )


def tree(calibration: Calibration, epsilon: float, delta: float = 0.01, releases: int = 8) -> Mechanism:
    """Return the mechanism of FedUCB: the released sums; a reward in the first leaf is 1 or -1, the largest change.

    With v = [x; 1], w = [x; -1] and x of length 1, ``v v' - w w'`` is nonzero only in the entries off the diagonal,
    which are 2: the products of reward and context, which are released. The noise of the entries off the diagonal of a
    tree is independent and identically distributed, so one wide tree gives many samples.
    """
    noise = calibrate(calibration, epsilon=epsilon, delta=delta, alpha=0.1, dimension=1, releases=releases, trees=1)

    def draw(world: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        size = int(sqrt(2 * samples)) + 2  # enough entries above the diagonal
        privatizer = Tree(size, noise.deviation, rng)
        entries = tuple(index[:samples] for index in np.triu_indices(size, 1))
        leaf = np.full((size, size), 1.0 - 2.0 * world)
        released = [privatizer.release(leaf)[entries]]
        released += [privatizer.release(np.zeros((size, size)))[entries] for _ in range(releases - 1)]
        return np.stack(released, axis=1)

    return Mechanism(
        name=f"tree-{calibration}",
        setting=f"calibration = {calibration}, epsilon = {epsilon:g}, {releases} releases",
        spent=account_tree(noise.deviation, delta, releases=releases, claimed=epsilon, trigger_is_private=True),
        draw=draw,
        exact=lambda: _gaussian(noise.deviation / OBSERVATION, releases.bit_length(), delta),
    )


def pfcb(epsilon: float = 1.0, delta: float = 0.01) -> Mechanism:
    """Return the mechanism of P-FCB: the first two rounds; one slot of the first procured nothing or k good units.

    The first round has the least noise, so it determines epsilon.
    """
    learner = Pfcb(epsilon=epsilon, delta=delta)
    capacity, horizon = 50, 100_000

    def started(samples: int, seed: int) -> Pfcb:
        agents = learner.fresh()
        ones = np.ones((samples, 1))
        world = World(
            agents=samples,
            horizon=horizon,
            streams=Streams(seed, 0),
            costs=ones,
            capacities=np.full((samples, 1), capacity),
            members=np.ones(samples, dtype=np.int64),
        )
        agents.start(world, samples, np.random.default_rng(seed))
        return agents

    def draw(world: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        # The agents draw independent noise: each is a sample.
        agents = started(samples, int(rng.integers(2**63)))
        agents.fresh_units[:] = 1000.0 + capacity * world
        agents.fresh_good[:] = 400.0 + capacity * world
        everybody = np.arange(samples)
        return np.hstack([agents.share(slot, everybody) for slot in (200, 256)])

    rounds = len(started(1, 0).slots)
    first = round_epsilon(epsilon, horizon, rounds, 1)
    return Mechanism(
        name="pfcb",
        setting=f"epsilon = {epsilon:g}, {rounds} rounds in {horizon:,} slots",
        spent=started(1, 0).account(rounds),
        draw=draw,
        samples=1_000_000,
        exact=lambda: _gaussian(sqrt(2 * log(1.25 / delta)) / first, 2, delta),
    )


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "elimination": elimination,
    "tree-zcdp": lambda: tree("zcdp", 2.0),
    "tree-paper": lambda: tree("paper", 10.0),
    "pfcb": pfcb,
}
"""All mechanisms that netbandit ships, in settings in which an experiment is informative."""


def _laplace(ratio: float) -> float:
    """Return the epsilon of Laplace noise, from the distribution of its privacy loss."""
    from netbandit.util.extras.audit import LaplacePrivacyLoss

    return float(LaplacePrivacyLoss(parameter=1.0, sensitivity=ratio).connect_dots_bounds().epsilon_upper)


def _gaussian(multiplier: float, count: int, delta: float) -> float:
    """Return the epsilon of *count* Gaussian releases, each with noise of *multiplier* sensitivities."""
    from netbandit.util.extras.audit import PLDAccountant, dp_event

    accountant = PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(dp_event.GaussianDpEvent(multiplier), count)
    return float(accountant.get_epsilon(delta))
