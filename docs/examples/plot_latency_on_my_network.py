"""
What latency costs on a network of your own
===========================================

How much of the gain from cooperation is lost to latency? The graph has ten sites, two rings joined by one link; any
networkx graph will do. Links may have latencies of their own: ``graph.edges[0, 5]["latency"] = "200 ms"``,
and ``latency="edges"``.
"""

import networkx as nx

import netbandit as nb

graph = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
graph.add_edge(0, 5)

# %%
# Agents eliminate arms in rounds. In a round each sends its measurements to all others, hop by hop, and waits until it
# has received theirs. A slot is a decision; its length is one millisecond by default.

scenario = nb.Scenario(
    topology=graph,
    links=nb.Links(peer=nb.Link(latency="0 ms")),
    bandit=nb.bandits.Bernoulli(means=[0.3, 0.5, 0.7]),
    learner=nb.learners.Elimination(),
    protocol=nb.protocols.Gis(),
    run=nb.Run(horizon=6_000, replications=5, seed=1),
)

# %%
# ``check`` returns the errors of a scenario before anything runs; here there are none.

print(scenario.check())

# %%
# The sweep: the same scenario with each latency, and without communication.

results = scenario.sweep({"links.peer.latency": ["0 ms", "20 ms", "100 ms", "400 ms"]}, out="results/my_network")
alone = scenario.sweep({"protocol.kind": ["silent"]}, out="results/my_network_alone")
results

# %%
# ``round_slots`` is the time in slots that an agent waits for the others. Where no round ended it is missing, not zero.

waits = results[results.metric == "round_slots"]
print(waits.groupby("links.peer.latency", sort=False).value.mean())

# %%
# Regret over time, with 95 % intervals of the means.

figure = results.plot("regret")

# %%
# Compared with agents that learn alone, each of which must try every arm often enough by itself: even if waits are so
# long that no round ends, regret is not larger, as a waiting agent pulls the arm that seems best so far.

ours = results[results.metric == "regret"].groupby("links.peer.latency", sort=False).value.mean()
print(ours / alone[alone.metric == "regret"].value.mean())
