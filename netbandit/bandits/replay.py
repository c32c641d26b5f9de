"""Learning from a log: an event counts where the learner chooses the arm that was shown (Li et al. 2010, 4.1)."""

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits import digits, synthetic_log
from netbandit.bandits.bandit import GeneratorOf, Outline, Watch
from netbandit.bandits.criteo import CriteoLog, read
from netbandit.bandits.criteo_features import Combination
from netbandit.bandits.criteo_lines import BadLineError, LogError
from netbandit.bandits.recorded import Source
from netbandit.bandits.vertical_context import (
    Findings,
    Participants,
    Users,
    VerticalContextBandit,
    check_holders,
    check_shares,
    seen_columns,
)
from netbandit.parts.component import Checks, Mistake, Note, Others, state
from netbandit.util.extras import MissingExtraError, installed

RANDOM_SEEDS = 5
"""How many runs of the random policy the click-through rate is compared with."""


class Replay(VerticalContextBandit):
    """A log of recommendations in Criteo's format, replayed user by user, whose columns participants hold.

    It reads tab-separated lines of a label and 39 features, or scikit-learn's digits. A log with columns of its own,
    whose users are met by agents that each decide, is a matter of ``contexts`` with ``logged``.

    The learner chooses for every user of the log in turn. Where it chooses the arm that was shown, the event is kept:
    the learner observes its reward, and the reward counts. All other events are discarded, as if those users had not
    come. Where arms were shown uniformly at random, the rewards of the kept events have the same distribution as those
    of the learner deployed online.

    ``ctr`` is the mean reward of the kept events, and ``relative_ctr`` its ratio to ``random_ctr``, that of the random
    policy on the same users (the mean over five seeds). With a synthetic log and with the digits the mean reward of
    each arm is known: ``true_ctr`` is the mean over all users of those of the chosen arms, and ``regret`` adds up the
    gaps of the arms of the kept events. With a file they are unknown, and there is no regret.
    """

    format: Literal["criteo", "digits"] = "criteo"
    """``criteo``: the log of the Kaggle display advertising challenge, or one in its format; ``digits``: scikit-learn's
    digits, where the mean rewards of all arms are known."""
    path: str | None = Field(default=None, min_length=1)
    """The log, plain or gzipped, relative to the scenario; absent: a synthetic log with a known click model."""
    logging: Literal["unknown", "uniform"] = "unknown"
    """Whether the arms of the log are known to have been shown uniformly at random, as those of a synthetic log are."""
    arms: int = Field(default=40, ge=1, le=10_000)
    """The number K of arms, which are the most frequent labels; events with other labels are left out."""
    combine: Combination = "sum"
    """A context is ``user_i + item_j`` for all i and j, or the product."""
    participants: Participants = None
    """The number N of participants, who hold equal parts (the first ones a column more where N does not divide d), or
    the number of columns of each; absent: one participant for each agent."""
    partial: float = Field(default=1.0, gt=0, le=1)
    """Share of the columns the learner sees, the first participant's first."""
    partition: Literal["ordered", "random"] = "ordered"
    """Which columns participants hold: the first ones the first columns (``ordered``), or as many, drawn in each
    replication (``random``)."""
    lines: int | None = Field(default=None, ge=1)
    """The largest number of lines of the log to read; absent: all."""
    bad_rows: Literal["error", "skip"] = "error"
    """Whether a malformed line is an error, or is skipped and counted."""

    source: Source = state()
    """The log."""
    shown: NDArray[np.int64] | None = state(default=None)
    """The columns of the log that the learner sees, in the order of participants; None: the first ones."""

    def check(self) -> Checks:
        """Yield what cannot be made, parts that do not add up, and keys that the kind of log does not have."""
        if self.format == "digits":
            idle = {"arms", "combine", "logging", "lines", "bad_rows"}
            why = 'with format = "digits"'
        else:
            idle = {"logging", "lines", "bad_rows"} if self.path is None else set()
            why = "without path: the log is synthetic"
        yield from (Note(key, f"has no effect {why}") for key in sorted(idle & self.model_fields_set))
        if self.format == "digits":
            if not installed("digits"):
                yield Mistake("format", str(MissingExtraError("digits", '"digits"')))
            if "path" in self.model_fields_set:
                yield Mistake(
                    "path", 'has no meaning with format = "digits", which comes with scikit-learn: leave it out'
                )
            yield from check_shares(self.participants, digits.PIXELS)
        elif self.path is None:
            if self.arms > synthetic_log.MOST_ARMS:
                yield Mistake("arms", f"is {self.arms}, but a synthetic log has at most {synthetic_log.MOST_ARMS}")
            yield from check_shares(self.participants, synthetic_log.DIMENSION)

    def check_with(self, others: Others) -> Checks:
        """Yield participants that are not the agents, a log that cannot be read, or is too short or too narrow."""
        yield from check_holders(self.participants, others.agents)
        if self.path is None:
            dimension = digits.PIXELS if self.format == "digits" else synthetic_log.DIMENSION
            yield from self._crowd(others.agents, dimension)
            return
        try:
            log = self._log(others.watch)
        except LogError as error:
            skip = '; to skip such lines, set bandit.bad_rows = "skip"' if isinstance(error, BadLineError) else ""
            yield Mistake("path", f"{error}{skip}")
            return
        if log.events_there < others.horizon:
            text = f"is {others.horizon}, but the log has {log.events_there} events to replay: at most so many slots"
            yield Mistake("horizon", text, table="run")
        yield from check_shares(self.participants, log.dimension)
        yield from self._crowd(others.agents, log.dimension)

    def _crowd(self, agents: int, dimension: int) -> Checks:
        if self.participants is None and agents > dimension:
            text = f"there are {dimension} columns, which is not one for each of {agents} agents"
            yield Mistake("participants", text)

    def files(self) -> dict[str, str]:
        """Return the log, if there is one."""
        return {} if self.path is None else {"path": self.path}

    def outline(self) -> Outline:
        """Return the number of arms and of columns where they are known without a look at the log."""
        if self.format == "digits":
            return Outline(arms=digits.DIGITS, dimension=digits.PIXELS)
        return Outline(arms=self.arms, dimension=synthetic_log.DIMENSION) if self.path is None else Outline()

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Read the log, or draw the law of a made one, or the digit that is wanted (stream ``bandit.wanted``).

        Raises:
            LogError: The log cannot be read.
        """
        if self.format == "digits":
            self.settle(digits.Digits(int(generator("bandit.wanted", 0).integers(digits.DIGITS))), agents)
        elif self.path is None:
            law = synthetic_log.ClickLaw.draw(self.arms, self.combine, generator)
            self.settle(synthetic_log.MadeLog(law), agents)
        else:
            self.settle(self._log(_nobody), agents)

        if self.partition == "random":  # stream bandit.partition
            self.shown = generator("bandit.partition", 0).permutation(self.source.dimension)[: self.seen]

    def settle(self, source: Source, agents: int) -> None:
        """Replay the log *source*; all *agents* are participants."""
        self.source = source
        self.arm_count = source.arms
        self.block = source.block
        self.knows_best = source.knows_best
        parts = agents if self.participants is None else self.participants
        self.seen, self.columns = seen_columns(source.dimension, parts, self.partial)
        self._remarks = source.remarks
        if self.path is not None and self.logging == "unknown":
            self._remarks = (
                f"{Path(self.path).name} does not state whether its arms were shown uniformly at random: if they were "
                'not, rates of kept events are biased; if they were, set bandit.logging = "uniform"',
                *self._remarks,
            )

    def _log(self, watch: Watch) -> CriteoLog:
        assert self.path is not None
        path = Path(self.path)
        log = read(path, arms=self.arms, skip=self.bad_rows == "skip", lines=self.lines, watch=watch)
        return CriteoLog(log, self.combine, path.name)

    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of a block; see the base class."""
        users = self.source.users(block, generator)
        shown = slice(self.seen) if self.shown is None else self.shown
        return Users(users.contexts[:, :, shown], users.rewards, users.regrets)

    def findings(self, users: NDArray[np.int64], arms: NDArray[np.int64], generator: GeneratorOf) -> Findings:
        """Return click-through rates and how many events were kept; see the base class.

        The random policy draws from stream ``replay.random``, one index a seed.
        """
        feedback = self.source.feedback(users, generator)
        paid = feedback.paid(arms)
        kept = ~np.isnan(paid)
        random = [
            _rate(feedback.paid(generator("replay.random", seed).integers(self.arm_count, size=len(users))))
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


def _nobody(what: str, done: int, total: int) -> None:
    """Watch nothing."""


def _rate(paid: NDArray[np.float64]) -> float | None:
    """Return the mean of what is known, or None if nothing is."""
    known = paid[~np.isnan(paid)]
    return float(known.mean()) if len(known) else None
