"""The loop in which agents decide slot by slot, into which the steps of a learner and of a world are written.

It is a text (`netbandit.texts`): the steps, methods of `netbandit.learners.steps.StepLearner` and of
`netbandit.simulation.bandit_environments.BanditEnvironment` for one agent, are written out where it calls
them, and what cannot be is left out. So there is one loop for each learner and world that meet, and one text for all
of them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.slot_account import PRIME

VECTORS = False
"""Whether agents choose among vectors, which the world shows."""
UNITS = False
"""Whether agents choose units of each producer; then regret is added up agent by agent."""
WANTS = False
"""Whether agents may want to synchronise."""
EVERYBODY = True
"""Whether all agents decide in every slot, whatever the learner and the world."""
CHECKS = False
"""Whether a learner may choose what is no arm."""
LATE = False
"""Whether rewards may be learned later than they are paid."""


class NoArmError(Exception):
    """A learner has chosen what is no arm; arguments: the slot, the agent, and what it is."""


def slot_by_slot(
    first: int, last: int, asks: bool, turns: Any, world: Any, learner: Any, account: Any, talking: Any, feedback: Any
) -> int:
    """Play the turns from *first* to before *last*; stop after one in which anybody calls.

    Args:
        first: The first turn.
        last: The turn after the last one.
        asks: Whether agents are asked if they want to synchronise.
        turns: `netbandit.simulation.turns.Turns`, whose block has them.
        world: `netbandit.simulation.bandit_environments.BanditEnvironment`.
        learner: `netbandit.learners.steps.StepLearner`.
        account: `netbandit.simulation.slot_account.Account`.
        talking: `netbandit.simulation.communication.Communication`.
        feedback: `netbandit.simulation.feedback.Feedback`.

    Returns:
        The first turn that has not been played.
    """
    if WANTS:
        for agent in range(account.calls.shape[0]):
            account.calls[agent] = False
    called = False
    for turn in range(first, last):
        slot = turn
        begin = 0
        count = turns.here.shape[0]
        ends = True
        if not (EVERYBODY or turns.everybody):
            place = turn - turns.block.first
            slot = turns.block.slots[place]
            begin = turns.block.starts[place]
            count = turns.block.starts[place + 1] - begin
            ends = turns.block.slots[place + 1] != slot
        decided = 0
        regret = 0.0
        for row in range(count):
            agent = turns.here[row] if EVERYBODY or turns.everybody else turns.block.agents[begin + row]
            if not (EVERYBODY or turns.up[agent]):
                continue
            decided += 1
            missed = decide(slot, agent, world, learner, account, feedback)
            world.note_missed(agent, missed)
            regret += missed
            if WANTS and asks and not talking.quiet[slot % talking.quiet.shape[0], agent]:
                wanted = learner.wants_one(slot, agent)
                if wanted:
                    account.calls[agent] = True
                    called = True
        learner.end_turn(decided)
        if not UNITS:
            account.add_to_row(0, slot, regret, ends)
        if called:
            return turn + 1
    return last


def markets(first: int, last: int, turns: Any, world: Any, learner: Any, account: Any, feedback: Any) -> int:
    """Play the slots from *first* to before *last* where nobody can call, one agent after the other.

    What is one agent's stays at hand. Arguments are those of `slot_by_slot`.
    """
    for row in range(turns.here.shape[0]):
        agent = turns.here[row]
        for slot in range(first, last):
            decide(slot, agent, world, learner, account, feedback)
    return last


def agent_by_agent(
    agent: int,
    first: int,
    last: int,
    regrets: NDArray[np.float64],
    world: Any,
    learner: Any,
    account: Any,
    feedback: Any,
) -> None:
    """Let one *agent* play the slots from *first* to before *last*, where it draws from a random generator of its own.

    To hand one over takes as long as hundreds of decisions, and a loop can hold no list of them.

    Args:
        agent: The agent.
        first: The first slot.
        last: The slot after the last one.
        regrets: What all agents have missed in each of the slots, shape (slots,); added to.
        world: As of `slot_by_slot`.
        learner: The same.
        account: The same.
        feedback: The same.
    """
    total = 0.0
    for slot in range(first, last):
        missed = decide(slot, agent, world, learner, account, feedback)
        regrets[slot - first] += missed
        total += missed
    world.note_missed(agent, total)


def add_up(first: int, regrets: NDArray[np.float64], account: Any) -> None:
    """Add the *regrets* of all agents in the slots from *first* on to the account, which has one row."""
    for place in range(regrets.shape[0]):
        account.add_to_row(0, first + place, regrets[place], True)


def decide(slot: int, agent: int, world: Any, learner: Any, account: Any, feedback: Any) -> Any:
    """Let *agent* decide in *slot*; return what it misses."""
    if UNITS:
        learner.choose_one(slot, agent, world.units)
        missed = world.pay_units(slot, agent, world.units, world.good, account.digests)
        learner.learn_one(slot, agent, world.units, world.good)
        account.add_to_row(agent, slot, missed, True)
        return missed
    if LATE:
        learn_due(slot, agent, learner, feedback)
        feedback.note_one(agent)
    if VECTORS:
        actions = world.show_one(slot, agent)
        arm = learner.choose_one(slot, agent, actions)
    else:
        arm = learner.choose_one(slot, agent)
    check(slot, agent, arm, world)
    reward = world.pay_one(slot, agent, arm)
    if LATE:
        row = feedback.put_one(slot, agent, slot * feedback.slot_ns, arm, reward)
        if VECTORS and row >= 0:
            feedback.vectors[agent, row] = actions[arm]
        learn_due(slot, agent, learner, feedback)
    elif VECTORS:
        learner.learn_one(slot, agent, arm, reward, actions[arm])
    else:
        learner.learn_one(slot, agent, arm, reward)
    account.digests[agent] = (account.digests[agent] ^ np.uint64(arm + 1)) * PRIME
    return world.miss_one(slot, agent, arm)


def learn_due(slot: int, agent: int, learner: Any, feedback: Any) -> None:
    """Let *agent* learn all rewards that are due by the beginning of *slot*."""
    while feedback.is_due_one(agent, slot * feedback.slot_ns):
        row = feedback.take_one(slot, agent)
        pulled, arm, reward = feedback.slots[agent, row], feedback.arms[agent, row], feedback.rewards[agent, row]
        if VECTORS:
            learner.learn_one(pulled, agent, arm, reward, feedback.vectors[agent, row])
        else:
            learner.learn_one(pulled, agent, arm, reward)


def check(slot: int, agent: int, arm: Any, world: Any) -> None:
    """Raise a `NoArmError` if *arm* is none."""
    if CHECKS and (arm < 0 or arm >= world.arms):
        raise NoArmError(slot, agent, arm)
