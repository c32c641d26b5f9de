"""Plays the slots between two network events: by numpy calls per turn, or in one compiled loop."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.compilation.array_functions import OneAgentError
from netbandit.compilation.compile_notice import announce
from netbandit.compilation.steps import Compiled
from netbandit.conditions.feedback_queue import ARM, SLOT, FeedbackQueue
from netbandit.conditions.turns import Turns
from netbandit.learners.slots import Learner
from netbandit.learners.steps import StepLearner
from netbandit.simulation.bandit_environments import BanditEnvironment, NoArmError
from netbandit.simulation.dispatch.decisions import SlotLoop
from netbandit.simulation.dispatch.kernel_choice import chosen
from netbandit.simulation.drivers import slot_loop
from netbandit.simulation.regret import SlotAccount
from netbandit.simulation.strategies.communication import CommunicationStrategy
from netbandit.user_code.errors import ReturnedError, is_ours

DecisionLoop = Callable[[int, int], int]
"""Plays the turns from the first to before the last, or fewer if an agent calls; returns the next turn to play."""

_NOTHING = np.zeros(0)


def compiled_loop(
    world: BanditEnvironment,
    learners: Sequence[Learner],
    account: SlotAccount,
    strategy: CommunicationStrategy,
    turns: Turns,
    feedback: FeedbackQueue | None = None,
) -> DecisionLoop | None:
    """Return the compiled loop for a learner and an environment; None if it is unsupported or would not pay off.

    Raises:
        StepError: User-defined steps cannot be compiled; the message says where and why.
    """
    (learner, *_) = learners  # attributes common to all parameter sets

    @cache
    def written() -> Compiled:
        assert isinstance(learner, StepLearner)
        return _written(world, learner, account, strategy, turns, feedback)

    decisions = turns.expected * len(turns.up)
    if not chosen(
        SlotLoop(
            world,
            learner,
            strategy.isolated,
            strategy.in_turn,
            strategy.sets,
            turns.everybody,
            decisions,
            feedback is not None,
            feedback is not None and feedback.trace is not None,
            loop=written,
        )
    ):
        return None
    assert isinstance(learner, StepLearner)
    loop, market = written(), learner.plays == "market"
    play: Callable[[int, int, bool], Any] = loop
    if loop.of_one_agent:
        play = _agent_by_agent(loop, account, turns)
    elif market:
        play = _without_calls(loop)
    announce(loop.loop, f"{type(learner).__name__} and {type(world.bandit).__name__}".lower())
    if not loop.ours:
        given = (0, 0, 0, np.zeros(1)) if loop.of_one_agent else (0, 0) if market else (0, 0, False)
        loop.compile(*given)

    def run(first: int, last: int) -> int:
        while first < last:
            until = world.ready(first, last)
            if feedback is not None:
                until = feedback.ready(first, until)
            if learner.settles:
                learner.settle(turns.slot(first), turns.agents(first))
            account.calls[:] = False
            try:
                reached = int(play(first, until, strategy.asks))
            except NoArmError as error:
                slot, agent, arm = error.args
                text = f"an arm from 0 to {world.bandit.arm_count - 1}, not {arm} (slot {slot}, agent {agent})"
                raise ReturnedError(f"{type(learner).__qualname__}.choose_one must return {text}", "learner") from None
            world.played(first, reached, turns.here)
            first = reached
            if strategy.asks and account.calls.any():
                break
        if market and not turns.up.all():
            account.pass_over(np.flatnonzero(~turns.up), first)
        return first

    return run


def _written(
    world: BanditEnvironment,
    learner: StepLearner,
    account: SlotAccount,
    strategy: CommunicationStrategy,
    turns: Turns,
    feedback: FeedbackQueue | None,
) -> Compiled:
    """Return the loop of a pair, not yet compiled.

    Raises:
        StepError: Something in steps defined by the user cannot be compiled.
    """
    world.users_own = None if is_ours(type(learner)) else True
    world.ready(0, 1)
    if feedback is not None:
        feedback.ready(0, 1)
    # Classes that inherit their steps share the loop of their base class.
    bandit = type(world.bandit)
    name, classes = f"{type(learner).maker_of('choose_one')}_and_{bandit.__name__}", (bandit,)
    objects: dict[str, Any] = {"world": world, "learner": learner, "account": account, "feedback": feedback}
    try:
        if learner.plays == "market":
            return Compiled(slot_loop.markets, {"turns": turns, **objects}, name, classes)
        return Compiled(slot_loop.slot_by_slot, {"turns": turns, **objects, "strategy": strategy}, name, classes)
    except OneAgentError:
        return Compiled(slot_loop.agent_by_agent, objects, name, classes)


def _without_calls(loop: Compiled) -> Callable[[int, int, bool], int]:
    return lambda first, last, _: int(loop(first, last))


def _agent_by_agent(loop: Compiled, account: SlotAccount, turns: Turns) -> Callable[[int, int, bool], int]:
    """Return a function that plays some slots, agent by agent."""
    add_up = Compiled(slot_loop.add_up, {"account": account}, "add_up")

    def play(first: int, last: int, _: bool) -> int:
        regrets = np.zeros(last - first)
        for agent in turns.here.tolist():
            loop(agent, first, last, regrets)
        if len(account.regret) == 1:
            add_up(first, regrets)
        return last

    return play


def vectorized_loop(
    world: BanditEnvironment,
    learners: Sequence[Learner],
    account: SlotAccount,
    strategy: CommunicationStrategy,
    turns: Turns,
    feedback: FeedbackQueue | None = None,
) -> DecisionLoop:
    """Return the vectorized loop for any pair: one call of each method per turn, until an agent calls."""
    sets = len(learners)

    def run(first: int, last: int) -> int:
        account.calls[:] = False
        for turn in range(first, last):
            slot, agents = turns.slot(turn), turns.agents(turn)
            if not len(agents):
                account.add(slot, agents, _NOTHING, ends=turns.ends(turn))
                continue
            param_set = slot % sets
            learner = learners[param_set]
            if feedback is not None:
                learn_due(world, learners, feedback, slot, turns.time(turn), agents)
                feedback.note(agents)
            regrets = []
            for some in agents[:, np.newaxis] if strategy.in_turn else (agents,):
                world.show(slot, some)
                arms = learner.choose(slot, some)
                rewards, regret = world.pull(slot, some, arms)
                if feedback is None:
                    learner.learn(slot, some, arms, rewards)
                else:
                    feedback.put(slot, turns.time(turn), some, arms, rewards, world.vectors_of(some, arms))
                    learn_due(world, learners, feedback, slot, turns.time(turn), some)
                world.digest(account.digests, some, arms, rewards)
                regrets.append(regret)
                if strategy.in_turn:
                    strategy.deciding = some
                    strategy.send(slot, account.calls)
            learner.end_turn(len(agents))
            total = np.concatenate(regrets) if strategy.in_turn else regret
            account.add(slot, agents, total, ends=turns.ends(turn))
            if strategy.asks:
                free = agents[~strategy.quiet[param_set, agents]]
                account.calls[free] = learner.wants(slot, free)
                if account.calls.any():
                    return turn + 1
        return last

    return run


def learn_due(
    world: BanditEnvironment,
    learners: Sequence[Learner],
    feedback: FeedbackQueue,
    slot: int,
    time: int,
    agents: NDArray[np.int64],
) -> None:
    """Let *agents*, which decide in *slot* next or have just decided, learn all rewards due by *time* (ns)."""
    while True:
        some, rows = feedback.take(slot, time, agents)
        if not len(some):
            return
        arms = feedback.rows[some, rows, ARM]
        pulled = int(feedback.rows[some[0], rows[0], SLOT])
        world.recall(some, arms, feedback.vectors[some, rows])
        learners[pulled % len(learners)].learn(pulled, some, arms, feedback.rewards[some, rows])
