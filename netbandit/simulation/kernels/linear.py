"""The compiled loop in which agents of FedUCB play the linear bandit: the learner's step, then the world's pull."""

import numpy as np

from netbandit.bandits.linear_draws import draw_reward, draw_set
from netbandit.jit import njit
from netbandit.learners.ellipsoid import (
    REFRESH,
    SLOTS,
    bonus_at,
    choose_fixed,
    choose_fresh,
    learn_at,
    refresh,
    take_in,
    wants_at,
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
    # Unpacked once: to hand all of it on costs more than a decision.
    inverse, estimate, fits, widths = beliefs.inverse, beliefs.estimate, beliefs.fits, beliefs.widths
    own_gram, own_response = beliefs.own_gram, beliefs.own_response
    leaf_response, leaf_square = beliefs.leaf_response, beliefs.leaf_square
    inflated, log_ratio, log_det = beliefs.inflated, beliefs.log_ratio, beliefs.log_det
    uses, updates, held, tally = beliefs.uses, beliefs.updates, beliefs.held, beliefs.tally
    received, quiet, waiting = beliefs.received, beliefs.quiet, beliefs.waiting
    thresholds, every, growth = trigger
    regrets, knots, next_knot, curve, digests, calls = account
    theta, all_means = world.theta, world.means
    sets, agents = uses.shape
    dimension = theta.size
    product = np.empty(dimension)
    calls[:] = False
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
            if waiting.size and waiting[agent] >= 0:
                take_in(beliefs, agent, columns)
            terms = bonus_terms[agent]
            if other < 0 or terms[5] != SLOTS or _differ(terms, bonus_terms[other]):
                bonus = bonus_at(log_det[param_set, agent], held[param_set, agent], terms, dimension, slot)
            other = agent
            source = 0 if fixed else agent
            shown = actions[source]
            if fixed:
                arm = choose_fixed(fits[param_set, agent], widths[param_set, agent], bonus)
            else:
                draw_set(world, source, shown)
                arm = choose_fresh(inverse[param_set, agent], estimate[param_set, agent], bonus, shown)
            means = all_means[source]
            reward = draw_reward(world, agent, means[arm])
            learn_at(
                inverse,
                estimate,
                fits,
                widths,
                own_gram,
                own_response,
                leaf_response,
                leaf_square,
                inflated,
                log_ratio,
                log_det,
                uses,
                updates,
                held,
                tally,
                received,
                param_set,
                agent,
                shown[arm],
                reward,
                columns,
                product,
            )
            if updates[param_set, agent] >= REFRESH:
                refresh(beliefs, param_set, agent, columns)
            regret += means.max() - means[arm]
            digests[agent] = (digests[agent] ^ np.uint64(arm + 1)) * np.uint64(0x100000001B3)
            wanted = wants_at(
                quiet[param_set, agent],
                uses[param_set, agent],
                log_ratio[param_set, agent],
                thresholds[agent],
                every,
                growth,
                sets,
            )
            if wanted:
                quiet[param_set, agent] = True
                calls[agent] = True
                called = True
        tally[0] += decided  # an instant has passed; see `pass_instant`
        regrets[0] += regret
        if ends:
            knot = next_knot[0]
            if knots[knot] == slot + 1:
                curve[0, knot] = regrets[0]
                next_knot[0] = knot + 1
        if called:
            return turn + 1
    return last


@njit(cache=True)
def _differ(terms, others):  # type: ignore[no-untyped-def]
    """Return whether any of *terms* is another than that of *others*."""
    for place in range(terms.size):  # noqa: SIM110, numba has no any
        if terms[place] != others[place]:
            return True
    return False
