"""What switches too often for its times to be looked up is said before a run, and ordinary laws are not."""

import pytest

from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load

BASE = """
run = { horizon = 10000, slot = "1 h" }
topology = { family = "path", agents = 4 }
bandit = { kind = "bernoulli", means = [0.1, 0.9] }
learner = { kind = "elimination" }
protocol = { kind = "flooding" }
"""


def notes(*overrides):
    return [note for note in check(load("s.toml", overrides, text=BASE)).notes if "switch" in note]


@pytest.mark.parametrize(
    ("written", "key", "things"),
    [
        ('links.peer.loss={ good = 0, bad = 1, good_for = "%s", bad_for = "%s" }', "links.peer.loss", 6),
        ('faults.links={ up_for = "%s", down_for = "%s" }', "faults.links", 3),
        ('faults.nodes={ up_for = "%s", down_for = "%s" }', "faults.nodes", 4),
        ('faults.server={ up_for = "%s", down_for = "%s" }', "faults.server", 1),
    ],
)
def test_what_switches_every_few_milliseconds_for_a_year_is_noted(written, key, things):
    (note,) = notes(written % ("4 ms", "6 ms"))
    assert f" {key}: " in note
    assert f"{things * 3.6e7 / 5e-3:.0e} times in all" in note
    assert not notes(written % ("4 h", "6 h"))


SHORT = ("run.horizon=7", 'run.slot="1 ns"', 'links.peer.latency="50 ms"')


def test_what_switches_until_the_last_message_arrives_counts_to_then():
    """Of a node it must be known whether it is up when a message arrives, long after a horizon of 7 ns."""
    for law, things in (("nodes", 4), ("server", 1)):
        (note,) = notes(*SHORT, f'faults.{law}={{ up_for = "1 ns", down_for = "1 ns" }}')
        assert f"{things * 5e7:.0e} times in all" in note
        assert not notes(*SHORT, f'faults.{law}={{ up_for = "1 ns", down_for = "1 ns" }}', 'links.peer.latency="9 ns"')
    # Uplinks carry nothing here.
    assert not notes(*SHORT[:2], 'links.uplink.latency="1 s"', 'faults.nodes={ up_for = "1 ns", down_for = "1 ns" }')


def test_links_that_fail_soon_are_looked_at_no_further():
    """A message is lost when its link is down first: what the link does later makes no difference."""
    asked = 'faults.links={ up = %s, every = "1 slot" }'
    assert not notes(*SHORT, asked % 0.5)
    assert not notes(*SHORT, 'faults.links={ up_for = "1 ns", down_for = "1 ns" }')
    with pytest.raises(ScenarioError, match="it would be looked for period by period"):
        notes(*SHORT, asked % 0.99999999)
    found = check(load("s.toml", [*SHORT, asked % 0.5, 'learner.kind="ucb"'], text=BASE)).points[0].simulation(0).run()
    assert found.metrics["lost"] + found.metrics["in_flight"] == found.metrics["messages"] == 7 * 6
    assert found.metrics["lost"] > 30  # of what was sent in the last slots, some links are still up at the end


def test_links_drawn_anew_in_short_periods_are_noted():
    (note,) = notes('faults.links={ up = 0.5, every = "10 ms" }')
    assert f"{3 * 3.6e9:.0e} times" in note
    assert not notes('faults.links={ up = 1.0, every = "10 ms" }')
    assert not notes("faults.links={ up = 0.5 }")


def test_what_switches_until_the_last_job_ends_counts_to_then():
    faults = 'faults.nodes={ up_for = "1 ns", down_for = "1 ns" }'
    (note,) = notes(*SHORT[:2], faults, 'compute.agents.item="50 us"', "compute.speed=1000.0")
    assert f"{4 * 5e7:.0e} times in all" in note
    assert not notes(*SHORT[:2], faults, 'compute.agents.item="50 us"')
