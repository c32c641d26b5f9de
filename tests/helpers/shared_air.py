"""Agents that share the air, once more, in plain Python: who transmits when, and who hears whom."""

from itertools import product


def starts(handed, airtimes, duty, end):
    """Return when each of one agent's transmissions begins, None: never, given when each is handed over, ascending.

    Args:
        handed: The times.
        airtimes: How long each takes.
        duty: The duty cycle as (numerator, denominator).
        end: What would begin then or later does not.
    """
    found, free = [], 0
    for time, airtime in zip(handed, airtimes, strict=True):
        start = max(time, free)
        if start >= end:
            found.append(None)
            continue
        found.append(start)
        period = airtime * duty[1] // duty[0]
        free = start + period + (period * duty[0] < airtime * duty[1])
    return found


def heard(transmissions, latency):
    """Return all (number of the transmission, receiver) where nothing overlaps the reception.

    Args:
        transmissions: (start, airtime, sender) each.
        latency: Of each link, by its ends, both ways round.
    """
    found = set()
    for number, (start, airtime, sender) in enumerate(transmissions):
        for one, receiver in latency:
            if one != sender:
                continue
            delay = latency[sender, receiver]
            here = range(start + delay, start + delay + airtime)
            others = []
            for other, (time, length, who) in enumerate(transmissions):
                if who == receiver:
                    others.append(range(time, time + length))
                elif other != number and (who, receiver) in latency:
                    there = time + latency[who, receiver]
                    others.append(range(there, there + length))
            if not any(set(here) & set(one) for one in others):
                found.add((number, receiver))
    return found


def both_ways(links):
    """Return the latencies of links, by their ends both ways round, given those by one."""
    return {ends: value for (one, other), value in links.items() for ends in ((one, other), (other, one))}


def complete(agents, latency):
    """Return the same latency for all ordered pairs of agents."""
    return {(one, other): latency for one, other in product(range(agents), repeat=2) if one != other}
