"""A paper of one figure on two graphs, with claims of every verdict."""

from pathlib import Path

BASE = """
schema = 1
[run]
horizon = 400
replications = 4
[topology]
family = "ring"
agents = 6
[bandit]
kind = "bernoulli"
arms = 3
means = [0.9, 0.2, 0.1]
[learner]
kind = "elimination"
[protocol]
kind = "gis"
[sweep]
"topology.family" = ["ring", "complete"]
"""

CLAIMS = """
paper = "A paper"
setting = "found by nobody"

[[figures]]
id = "fig1"
title = "regret"
scenarios = ["base.toml"]
series = [
  { name = "ring", where = { "topology.family" = "ring" } },
  { name = "complete", where = { "topology.family" = "complete" } },
]
panels = [
  {},
  { kind = "points", x = "diameter", x_label = "diameter", log = ["y"] },
  { kind = "bars", y = "cost", y_label = "cost", minus = { series = "complete" } },
]

[[claims]]
id = "delay"
figure = "fig1"
where = "Section 1"
says = "a ring is slow"
read_as = "its rounds take more slots"
measure = "difference"
of = "round_slots"
points = [{ series = "ring" }]
against = [{ series = "complete" }]
every_run = true
region = { above = 1 }

[[claims]]
id = "not-delay"
figure = "fig1"
where = "Section 1"
says = "a ring is fast"
read_as = "its rounds take fewer slots"
measure = "difference"
of = "round_slots"
points = [{ series = "ring" }]
against = [{ series = "complete" }]
every_run = true
region = { below = 1 }
if_not = "it has a large diameter"

[[claims]]
id = "share"
figure = "fig1"
where = "Section 1"
says = "regret is below 100"
read_as = "in nine runs of ten"
measure = "share"
of = "regret < 100000"
points = [{ series = "ring" }]
region = { at_least = 0.9 }

[[claims]]
id = "pace"
figure = "fig1"
where = "Section 1"
says = "all regret comes early"
read_as = "nothing is added in the last half"
measure = "difference"
of = "growth('regret', 0, 0.5)"
to = "growth('regret', 0.5, 1)"
points = [{ series = "ring" }]
against = [{ series = "ring" }]
every_run = true
region = { above = 0 }
"""


def small_paper(papers: Path) -> Path:
    """Write the paper into a folder of *papers*, and return that folder."""
    folder = papers / "mine"
    folder.mkdir(parents=True)
    (folder / "base.toml").write_text(BASE)
    (folder / "claims.toml").write_text(CLAIMS)
    return folder
