"""How the slots between two network events are played: call by call in numpy, or all in one compiled loop."""

from collections.abc import Callable, Sequence

import numpy as np

from netbandit.bandits.bandit import Bandit
from netbandit.bandits.bernoulli import Bernoulli
from netbandit.bandits.linear import Linear
from netbandit.bandits.procurement import Procurement
from netbandit.execution import execution
from netbandit.learners.counts import CountingLearner
from netbandit.learners.ellipsoid_learner import EllipsoidLearner
from netbandit.learners.feducb import FedUcb
from netbandit.learners.gosine import Gosine
from netbandit.learners.klucb import KlUcb
from netbandit.learners.oful import Oful
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.shared_linear import SharedLinUcb
from netbandit.learners.slots import Learner
from netbandit.learners.thompson import Thompson
from netbandit.learners.ucb import Ucb
from netbandit.simulation.communication import Communication
from netbandit.simulation.compiling import announce
from netbandit.simulation.slot_account import Account
from netbandit.simulation.slot_worlds import ActionSetWorld, ArmWorld, MarketWorld, SlotWorld
from netbandit.simulation.turns import Turns

Play = Callable[[int, int], int]
"""Plays the turns from the first to before the last, or fewer if anybody calls; returns the next one to be played."""

_NOTHING = np.zeros(0)


def is_compiled(bandit: Bandit, learner: Learner, isolated: bool) -> bool:
    """Return whether this pair is played in a loop of its own.

    Agents that share in every slot stop after every slot, so that a loop over many would be of no use to them.
    """
    kind, world = type(learner), type(bandit)
    if execution() == "plain":
        return False
    if world is Linear:
        return kind in (FedUcb, Oful, SharedLinUcb)
    if world is Procurement:
        return kind is Pfcb
    plain = isinstance(bandit, Bernoulli) and not bandit.changing and bandit.own_arms is None
    counts = isinstance(learner, CountingLearner) and kind in (Ucb, KlUcb, Thompson) and learner.discount == 1
    return plain and world is Bernoulli and (kind is Gosine or (isolated and counts))


def say_if_new(bandit: Bandit, learner: Learner) -> None:
    """Write a line to stderr if the compiled loop of this pair has to be compiled first."""
    if isinstance(bandit, Linear):
        from netbandit.simulation.kernels.linear import play as linear

        announce(linear, "feducb, oful and linear")
    elif isinstance(learner, Gosine):
        from netbandit.simulation.kernels.held_arms import play as held_arms

        announce(held_arms, "gosine and bernoulli")
    elif isinstance(learner, Thompson):
        from netbandit.simulation.kernels.arms import play_thompson

        announce(play_thompson, "thompson and bernoulli")
    elif isinstance(bandit, Bernoulli):
        from netbandit.simulation.kernels.arms import play as arms

        announce(arms, "ucb, klucb and bernoulli")
    else:
        from netbandit.simulation.kernels.procurement import play as procurement

        announce(procurement, "pfcb and procurement")


def compiled(world: SlotWorld, learners: Sequence[Learner], account: Account, turns: Turns) -> Play:
    """Return the compiled loop of a pair that has one."""
    (first, *_) = learners  # what sets of parameters have in common is in each of them
    if isinstance(first, Pfcb):
        assert isinstance(world, MarketWorld)
        return _procurement(world, first, account, turns)
    if isinstance(first, Gosine):
        assert isinstance(world, ArmWorld)
        return _held_arms(world, first, account, turns)
    if isinstance(first, Thompson):
        assert isinstance(world, ArmWorld)
        return _thompson(world, first, account, turns)
    if isinstance(first, Ucb | KlUcb):
        assert isinstance(world, ArmWorld)
        return _arms(world, first, account, turns)
    assert isinstance(first, EllipsoidLearner)
    return _linear(world, first, account, turns)


def _linear(world: SlotWorld, learner: EllipsoidLearner, account: Account, turns: Turns) -> Play:
    from netbandit.simulation.kernels.linear import play

    assert isinstance(world, ActionSetWorld)
    bandit = world.bandit
    assert isinstance(bandit, Linear)
    draws, actions, fixed = bandit.world, bandit.shown, bandit.fixed
    beliefs, bonus_terms, trigger, columns = learner.beliefs, learner.bonus_terms, learner.trigger, learner.columns
    if not turns.everybody:
        trigger = trigger._replace(every=0)  # all know the slots in which rounds begin

    def run(first: int, last: int) -> int:
        who = turns.block, turns.everybody, turns.up
        return int(play(first, last, *who, draws, actions, fixed, columns, beliefs, bonus_terms, trigger, account))

    return run


