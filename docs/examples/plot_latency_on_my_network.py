"""
What latency costs on a network of your own
===========================================

How much of the gain of learning together does latency take away? Here is a graph of ten sites, two rings joined by one
link; any networkx graph will do. Where links differ, give each its own: ``graph.edges[0, 5]["latency"] = "200 ms"``,
and ``latency="edges"``.
"""

import networkx as nx

import netbandit as nb

graph = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
graph.add_edge(0, 5)

# %%
# Agents eliminate arms in rounds. In a round each tells everybody what it measured, over its neighbours, and waits
# until it has heard all. A slot is a decision; its length is one millisecond unless the scenario says otherwise.

scenario = nb.Scenario(
    topology=graph,
    links=nb.Links(peer=nb.Link(latency="0 ms")),
    bandit=nb.bandits.Bernoulli(means=[0.3, 0.5, 0.7]),
    learner=nb.learners.Elimination(),
    protocol=nb.protocols.Gis(),
    run=nb.Run(horizon=6_000, replications=5, seed=1),
)

# %%
# ``check`` says what is wrong with a scenario before anything runs; here it is nothing.

print(scenario.check())

# %%
# The sweep: the same scenario with each latency and with nobody to talk to.

results = scenario.sweep({"links.peer.latency": ["0 ms", "20 ms", "100 ms", "400 ms"]}, out="results/my_network")
alone = scenario.sweep({"protocol.kind": ["silent"]}, out="results/my_network_alone")
results

# %%
# How long does an agent wait for the others? ``round_slots`` is that in slots. Where no round ended there is no number:
# a wait that has not ended is not zero.

waits = results[results.metric == "round_slots"]
print(waits.groupby("links.peer.latency", sort=False).value.mean())

# %%
# The picture that this study calls for, with bands over the replications.

figure = results.plot("regret")

# %%
# And against agents that learn alone, of which each must try every arm often enough for itself. Even waits so long that
# no round ends do not make them worse: an agent that waits plays the arm that it thinks best so far.

ours = results[results.metric == "regret"].groupby("links.peer.latency", sort=False).value.mean()
print(ours / alone[alone.metric == "regret"].value.mean())
