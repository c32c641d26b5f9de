"""
Regret per byte: four reaches of communication
==============================================

Agents of a Bernoulli bandit play UCB1: alone, sending each observation to their neighbours, or forwarding it over
several hops. Each step lowers regret at the cost of more bytes.
"""

import matplotlib.pyplot as plt

import netbandit as nb

ways = {
    "alone": nb.protocols.Silent(),
    "to neighbours": nb.protocols.Local(ttl=1),
    "two hops": nb.protocols.Local(ttl=2),
    "to everybody": nb.protocols.Local(ttl=6),
}


def scenario(protocol):
    return nb.Scenario(
        topology=nb.families.Ring(agents=12),
        links=nb.Links(peer=nb.Link(latency="2 ms")),
        bandit=nb.bandits.Bernoulli(means=[0.4, 0.5, 0.6, 0.7]),
        learner=nb.learners.Ucb(),
        protocol=protocol,
        run=nb.Run(horizon=800, replications=5, seed=3),
    )


# %%
# One study for each. ``found["two hops"]`` is a pandas table with a row for each point, replication and metric.

found = {name: scenario(way).run(out=f"results/bytes/{name}") for name, way in ways.items()}
found["two hops"]

# %%
# The rest is pandas and matplotlib.

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
for name, results in found.items():
    runs = results.pivot(index="replication", columns="metric", values="value")
    axes.errorbar(
        runs.bytes.mean() / 1e6, runs.regret.mean(), yerr=1.96 * runs.regret.sem(), marker="o", linestyle="", label=name
    )
axes.set(xlabel="megabytes on links", ylabel="regret of all agents (95 % of the mean)", ylim=(0, None))
axes.legend(frameon=False)
plt.show()
