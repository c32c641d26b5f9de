"""How the slots between two network events are played: agent by agent in Python, or all in one compiled loop."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import Bandit
from netbandit.bandits.linear import Linear
from netbandit.learners.feducb import FedUcb
from netbandit.learners.learner import Learner
from netbandit.learners.shared_linear import SharedLinUcb
from netbandit.learners.slots import SlotLearner
from netbandit.simulation.compiling import announce
from netbandit.simulation.regret import knots

Play = Callable[[int, int], int]
"""Plays the slots from the first to before the last, or fewer if anybody calls; returns the next one to be played."""

_PRIME = 0x100000001B3
_WORD = (1 << 64) - 1


class Account(NamedTuple):
    """What is noted of all decisions.

    Attributes:
        regret: The pseudo-regret of all agents so far, shape (1,).
        knots: The slots at which the curve is noted, shape (k,), from 0 to the horizon.
        next_knot: The next of these to be reached, shape (1,).
        curve: The regret at each knot, shape (k,).
        digests: A hash of all arms each agent chose, shape (M,), uint64.
        calls: The agents that want to synchronise after the slot played last, shape (M,), bool.
    """

    regret: NDArray[np.float64]
    knots: NDArray[np.int64]
    next_knot: NDArray[np.int64]
    curve: NDArray[np.float64]
    digests: NDArray[np.uint64]
    calls: NDArray[np.bool_]

    @classmethod
    def open(cls, agents: int, horizon: int) -> "Account":
        """Return an account of no decisions yet."""
        slots = knots(horizon)
        return cls(
            regret=np.zeros(1),
            knots=slots,
            next_knot=np.ones(1, dtype=np.int64),
            curve=np.zeros(len(slots)),
            digests=np.full(agents, 0xCBF29CE484222325, dtype=np.uint64),
            calls=np.zeros(agents, dtype=np.bool_),
        )


def is_compiled(bandit: type[Bandit], learner: type[Learner]) -> bool:
    """Return whether this pair has a loop of its own."""
    return bandit is Linear and learner in (FedUcb, SharedLinUcb)


def say_if_new() -> None:
    """Write a line to stderr if the compiled loop has to be compiled first."""
    from netbandit.simulation.kernels.linear import play

    announce(play, "feducb and linear")


def compiled(bandit: ActionSetBandit, learner: SlotLearner, account: Account) -> Play | None:
    """Return the compiled loop of this pair, or None if there is none."""
    if not is_compiled(type(bandit), type(learner)):
        return None
    assert isinstance(bandit, Linear)
    assert isinstance(learner, FedUcb)
    from netbandit.simulation.kernels.linear import play

    world, actions, fixed = bandit.world, bandit.shown, bandit.fixed
    beliefs, bonus_terms, threshold, every = learner.beliefs, learner.bonus_terms, learner.threshold, learner.every
    columns = learner.columns

    def run(first: int, last: int) -> int:
        return int(play(first, last, world, actions, fixed, columns, beliefs, bonus_terms, threshold, every, account))

    return run


def generic(bandit: ActionSetBandit, learner: SlotLearner, account: Account, sets: int) -> Play:
    """Return the loop of any pair, with the same law: all agents slot by slot, until one calls."""

    def run(first: int, last: int) -> int:
        account.calls[:] = False
        for slot in range(first, last):
            own = slot % sets
            regret = 0.0
            for agent in range(bandit.agents):
                actions = bandit.actions(agent)
                arm = learner.choose(agent, own, slot, actions)
                reward, missed = bandit.pull(agent, arm)
                regret += missed
                account.digests[agent] = ((int(account.digests[agent]) ^ (arm + 1)) * _PRIME) & _WORD
                account.calls[agent] = learner.learn(agent, own, actions[arm], reward)
            account.regret[0] += regret
            knot = int(account.next_knot[0])
            if account.knots[knot] == slot + 1:
                account.curve[knot] = account.regret[0]
                account.next_knot[0] += 1
            if account.calls.any():
                return slot + 1
        return last

    return run
