"""Learning from a log: an event counts where the learner chooses the arm that was shown (Li et al. 2010, 4.1)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits import digits, synthetic_log
from netbandit.bandits.bandit import BanditSettings, GeneratorOf, Watch
from netbandit.bandits.columns import Participants, holder_problems, seen_columns, share_problems
from netbandit.bandits.criteo import read
from netbandit.bandits.criteo_features import Combination
from netbandit.bandits.criteo_lines import BadLineError, LogError
from netbandit.bandits.criteo_log import CriteoLog
from netbandit.bandits.recorded import Source
from netbandit.bandits.vertical_context import Findings, Users, VerticalContextBandit
from netbandit.settings import Problem

RANDOM_SEEDS = 5
"""How many runs of the random policy the click-through rate is compared with."""


class ReplaySettings(BanditSettings):
    """The keys of the ``replay`` bandit.

    Attributes:
        format: ``criteo``: the log of the Kaggle display advertising challenge, or one like it; ``digits``:
            scikit-learn's digits, of which everything is known.
        path: The log, plain or gzipped, relative to the scenario; absent: one is made, by a law that is known.
        logging: Whether the arms of the log were shown at random, each as often; of a made log they were.
        arms: The most frequent labels, that many, are the arms K; events with another one are left out.
        combine: A context is ``user_i + item_j`` for all i and j, or the product.
        participants: See :data:`Participants`.
        partial: Share of the columns the learner sees, the first participant's first.
        lines: The most lines of the log to read; absent: all.
        bad_rows: Whether a line that is not of the format is an error, or left out and counted.
    """

    kind: str = "replay"
    format: Literal["criteo", "digits"] = "criteo"
    path: str | None = Field(default=None, min_length=1)
    logging: Literal["unknown", "uniform"] = "unknown"
    arms: int = Field(default=40, ge=1, le=10_000)
    combine: Combination = "sum"
    participants: Participants = None
    partial: float = Field(default=1.0, gt=0, le=1)
    lines: int | None = Field(default=None, ge=1)
    bad_rows: Literal["error", "skip"] = "error"

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what cannot be made, and parts that do not add up where the number of columns is known."""
        if table.get("format") == "digits":
            if not digits.installed():
                yield ("format",), f'"digits" {digits.LACKING}'
            if "path" in table:
                yield ("path",), 'has no meaning with format = "digits", which comes with scikit-learn: leave it out'
            yield from share_problems(table.get("participants"), digits.PIXELS)
        elif "path" not in table:
            arms = table.get("arms", 40)
            if type(arms) is int and arms > synthetic_log.MOST_ARMS:
                yield ("arms",), f"is {arms}, but a made log has at most {synthetic_log.MOST_ARMS}"
            yield from share_problems(table.get("participants"), synthetic_log.DIMENSION)

    def problems_among(self, agents: int) -> Iterator[Problem]:
        """Yield a number of participants that is not that of the agents, or more of them than columns."""
        yield from holder_problems(self.participants, agents)
        if self.path is None:
            dimension = digits.PIXELS if self.format == "digits" else synthetic_log.DIMENSION
            yield from _crowd(self.participants, agents, dimension)

    def files(self) -> dict[str, str]:
        """Return the log, if there is one."""
        return {} if self.path is None else {"path": self.path}

    def facts(self) -> dict[str, Any]:
        """Return ``arms`` and ``dimension`` where they are known without a look at the log."""
        if self.format == "digits":
            return {"arms": digits.DIGITS, "dimension": digits.PIXELS}
        return {"arms": self.arms, "dimension": synthetic_log.DIMENSION} if self.path is None else {}

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of a file where there is none, and those of a log with the digits."""
        if self.format == "digits":
            idle = {"arms", "combine", "logging", "lines", "bad_rows"}
            why = 'with format = "digits"'
        else:
            idle = {"logging", "lines", "bad_rows"} if self.path is None else set()
            why = "without path: the log is a made one"
        yield from ((key, f"has no effect {why}") for key in sorted(idle & self.model_fields_set))


class Replay(VerticalContextBandit):
    """The replay of a log.

    The learner chooses for every user of the log in turn. Where it chooses the arm that was shown, the event is kept:
    it learns what that arm paid, and the reward counts. All other events teach nothing and count nothing, as if those
    users had not come. Where arms were shown at random, each with the same probability, the rewards of the kept events
    have the law of those that the learner would have met itself.

    ``ctr`` is the mean reward of the kept events, ``relative_ctr`` that over ``random_ctr``, what the random policy
    comes to on the same users (the mean over five seeds). Of a made log and of the digits it is known what each arm
    pays on average: ``true_ctr`` is the mean over all users of what the chosen arms do, and ``regret`` counts how much
    less the arms of the kept events pay than the best ones. Of a file nobody knows, and there is no regret.

    Args:
        source: The log.
        settings: The keys.
        agents: The number of agents, all of them participants.
    """

    Settings: ClassVar[type[BanditSettings]] = ReplaySettings

    def __init__(self, source: Source, settings: ReplaySettings, agents: int) -> None:
        self.source = source
        self.arms = source.arms
        self.block = source.block
        self.knows_best = source.knows_best
        parts = agents if settings.participants is None else settings.participants
        self.dimension, self.columns = seen_columns(source.dimension, parts, settings.partial)
        self._remarks = source.remarks
        if settings.path is not None and settings.logging == "unknown":
            self._remarks = (
                f"{Path(settings.path).name} does not say that its arms were shown at random, each as often: if they "
                'were not, rates of kept events are biased; if they were, set bandit.logging = "uniform"',
                *self._remarks,
            )

    @classmethod
    def build(cls, settings: ReplaySettings, agents: int, generator: GeneratorOf) -> Self:
        """Read the log, or draw the law of a made one, or the digit that is wanted (stream ``bandit.wanted``).

        Raises:
            LogError: The log cannot be read.
        """
        source: Source
        if settings.format == "digits":
            source = digits.Digits(int(generator("bandit.wanted", 0).integers(digits.DIGITS)))
        elif settings.path is None:
            source = synthetic_log.MadeLog(synthetic_log.ClickLaw.draw(settings.arms, settings.combine, generator))
        else:
            source = _file(settings, _nobody)
        return cls(source, settings, agents)

    @classmethod
    def examine(cls, settings: ReplaySettings, agents: int, horizon: int, watch: Watch) -> Iterator[Problem]:
        """Yield a log that cannot be read, that has fewer events than there are slots, or too few columns."""
        if settings.path is None:
            return
        try:
            log = _file(settings, watch)
        except LogError as error:
            skip = '; to leave such lines out, set bandit.bad_rows = "skip"' if isinstance(error, BadLineError) else ""
            yield ("bandit", "path"), f"{error}{skip}"
            return
        if log.events_there < horizon:
            text = f"is {horizon}, but the log has {log.events_there} events to replay: at most so many slots"
            yield ("run", "horizon"), text
        for path, text in share_problems(settings.participants, log.dimension):
            yield ("bandit", *path), text
        for path, text in _crowd(settings.participants, agents, log.dimension):
            yield ("bandit", *path), text

    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of a block; see the base class."""
        users = self.source.users(block, generator)
        return Users(users.contexts[:, :, : self.dimension], users.rewards, users.regrets)

    def findings(self, users: NDArray[np.int64], arms: NDArray[np.int64], generator: GeneratorOf) -> Findings:
        """Return click-through rates and how many events were kept; see the base class.

        The random policy draws from stream ``replay.random``, one index a seed.
        """
        feedback = self.source.feedback(users, generator)
        paid = feedback.paid(arms)
        kept = ~np.isnan(paid)
        random = [
            _rate(feedback.paid(generator("replay.random", seed).integers(self.arms, size=len(users))))
            for seed in range(RANDOM_SEEDS)
        ]
        rates = [rate for rate in random if rate is not None]
        base = float(np.mean(rates)) if rates else None
        rate = _rate(paid)
        means = feedback.means(arms)
        metrics = {
            "relative_ctr": rate / base if rate is not None and base else None,
            "ctr": rate,
            "random_ctr": base,
            "true_ctr": float(means.mean()) if means is not None and len(means) else None,
            "kept": int(kept.sum()),
        }
        tracks = {}
        if base:
            tracks["relative_ctr"] = np.cumsum(np.where(kept, paid, 0.0)) / np.maximum(np.cumsum(kept), 1) / base
        return Findings(metrics, tracks, self._remarks)


def _file(settings: ReplaySettings, watch: Watch) -> CriteoLog:
    assert settings.path is not None
    path = Path(settings.path)
    log = read(path, arms=settings.arms, skip=settings.bad_rows == "skip", lines=settings.lines, watch=watch)
    return CriteoLog(log, settings.combine, path.name)


def _nobody(what: str, done: int, total: int) -> None:
    """Watch nothing."""


def _crowd(parts: object, agents: int, dimension: int) -> Iterator[Problem]:
    if parts is None and agents > dimension:
        yield ("participants",), f"there are {dimension} columns, which is not one for each of {agents} agents"


def _rate(paid: NDArray[np.float64]) -> float | None:
    """Return the mean of what is known, or None if nothing is."""
    known = paid[~np.isnan(paid)]
    return float(known.mean()) if len(known) else None
