"""A network as an environment of PettingZoo: who learns stands outside, messages and their delays are netbandit's.

pip install pettingzoo
python examples/learners/petting_zoo.py
"""

import threading
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv

import netbandit as nb

HERE = threading.local()
"""The environment of a run, which has a thread of its own."""


class ClosedError(Exception):
    """The environment was closed, or reset, before the horizon."""


class Outside(nb.Learner):
    """Agents that tell each other what each pull paid, and are told from outside what to pull."""

    def start(self, world, agents, rng):
        self.known = np.zeros((agents, 2 * world.arms))  # pulls of each arm, made or heard of, and their sums
        self.arms, self.latest, self.paid = world.arms, np.zeros((agents, 2)), np.zeros(agents)
        self.environment = HERE.environment
        self.environment.learner = self

    def choose(self, slot, agents):
        return self.environment.ask(agents)

    def learn(self, slot, agents, arms, rewards):
        self.count(agents, arms, rewards)
        self.paid[agents] += rewards
        self.latest[agents] = np.column_stack([arms, rewards])

    def share(self, slot, agents):
        return self.latest[agents]

    def receive(self, slot, agents, sources, payloads, sent_slots):
        self.count(agents, payloads[:, 0].astype(int), payloads[:, 1])

    def count(self, agents, arms, rewards):
        np.add.at(self.known, (agents, arms), 1)
        np.add.at(self.known, (agents, self.arms + arms), rewards)

    def item_bytes(self, numbers):
        return 24  # as learner "ucb": a reward and a slot of 8 bytes, an arm and the hops left of 4


class Network(ParallelEnv):
    """A scenario whose agents are played from outside, a step for each slot in which somebody decides.

    An observation is what an agent knows: pulls and sums of rewards of each arm, from its own pulls and from messages
    that have arrived. A reward is what it was paid since its last step. All ends with the horizon; then `results` has
    all metrics.
    """

    metadata = {"name": "netbandit"}

    def __init__(self, scenario):
        self.scenario, self.thread, self.results = scenario, None, None
        self.reset()
        numbers = self.learner.known.shape[1]
        self.possible_agents = list(self.agents)
        self.seen = dict.fromkeys(self.agents, Box(0, np.inf, (numbers,), np.float64))
        self.played = {agent: Discrete(numbers // 2) for agent in self.agents}

    def observation_space(self, agent):
        return self.seen[agent]

    def action_space(self, agent):
        return self.played[agent]

    def reset(self, seed=None, options=None):
        self.close()
        self.asked, self.answers, self.results = SimpleQueue(), SimpleQueue(), None
        self.thread = threading.Thread(
            target=self.play, args=({} if seed is None else {"run__seed": seed},), daemon=True
        )
        self.thread.start()
        self.wait()
        self.agents = [f"agent_{agent}" for agent in range(len(self.learner.known))]
        return self.observations(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.learner.paid[:] = 0
        self.answers.put(np.array([actions[agent] for agent in self.agents]))
        self.wait()
        over = self.results is not None
        agents, paid = self.agents, self.learner.paid.tolist()
        seen = self.observations()
        if over:
            self.agents = []
        return (
            seen,
            dict(zip(agents, paid, strict=True)),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            {agent: {} for agent in agents},
        )

    def close(self):
        if self.thread is not None:
            self.answers.put(None)
            self.thread.join()

    def observations(self):
        return {agent: row.copy() for agent, row in zip(self.agents, self.learner.known, strict=True)}

    def play(self, given):
        """Run the scenario, in its thread."""
        HERE.environment = self
        try:
            with TemporaryDirectory() as out:
                self.results = nb.run(self.scenario, learner={"kind": Outside}, run__replications=1, out=out, **given)
            self.asked.put(None)
        except Exception as error:
            self.asked.put(error)

    def ask(self, agents):
        """Ask what *agents* pull, in the thread of the run."""
        self.asked.put(None)
        if (arms := self.answers.get()) is None:
            raise ClosedError
        return arms[agents]

    def wait(self):
        """Wait until the run asks, or is over."""
        if (error := self.asked.get()) is not None:
            raise error


def ucb(seen, slot):
    """UCB1 outside: each arm once, then the largest bound."""
    pulls, sums = np.split(seen, 2)
    if slot < len(pulls):
        return slot
    return int((sums / pulls + np.sqrt(2 * np.log(slot)) / np.sqrt(pulls)).argmax())


if __name__ == "__main__":
    env = Network(Path(__file__).with_suffix(".toml"))
    seen, _ = env.reset()
    slot = 0
    while env.agents:
        seen, *_ = env.step({agent: ucb(seen[agent], slot) for agent in env.agents})
        slot += 1
    print(env.results.set_index("metric").loc[["regret", "messages", "bytes"], "value"])
