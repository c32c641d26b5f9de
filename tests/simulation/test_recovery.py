from helpers.scenes import run

from netbandit.simulation.drivers.up_slots import Recovery

SLOT = 10


def test_it_takes_as_long_as_the_last_who_waited_when_an_outage_ended():
    recovery = Recovery([100, 205], SLOT)
    assert recovery.slots([]) == 0
    recovery.waited(4, 10)  # over when it ends
    assert recovery.slots([]) == 0
    recovery.waited(10, 12)  # waits from the moment on at which it ends
    recovery.waited(3, 14)
    assert recovery.slots([]) == 4
    recovery.waited(20, 26)
    assert recovery.slots([]) == 5.5
    assert recovery.slots([21]) == 5.5
    assert recovery.slots([20]) is None


CUT = """
[run]
horizon = 2000
slot = "1 ms"
[topology]
family = "path"
agents = 2
[links.peer]
latency = "1 ms"
retry = { timeout = "100 ms", factor = 1.0, spread = 1.0, attempts = 100 }
[bandit]
kind = "bernoulli"
means = [0.1, 0.9]
[learner]
kind = "elimination"
[protocol]
kind = "flooding"
timing = "asynchronous"
[[faults.outages]]
links = [[0, 1]]
from = "0 s"
until = "1 s"
"""


def test_who_waits_for_the_next_timeout_goes_on_then(tmp_path):
    """Both contribute at one slot and repeat every 100 slots, until the link is back at slot 1,000."""
    found = run(tmp_path, text=CUT).metrics
    attempts, hop = divmod(found["round_slots_max"], 100)
    assert hop == 1
    contributed = 1_000 + found["recovery_slots"] - found["round_slots_max"]
    assert contributed + 100 * (attempts - 1) < 1_000 <= contributed + 100 * attempts


def test_there_is_no_recovery_where_nobody_waited_and_none_that_ends_after_the_horizon(tmp_path):
    short = CUT.replace('until = "1 s"', 'until = "1 ms"')
    assert run(tmp_path, text=short).metrics["recovery_slots"] == 0
    cut = run(tmp_path, "run.horizon=1001", text=CUT).metrics
    assert cut["recovery_slots"] is None
    assert cut["waiting_slots"] > 0
    assert "recovery_slots" not in run(tmp_path, "run.horizon=1000", text=CUT).metrics
