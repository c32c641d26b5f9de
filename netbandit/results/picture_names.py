"""The names of all pictures of a study, for the command, its help, and Python.

They are apart, since the help of the command imports them and nothing slow.
"""

from collections.abc import Mapping

REGRET, REWARD = "regret", "reward"
"""The pictures over time, of which each study has one."""

PICTURE_NAMES: Mapping[str, str] = {
    REGRET: "regret over the slots",
    REWARD: "reward or click-through rate over the slots, of a log, whose regret nobody knows",
    "structure": "regret against cost, for each of three protocols or more",
    "learners": "regret against data, energy and delay, for each of three learners or more",
    "heatmap": "regret over two numeric keys, each of three values or more",
    "parameter": "regret and waiting against a numeric key",
    "diameter": "cost, delay and regret against the diameter",
    "privacy": "regret against the privacy spent",
    "tradeoff": "regret against cost",
    "delay": "regret against waiting",
    "communication": "regret against the data sent",
    "battery": "how long batteries last",
    "waits": "what a round waits for: late rewards, computing, messages",
    "losses": "what became of 100 messages, by cause, at each point and on each link",
    "network": "the network, its links coloured by messages",
    "lost": "the network, its links coloured by messages that do not arrive",
    "bottleneck": "the busiest links, and how long messages wait for them",
}
"""The pictures that a study can have, for commands and their help: name -> content."""
