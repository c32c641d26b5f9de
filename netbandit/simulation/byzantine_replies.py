"""Byzantine replies: lies of liars that are asked for an arm, and validation of the answers."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.false_recommendations import RecommendationView, false_recommendation
from netbandit.byzantine.adversaries.validation import valid_recommendation
from netbandit.simulation.byzantine_items import Liars

if TYPE_CHECKING:
    from netbandit.simulation.driver import ReplicationContext


class AnswerLies(Liars):
    """Forges recommended arms, and validates received answers.

    Args:
        context: The replication.
    """

    def __init__(self, context: "ReplicationContext") -> None:
        super().__init__(context)
        self._answers = 0

    def answered(self, agent: int, asker: int, slot: int, truth: NDArray[np.float64], learner: Any) -> Any:
        """Return the answer of *agent*, given the honest answer *truth*.

        Args:
            agent: The agent that is asked.
            asker: The agent that asks.
            slot: The slot.
            truth: The arm that an honest agent would recommend, shape (1,).
            learner: The learner, which knows the arms that the asker holds and has pulled.
        """
        if not self._tells_a_lie(agent):
            return truth
        means = self._bandit.known_means(slot)
        view = RecommendationView(
            truth=int(truth[0]),
            means=means if means.ndim == 1 else means.mean(axis=0),
            held=learner.held[asker],
            pulls=learner.pulls[asker],
        )
        payload = np.array([false_recommendation(self._attack, view, self._streams[agent])])
        self._forged += not np.array_equal(payload, truth)
        return payload

    def valid(self, payload: Any) -> bool:
        """Return whether an answer passes validation."""
        if not self._forges or valid_recommendation(payload, self._bandit.arm_count):
            return True
        self._answers += 1
        self._rejected[self._answers] = None
        return False
