"""The compiled consensus step: each agent computes the weighted sum of its own row and its neighbours'."""

from netbandit.util.jit import Floats, Integers, njit


@njit(cache=True)
def mix(
    own_weights: Floats, weights: Floats, first: Integers, agents: Integers, own: Floats, table: Floats,
    places: Integers, mixed: Floats, largest: Floats,
) -> None:  # fmt: skip
    """Fill in what `netbandit.protocols.mixing.mixed_rows` returns.

    Args:
        own_weights: P_ii, shape (M,).
        weights: P_ij of each directed link, sorted by receiver, then by sender, shape (2E,).
        first: Where the links of each receiver begin, and the end, shape (M + 1,).
        agents: The agents that mix, shape (n,).
        own: Their rows, shape (n, k).
        table: Rows received over links, shape (r, k).
        places: The index in *table* of the row of each link to these agents; -1: the agent's own row.
        mixed: The weighted sums; filled in, shape (n, k).
        largest: The elementwise maximum; filled in, shape (n, k).
    """
    index = 0
    numbers = own.shape[1]
    for row in range(agents.size):
        agent = agents[row]
        weight = own_weights[agent]
        for number in range(numbers):
            mixed[row, number] = weight * own[row, number]
            largest[row, number] = own[row, number]
        for link in range(first[agent], first[agent + 1]):
            weight = weights[link]
            values = own[row] if places[index] < 0 else table[places[index]]
            index += 1
            for number in range(numbers):
                mixed[row, number] += weight * values[number]
                largest[row, number] = max(largest[row, number], values[number])
