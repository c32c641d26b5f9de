"""Agents that deposit what they know with a server, run without a command."""

from helpers.worlds import started

from netbandit.bandits.linear import Linear
from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.util.streams import Streams

SCENARIO = """
run = { horizon = 300, slot = "1 ms" }
topology = { family = "path", agents = 4 }
bandit = { kind = "linear", dimension = 3, arms = 4, actions = "fresh" }
learner = { kind = "oful", radius = 0.5 }
protocol = { kind = "parameter-server" }
"""


LAGGING = 'protocol.answer="lagging"'


def run(*overrides, replication=0):
    return check(load("scenario.toml", overrides, text=SCENARIO)).points[0].simulation(replication).run()


def metrics(*overrides):
    return run(*overrides).metrics


def regret(*overrides):
    return metrics(*overrides)["regret"]


def theta():
    return started(Linear(dimension=3, arms=4, actions="fresh"), 4, Streams(0, 0).generator).world.theta
