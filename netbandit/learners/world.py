"""The environment of a learner that decides in slots: the bandit, the network and random streams, as plain data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.util.streams import Streams


@dataclass(frozen=True)
class World:
    """What all agents know before the first slot. What a world or a protocol does not have is left at its default.

    Attributes:
        agents: The number M of agents.
        horizon: T, in slots.
        expected_decisions: How many of its slots an agent decides in, in the mean over agents: T where all decide in
            every slot; 0: nobody has said.
        streams: The random streams of this replication, for what each agent draws alone: ``streams.generator(purpose,
            agent)``; what is drawn for all at once comes from the generator that `netbandit.Learner.start` is given.
        arms: The number K of arms, or of actions in a slot; 0 in a market.
        sub_gaussian: The sub-Gaussian constant sigma of the rewards, the largest of all arms.
        law: What a reward is, as far as learners use it: ``bernoulli`` (0 or 1), ``gaussian``, or any ``other``.
        own_arms: Which arms each agent sees and pulls, shape (M, K), bool; None: all of them.
        dimension: The length d of an action vector, none longer than 1; 0 where arms have none.
        actions: Returns the action vectors shown to some agents in the slot that is being decided, shape (n, K, d);
            only where arms have vectors.
        fixed_actions: These where they stay the same for all agents and slots, shape (K, d); else None.
        costs, capacities: In a market: what a unit of each of m producers costs each agent, shape (M, m), and how many
            units there are in a slot, same shape.
        rho: In a market: what a good unit is worth.
        quality_threshold: In a market: how good the units of a slot must be on average.
        members: For each agent how many agents it learns with, itself included, shape (M,): the group that it
            synchronises with, or all whom its broadcasts reach.
        degrees: How many neighbours each agent has in the graph, shape (M,).
        eigenvalue: Where agents exchange: the second largest modulus of the eigenvalues of the matrix P with which they
            mix, what is left of a difference after a step at most; 0 for one agent, and where nobody hears anything.
        matrix: Returns this P, shape (M, M); the identity where nobody hears anything.
        in_turn: Whether agents decide one after the other within a slot, each knowing all before it.
        log: What is counted for the time in logarithms: slots played, or all pulls of all agents so far.
        isolated: Whether nothing is ever shared.
        deposits: Whether agents deposit what they know with a server, see `netbandit.learners.uploads`.
        sets: Sets of parameters that agents keep and use in turn, because what they hear is always late; each set is a
            learner of its own, which decides in every ``sets``-th slot.
        param_set: Which of the sets this learner is.
        forgets: Whether agents that were down come back knowing nothing.
        liars: The number of Byzantine agents, which real agents would not know; the default that a defence tolerates.
        late: Whether rewards may be learned later than they are paid, or never.
        ages: Where rewards may be late: how many decisions each agent has made since that whose reward it learns, shape
            (M,); updated before each call of ``learn``.
        window: After how many slots none is learned any more; 0: there is no such time.
    """

    agents: int
    horizon: int
    streams: Streams
    expected_decisions: float = 0.0
    arms: int = 0
    sub_gaussian: float = 0.5
    law: str = "other"
    own_arms: NDArray[np.bool_] | None = None
    dimension: int = 0
    actions: Callable[[NDArray[np.int64]], NDArray[np.float64]] | None = None
    fixed_actions: NDArray[np.float64] | None = None
    costs: NDArray[np.float64] | None = None
    capacities: NDArray[np.int64] | None = None
    rho: float = 0.0
    quality_threshold: float = 0.0
    members: NDArray[np.int64] | None = None
    degrees: NDArray[np.int64] | None = None
    eigenvalue: float = 0.0
    matrix: Callable[[], NDArray[np.float64]] | None = None
    in_turn: bool = False
    log: Literal["slots", "pulls"] = "slots"
    isolated: bool = False
    deposits: bool = False
    sets: int = 1
    param_set: int = 0
    forgets: bool = False
    liars: int = 0
    late: bool = False
    ages: NDArray[np.int64] | None = None
    window: int = 0
