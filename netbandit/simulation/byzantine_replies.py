"""What liars recommend to those that ask them, and what these leave out."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.false_recommendations import RecommendationView, false_recommendation
from netbandit.byzantine.adversaries.soundness import sound_recommendation
from netbandit.simulation.lies import Liars

if TYPE_CHECKING:
    from netbandit.simulation.driver import ReplicationContext


class AnswerLies(Liars):
    """Makes lies of recommended arms, and checks what is received.

    Args:
        context: The replication.
    """

    def __init__(self, context: "ReplicationContext") -> None:
        super().__init__(context)
        self._answers = 0

    def answered(self, agent: int, asker: int, slot: int, truth: NDArray[np.float64], learner: Any) -> Any:
        """Return what *agent* answers where an honest one would answer the *truth*.

        Args:
            agent: Who is asked.
            asker: By whom.
            slot: In which slot.
            truth: The arm that it has found, shape (1,).
            learner: The learner: what the asker holds, and has pulled.
        """
        if not self._tells_a_lie(agent):
            return truth
        means = self._bandit.means_at(slot)
        view = RecommendationView(
            truth=int(truth[0]),
            means=means if means.ndim == 1 else means.mean(axis=0),
            held=learner.held[asker],
            pulls=learner.pulls[asker],
        )
        said = np.array([false_recommendation(self._attack, view, self._streams[agent])])
        self._forged += not np.array_equal(said, truth)
        return said

    def sound(self, told: Any) -> bool:
        """Return whether an answer is not seen to be wrong."""
        if not self._forges or sound_recommendation(told, self._bandit.arm_count):
            return True
        self._answers += 1
        self._rejected[self._answers] = None
        return False
