"""A bandit whose rewards are data that the user has: a table, of which a column is an arm."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits import reward_tables
from netbandit.bandits.bandit import ArmBandit, FiniteBandit, GeneratorOf, Outline
from netbandit.bandits.reward_tables import RewardTable
from netbandit.bandits.table_sources import OfTables, TableError, source_mistakes
from netbandit.parts.component import Checks, Mistake, Note, Others, UnknownError, state


class Table(OfTables, FiniteBandit):
    """Rewards from a table: a CSV, Parquet or npz file, or in Python a pandas table.

    A wide table has one column per arm, with the arm's name in its header. Its rows are replayed in order, one row per
    slot, the same for all agents; drawn independently for each agent and slot; or taken as an empirical law of each
    arm, where arms may have different numbers of rewards. A long table has the columns ``arm`` and ``reward``, with
    ``slot`` where rewards belong to the same row, and with ``agent`` where rewards differ between agents. Names are
    compared as text; slots are in the order of their numbers or dates, or else of their rows.

    Where rows are replayed, regret is against the best arm in hindsight: the one with the largest sum, over all agents,
    of the rows that are played; else it is against the arm with the largest mean. Learners treat rewards as Bernoulli
    if all are 0 or 1, and else as sub-Gaussian with half of their range; learners that use the Bernoulli divergence
    do so for rewards in [0, 1]. Learners that pull arms in blocks need rows that are drawn, or laws, and such rewards.
    """

    path: str | None = Field(default=None, min_length=1)
    """The file, relative to the scenario: CSV (separated by commas, semicolons or tabs), also gzipped, Parquet or
    npz."""
    data: Any = None
    """From Python, in place of *path*: a pandas DataFrame."""
    arms: list[str] | None = Field(default=None, min_length=1)
    """The columns that are arms, or the values of the column ``arm``, in this order; absent: all, where
    none may be a time or an index."""
    rows: Literal["in-order", "drawn", "laws"] | None = None
    """How rows are used; absent: ``in-order``, or ``laws`` where a long table has no column ``slot``."""
    begin: Literal["first", "random"] = "first"
    """With rows in order: the row of slot 0, the first or one drawn at random in each replication; after a random one,
    the first row follows the last."""
    repeat: bool = False
    """With rows in order: whether they repeat where the horizon is longer than the table."""

    table_of_rewards: RewardTable = state()
    """The table that was read."""

    def check(self) -> Checks:
        """Yield no source or two, and keys without effect."""
        yield from source_mistakes(self.path, self.data, ("path", "data"), "the file of the rewards")
        if self.arms is not None and len(set(self.arms)) < len(self.arms):
            yield Mistake("arms", "names an arm twice")
        if self.rows in ("drawn", "laws"):
            idle = {"begin", "repeat"} & self.model_fields_set
            yield from (Note(key, f'has no effect with rows = "{self.rows}"') for key in sorted(idle))

    def check_with(self, others: Others) -> Checks:
        """Yield a table that cannot be read, or does not go with the horizon or the agents."""
        key = "data" if self.path is None else "path"
        watch = others.watch
        watch("the table of rewards", 0, 1)
        try:
            found = self._read()
            rows = self._rows(found)
        except TableError as error:
            yield Mistake(key, str(error))
            return
        finally:
            watch("the table of rewards", 1, 1)
        if rows == "in-order" and found.rows is not None and others.horizon > len(found.rows) and not self.repeat:
            text = f"is {others.horizon}, but the table has {len(found.rows)} rows: at most so many slots, or "
            yield Mistake("horizon", f"{text}bandit.repeat = true starts over", table="run")
        if found.agents is not None:
            try:
                found.of_agents(others.graph.names)
            except ValueError as error:
                yield Mistake(key, str(error))
        if others.talk == "round":
            yield from self._check_blocks(found, rows, others)
        yield from (Note(key, text) for text in found.notes)

    def _check_blocks(self, found: RewardTable, rows: str, others: Others) -> Checks:
        """Yield rows and rewards that do not go with learners that pull arms in blocks."""
        who = f"{others.kinds['learner']} pulls each arm in blocks"
        if rows == "in-order":
            text = f'must be "drawn" or "laws", not "in-order": {who}, and a row in order pays one slot'
            yield Mistake("rows", f"{text}; ucb, klucb and thompson decide in every slot")
        low, high = found.ends
        if low < 0 or high > 1:
            text = (
                f"has rewards from {low:g} to {high:g}: {who}, with intervals made for rewards from 0 to 1: scale them"
            )
            yield Mistake("data" if self.path is None else "path", text)

    def outline(self) -> Outline:
        """Return the number of arms, once the table can be read; it is kept, and `check_with` reads it no more."""
        try:
            return Outline(arms=len(self._read().arms))
        except (TableError, UnknownError):
            return Outline()

    def arm_names(self) -> tuple[str, ...]:
        """Return the names of the columns, or of the column ``arm``, that are arms."""
        return self._read().arms

    def files(self) -> dict[str, str]:
        """Return the file."""
        return {} if self.path is None else {"path": self.path}

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Read the table; stream ``bandit.begin`` draws the first row.

        Raises:
            TableError: It cannot be read, or has not what *rows* needs.
        """
        super().start(agents, generator)
        found = self._read()
        if found.agents is not None and self.agent_names is not None:
            found = found.of_agents(self.agent_names())
        self.table_of_rewards = found
        self._use = self._rows(found)
        if self._use == "in-order":
            assert found.rows is not None
            first = int(generator("bandit.begin", 0).integers(len(found.rows))) if self.begin == "random" else 0
            self._order = (first + np.arange(min(self.horizon, len(found.rows)))) % len(found.rows)
            times = np.full(len(self._order), self.horizon // len(self._order))
            times[: self.horizon % len(self._order)] += 1
            played = found.rows[self._order]
            sums = np.tensordot(times, played if played.ndim == 2 else played.mean(axis=1), axes=1)
            self._best = int(sums.argmax())
            self.settle(np.tensordot(times, played, axes=1) / self.horizon, agents)
        elif self._use == "drawn":
            assert found.rows is not None
            self._means = found.rows.mean(axis=0)
            self.settle(self._means, agents)
        else:
            means = np.array([one.mean() for one in found.values])
            self._means = means if found.agents is None else means.reshape(len(found.agents), -1)
            self.settle(self._means, agents)
            self._counts = np.array([len(one) for one in found.values])
            self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
            self._values = np.concatenate(found.values)

    @property
    def law(self) -> str:
        """``bernoulli`` if all rewards are 0 or 1, ``other`` if they are in [0, 1], else ``gaussian``."""
        low, high = self.table_of_rewards.ends
        if self.table_of_rewards.binary:
            return "bernoulli"
        return "other" if low >= 0 and high <= 1 else "gaussian"

    @property
    def sub_gaussian(self) -> float:
        """Half the range of all rewards (Hoeffding's lemma); 0.5 where they are in [0, 1]."""
        low, high = self.table_of_rewards.ends
        return 0.5 if self.law != "gaussian" else (high - low) / 2

    def means_at(self, slot: int) -> NDArray[np.float64]:
        """Return the means of the arms, shape (K,) or (M, K); with rows in order those of the slot, which are known."""
        return self._row(slot) if self._use == "in-order" else self._means

    def pull(
        self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the rewards in the table; see the base class. An agent's number says which row it draws."""
        found = self.table_of_rewards
        if self._use == "laws":
            cell = arms if found.agents is None else agents * len(found.arms) + arms
            paid: NDArray[np.float64] = self._values[
                self._starts[cell] + (numbers * self._counts[cell]).astype(np.int64)
            ]
            return paid
        assert found.rows is not None
        if self._use == "in-order":
            return _of(self._row(slot), agents, arms)
        drawn = (numbers * len(found.rows)).astype(np.int64)
        of_rows = found.rows[drawn, arms] if found.agents is None else found.rows[drawn, agents, arms]
        return np.asarray(of_rows)

    def regrets(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much less each choice pays than the best arm, shape (n,); see the class."""
        if self._use != "in-order":
            by_means = ArmBandit.regrets(self, slot, agents, arms)
            assert by_means is not None
            return by_means
        row = self._row(slot)
        row = row if row.ndim == 1 else row.mean(axis=0)
        regrets: NDArray[np.float64] = row[self._best] - row[arms]
        return regrets

    def pull_blocks(
        self, rng: np.random.Generator, agents: NDArray[np.int64], arms: NDArray[np.int64], pulls: int
    ) -> NDArray[Any]:
        """Draw the sums of *pulls* rewards of each agent and arm, each from all that the table has of it.

        See `FiniteBandit.pull_blocks`. As many as the table has are drawn one by one, more by how often each comes.
        """
        found = self.table_of_rewards
        sums = np.empty((len(agents), len(arms)))
        for row, agent in enumerate(agents):
            for column, arm in enumerate(arms):
                values = found.values[arm if found.agents is None else agent * len(found.arms) + arm]
                if pulls <= len(values):
                    sums[row, column] = values[rng.integers(len(values), size=pulls)].sum()
                else:
                    times = rng.multinomial(pulls, np.full(len(values), 1 / len(values)))
                    sums[row, column] = float(times @ values)
        return sums

    def _row(self, slot: int) -> NDArray[np.float64]:
        assert self.table_of_rewards.rows is not None
        found: NDArray[np.float64] = self.table_of_rewards.rows[self._order[slot % len(self._order)]]
        return found

    def _read(self) -> RewardTable:
        if self.path is not None:
            return reward_tables.read(Path(self.path), self.arms)
        return reward_tables.of_frame(self.data, self.arms)

    def _rows(self, found: RewardTable) -> str:
        """Return how rows are used.

        Raises:
            TableError: The table does not say which rewards belong together.
        """
        if found.rows is not None:
            return self.rows or "in-order"
        if self.rows in (None, "laws") and (self.rows or not _has_gaps(found)):
            return "laws"
        why = "some rewards are missing" if _has_gaps(found) else "a long table without the column slot has no rows"
        raise TableError(f'{why}: rows = "laws" draws from the rewards of each arm')


def _has_gaps(found: RewardTable) -> bool:
    """Tell whether a wide table lacks rewards."""
    return not found.long


def _of(row: NDArray[np.float64], agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
    paid: NDArray[np.float64] = row[arms] if row.ndim == 1 else row[agents, arms]
    return paid
