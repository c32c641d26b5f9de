"""Byzantine sums: lies in the sums that linear learners release in rounds or to a server, and their validation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.false_means import place_of
from netbandit.byzantine.adversaries.false_sums import Sums, SumsView, false_sums
from netbandit.byzantine.adversaries.own_attack import LiarsView
from netbandit.byzantine.adversaries.validation import valid_sums
from netbandit.learners.robust_sums import unpacked_gram
from netbandit.learners.slots import Learner
from netbandit.learners.uploads import Upload
from netbandit.protocols.protocol import Item
from netbandit.scenario.activity import PoissonActivity
from netbandit.simulation.byzantine_items import Liars

if TYPE_CHECKING:
    from netbandit.simulation.driver import ReplicationContext

Numbers = NDArray[np.float64]


class SumLies(Liars):
    """Forges packed sums: the upper triangle of U, then u, and usually the number of observations.

    Only the releases of liars are validated: those of honest agents always pass.

    Args:
        context: The replication.
        learner: The learner, not yet started.
    """

    def __init__(self, context: "ReplicationContext", learner: Learner) -> None:
        super().__init__(context)
        # For each release of a liar, by id, whether it is valid; releases are kept alive, so that no id is reused.
        self._of_liars: dict[int, tuple[Any, bool]] = {}
        if not self._forges:
            return
        self._dimension = getattr(context.bandit, "dimension", 0)
        self._upper = np.triu_indices(self._dimension)
        self._counts = learner.share_numbers(self._dimension) > len(self._upper[0]) + self._dimension
        self._first: dict[tuple[int, int], Sums] = {}
        self._several = isinstance(context.run.activity, PoissonActivity)

    def released(self, agent: int, param_set: int, sets: int, truth: Numbers) -> Any:
        """Return the packed row that *agent* releases, given the honest row *truth*.

        Args:
            agent: The agent.
            param_set: The parameter set.
            sets: The number of parameter sets.
            truth: The honest row.
        """
        if not self._tells_a_lie(agent):
            return truth
        gram, response, count = self._unpacked(truth)
        most = self._most(sets)
        heaviest = most if np.isfinite(most) else count
        lie = self._lie(agent, param_set, Sums(gram, response, count), heaviest)
        row = np.concatenate([lie.gram[self._upper], lie.response, [lie.observations] if self._counts else []])
        self._forged += not np.array_equal(row, truth)
        payload = Sums(lie.gram, lie.response, lie.observations) if self._counts else lie._replace(observations=None)  # type: ignore[arg-type]
        self._of_liars[id(row)] = (
            row,
            valid_sums(payload.gram, payload.response, payload.observations, self._dimension, most),
        )
        return row

    def uploaded(self, agent: int, truth: Upload) -> Upload:
        """Return the upload of *agent*, given the honest upload *truth*.

        The number of observations is not forged, since it identifies an upload.
        """
        if not self._tells_a_lie(agent):
            return truth
        gram, response, _ = self._unpacked(truth.sums)
        count = float(truth.observations)
        lie = self._lie(agent, 0, Sums(gram, response, count), count)
        payload = truth._replace(sums=np.concatenate([lie.gram[self._upper], lie.response]))
        self._forged += not np.array_equal(payload.sums, truth.sums)
        valid = valid_sums(lie.gram, lie.response, count, self._dimension, self._most(1))
        self._of_liars[id(payload)] = payload, valid
        return payload

    def valid(self, values: Sequence[Any]) -> list[int]:
        """Return the indices of the *values* that pass validation."""
        kept = []
        for index, value in enumerate(values):
            _, passed = self._of_liars.get(id(value), (None, True))
            if passed:
                kept.append(index)
            else:
                self._rejected[id(value)] = value
        return kept

    def valid_items(self, items: Sequence[Item]) -> list[int]:
        """Return the indices of the *items* that pass validation."""
        return self.valid([item.value for item in items])

    def _lie(self, agent: int, param_set: int, truth: Sums, heaviest: float) -> Sums:
        if self._own:
            return self._own_sums(agent, truth)
        first = self._first.setdefault((agent, param_set), truth)
        good, bad = self._praised()
        view = SumsView(
            truth=truth,
            first=first,
            good=good,
            bad=bad,
            heaviest=heaviest,
            strength=self._plan.strength,
        )
        return _readable(false_sums(self._attack, view, self._streams[agent]), self._dimension)

    def _own_sums(self, agent: int, truth: Sums) -> Sums:
        """Return the sums that a user-defined attack releases in place of the *truth*."""
        theta, actions = getattr(self._bandit, "vector", None), getattr(self._bandit, "fixed_actions", None)
        means = np.empty(0) if theta is None or actions is None else actions @ theta
        theta, actions = (None if each is None else each.copy() for each in (theta, actions))
        view = LiarsView(agent, np.arange(len(means)), means, np.empty((0, len(means))), theta, actions)
        gram, response, count = self._own_lie("sums", [*truth[:2], np.array(truth.observations)], view)
        return Sums(gram, response, float(count))

    def _praised(self) -> tuple[Numbers | None, Numbers | None]:
        """Return the best action and the one that liars promote; if actions change, along and against theta."""
        theta = getattr(self._bandit, "vector", None)
        if theta is None:
            return None, None
        actions, target = self._bandit.fixed_actions, self._plan.target
        if actions is None:
            direction = theta / np.sqrt(theta @ theta)
            return direction, -direction
        means = actions @ theta
        return actions[means.argmax()], actions[place_of(target, np.arange(len(actions)), means)]

    def _most(self, sets: int) -> float:
        """Return the maximum number of observations so far in one of *sets* parameter sets."""
        if self._several:
            return np.inf
        return -(-(self._clock.now // self._clock.slot + 1) // sets)

    def _unpacked(self, row: Numbers) -> Sums:
        size = len(self._upper[0])
        gram = unpacked_gram(row, self._upper, self._dimension)
        count = float(row[-1]) if self._counts and len(row) > size + self._dimension else float(np.trace(gram))
        return Sums(gram, row[size : size + self._dimension], count)


def _readable(lie: Any, dimension: int) -> Sums:
    """Return *lie*; if it is malformed, sums that fail validation."""
    try:
        gram, response, count = lie
        found = Sums(np.array(gram, dtype=np.float64), np.array(response, dtype=np.float64), float(count))
    except (TypeError, ValueError, OverflowError):
        found = Sums(np.empty(0), np.empty(0), np.nan)
    if found.gram.shape != (dimension, dimension) or found.response.shape != (dimension,):
        return Sums(np.full((dimension, dimension), np.nan), np.full(dimension, np.nan), np.nan)
    return found
