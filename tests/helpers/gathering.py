"""One replication of a learner that gathers contexts, played with its driver in hand."""

from netbandit.checks.check import check
from netbandit.network.fingerprint import Fingerprint
from netbandit.scenario.load import load
from netbandit.simulation.drivers.gathers import Gathers

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
    driver = Gathers(parts.simulation(0).context(parts.topology(0), Fingerprint(), None))
    driver.start()
    driver.context.clock.environment.run()
    return driver, driver.finish()
