import networkx as nx
import pytest
from helpers.one_round import SLOT, one_round
from helpers.scenes import run
from helpers.telling import told

from netbandit.protocols.pooled import Pooled
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
@pytest.mark.parametrize("graph", [nx.path_graph(3), nx.empty_graph(3)])
def test_everybody_hears_in_the_next_slot_what_anybody_told(graph, timing):
    log, protocol = told(Pooled, graph, latency=10 * SLOT, times=(0, 2_500), timing=timing)
    pairs = [(agent, source) for agent in range(3) for source in range(3) if agent != source]
    assert log == [
        (time, agent, source, number) for number, time in enumerate((SLOT, 3 * SLOT)) for agent, source in pairs
    ]
    assert protocol.reach == [3, 3, 3]
    assert protocol.network.ledger.kinds == {}


def test_a_round_ends_one_slot_after_the_last_contribution():
    kind = lambda **keys: RoundsOverBroadcast.over(Pooled(**keys))  # noqa: E731
    result = one_round(kind, nx.empty_graph(3), starts=[0, 300, 5 * SLOT], rounds=2)
    assert result.aggregation.concluded == [(1, 0, [0, 1, 2], None), (2, 0, [0, 1, 2], None)]
    assert result.protocol.ended == {1: 6 * SLOT, 2: 8 * SLOT}
    assert result.informed == {0: 8 * SLOT, 1: 8 * SLOT, 2: 8 * SLOT}
    assert result.arrivals == []


def test_what_is_pooled_is_no_secret(tmp_path):
    scene = ["protocol.kind=pooled", "run.horizon=20_000", "topology.family=path"]
    metrics = run(tmp_path, *scene).metrics
    assert metrics["rounds"] > 0
    assert metrics["messages"] == metrics["cost"] == 0
    private, alone = (
        run(tmp_path, *scene, *more).metrics
        for more in (["learner.epsilon=1"], ["topology.agents=1", "topology.family=complete"])
    )
    assert metrics["epsilon"] is None or metrics["epsilon"] > 0
    assert private["epsilon"] > 0
    assert alone["epsilon"] == 0
