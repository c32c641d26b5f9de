from helpers.scenes import run

CALLS = """
[run]
horizon = 60
[topology]
family = "complete"
agents = 4
[links.uplink]
latency = "1 ms"
loss = 0.4
retry = { timeout = "3 ms", attempts = 6, factor = 1.0 }
[bandit]
kind = "bernoulli"
means = [0.1, 0.9]
[learner]
kind = "ucb"
[protocol]
kind = "master-worker"
[faults.nodes]
up_for = "20 ms"
down_for = "2 ms"
memory = "lost"
"""


def test_who_hears_an_answer_again_in_its_next_life_ends_no_round_twice(tmp_path):
    """An answer whose acknowledgement is lost is repeated, and may reach an agent that has forgotten the first."""
    for replication in range(4):
        assert run(tmp_path, text=CALLS, replication=replication).metrics["rounds"] > 0
