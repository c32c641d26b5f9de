"""What is audited: the code that releases, on two inputs that differ in one unit as much as they may.

Each mechanism here is the learner's own code, not a copy of it: what is wrong there is found here.
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
"""Returns what is released: ``draw(which of the two inputs: 0 or 1, samples, generator)``, shape (samples, numbers)."""


@dataclass(frozen=True)
class Mechanism:
    """Something that releases numbers, and what is stated of it.

    Attributes:
        name: What it is called on the command line.
        setting: What is audited, in words.
        spent: What the accountant states; or what returns it, once all releases are drawn.
        draw: Releases of either input.
        samples: How many of each input tell enough, by default.
        exact: Epsilon at the same delta from an account that is not ours (dp_accounting); None where nobody knows.
        choose: Chooses what to watch, by so many releases of each input that are used for nothing else, and returns the
            mechanism that releases that; None where there is nothing to choose.
        watched: What was chosen, in words.
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
    """Return the means that agents of elimination release in two epochs; a reward of the first is 0 or 1."""
    learner = Elimination(epsilon=epsilon)

    def draw(world: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        # Every member of a cohort has noise of its own: each is a sample.
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
    """Return the sums that an agent of FedUCB releases; in its first leaf a reward of 1 was -1, the most there is.

    Of ``v v' - w w'`` with v = [x; 1], w = [x; -1] and x of length 1 only the entries off the diagonal differ, by 2:
    the products of reward and context, which are released. The noise of each entry off the diagonal of a tree is
    independent and alike, so one wide tree gives many samples.
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
    """Return what an agent of P-FCB tells in its first two rounds; in the first, a slot bought nothing or k good units.

    The first round has the least noise of all, so it is the one that counts.
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
        # Every agent has noise of its own: each is a sample.
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
"""All mechanisms that netbandit ships, in settings in which an experiment can tell something."""


def _laplace(ratio: float) -> float:
    """Return the epsilon of Laplace noise, from the distribution of its privacy loss."""
    from netbandit.util.extras.audit import LaplacePrivacyLoss

    return float(LaplacePrivacyLoss(parameter=1.0, sensitivity=ratio).connect_dots_bounds().epsilon_upper)


def _gaussian(multiplier: float, count: int, delta: float) -> float:
    """Return the epsilon of *count* Gaussian releases with so many sensitivities of noise each."""
    from netbandit.util.extras.audit import PLDAccountant, dp_event

    accountant = PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(dp_event.GaussianDpEvent(multiplier), count)
    return float(accountant.get_epsilon(delta))
