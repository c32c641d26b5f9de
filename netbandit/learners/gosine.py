"""GosInE (Chawla, Sankararaman, Ganesh, Shakkottai 2020): agents with few arms each ask one another for good ones."""

from collections.abc import Mapping
from math import ceil, floor, inf, log, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.learners.slots import Agents, Numbers, largest_mean
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others

_LABEL_BYTES = 4


class Gosine(StepLearner):
    """UCB over a small set of arms, one of which is replaced by the recommendation of a random neighbour.

    Agent i holds q = ceil(K / M) sticky arms, ``(i q + 0 .. q - 1) mod K``, and two more, U and L, at first the two
    that follow. Phase j ends at boundary j^power. Then, by the pulls of the phase, U and L change places if U was
    pulled less often; and the agent asks one random neighbour, which answers with the arm of its set that it pulled
    most in its last phase (its first arm before any phase has ended). If the asking agent does not hold that arm when
    the answer comes, it replaces L. Where a phase ends at the boundary at which an answer takes effect, it ends first.

    If there are only q + 2 arms, all agents hold all arms and none asks.

    An agent that is down where a phase ends ends it when it is back; one that has lost its memory begins with its first
    arms and the first phase.

    State: ``held``: the arms that each agent holds, in the order of its set: sticky arms, U, L; shape (M, q + 2);
    ``since``: the slot in which each agent began: 0, unless it lost its memory later, shape (M,).
    """

    counts_slots: ClassVar[bool] = True
    late_rewards: ClassVar[bool] = False
    impossible: ClassVar[Mapping[str, str]] = {
        "robust": "an agent asks one neighbour at a time, so that there is nothing to combine: block is the defence"
    }

    exploration: float = Field(default=8.0, ge=0)
    """alpha of the index ``S/N + sigma sqrt(2 alpha ln tau / N)``; 8 is the paper's 4 ln t / n on [0, 1]."""
    power: int = Field(default=3, ge=1, le=60)
    """Phase j ends at boundary j^power."""
    block: Literal["none", "most-played", "confident"] = "none"
    """Which neighbours an agent blocks for a while (Vial, Shakkottai & Srikant): at the end of phase j, of those whose
    answers it has received in the phase, those whose arm was not its most pulled one of the phase (``most-played``,
    2021); or those whose arm it has pulled at most ``j^1.5`` times in all, while its most pulled arm has been the same
    since phase ``j - floor(ln j)`` (``confident``, 2022)."""
    block_power: float = Field(default=2.0, ge=1, le=10)
    """eta: a neighbour blocked at the end of phase j is not asked until the end of phase ``ceil(j^eta)``."""
    slack: float = Field(default=0.0, ge=0)
    """delta: above 0, phases end at random, for each agent independently: the number of slots of phase j is uniform on
    ``d .. ceil((1 + delta) d)``, ``d = j^power - (j - 1)^power``."""

    def check(self) -> Checks:
        """Yield the duration of blocks if no neighbour is blocked."""
        if self.block == "none" and "block_power" in self.model_fields_set:
            yield Note("block_power", "is used only where neighbours are blocked")

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`."""
        return "recommendations"

    def check_with(self, others: Others) -> Checks:
        """Yield sets of arms assigned by the bandit: here the learner assigns them."""
        for key in ("arms_per_agent", "arm_sets"):
            if getattr(others.bandit, key, None) is not None:
                yield Mistake(key, f"leave it out: {others.kinds['learner']} assigns the arms itself", table="bandit")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Assign the arms; draws of phases use ``gosine``, index: the agent."""
        self.world = world
        arms = world.arms
        sticky = -(-arms // agents)
        self.asking = sticky + 2 < arms
        size = sticky + 2 if self.asking else arms
        first = sticky * np.arange(agents)[:, None] if self.asking else np.zeros((agents, 1), dtype=np.int64)
        self.held: NDArray[np.int64] = (first + np.arange(size)) % arms
        self._first_held = self.held.copy()
        self.since: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        self.pulls, self.sums = np.zeros((agents, arms)), np.zeros((agents, arms))
        self.phase_pulls = np.zeros((agents, arms))
        self._spread = world.sub_gaussian * sqrt(2 * self.exploration)
        self._width = np.zeros(1)
        self._width_of = np.full(2, -1)  # the slot, and the one in which those began for whom it is
        self.most_pulled = self.held[:, 0].copy()
        self.ended = np.zeros(agents, dtype=np.int64)
        self._replaced = 0
        # Of each agent: up to which phase each neighbour is blocked, and who has recommended what in this one.
        self._blocked: list[dict[int, int]] = [{} for _ in range(agents)]
        self._recommended: list[list[tuple[int, int]]] = [[] for _ in range(agents)]
        self._steady: NDArray[np.int64] = np.ones(agents, dtype=np.int64)
        self._rngs = [world.streams.generator("gosine", agent) for agent in range(agents)] if self.slack else []
        self._ends = np.full(agents, world.horizon)
        if self.asking:
            self._ends[:] = 0
            self._begin(np.arange(agents))

    def _begin(self, agents: Agents) -> None:
        """Determine the end of the next phase of each of *agents*, which begins at the end of the last."""
        for agent in agents.tolist():
            phase = int(self.ended[agent]) + 1
            slots: int = phase**self.power - (phase - 1) ** self.power
            if self.slack:
                slots = int(self._rngs[agent].integers(slots, int(np.ceil((1 + self.slack) * slots)), endpoint=True))
            self._ends[agent] = min(int(self._ends[agent]) + slots, self.world.horizon)

    def choose_one(self, slot: int, agent: int) -> Any:
        """Return the arm of its set with the largest index; one never pulled first, the first of the set of equals."""
        since = self.since[agent]
        if self._width_of[0] != slot or self._width_of[1] != since:  # the same for all that began together
            self._width[0] = self._spread * sqrt(log(max(slot - since, 1)))
            self._width_of[0] = slot
            self._width_of[1] = since
        width = self._width[0]
        best = self.held[agent, 0]
        highest = -inf
        for place in range(self.held.shape[1]):
            arm = self.held[agent, place]
            index = inf
            if self.pulls[agent, arm] > 0.0:
                index = self.sums[agent, arm] / self.pulls[agent, arm] + width / sqrt(self.pulls[agent, arm])
            if index > highest:
                highest = index
                best = arm
        return best

    def learn_one(self, slot: int, agent: int, arm: int, reward: float) -> None:
        """Count the observation."""
        self.pulls[agent, arm] += 1.0
        self.sums[agent, arm] += reward
        self.phase_pulls[agent, arm] += 1.0

    def next_ask(self, slot: int) -> int | None:
        """Return the first slot from *slot* on at whose beginning a phase ends."""
        first = int(self._ends.min())
        return max(first, slot) if first < self.world.horizon else None

    def ask(self, slot: int, agents: Agents) -> NDArray[np.bool_]:
        """End the phases that end at the boundary that begins *slot*; their agents ask."""
        found = self._ends[agents] <= slot  # before, if the agent was down
        ending = agents[found]
        if len(ending):
            rows = np.arange(len(ending))
            held = self.held[ending]
            pulled = self.phase_pulls[ending[:, None], held]
            most = held[rows, pulled.argmax(axis=1)]
            # Since which phase the most pulled arm is the same.
            self._steady[ending] = np.where(
                most == self.most_pulled[ending], self._steady[ending], self.ended[ending] + 1
            )
            self.most_pulled[ending] = most
            turned = ending[pulled[:, -2] < pulled[:, -1]]
            self.held[turned, -2:] = self.held[turned, :-3:-1]
            self.phase_pulls[ending] = 0
            self.ended[ending] += 1
            if self.block != "none":
                for agent in ending.tolist():
                    self._judge(agent)
            self._begin(ending)
        return np.asarray(found)

    def _judge(self, agent: int) -> None:
        """Block neighbours whose recommendations in the phase that has ended *agent* mistrusts."""
        phase = int(self.ended[agent])
        for source, arm in self._recommended[agent]:
            if self.block == "most-played":
                mistrusted = arm != self.most_pulled[agent]
            else:
                rarely = self.pulls[agent, arm] <= phase**1.5
                mistrusted = rarely and self._steady[agent] <= phase - floor(log(phase))
            if mistrusted:
                self._blocked[agent][source] = ceil(phase**self.block_power)
        self._recommended[agent].clear()

    def avoided(self, agent: int) -> frozenset[int]:
        """Return the neighbours that *agent* has blocked in the phase that has just ended."""
        phase = self.ended[agent]
        return frozenset(source for source, last in self._blocked[agent].items() if last >= phase)

    def blocked_links(self) -> list[tuple[int, int]]:
        """Return the pairs of an agent and a neighbour that it would not ask at the end of its present phase."""
        phases = (self.ended + 1).tolist()
        return [
            (agent, source)
            for agent, blocked in enumerate(self._blocked)
            for source, last in sorted(blocked.items())
            if last >= phases[agent]
        ]

    def answer(self, slot: int, agents: Agents) -> Numbers:
        """Return the arm that each of *agents* pulled most in its last phase, shape (n, 1)."""
        return self.most_pulled[agents, None].astype(np.float64)

    def receive(
        self, slot: int, agents: Agents, sources: Agents, payloads: Numbers, sent_slots: NDArray[np.int64]
    ) -> None:
        """Let each arm recommended to an agent replace its L, unless the agent holds it."""
        arms = payloads[:, 0].astype(np.int64).tolist()
        if self.block != "none":
            for agent, source, arm in zip(agents.tolist(), sources.tolist(), arms, strict=True):
                self._recommended[agent].append((source, arm))
        for agent, arm in zip(agents.tolist(), arms, strict=True):
            if arm not in self.held[agent]:
                self.held[agent, -1] = arm
                self._replaced += 1

    def answers(self, agents: Agents) -> NDArray[np.int64]:
        """See `Learner.answers`: of the arms that it holds, that of the largest mean."""
        held = self.held[agents]
        rows = agents[:, np.newaxis]
        return largest_mean(self.pulls[rows, held], self.sums[rows, held], held)

    def forget(self, slot: int, agents: Agents) -> None:
        """Reset to the initial state, with the first arms and the first phase."""
        self.held[agents] = self._first_held[agents]
        self.most_pulled[agents] = self.held[agents, 0]
        self.pulls[agents] = self.sums[agents] = self.phase_pulls[agents] = 0.0
        self.since[agents] = slot
        self._steady[agents] = 1
        for agent in agents.tolist():
            self._blocked[agent].clear()
            self._recommended[agent].clear()
        if self.asking:
            self.ended[agents] = 0
            self._ends[agents] = slot
            self._begin(agents)

    def item_bytes(self, numbers: int) -> int:
        """Return the bytes of an arm: a label."""
        return _LABEL_BYTES * numbers

    def figures(self) -> dict[str, float | int | None]:
        """Return the phases that the agent with the fewest has ended, and how often an arm was replaced."""
        return {"phases": int(self.ended.min()), "replaced_arms": self._replaced}
