import numpy as np
import pytest
from pydantic import Field

import netbandit as nb


class Fixed(nb.Learner):
    """Chooses what the test says."""

    arms: list[float] = Field(default=[0.0])
    numbers: str = "int64"

    def start(self, world, agents, rng):
        pass

    def choose(self, slot, agents):
        return np.array(self.arms, dtype=self.numbers)

    def learn(self, slot, agents, arms, rewards):
        pass


def run(folder, **keys):
    return nb.Scenario(
        topology=nb.families.Ring(agents=4),
        bandit=nb.bandits.Bernoulli(means=[0.2, 0.8, 0.5]),
        learner=Fixed(**keys),
        protocol=nb.protocols.Silent(),
        run=nb.Run(horizon=5),
    ).run(out=folder)


def test_arms_of_all_agents_are_played(tmp_path):
    found = run(tmp_path, arms=[0, 1, 2, 1])
    assert found[found.metric == "regret"].value.item() == pytest.approx(5 * (0.6 + 0.3))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"arms": [1]}, r"not int64 of shape \(1,\)"),
        ({"arms": [0, 1, 2, -1]}, "not arm -1"),
        ({"arms": [0, 3, 2, 1]}, "not arm 3"),
        ({"arms": [0, 1, 2, 1], "numbers": "float64"}, r"not float64 of shape \(4,\)"),
    ],
)
def test_what_is_no_arm_for_each_agent_is_refused_with_the_learner_and_the_slot(tmp_path, keys, said):
    wanted = r"Fixed\.choose must return an arm from 0 to 2 for each of its 4 agents, integers of shape \(4,\), "
    with pytest.raises(nb.RunsFailedError, match=wanted + said):
        run(tmp_path, **keys)


class Telling(Fixed):
    """One that also tells what it knows, which is nothing."""

    def share(self, slot, agents):
        return np.zeros((len(agents), 1))

    def receive(self, slot, agents, sources, told, said):
        pass


def test_agents_that_decide_in_turn_are_looked_at_too(tmp_path):
    scenario = nb.Scenario(
        topology=nb.families.Ring(agents=4),
        bandit=nb.bandits.Bernoulli(means=[0.2, 0.8]),
        learner=Telling(arms=[-1]),
        protocol=nb.protocols.Pooled(when="pull"),
        run=nb.Run(horizon=5),
    )
    wanted = (
        r"Telling\.choose must return an arm from 0 to 1 for each of its 1 agents, integers of shape \(1,\), not arm -1"
    )
    with pytest.raises(nb.RunsFailedError, match=wanted):
        scenario.run(out=tmp_path)


class Calling(Fixed):
    """One that says wrongly who wants to synchronise."""

    said: str = "int64"

    def share(self, slot, agents):
        return np.zeros((len(agents), 1))

    def adopt(self, slot, agents, combined):
        pass

    def wants(self, slot, agents):
        return np.zeros(len(agents), dtype=self.said) if self.said != "list" else [False] * len(agents)


class Asking(Telling):
    """One that says wrongly who asks a neighbour."""

    said: str = "int64"

    def next_ask(self, slot):
        return slot

    def ask(self, slot, agents):
        return Calling.wants(self, slot, agents)

    def answer(self, slot, agents):
        return self.share(slot, agents)


@pytest.mark.parametrize(
    ("learner", "protocol", "method"),
    [(Calling, nb.protocols.MasterWorker(), "wants"), (Asking, nb.protocols.Gossip(), "ask")],
)
@pytest.mark.parametrize(("said", "found"), [("int64", r"int64 of shape \(4,\)"), ("list", "list")])
def test_who_wants_or_asks_is_said_by_a_boolean_for_each_agent(tmp_path, learner, protocol, method, said, found):
    scenario = nb.Scenario(
        topology=nb.families.Ring(agents=4),
        bandit=nb.bandits.Bernoulli(means=[0.2, 0.8]),
        learner=learner(arms=[0, 1, 0, 1], said=said),
        protocol=protocol,
        run=nb.Run(horizon=5),
    )
    wanted = rf"{learner.__name__}\.{method} must return yes or no for each of its 4 agents, booleans of shape \(4,\), "
    with pytest.raises(nb.RunsFailedError, match=wanted + f"not {found}"):
        scenario.run(out=tmp_path / "wrong")
