"""Nodes that handle one message at a time, and do jobs of their own."""

import networkx as nx
import pytest
from helpers.one_round import SLOT, one_round

from netbandit.network.computing import ComputePlan, ServiceTimes
from netbandit.network.jitter import UniformJitter
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.master_worker import MasterWorker

L, C = 5, 2


def takes(inbox=None, per_byte=0.0, **times):
    laws = {work: UniformJitter(time, time) for work, time in times.items()}
    return ServiceTimes(laws, per_byte, inbox)


def plan(agents=ServiceTimes(), server=ServiceTimes(), speeds=(1.0,) * 3, power=0):  # noqa: B008 - never changed
    return ComputePlan(agents, server, speeds, power)


@pytest.mark.parametrize(("slow", "complete"), [(1.0, [2 * L + 3 * C, L + 2 * C, 2 * L + 2 * C]), (10.0, [52, 45, 32])])
def test_a_flood_on_a_path_waits_for_each_message_to_be_handled(slow, complete):
    compute = plan(takes(message=C), speeds=[1.0, slow, 1.0])
    result = one_round(Flooding, nx.path_graph(3), latency=L, timing="asynchronous", compute=compute)
    computing = result.network.computing
    held = {agent: [] for agent in range(3)}
    for time, _, receiver, *_ in result.arrivals:
        held[receiver].append(time)
    assert [times[-1] for times in held.values()] == complete
    assert computing.unhandled == computing.refused == 0
    assert [computing.busy(agent) for agent in range(3)] == [2 * C, 2 * C * slow, 2 * C]


def test_a_server_handles_uploads_one_by_one_and_then_puts_them_together():
    compute = plan(takes(message=C), takes(message=C, aggregate=7))
    result = one_round(MasterWorker, nx.path_graph(3), uplink=L, compute=compute)
    assert set(result.informed.values()) == {2 * L + 3 * C + 7 + C}
    assert result.network.computing.busy(3) == 3 * C + 7
    assert result.network.computing.most_waiting == 2
    assert result.network.computing.waited == C + 2 * C


def test_a_deadline_that_fires_while_an_item_is_handled_takes_that_too():
    compute = plan(server=takes(message=7, aggregate=5))
    sent = [0, 11, 100]
    result = one_round(MasterWorker, nx.path_graph(3), starts=sent, deadline=f"{10 / SLOT} slots", compute=compute)
    ((_, _, taken, _),) = result.aggregation.concluded
    assert list(taken) == [0, 1]
    assert result.informed[0] == result.informed[1] == 18 + 5