def _arms(world: ArmWorld, learner: Ucb | KlUcb, account: Account, turns: Turns) -> Play:
    from netbandit.simulation.kernels.arms import play

    bandit, numbers, known = world.bandit, world.numbers, learner.known
    assert isinstance(bandit, Bernoulli)
    means, gaps, missed = bandit.agent_means, bandit.gaps, world.missed
    divergence = isinstance(learner, KlUcb)
    width, log_log = (0.0, learner.log_log) if isinstance(learner, KlUcb) else (learner.width(), 0.0)

    def run(first: int, last: int) -> int:
        while first < last:
            numbers.reach(first)
            until = min(last, numbers.last)
            uniforms = numbers.block[:, first - numbers.first :]
            play(first, until, turns.here, uniforms, means, gaps, known, width, log_log, divergence, missed, account)
            first = until
        return last

    return run


def _held_arms(world: ArmWorld, learner: Gosine, account: Account, turns: Turns) -> Play:
    from netbandit.simulation.kernels.held_arms import play

    bandit, numbers = world.bandit, world.numbers
    assert isinstance(bandit, Bernoulli)
    state = learner.held, learner.pulls, learner.sums, learner.phase_pulls, learner.since, learner.width()
    means, gaps, missed = bandit.agent_means, bandit.gaps, world.missed

    def run(first: int, last: int) -> int:
        while first < last:
            numbers.reach(first)
            until = min(last, numbers.last)
            uniforms = numbers.block[:, first - numbers.first :]
            play(first, until, turns.here, uniforms, means, gaps, *state, missed, account)
            first = until
        return last

    return run


def _thompson(world: ArmWorld, learner: Thompson, account: Account, turns: Turns) -> Play:
    from netbandit.simulation.kernels.arms import note, play_thompson

    bandit, numbers, known = world.bandit, world.numbers, learner.known
    assert isinstance(bandit, Bernoulli)
    digests, means, gaps = account.digests, bandit.agent_means, bandit.gaps

    def run(first: int, last: int) -> int:
        while first < last:
            numbers.reach(first)
            until = min(last, numbers.last)
            uniforms = numbers.block[:, first - numbers.first :]
            regrets = np.zeros(until - first)
            for agent in turns.here.tolist():  # its stream is unpacked once a block, not once a slot
                own = known.pulls[agent], known.sums[agent], learner.rngs[agent], regrets, digests[agent]
                decided = int(known.decided[agent])
                digests[agent], missed = play_thompson(first, until, decided, uniforms[agent], means[agent], gaps, *own)
                known.decided[agent] += until - first
                world.missed[agent] += missed
            note(first, regrets, account)
            first = until
        return last

    return run


def _procurement(world: MarketWorld, learner: Pfcb, account: Account, turns: Turns) -> Play:
    from netbandit.simulation.kernels import procurement

    market, statistics = procurement.market(world), procurement.statistics(learner)
    numbers = world.numbers

    def run(first: int, last: int) -> int:
        while first < last:
            numbers.reach(first)
            until = min(last, numbers.last)
            uniforms = numbers.block[:, first - numbers.first :]
            procurement.play(first, until, turns.here, uniforms, market, statistics, account)
            first = until
        if not turns.up.all():
            account.pass_over(np.flatnonzero(~turns.up), last)
        return last

    return run


def generic(
    world: SlotWorld, learners: Sequence[Learner], account: Account, talking: Communication, turns: Turns
) -> Play:
    """Return the loop of any pair, with the same law: one call of each method a turn, until an agent calls."""
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
            world.show(slot, agents)
            arms = learner.choose(slot, agents)
            rewards, missed = world.pull(slot, agents, arms)
            learner.learn(slot, agents, arms, rewards)
            world.digest(account.digests, agents, arms, rewards)
            account.add(slot, agents, missed, ends=turns.ends(turn))
            if talking.asks:
                free = agents[~talking.quiet[param_set, agents]]
                account.calls[free] = learner.wants(slot, free)
                if account.calls.any():
                    return turn + 1
        return last

    return run
