"""The loops in which agents decide slot by slot, compiled with the steps of a learner and of an environment.

`netbandit.compilation.steps` compiles these functions with the steps, which are methods for one agent of
`netbandit.learners.steps.StepLearner` and `netbandit.simulation.bandit_environments.BanditEnvironment`, the turns and
the account. So there is one compiled loop for each pair of learner and environment.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def slot_by_slot(
    first: int, last: int, asks: bool, turns: Any, world: Any, learner: Any, account: Any, strategy: Any, feedback: Any
) -> int:
    """Play the turns from *first* to before *last*; stop after one in which an agent calls.

    Where a learner `settles`, the loop stops before a later turn in which an agent has to.

    Args:
        first: The first turn.
        last: The turn after the last one.
        asks: Whether agents are asked if they want to synchronise.
        turns: `netbandit.conditions.turns.Turns`.
        world: `netbandit.simulation.bandit_environments.BanditEnvironment`.
        learner: `netbandit.learners.steps.StepLearner`.
        account: `netbandit.simulation.regret.SlotAccount`; nobody calls yet.
        strategy: `netbandit.simulation.strategies.communication.CommunicationStrategy`.
        feedback: `netbandit.conditions.feedback_queue.FeedbackQueue`.

    Returns:
        The first turn that has not been played.
    """
    called = False
    for turn in range(first, last):
        slot = turns.slot(turn)
        begin, end = turns.places(turn)
        if learner.settles is not None and turn > first:
            for place in range(begin, end):
                agent = turns.agent_at(place)
                if turns.up[agent]:
                    unsettled = learner.unsettled_one(slot, agent)
                    if unsettled:
                        return turn
        decided = 0
        regret = 0.0
        for place in range(begin, end):
            agent = turns.agent_at(place)
            if not turns.up[agent]:
                continue
            decided += 1
            added = world.decide_one(slot, agent, learner, account, feedback)
            world.add_regret(agent, added)
            regret += added
            if asks and not strategy.quiet[slot % strategy.quiet.shape[0], agent]:
                wanted = learner.wants_one(slot, agent)
                if wanted:
                    account.calls[agent] = True
                    called = True
        learner.end_turn(decided)
        ends = turns.ends(turn)
        account.add_to_row(0, slot, regret, ends)
        if called:
            return turn + 1
    return last


def markets(first: int, last: int, turns: Any, world: Any, learner: Any, account: Any, feedback: Any) -> int:
    """Play the slots from *first* to before *last* if no agent can call, one agent after another.

    So the state of an agent stays in the cache. Arguments are those of `slot_by_slot`.
    """
    for row in range(turns.here.shape[0]):
        agent = turns.here[row]
        for slot in range(first, last):
            world.decide_one(slot, agent, learner, account, feedback)
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
    """Let one *agent* play the slots from *first* to before *last*, if each agent draws from its own random generator.

    To pass a generator takes as long as hundreds of decisions, and a compiled loop cannot hold a list of them.

    Args:
        agent: The agent.
        first: The first slot.
        last: The slot after the last one.
        regrets: The regret of all agents in each of the slots, shape (slots,); added to.
        world: As of `slot_by_slot`.
        learner: The same.
        account: The same.
        feedback: The same.
    """
    total = 0.0
    for slot in range(first, last):
        added = world.decide_one(slot, agent, learner, account, feedback)
        regrets[slot - first] += added
        total += added
    world.add_regret(agent, total)


def add_up(first: int, regrets: NDArray[np.float64], account: Any) -> None:
    """Add the *regrets* of all agents in the slots from *first* on to the account, which has one row."""
    for place in range(regrets.shape[0]):
        account.add_to_row(0, first + place, regrets[place], True)
