"""Tracks that take no time, and entries on them."""

import os
import signal
import time

import numpy as np

import netbandit as nb
from netbandit.studies.suite.cells import METRICS, Cell
from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.record import Record
from netbandit.studies.suite.tracks import Track

SMALL = """\
schema = 1
name = "{name}"
description = "Nothing in particular."
[run]
horizon = 60
replications = {replications}
[topology]
family = "ring"
agents = 4
[links.peer]
loss = {loss}
[bandit]
kind = "bernoulli"
means = [0.2, 0.8]
"""


def track(folder, name="small", loss=0.0, epsilon=None, replications=3, family="arms"):
    path = folder / f"{name}.toml"
    path.write_text(SMALL.format(name=name, loss=loss, replications=replications))
    alone, everybody = (Entry({"kind": "klucb"}, {"kind": kind}, "reference") for kind in ("silent", "pooled"))
    return Track(name, family, "", path, alone, everybody, epsilon, 4, 60, replications)


def cell(regret, sent=None, stalled=0):
    """A cell that ran, with these regrets by replication."""
    count = len(regret)
    values = dict.fromkeys(METRICS, [0.0] * count) | {"regret": list(regret), "stalled": [stalled] * count}
    return Cell("ran", values=values | {"bytes": list(sent if sent is not None else [0.0] * count)})


def record(cells, track):
    """A record of cells on one track, with those of its references under the names of these."""
    entries = {name: Entry({"kind": name}, {"kind": "silent"}) for name in cells}
    entries |= {one.name: one for one in (track.alone, track.all)}
    found = {name: {track.name: one} for name, one in cells.items()}
    return Record(entries, found, {}, {})


class Raises(nb.Learner):
    """Raises in its tenth slot."""

    def start(self, world, agents, rng):
        self.agents = agents

    def choose(self, slot, agents):
        if slot == 10:
            raise ZeroDivisionError("a mistake of mine")
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        pass


class Endless(Raises):
    """Never decides in its tenth slot."""

    def choose(self, slot, agents):
        while slot == 10:
            time.sleep(1)
        return np.zeros(len(agents), dtype=np.int64)


class Dies(Raises):
    """Takes its process along."""

    def choose(self, slot, agents):
        os.kill(os.getpid(), signal.SIGKILL)
