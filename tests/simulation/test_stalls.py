"""Who waits at the horizon for what cannot come, and whether a run is said to be able to stall."""

import pytest
from helpers.scenes import run

ROUNDS = """\
run = { horizon = 60, slot = "1 ms" }
topology = { family = "path", agents = 4 }
links.peer = { latency = "0.3 ms" }
bandit = { kind = "bernoulli", means = [0.1, 0.9] }
learner = { kind = "elimination", rounds = 2, gap = 0.9 }
protocol = { kind = "flooding" }
"""
CALLS = """\
run = { horizon = 60, slot = "1 ms" }
topology = { family = "ring", agents = 5 }
links.peer = { latency = "0.3 ms" }
bandit = { kind = "linear", dimension = 2, arms = 3 }
learner = { kind = "feducb", epsilon = inf, threshold = 1.0 }
protocol = { kind = "flooding" }
"""
APART = "topology.changes={up_for = '1 ms', every = '90 ms', phase = 'together'}"
"""Links that are up for too short a time for all to hear of a round."""


def stalls(folder, text, *overrides):
    metrics = run(folder, *overrides, text=text).metrics
    return metrics["stalled"], metrics["may_stall"]


@pytest.mark.parametrize("kind", ["flooding", "relay", "sink"])
@pytest.mark.parametrize("text", [ROUNDS, CALLS])
def test_who_waits_for_a_link_that_does_not_come_stalls_where_runs_may_stall(tmp_path, text, kind):
    stalled, may_stall = stalls(tmp_path, text, f"protocol.kind={kind}", APART)
    assert stalled > 0
    assert may_stall


@pytest.mark.sampled(2)
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
@pytest.mark.parametrize("horizon", range(4, 12))
def test_nobody_stalls_where_nothing_can_be_lost(tmp_path, horizon, timing):
    """Gossip goes on in the next slot, whenever the horizon cuts it off."""
    late = ("links.peer.jitter=0.2 ms", "protocol.kind=gossip", f"protocol.timing={timing}")
    assert stalls(tmp_path, CALLS, *late, f"run.horizon={horizon}") == (0, 0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["flooding", "gis", "relay", "sink", "master-worker"])
@pytest.mark.parametrize(("deadline", "waiting"), [("2 ms", 0), (None, 3)])
def test_an_agent_that_tells_nothing_waits_for_no_call(tmp_path, kind, deadline, waiting):
    keys = [f"protocol.kind={kind}", "adversary={agents=[1, 3], attack='mute'}"]
    keys += [f"protocol.deadline={deadline}"] if deadline else []
    assert stalls(tmp_path, CALLS, *keys) == (waiting, int(deadline is None))
