"""Agents that deposit what they know: against a reference that sends differences, and on networks that fail."""

from collections import defaultdict

import numpy as np
import pytest
from helpers.deposit_scenes import metrics, theta
from helpers.deposits_reference import Setup, one_a_slot, play
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.learners.oful import Oful
from netbandit.learners.uploads import SumServer


@pytest.mark.sampled(15)
@pytest.mark.parametrize("activity", ["every", "one"])
@pytest.mark.parametrize("latency", [0, 3, 40])
@pytest.mark.parametrize(("answer", "decide"), [("uploader", "all"), ("uploader", "received"), ("lagging", "all")])
def test_choices_are_those_of_a_reference_that_sends_differences(activity, latency, answer, decide):
    horizon = 300 if activity == "every" else 900
    found = metrics(
        f'run={{ horizon = {horizon}, activity = "{activity}" }}',
        f'links.uplink.latency="{latency} ms"',
        f'protocol.answer="{answer}"',
        f'learner.decide="{decide}"',
        "learner.upload=1.7",
        "learner.push=1.4",
        'learner.radius="trace"',
    )
    turns = one_a_slot(4, horizon) if activity == "one" else []
    setup = Setup(4, 3, 4, horizon, [latency] * 4, answer, decide, 1.7, 1.4, radius="trace", theta=theta(), turns=turns)
    expected = play(setup)
    assert found["uploads"] == expected["uploads"] > 5
    assert found["downloads"] == expected["downloads"] > 5
    assert found["regret"] == pytest.approx(expected["regret"], rel=1e-9)
    assert found["unseen"] == pytest.approx(expected["unseen"], rel=1e-12)


UPPER = np.triu_indices(3)


def near(found, expected, error):
    return found.shape == expected.shape and abs(found - expected).max() <= error


class WatchedServer(SumServer):
    """Knows what each agent has observed, and how much of it is in each total."""

    def absorb(self, deposits):
        newer = super().absorb(deposits)
        held = WATCHED.held
        for agent in range(len(self._observations)):
            kept = self.newest_upload(agent)
            held[agent, kept.life] = kept.observations
            assert near(kept.sums, WATCHED.prefix(agent, kept.life, kept.observations), 1e-9)
        WATCHED.totals[id(self.total)] = self.total, dict(held)
        assert near(self.total.sums, WATCHED.sums(held), 1e-9)
        assert self.total.observations == sum(held.values())
        return newer


class Watched(Oful):
    """Looks at what each agent decides by, whenever one does, and at all that is deposited and adopted."""

    def start(self, world, agents, rng):
        super().start(world, agents, rng)
        global WATCHED
        WATCHED = self
        self.seen = defaultdict(lambda: [np.zeros(9)])  # by agent and life: the sums after each observation
        self.held = {}  # how much of that is in the present total
        self.life = [0] * agents
        self.totals = {}
        self.adopted = [{} for _ in range(agents)]
        self.checked = 0

    def forget(self, slot, agents):
        super().forget(slot, agents)
        for agent in agents.tolist():
            self.life[agent] += 1
            self.adopted[agent] = {}

    def sum_server(self):
        made = super().sum_server()
        made.__class__ = WatchedServer
        return made

    def sums(self, counts):
        return sum((self.prefix(*who, count) for who, count in counts.items()), np.zeros(9))

    def prefix(self, agent, life, observations):
        return self.seen[agent, life][observations]

    def take(self, agent, total, own):
        took = super().take(agent, total, own)
        counts = self.totals[id(total)][1]
        assert counts.get((agent, own.life), 0) == own.observations
        assert took == (sum(counts.values()) >= sum(self.adopted[agent].values()))
        if took:
            self.adopted[agent] = counts
        return took

    def choose(self, slot, agents):
        arms = super().choose(slot, agents)
        beliefs = self.beliefs
        for agent in agents.tolist():
            received = self.adopted[agent]
            me = agent, self.life[agent]
            counts = received | {me: len(self.seen[me]) - 1}  # each own observation exactly once
            everything = self.sums(counts)
            gram = np.zeros((3, 3))
            gram[UPPER] = everything[:6]
            gram = gram + np.triu(gram, 1).T + np.eye(3)
            assert near(beliefs.shared_gram[0, agent] + beliefs.own_gram[0, agent], gram, 1e-9)
            response = beliefs.shared_response[0, agent] + beliefs.own_response[0, agent]
            assert near(response, everything[6:], 1e-9)
            if self.decide == "received":
                by = self.sums(received)
                gram = np.zeros((3, 3))
                gram[UPPER] = by[:6]
                gram = gram + np.triu(gram, 1).T + np.eye(3)
                counts, everything = received, by
            assert near(beliefs.inverse[0, agent], np.linalg.inv(gram), 1e-7)
            assert near(beliefs.estimate[0, agent], np.linalg.solve(gram, everything[6:]), 1e-7)
            assert beliefs.held[0, agent] == sum(counts.values())
            self.checked += 1
        return arms

    def learn(self, slot, agents, arms, rewards):
        super().learn(slot, agents, arms, rewards)
        shown = self._shown(agents)
        for row, agent in enumerate(agents.tolist()):
            x, sums = shown[row, arms[row]], self.seen[agent, self.life[agent]]
            sums.append(sums[-1] + np.concatenate([np.outer(x, x)[UPPER], rewards[row] * x]))


FAULTS = [
    "loss=0.3",
    'jitter="20 ms"\nlinks.{0}.overtaking=true',
    "duplicate=0.4",
    'loss=0.2\nlinks.{0}.retry={{ timeout = "30 ms" }}\nlinks.{0}.duplicate=0.3',
]


@pytest.mark.ci
@examples(25)
@given(
    seed=st.integers(0, 1_000),
    latency=st.integers(0, 15),
    spread=st.integers(0, 15),
    faults=st.sampled_from(FAULTS),
    answer=st.sampled_from(["uploader", "lagging"]),
    received=st.booleans(),
    server=st.sampled_from(['"uplink"', '"centre"', "0", "3"]),
    timing=st.sampled_from(["slotted", "asynchronous"]),
    memory=st.sampled_from(["", "kept", "lost"]),
    activity=st.sampled_from(['"every"', '"one"', "{ share = 0.4 }", '{ poisson = "3 ms" }']),
)
def test_each_own_observation_counts_once_whatever_the_network_does(
    seed, latency, spread, faults, answer, received, server, timing, memory, activity
):
    links = "uplink" if server == '"uplink"' else "peer"
    keys = [f"links.{links}.{key}" if place == 0 else key for place, key in enumerate(faults.format(links).split("\n"))]
    found = metrics(
        f'learner.kind="{__name__}:Watched"',
        f"run={{ horizon = 120, seed = {seed}, activity = {activity} }}",
        f'links.{links}.latency={{ uniform = ["{latency} ms", "{latency + spread} ms"] }}',
        *keys,
        f'protocol.answer="{answer}"',
        *(['protocol.deadline="25 ms"'] if answer == "uploader" else []),
        f'learner.decide="{"received" if received and answer == "uploader" else "all"}"',
        "learner.upload=1.2",
        f"protocol.server={server}",
        *([f'faults.nodes={{ up_for = "40 ms", down_for = "10 ms", memory = "{memory}" }}'] if memory else []),
        f'protocol.timing="{"asynchronous" if "poisson" in activity else timing}"',
    )
    assert WATCHED.checked == found.get("decisions", 480 - found["absent_slots"]) > 50
    assert found["uploads"] > 1
    assert found["rounds"] <= found["uploads"]
