"""The base class of learners with an object for each agent, such as a policy of another library."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Agents, Learner, Numbers
from netbandit.learners.world import World
from netbandit.user_code.errors import ReturnedError


class AgentLearner(Learner):
    """A learner that is made of one object for each agent, of any class: no agent sees what another has seen.

    The least that one of your own needs is `make`::

        class Library(nb.AgentLearner):
            def make(self, world, agent, rng):
                return Policy(world.arms, seed=int(rng.integers(2**31)))

    An object has the methods

    * ``choose(slot, actions)``: return the arm that its agent pulls in *slot*; *actions* are the vectors that it is
      shown, shape (K, d), where the class says ``plays: ClassVar = "vectors"``, else None;
    * ``learn(slot, arm, reward, vector)``: learn the *reward* of an *arm* that it chose in *slot*, with its *vector*,
      shape (d,), or None;

    and, if agents tell each other something,

    * ``message()``: return what its agent tells the others after its decision, a row of numbers, always as many; None:
      nothing, which costs nothing;
    * ``hear(source, row, sent)``: receive the *row* that the agent *source* sent after its decision of slot *sent*.

    An agent that loses its memory is given a new object.
    """

    may_be_silent: ClassVar[bool] = True

    @abstractmethod
    def make(self, world: World, agent: int, rng: np.random.Generator) -> Any:
        """Return the object of an agent.

        Args:
            world: The environment, as far as agents know it; actions are given to ``choose``.
            agent: The agent.
            rng: Its stream of random numbers (purpose ``learner.agent``, index: the agent).
        """

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Make the object of each agent."""
        self._actions = world.actions if self.plays == "vectors" else None
        self._world = replace(world, actions=None)
        self._rngs = [world.streams.generator("learner.agent", agent) for agent in range(agents)]
        self._objects = [self.make(self._world, agent, self._rngs[agent]) for agent in range(agents)]

    def choose(self, slot: int, agents: Agents) -> NDArray[Any]:
        """Ask each agent's object."""
        shown = self._shown(agents)
        return np.array([self._objects[agent].choose(slot, shown[row]) for row, agent in enumerate(agents.tolist())])

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Let each agent's object learn."""
        shown = self._shown(agents)
        for row, (agent, arm, reward) in enumerate(zip(agents.tolist(), arms.tolist(), rewards.tolist(), strict=True)):
            actions = shown[row]
            self._objects[agent].learn(slot, arm, reward, None if actions is None else actions[arm])

    def _shown(self, agents: Agents) -> list[Numbers | None]:
        """Return the action vectors shown to each of *agents*, which may change them; None where it plays arms."""
        return [None] * len(agents) if self._actions is None else list(np.array(self._actions(agents)))

    def share(self, slot: int, agents: Agents) -> Numbers | None:
        """Ask each agent's object that has a message."""
        objects = [self._objects[agent] for agent in agents.tolist()]
        told = [each.message() if hasattr(each, "message") else None for each in objects]
        rows = [np.asarray(row) for row in told if row is not None]
        if not rows:
            return None
        if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
            shapes = ", ".join(sorted({str(row.shape) for row in rows}))
            text = f"message() of the objects of {type(self).__qualname__} must return rows of one length, not {shapes}"
            raise ReturnedError(text, "learner")
        silent = np.array([row is None for row in told])
        return np.ma.array(
            [np.zeros_like(rows[0]) if row is None else row for row in told],
            mask=np.repeat(silent[:, np.newaxis], rows[0].size, axis=1),
        )

    def receive(
        self, slot: int, agents: Agents, sources: Agents, payloads: Numbers, sent_slots: NDArray[np.int64]
    ) -> None:
        """Let each agent's object hear, in order of arrival."""
        for agent, source, row, sent in zip(
            agents.tolist(), sources.tolist(), payloads.copy(), sent_slots.tolist(), strict=True
        ):
            self._objects[agent].hear(source, row, sent)

    def forget(self, slot: int, agents: Agents) -> None:
        """Give *agents* new objects."""
        for agent in agents.tolist():
            self._objects[agent] = self.make(self._world, agent, self._rngs[agent])
