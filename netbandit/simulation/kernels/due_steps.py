"""Steps of compiled loops that are due at several boundaries, as the last column of each says."""

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.sorting import sort
from netbandit.simulation.kernels.traffic import (
    CHANNEL_BITS,
    NEVER,
    NODE,
    NOW,
    STATES,
    STEP_AT,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    Traffic,
)


@inlined
def begin_due(traffic: Traffic) -> int:
    """Sort what is due in this step by node, for each in the order in which it came; return how much that is."""
    state, order, steps = traffic.state, traffic.order, traffic.steps
    due, last = 0, steps.shape[1] - 1
    for place in range(state[STEPS]):
        if steps[place, last] <= state[NOW]:
            order[due] = (steps[place, NODE] << CHANNEL_BITS) | place
            due += 1
    sort(order, 0, due, state, STATES)
    state[STEPS_BEGUN] = 1
    state[STEP_AT] = 0
    return due


@inlined
def end_due(traffic: Traffic) -> None:
    """Forget what was due; what is due at a later boundary stays."""
    state, steps = traffic.state, traffic.steps
    kept, soonest, last = 0, NEVER, steps.shape[1] - 1
    for place in range(state[STEPS]):
        if steps[place, last] > state[NOW]:
            for column in range(last + 1):
                steps[kept, column] = steps[place, column]
            soonest = min(soonest, steps[place, last])
            kept += 1
    state[STEPS] = kept
    state[STEP_TIME] = soonest
    state[STEPS_BEGUN] = 0
