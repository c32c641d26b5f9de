"""Networks whose links are up as listed, and the earliest paths over time in them, in plain Python."""

from heapq import heappop, heappush

import networkx as nx
import numpy as np

from netbandit.network.contacts import ContactList
from netbandit.network.faults import Faults
from netbandit.network.outages import OutagePlan


def linked(contacts, agents):
    """Return the graph of all links of *contacts*, a list of (one, other, begin, end)."""
    graph = nx.empty_graph(agents)
    graph.add_edges_from((one, other) for one, other, _, _ in contacts)
    return graph


def merged(contacts):
    """Return for each link, ascending, its contacts: those that touch are one."""
    links = {}
    for one, other, begin, end in sorted(contacts, key=lambda contact: contact[2]):
        own = links.setdefault((min(one, other), max(one, other)), [])
        if own and begin <= own[-1][1]:
            own[-1][1] = max(own[-1][1], end)
        else:
            own.append([begin, end])
    return dict(sorted(links.items()))


def sensed(contacts, *, slotted, carry=None, waits=True, **more):
    """Return the faults of a network whose agents see that links are up as listed; *more*: see `Faults`.

    Args:
        waits: Whether what they send waits for that; else they speak to those who are there.
    """
    links = merged(contacts)
    first = np.cumsum([0, *map(len, links.values())])
    times = np.array([interval for own in links.values() for interval in own], dtype=np.int64).reshape(-1, 2)
    plan = {
        "contacts": ContactList(first, times),
        "sensed": True,
        "waits": waits,
        "carry": carry,
        "waits_for_slots": slotted,
    }
    return Faults(plan=OutagePlan(**plan, **more.pop("plan", {})), **more)


def earliest(contacts, latency, source, since, until, slot=None):
    """Return when each agent can know at the earliest what *source* knows at a time (ns), by Dijkstra over time.

    Args:
        contacts: (one, other, begin, end) each.
        latency: Of each link, by its ends, the lower first.
        source: The agent.
        since: The time; slotted, a boundary.
        until: Nothing starts at or after this.
        slot: The length of a slot, at whose boundaries agents send and take in; None: at once.
    """
    near = {}
    for (one, other), own in merged(contacts).items():
        near.setdefault(one, []).append((other, own, latency[one, other]))
        near.setdefault(other, []).append((one, own, latency[one, other]))
    known, todo = {}, [(since, source)]
    while todo:
        time, agent = heappop(todo)
        if agent in known:
            continue
        known[agent] = time
        for other, own, takes in near.get(agent, ()):
            for begin, end in own:
                start = max(time, begin)
                if slot is not None:
                    start = -(-start // slot) * slot
                if start + takes < end:
                    if start < until:
                        arrival = start + takes
                        if slot is not None:
                            arrival = max(start + slot, -(-arrival // slot) * slot)
                        heappush(todo, (arrival, other))
                    break
    return known
