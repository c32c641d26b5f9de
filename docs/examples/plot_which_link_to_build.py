"""
Which link should be built?
===========================

A path of eight sites: which additional link shortens a round most, and does simulation confirm it?
"""

import matplotlib.pyplot as plt
import networkx as nx

import netbandit as nb

scenario = nb.Scenario(
    topology=nx.path_graph(8),
    links=nb.Links(peer=nb.Link(latency="5 ms")),
    bandit=nb.bandits.Bernoulli(means=[0.3, 0.5, 0.7]),
    learner=nb.learners.Elimination(),
    protocol=nb.protocols.Flooding(),
    run=nb.Run(horizon=4_000),
)
advice = nb.advise_links(scenario, replications=5)

# %%
# Every candidate was computed exactly; the best three were also simulated, with the seeds of the present network.

(step,) = advice.steps
print(f"a round takes {step.before / 1e6:g} ms as it is")
for candidate in step.best[:3]:
    print(f"{candidate.value / 1e6:g} ms with a link between {candidate.link[0]} and {candidate.link[1]}")

# %%
# The simulated effect of the best one, with intervals; where all replications are identical there is none, with the
# reason.

for metric, difference in advice.confirmed[0].differences.items():
    print(metric, difference.value, difference.why_none or f"[{difference.low:.3g}, {difference.high:.3g}]")

# %%
# The network with the best of them, dashed:

graph = nx.path_graph(8)
places = nx.circular_layout(graph)
_, axes = plt.subplots(figsize=(5, 4), layout="constrained")
nx.draw_networkx(graph, places, ax=axes, node_color="#0072b2", font_color="white")
nx.draw_networkx_edges(graph, places, [step.best[0].link], ax=axes, edge_color="#d55e00", style="dashed", width=2)
axes.set_axis_off()
plt.show()
