"""QPM-D (Joulani, György, Szepesvári 2013): any base learner, fed as if no reward were late."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from netbandit.learners.counts import CountingLearner
from netbandit.learners.slots import Agents, Learner
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others, read_part
from netbandit.parts.registry import kind_of, part_class
from netbandit.parts.settings import Raw
from netbandit.util.wording import Allowed, key_text, show

_KINDS = ("ucb", "klucb", "thompson")
_TELLING = {
    "sharing": "share",
    "use_after": "use_after",
    "keep": "keep",
    "keep_power": "keep_power",
    "robust": "robust",
    "tolerate": "tolerate",
    "kappa": "kappa",
}
"""Keys of the base, by field, that have no effect if its agents learn alone."""
_BASE = 'a learner that counts: { kind = "ucb" }, "klucb" or "thompson", with its keys'


def _base(value: Any) -> Any:
    """Return the table of a base learner with all of its keys."""
    if isinstance(value, CountingLearner):
        value = {"kind": kind_of("learner", type(value)), **value.table()}
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if kind not in _KINDS:
        raise ValueError(f"must be {_BASE}, not {show(value if kind is None else kind)}")
    keys = {key: one for key, one in value.items() if key != "kind"}
    part, problems, _ = read_part(part_class("learner", kind, Path()), keys, "base")
    if part is None or problems:
        raise ValueError("; ".join(f"{key_text(path[1:])} {text}" for path, text in problems))
    return {"kind": kind, **part.table()}


def not_alone(others: Others) -> Checks:
    """Yield any protocol but ``silent``, for learners whose agents never communicate."""
    if others.kinds["protocol"] != "silent":
        text = f'must be "silent" with learner.kind = {show(others.kinds["learner"])}, whose agents learn alone'
        yield Mistake("kind", text, table="protocol")


class Queued(Learner):
    """Keeps the rewards of each arm in a queue, and feeds the base learner from the queue of the arm that it chooses.

    While that queue is not empty, its head is fed to the base, which chooses again; else the arm is pulled. So the
    base sees the rewards of each arm as if none were late, and its clock counts the rewards fed.
    """

    base: Annotated[Raw, BeforeValidator(_base), Allowed(_BASE)] = Field(default={"kind": "ucb"})
    """The base learner, by its kind and keys: "ucb", "klucb" or "thompson"."""

    def check(self) -> Checks:
        """Yield keys of the base about communication, which have no effect."""
        base, plain = self._made_base(), part_class("learner", self.base["kind"], Path())()
        for name, key in _TELLING.items():
            if getattr(base, name) != getattr(plain, name):
                yield Mistake("base", f"{key} has no effect: agents of this learner learn alone; leave it out")

    def check_with(self, others: Others) -> Checks:
        """Yield any protocol by which agents could communicate."""
        yield from not_alone(others)
        if self.base.get("counts", "observed") != "observed":
            yield Note("base", "counts has no effect: the base is asked again only when it has been fed")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Start the base, with empty queues."""
        self._base = self._made_base()
        self._base.start(replace(world, late=False), agents, rng)
        self._queues: list[list[deque[float]]] = [[deque() for _ in range(world.arms)] for _ in range(agents)]
        self._fed = [0] * agents
        self._wanted = [-1] * agents

    def _made_base(self) -> CountingLearner:
        keys = {key: one for key, one in self.base.items() if key != "kind"}
        base: CountingLearner = part_class("learner", self.base["kind"], Path())(**keys)
        return base

    def choose(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Feed the base until it chooses an arm whose queue is empty."""
        return np.array([self._choose(agent) for agent in agents.tolist()], dtype=np.int64)

    def _choose(self, agent: int) -> int:
        wanted = self._wanted[agent]
        while wanted < 0 or self._queues[agent][wanted]:
            if wanted >= 0:
                self._base.learn_one(self._fed[agent], agent, wanted, self._queues[agent][wanted].popleft())
                self._fed[agent] += 1
            wanted = int(self._base.choose_one(self._fed[agent], agent))
        self._wanted[agent] = wanted
        return wanted

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Append the rewards to the queues."""
        for agent, arm, reward in zip(agents.tolist(), arms.tolist(), rewards.tolist(), strict=True):
            self._queues[agent][arm].append(reward)

    def forget(self, slot: int, agents: Agents) -> None:
        """Reset to the initial state."""
        self._base.forget(0, agents)
        for agent in agents.tolist():
            self._fed[agent], self._wanted[agent] = 0, -1
            for queue in self._queues[agent]:
                queue.clear()
