"""One replication of a learner that gathers contexts, played with its driver in hand."""

from netbandit.checks.check import check
from netbandit.network.clock import Clock, Environment
from netbandit.network.fingerprint import Fingerprint
from netbandit.scenario.load import load
from netbandit.simulation.build import build_network, topology_streams
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.gathers import Gathers
from netbandit.util.streams import Streams

SCENARIO = """
schema = 1
[run]
horizon = 400
slot = "1 ms"
[topology]
family = "star"
agents = 4
[bandit]
kind = "vertical"
dimension = 12
arms = 5
[learner]
kind = "linucb"
[protocol]
kind = "vertical"
timing = "asynchronous"
"""


def point(tmp_path, *overrides):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return check(load(file, overrides)).points[0]


def played(parts):
    """Run one replication; return the driver and its outcome."""
    scenario = parts.scenario
    streams = Streams(scenario.run.seed, 0)
    clock = Clock(Environment(), scenario.run.slot_nanoseconds, scenario.run.horizon)
    topology, fingerprint = parts.topology(0), Fingerprint()
    graph_streams = topology_streams(parts.family, scenario.run.seed, 0)
    network = build_network(
        scenario.links, topology, clock, graph_streams, fingerprint, None, own_streams=streams, peers=True
    )
    bandit = parts.bandit.fresh()
    bandit.start(topology.agents, streams.generator)
    driver = Gathers(
        ReplicationContext(
            learner=parts.learner,
            protocol=parts.protocol,
            run=scenario.run,
            adversary=scenario.adversary,
            attack=None,
            topology=topology,
            network=network,
            clock=clock,
            bandit=bandit,
            streams=streams,
            fingerprint=fingerprint,
        )
    )
    driver.start()
    clock.environment.run()
    return driver, driver.finish()
