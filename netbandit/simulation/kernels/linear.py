"""The compiled loop in which agents of FedUCB play the linear bandit: the learner's step, then the world's pull."""

import numpy as np
from numba import njit

from netbandit.bandits.linear_draws import draw_reward, draw_set
from netbandit.learners.ellipsoid import (
    SLOTS,
    bonus_of,
    choose_fixed,
    choose_fresh,
    learn,
    take_in,
    wants,
)


@njit(cache=True)
def play(  # type: ignore[no-untyped-def]
    first, last, turns, everybody, up, world, actions, fixed, columns, beliefs, bonus_terms, trigger, account
):
    """Play the turns from *first* to before *last*; stop after one in which anybody calls.

    Args:
        first: The first turn.
        last: The turn after the last one.
        turns: `netbandit.simulation.turns.TurnBlock` that has them.
        everybody: Whether all agents decide in every slot, so that turns are slots.
        up: Which agents are up; the others do not decide, shape (M,), bool.
        world: `linear_draws.World`.
        actions: The fixed actions, or room for fresh ones, shape (1 or M, K, d).
        fixed: Whether they stay the same.
        columns: The arms that stay the same, one a column, shape (d, K); K = 0 where they do not.
        beliefs: `Ellipsoids`.
        bonus_terms: What makes the bonus of each agent, shape (M, 7); see `bonus_of`.
        trigger: `Trigger`.
        account: `netbandit.simulation.slot_account.Account`, one row.

    Returns:
        The first turn that has not been played.
    """
    sets, agents = beliefs.uses.shape
    dimension = world.theta.size
    product = np.empty(dimension)
    account.calls[:] = False
    deposits = beliefs.waiting.size > 0
    before, slots, starts, deciding = turns
    for turn in range(first, last):
        slot = turn
        begin = 0
        count = agents
        ends = True
        if not everybody:
            slot = slots[turn - before]
            begin = starts[turn - before]
            count = starts[turn - before + 1] - begin
            ends = slots[turn - before + 1] != slot
        param_set = slot % sets
        called = False
        bonus = 0.0
        regret = 0.0
        other = -1  # the agent whose bonus it is
        decided = 0
        for place in range(count):
            agent = place if everybody else deciding[begin + place]
            if not up[agent]:
                continue
            decided += 1
            if deposits and beliefs.waiting[agent] >= 0:
                take_in(beliefs, agent, columns)
            terms = bonus_terms[agent]
            if other < 0 or terms[5] != SLOTS or not np.array_equal(terms, bonus_terms[other]):
                bonus = bonus_of(beliefs, param_set, agent, terms, slot)
            other = agent
            source = 0 if fixed else agent
            shown = actions[source]
            if fixed:
                arm = choose_fixed(beliefs, param_set, agent, bonus)
            else:
                draw_set(world, source, shown)
                arm = choose_fresh(beliefs, param_set, agent, bonus, shown)
            means = world.means[source]
            reward = draw_reward(world, agent, means[arm])
            learn(beliefs, param_set, agent, shown[arm], reward, columns, product)
            regret += means.max() - means[arm]
            account.digests[agent] = (account.digests[agent] ^ np.uint64(arm + 1)) * np.uint64(0x100000001B3)
            if wants(beliefs, param_set, agent, trigger, sets):
                beliefs.quiet[param_set, agent] = True
                account.calls[agent] = True
                called = True
        beliefs.tally[0] += decided  # see `pass_instant`
        account.regret[0] += regret
        if ends:
            knot = account.next_knot[0]
            if account.knots[knot] == slot + 1:
                account.curve[0, knot] = account.regret[0]
                account.next_knot[0] = knot + 1
        if called:
            return turn + 1
    return last
