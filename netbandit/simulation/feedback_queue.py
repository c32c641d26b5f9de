"""The pulls of each agent whose rewards have not been learned: a heap in flat arrays, the next one due first.

``order[agent]`` is a permutation of rows: its first ``count[agent]`` are a heap, the others are free.
"""

from netbandit.util.jit import Integers, njit


@njit(cache=True)
def push(order: Integers, due: Integers, numbers: Integers, count: Integers, agent: int, time: int, number: int) -> int:
    """Return the row of a pull that is due at *time*, after which no later *number* was pushed.

    Args:
        order: See above, shape (M, n).
        due: When (ns) each is, shape (M, n).
        numbers: Which of its agent's pulls each is, same shape.
        count: How many each agent has, shape (M,).
        agent: The agent.
        time: When (ns) it is due.
        number: Which of the agent's pulls it is.
    """
    place = count[agent]
    row: int = order[agent, place]
    due[agent, row] = time
    numbers[agent, row] = number
    count[agent] = place + 1
    while place > 0:
        above = (place - 1) // 2
        other = order[agent, above]
        if due[agent, other] <= time:
            break
        order[agent, place] = other
        place = above
    order[agent, place] = row
    return row


@njit(cache=True)
def pop(order: Integers, due: Integers, numbers: Integers, count: Integers, agent: int) -> int:
    """Return the row that was due first, among equals that of the earlier pull; it is free from then on."""
    found: int = order[agent, 0]
    last = count[agent] - 1
    count[agent] = last
    row = order[agent, last]
    order[agent, last] = found
    place = 0
    while 2 * place + 1 < last:
        below = 2 * place + 1
        other = order[agent, below]
        if below + 1 < last:
            right = order[agent, below + 1]
            if due[agent, right] < due[agent, other] or (
                due[agent, right] == due[agent, other] and numbers[agent, right] < numbers[agent, other]
            ):
                below += 1
                other = right
        if due[agent, row] < due[agent, other] or (
            due[agent, row] == due[agent, other] and numbers[agent, row] < numbers[agent, other]
        ):
            break
        order[agent, place] = other
        place = below
    if last > 0:
        order[agent, place] = row
    return found
