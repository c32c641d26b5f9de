import networkx as nx
from helpers.one_round import one_round

from netbandit.protocols.silent import Silent


def test_every_agent_concludes_alone_and_at_once():
    result = one_round(Silent, nx.star_graph(2), rounds=2)
    assert result.arrivals == []
    assert sorted(result.aggregation.concluded) == [
        (number, agent, [agent], None) for number in (1, 2) for agent in range(3)
    ]
    assert result.protocol.ended == {}
    assert result.network.ledger.kinds == {}
