"""Which arm agents answer, and when they have answered for good; judged by the means of the world, not by learners."""

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import groupby
from math import inf, nan
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import ArmBandit, Bandit, FiniteBandit
from netbandit.simulation.regret import level_to_the_end
from netbandit.simulation.result import Curve, Metric

Agents = NDArray[np.int64]
Mask = NDArray[np.bool_]

ANSWERS = (
    *("answered", "stop_slot", "stop_slot_mean", "samples"),
    *("wrong", "wrong_any", "wrong_local", "simple_regret"),
)
"""The metrics of learners that give answers."""


def all_answered(up: Mask, stopped: Mask, honest: Mask) -> bool:
    """Return whether a run until all have answered is over: some honest agent is up, and all that are have stopped."""
    holding = up & honest
    return bool(holding.any() and stopped[holding].all())


class Answers:
    """The answers of a replication.

    Args:
        bandit: The world.
        honest: Whose answers count, shape (M,).
        stops: Whether agents may stop before the horizon.

    Attributes:
        stopped: After how many slots each agent has answered for good, shape (M,); 0: it has not.
        samples: How many decisions it has made by then, shape (M,).
        of_agents: Once there are metrics: fields of `netbandit.simulation.result.Nodes`.
    """

    def __init__(self, bandit: Bandit, honest: Mask, *, stops: bool) -> None:
        self._bandit, self.honest, self._stops = bandit, honest, stops
        self.stopped: Agents = np.zeros(len(honest), dtype=np.int64)
        self.samples: Agents = np.zeros(len(honest), dtype=np.int64)
        self.of_agents: dict[str, NDArray[np.float64]] = {}
        self._knots: list[tuple[int, float]] = []

    @property
    def nobody(self) -> Agents:
        """The answers of agents of which none has one, shape (M,)."""
        return np.full(len(self.honest), -1)

    def loss(self, slot: int, answers: Agents) -> NDArray[np.float64] | None:
        """Return how much worse than the best arm is the answer of each agent after *slot*, shape (M,).

        No answer is as good as a random one. None: the world's means are unknown.
        """
        if self._gaps is not None:
            gaps, chance = self._gaps
            return np.where(answers < 0, chance, gaps[answers])
        bandit = self._bandit
        if not isinstance(bandit, ArmBandit):
            return None
        agents, arms = len(answers), bandit.arm_count
        each = bandit.regrets(slot, np.repeat(np.arange(agents), arms), np.tile(np.arange(arms), agents))
        if each is None:
            return None
        of_arms = each.reshape(agents, arms)
        lost: NDArray[np.float64] = of_arms[np.arange(agents), answers]
        return np.where(answers < 0, of_arms.mean(axis=1), lost)

    @cached_property
    def _gaps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """How much worse each arm is, shape (K,), and a random one, shape (M,); None where that changes or differs."""
        bandit = self._bandit
        if not isinstance(bandit, FiniteBandit) or getattr(bandit, "changing", False):
            return None
        return bandit.gaps, np.broadcast_to(bandit.gaps, (len(self.honest), len(bandit.gaps))).mean(axis=1)

    def note(self, slots: int, answers: Agents) -> None:
        """Note a knot of the curve: what agents answer after so many *slots*."""
        lost = self.loss(max(slots - 1, 0), answers)
        if lost is not None:
            self._knots.append((slots, float(lost[self.honest].mean())))

    def curves(self, horizon: int) -> dict[str, Curve]:
        """Return the curve of simple regret, level from the last knot to the *horizon*; none without knots."""
        if not self._knots:
            return {}
        slots, values = zip(*self._knots, strict=True)
        return {"simple_regret": level_to_the_end(np.array(slots), np.array(values), horizon)}

    def metrics(self, slot: int, answers: Agents, local: Agents, up: Mask) -> dict[str, Metric]:
        """Return the metrics at the end of the run.

        Args:
            slot: The last slot.
            answers: What each agent answers, shape (M,); -1: nothing.
            local: What it answers for its own means, shape (M,).
            up: Which agents are up then, shape (M,).
        """
        honest, stopped = self.honest, self.stopped > 0
        judged = honest & stopped if self._stops else honest
        found: dict[str, Metric] = {}
        if self._stops:
            last = self.stopped[judged]
            waited_for = (honest & up & ~stopped).any() or not judged.any()
            found = {
                "answered": float(judged.sum() / honest.sum()),
                "stop_slot": None if waited_for else int(last.max()),
                "stop_slot_mean": float(last.mean()) if judged.any() else None,
                "samples": int(self.samples[honest].sum()),
            }
            self.of_agents = {"answered": np.where(stopped, self.stopped, nan)}
        lost = self.loss(slot, answers)
        if lost is None:
            return found
        are_wrong = (lost > 0) | (answers < 0)
        self.of_agents["wrong"] = np.where(judged, are_wrong, nan)
        wrong = are_wrong[judged]
        found = {
            "wrong_any": int(wrong.any()),
            **found,
            "wrong": float(wrong.mean()) if len(wrong) else None,
            "simple_regret": float(lost[honest].mean()),
        }
        own = self._own_means(slot)
        if own is not None:
            theirs = own[np.arange(len(local)), local]
            are_wrong = ((theirs < own.max(axis=1)) | (local < 0))[judged]
            found["wrong_local"] = float(are_wrong.mean()) if len(are_wrong) else None
        return found

    def _own_means(self, slot: int) -> NDArray[np.float64] | None:
        """Return the means of the arms that each agent has, shape (M, K); None if they do not differ."""
        assert isinstance(self._bandit, ArmBandit)
        means = self._bandit.means_at(slot)
        if means is None or means.ndim == 1 or (means == means[0]).all():
            return None
        arms = self._bandit.own_arms
        return means if arms is None else np.where(arms, means, -np.inf)


