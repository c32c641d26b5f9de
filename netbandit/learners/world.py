"""The environment of a learner that decides in slots: the bandit, the network and random streams, as plain data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.util.streams import Streams


@dataclass(frozen=True)
class World:
    """The knowledge of all agents before the first slot; what a bandit or a protocol lacks is left at its default.

    Attributes:
        agents: The number M of agents.
        horizon: T, in slots.
        expected_decisions: The expected number of decisions of an agent, mean over agents: T if all decide in every
            slot; 0: unknown.
        streams: The random streams of this replication, for draws of a single agent: ``streams.generator(purpose,
            agent)``; draws for all agents at once use the generator passed to `netbandit.Learner.start`.
        arms: The number K of arms, or of actions in a slot; 0 in a market.
        sub_gaussian: The sub-Gaussian constant sigma of the rewards, the largest of all arms.
        law: The distribution of rewards, as far as learners use it: ``bernoulli`` (0 or 1), ``gaussian``, or ``other``.
        own_arms: Which arms each agent can pull, shape (M, K), bool; None: all of them.
        dimension: The length d of an action vector, none longer than 1; 0 where arms have none.
        actions: Returns the action vectors shown to some agents in the slot that is being decided, shape (n, K, d);
            only where arms have vectors.
        fixed_actions: These if they are the same for all agents and slots, shape (K, d); else None.
        costs, capacities: In a market: what a unit of each of m producers costs each agent, shape (M, m), and how many
            units there are in a slot, same shape.
        rho: In a market: the value of a good unit.
        quality_threshold: In a market: the least mean quality of the units of a slot.
        members: How many agents each agent learns with, itself included, shape (M,): the group that it synchronises
            with, or all that its broadcasts reach.
        degrees: How many neighbours each agent has in the graph, shape (M,).
        eigenvalue: If agents exchange: the second largest modulus of the eigenvalues of the matrix P with which they
            mix, what is left of a difference after a step at most; 0 for one agent, and if agents never communicate.
        matrix: Returns this P, shape (M, M); the identity if agents never communicate.
        in_turn: Whether agents decide one after another within a slot, each knowing all before it.
        log: The time in logarithms: slots played, or all pulls of all agents so far.
        isolated: Whether agents never communicate.
        causal: With broadcasts: returns whether no agent hears of an observation before it has heard all those that the
            sender knew when it chose, and that the agent ever hears of (causal delivery).
        deposits: Whether agents deposit what they know with a server, see `netbandit.learners.uploads`.
        sets: Sets of parameters that agents keep and use in turn, because messages always arrive late; each set is a
            separate learner, which decides in every ``sets``-th slot.
        param_set: The set of this learner.
        forgets: Whether agents that were down have lost their memory.
        liars: The number of Byzantine agents, unknown to real agents; the default number that a defence tolerates.
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
    causal: Callable[[], bool] | None = None
    deposits: bool = False
    sets: int = 1
    param_set: int = 0
    forgets: bool = False
    liars: int = 0
    late: bool = False
    ages: NDArray[np.int64] | None = None
    window: int = 0