class PhaseAnswers(Answers):
    """The answers of agents that explore in phases: one after each phase, and a last one when they commit.

    Args:
        bandit: The world.
        honest: Whose answers count, shape (M,).
    """

    def __init__(self, bandit: Bandit, honest: Mask) -> None:
        super().__init__(bandit, honest, stops=True)
        self.of_all, self.local = self.nobody, self.nobody
        self._events: list[tuple[int, int, int, int]] = []
        self._stays: list[tuple[int, int, float]] = []  # which agent has stopped from which slots on, up to which

    def answer(self, slots: int, agent: int, arm: int, local: int, *, stops: bool = False) -> None:
        """Note what *agent* answers after so many *slots*; *stops*: for good."""
        self._events.append((slots, agent, arm, local))
        if stops:
            self.stopped[agent] = slots
            self._stays.append((agent, slots, inf))

    def forget(self, slots: int, agent: int) -> None:
        """Note that *agent* begins anew after so many *slots*, without an answer."""
        self._events.append((slots, agent, -1, -1))
        self.stopped[agent] = 0
        self._stays = [(who, first, min(last, slots) if who == agent else last) for who, first, last in self._stays]

    def close(self) -> None:
        """Put together the last answers, and the curve."""
        self.note(0, self.of_all)
        for slots, some in groupby(sorted(self._events, key=itemgetter(0)), itemgetter(0)):
            self._knots.append((slots - 1, self._knots[-1][1]))  # a step
            for _, agent, arm, local in some:
                self.of_all[agent], self.local[agent] = arm, local
            self.note(slots, self.of_all)

    def over(self, is_up: Callable[[int, int], bool], changes: Iterable[int]) -> int | None:
        """Return after how many slots a run until all have answered is over; None: it is not.

        Args:
            is_up: Whether an agent is up in a slot.
            changes: The slots in which agents go down.
        """
        agents = range(len(self.honest))
        for slots in sorted({*(slot + 1 for slot in changes), *(first for _, first, _ in self._stays)}):
            stopped = np.zeros(len(agents), dtype=np.bool_)
            stopped[[agent for agent, first, last in self._stays if first <= slots < last]] = True
            if all_answered(np.array([is_up(agent, slots - 1) for agent in agents]), stopped, self.honest):
                return slots
        return None
