"""A bandit whose decisions are data that the user has: features of contexts and of arms, and what each arm pays."""

from math import sqrt
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.bandits import context_tables
from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import GeneratorOf, Outline
from netbandit.bandits.context_tables import ArmsError, Columns, ContextTable, LogColumns, Numbers, blocks
from netbandit.bandits.decision_numbers import DecisionNumbers, uniform
from netbandit.bandits.table_sources import MOST_CELLS, OfTables, TableError, as_frame, in_order, source_mistakes
from netbandit.parts.component import Checks, Mistake, Note, Others, UnknownError, state
from netbandit.parts.settings import Settings
from netbandit.util.agent_rows import agent_numbers
from netbandit.util.text import pluralize
from netbandit.util.wording import Allowed, show

Agents = NDArray[np.int64]

_NAMES = "the name of a column, in which * stands for any text, or a list of them"


def _names(value: Any) -> list[str]:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"must be {_NAMES}, not {show(value)}")
    return names


ColumnNames = Annotated[str | list[str], BeforeValidator(_names), Allowed(_NAMES)]


class Logged(Settings):
    """The columns of a log."""

    arm: str = Field(description="The arm that was shown.")
    reward: str = Field(description="What it paid.")
    propensity: str | None = Field(
        default=None,
        description="The probability with which it was shown; absent: all arms were equally likely.",
    )


class Made(Settings):
    """A table that is drawn, in which what arms pay is linear in their vectors."""

    queries: int = Field(ge=1, le=1_000_000, description="The rows, which agents have in turn.")
    features: int = Field(ge=1, le=1_000, description="The numbers of a direction; a vector has one more.")
    arms: int = Field(ge=1, le=10_000, description="The arms, which have prices from 0 to 1: dear ones pay more.")
    spread: float = Field(default=0.0, ge=0, description="How unlike agents are; 0: they like the same.")


class DirichletSplit(Settings):
    """Rows whose best arm is the same are split in shares from a symmetric Dirichlet distribution."""

    dirichlet: float = Field(gt=0, le=1e6, description="Its parameter: the smaller, the more unlike are agents.")


def _split(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        text = 'must be "shared", "parts", "sorted" or { dirichlet = 0.3 }'
        raise PydanticCustomError("split", text) from None


class Contexts(OfTables, ActionSetBandit):
    """Decisions from a table, in which each row has features and what each arm pays; or from a log of what was shown.

    The table is a file (CSV, also gzipped, Parquet, npz), or in Python a pandas table or arrays. In each decision an
    agent meets a row: the vectors of arms are made of the features x of the row and a of the arm. Choosing arm k pays
    ``score - cost_weight * cost``. As that is known of every arm, regret is exact: the best arm of the row (among those
    shown) minus the chosen one. Learners of arms ignore the features.

    With ``logged`` the table is a log of recommendations. Each agent goes through its rows in order. Where its choice
    is the arm that was shown, it learns the reward, and the event is kept; else the decision teaches nothing (Li, Chu,
    Langford & Wang 2011). Where arms were not shown uniformly, an event that matches is kept with the probability
    ``least propensity of the log / its own``, so that those that are kept are as if they had been. Regret is unknown;
    ``ctr`` is the mean reward of the kept events.
    """

    frames: ClassVar[tuple[str, ...]] = ("data", "arms_data")

    path: str | None = Field(default=None, min_length=1)
    """The file, relative to the scenario: CSV (separated by commas, semicolons or tabs), also gzipped, Parquet or
    npz."""
    data: Annotated[Any, BeforeValidator(as_frame)] = None
    """From Python, in place of *path*: a pandas DataFrame, or a dictionary of arrays, of which each of one dimension is
    a column, and each ``x`` of two dimensions the columns x0, x1 and so on."""
    made: Made | None = None
    """In place of *path*, for vectors that are ``blocks`` or ``arm``: a table that each replication draws (stream
    ``bandit.made``), ``{ queries = 1000, features = 8, arms = 5, spread = 0.5 }``; arms cost their prices."""
    features: ColumnNames | None = None
    """The columns of the features of a context, such as ``"x*"``."""
    scores: ColumnNames | None = None
    """The columns of what arms pay, one an arm; an arm is called what * stands for, or as its column."""
    costs: ColumnNames | None = None
    """The columns of what arms cost, one an arm: with a * the same arms as in *scores*, else in the same order."""
    cost_weight: float = Field(default=0.0, ge=0)
    """What a unit of cost takes off the reward."""
    arms_path: str | None = Field(default=None, min_length=1)
    """A table of the arms: the column ``arm``, and their features."""
    arms_data: Annotated[Any, BeforeValidator(as_frame)] = None
    """From Python, in place of *arms_path*: as *data*."""
    arm_features: ColumnNames = Field(default=["*"])
    """The columns of the features of arms; by default all but ``arm``."""
    vectors: Literal["blocks", "arm", "outer", "joint"] = "blocks"
    """The vector of an arm: x in the arm's block of K, and 0 elsewhere (``blocks``; d = K p: each arm has parameters of
    its own); a (``arm``; d = q); all products of an entry of a and one of x (``outer``; d = q p); or x and then a
    (``joint``; d = p + q)."""
    scale: bool = True
    """Whether vectors are divided by an upper bound on their norms, so that none is longer than 1, as learners
    assume."""
    agent: str | None = None
    """The column that says which agent meets a row, by its name or its number."""
    agents_of: Literal["names", "modulo"] = "names"
    """What the column *agent* holds: ``names`` or numbers of agents; or users, of whom agent i is every M-th
    (``modulo``), in the order of their numbers or names."""
    split: Annotated[Literal["shared", "parts", "sorted"] | DirichletSplit, WrapValidator(_split)] | None = None
    """Without *agent*: all agents meet all rows (``shared``; the default); rows are dealt out at random in equal
    ``parts`` (the default of a log); ``sorted`` by their best arms, so that agents are unlike; or in shares that are
    drawn for each best arm, ``{ dirichlet = 0.3 }``. Parts keep the order of the table."""
    rows: Literal["drawn", "in-order"] | None = None
    """Whether each decision draws one of the agent's rows (``drawn``; the default), or takes the next one
    (``in-order``; the default of a log), in the order of the table, or of the agent's own permutation where rows are
    shared."""
    repeat: bool = False
    """With rows in order: whether they repeat where the horizon is longer."""
    noise: float = Field(default=0.0, ge=0)
    """The standard deviation of Gaussian noise that is added to what is seen, never to regret."""
    shown: int | None = Field(default=None, ge=1)
    """Of how many arms, drawn in each decision, an agent chooses; absent: of all."""
    told_sub_gaussian: float | None = Field(default=None, gt=0, alias="sub_gaussian")
    """The sub-Gaussian constant that learners are told; absent: ``sqrt(h^2 + noise^2)`` with half the range h of what
    arms pay."""
    logged: Logged | None = None
    """In place of *scores*: the columns of a log, ``{ arm = "item", reward = "click", propensity = "p" }``."""

    table_of_contexts: ContextTable = state()
    """The table that was read."""
    law: str = state(default="other")
    """The distribution of rewards: ``bernoulli`` if all are 0 or 1, ``other`` if in [0, 1], else ``gaussian``."""

    def check(self) -> Checks:
        """Yield sources and features that are missing, and keys without effect."""
        if self.made is not None:
            yield from self._check_made(self.made)
            return
        yield from source_mistakes(self.path, self.data, ("path", "data"), "the file of the decisions")
        if self.arms_path is not None or self.arms_data is not None:
            yield from source_mistakes(self.arms_path, self.arms_data, ("arms_path", "arms_data"), "")
        if (self.scores is None) == (self.logged is None):
            text = "is missing: the columns of what arms pay, or else logged = { arm, reward }"
            yield Mistake("scores", text if self.scores is None else "excludes logged: give one of the two")
        needed = {"blocks": ("features",), "arm": ("arms_path",)}.get(self.vectors, ("features", "arms_path"))
        has = {"features": self.features is not None, "arms_path": self._has_arms}
        for key in needed:
            if not has[key]:
                yield Mistake(key, f'is missing: vectors = "{self.vectors}" are made of it')
        for key in has:
            if has[key] and key not in needed:
                yield Note(key, f'has no effect with vectors = "{self.vectors}"')
        if self.logged is not None:
            yield from self._check_log()
        elif self.repeat and self._use == "drawn":
            yield Note("repeat", 'has no effect with rows = "drawn"')
        given = self.model_fields_set
        if self.costs is None and "cost_weight" in given:
            yield Note("cost_weight", "has no effect without costs")
        if self.agent is not None and "split" in given:
            yield Note("split", "has no effect with agent, which says whose each row is")
        if self.agent is None and "agents_of" in given:
            yield Note("agents_of", "has no effect without agent")

    def _check_made(self, made: Made) -> Checks:
        """Yield keys of other tables."""
        if self.vectors not in ("blocks", "arm"):
            yield Mistake("vectors", f'must be "blocks" or "arm" with made, not "{self.vectors}"')
        if made.queries * made.arms * max(made.features, 1) > MOST_CELLS:
            yield Mistake("made", f"is too large: queries times arms times features are at most {MOST_CELLS:,}")
        others = ("path", "data", "features", "scores", "costs", "arms_path", "arms_data", "agent", "logged")
        for key in others:
            if getattr(self, key) is not None:
                yield Mistake(key, "excludes made: give one of the two")

    @property
    def discards(self) -> bool:
        """Whether it is a log."""
        return self.logged is not None

    @property
    def _has_arms(self) -> bool:
        return self.arms_path is not None or self.arms_data is not None

    def _check_log(self) -> Checks:
        """Yield keys that cannot be with a log."""
        impossible = {
            "rows": self.rows == "drawn" and "an event can be kept once only",
            "repeat": self.repeat and "an event can be kept once only",
            "split": self._split in ("sorted", "dirichlet") and "nobody knows which arm is best",
            "costs": self.costs is not None and "a reward is what the log says",
            "noise": self.noise > 0 and "a reward is what the log says",
            "shown": self.shown is not None and "nobody knows among which arms was chosen",
        }
        for key, why in impossible.items():
            if why:
                yield Mistake(key, f"cannot be so with logged: {why}")

    @property
    def _use(self) -> str:
        return self.rows or ("drawn" if self.logged is None else "in-order")

    @property
    def _split(self) -> str:
        if isinstance(self.split, DirichletSplit):
            return "dirichlet"
        return self.split or ("shared" if self.logged is None else "parts")

    def check_with(self, others: Others) -> Checks:
        """Yield a table that cannot be read, or does not go with the horizon or the agents."""
        key = "made" if self.made is not None else "data" if self.path is None else "path"
        watch = others.watch
        watch("the table of contexts", 0, 1)
        try:
            found = self._read()
            self._scales(found)
            if self.shown is not None and self.shown > len(found.arms):
                yield Mistake("shown", f"is {self.shown}, more than the {pluralize(len(found.arms), 'arm')} there are")
            fewest = self._fewest(found, others.graph.names)
        except ArmsError as error:
            yield Mistake("arms_data" if self.arms_path is None else "arms_path", str(error))
            return
        except TableError as error:
            yield Mistake(key, str(error))
            return
        finally:
            watch("the table of contexts", 1, 1)
        if self._use == "in-order" and not self.repeat and others.horizon > fewest:
            text = f"is {others.horizon}, but an agent may have only {pluralize(fewest, 'row')}: at most so many slots"
            also = "" if self.logged is not None else ", or bandit.repeat = true starts over"
            yield Mistake("horizon", f"{text}{also}", table="run")
        learner = others.kinds["learner"]
        if getattr(others.learner, "plays", "vectors") == "arms":
            if self.shown is not None:
                text = f"{learner} knows arms by their numbers, which mean others in each decision where some are shown"
                yield Mistake("shown", f"must be absent: {text}")
            yield Note("features" if self.features else "arms_path", f"are ignored: {learner} does not look at vectors")
        yield from (Note(key, text) for text in found.notes)
        yield from self._notes(found)

    def _notes(self, found: ContextTable) -> Checks:
        """Yield what is known of the vectors, and assumed of a log."""
        _, _, longest = self._scales(found)
        if self.scale and longest != 1:
            yield Note("scale", f"vectors are divided by {longest:.6g}, which no norm exceeds")
        elif longest > 1:
            yield Note("scale", f"is false, and vectors may be as long as {longest:.6g}: learners assume at most 1")
        if self.logged is not None and found.propensities is None:
            text = "without propensity arms are taken to have been shown uniformly at random: else ctr is biased"
            yield Note("logged", text)

    def _fewest(self, found: ContextTable, names: list[str]) -> int:
        """Return of how many rows an agent has at least.

        Raises:
            TableError: The rows are those of other agents, or not enough for all.
        """
        rows, agents = len(found.scores), len(names)
        if rows < agents and (self.made is not None or (found.users is None and self._split != "shared")):
            raise found.error(f"has {pluralize(rows, 'row')}, which is not one for each of {agents} agents")
        if found.users is not None:
            return int(np.bincount(self._owners(found, names)).min())
        return {"shared": rows, "dirichlet": 1}.get(self._split, rows // agents)

    def _owners(self, found: ContextTable, names: list[str]) -> NDArray[np.int64]:
        """Return the agent of each row.

        Raises:
            TableError: The rows are those of other agents, or an agent has none.
        """
        assert found.users is not None
        labels = found.users.labels
        if self.made is not None:
            return found.users.codes
        if self.agents_of == "modulo":
            if len(labels) < len(names):
                raise found.error(f"has rows of {pluralize(len(labels), 'user')}, but there are {len(names)} agents")
            return found.users.ordered(in_order(labels)) % len(names)
        try:
            numbers = agent_numbers(labels, names, "rows")
        except ValueError as error:
            more = len(labels) > len(names)
            hint = '; bandit.agents_of = "modulo" deals users out to agents' if more else ""
            raise found.error(f"{error}{hint}") from None
        return np.array([numbers[label] for label in labels], dtype=np.int64)[found.users.codes]

    def files(self) -> dict[str, str]:
        """Return the files."""
        return {key: path for key in ("path", "arms_path") if (path := getattr(self, key)) is not None}

    def outline(self) -> Outline:
        """Return the number of arms and the dimension, once the table can be read; files are then kept."""
        try:
            found = self._read()
        except (TableError, UnknownError):
            return Outline()
        return Outline(arms=self.shown or len(found.arms), dimension=self._dimension(found))

    def arm_names(self) -> tuple[str, ...] | None:
        """Return the names of arms, where all are shown."""
        return None if self.shown is not None else self._read().arms

    def _read(self, generator: GeneratorOf | None = None) -> ContextTable:
        if self.made is not None:  # before the start one of the same size
            rng = np.random.default_rng(0) if generator is None else generator("bandit.made", 0)
            made, agents = self.made, self.agents if generator else 1
            return context_tables.made(made.queries, made.features, made.arms, made.spread, agents, self.vectors, rng)
        log = self.logged
        columns = Columns(
            features=tuple(self.features or ()) if self.vectors != "arm" else (),
            scores=tuple(self.scores or ()),
            costs=tuple(self.costs or ()),
            agent=self.agent,
            log=None if log is None else LogColumns(log.arm, log.reward, log.propensity),
            arm_features=tuple(self.arm_features),
        )
        arms = self.arms_data if self.arms_path is None else Path(self.arms_path)
        table = self.data if self.path is None else Path(self.path)
        return context_tables.read(table, arms if self.vectors != "blocks" else None, columns)

    def _dimension(self, found: ContextTable) -> int:
        width, arm_width = int(found.contexts.shape[1]), int(found.arm_features.shape[1])
        sizes = {"blocks": len(found.arms) * width, "arm": arm_width, "outer": arm_width * width}
        return sizes.get(self.vectors, width + arm_width)

    def _scales(self, found: ContextTable) -> tuple[float, float, float]:
        """Return the factors of contexts and of arms by which no vector is longer than 1, and a bound on their norms.

        Raises:
            TableError: A vector is 0.
        """
        if self.made is not None:
            return 1.0, 1.0, 1.0
        x, a = _norms(found.contexts), _norms(found.arm_features)
        if self.vectors in ("blocks", "outer") and not x.all():
            raise found.error("all features are 0: such a row cannot be told from others", int(x.argmin()))
        if self.vectors in ("arm", "outer") and not a.all():
            raise ArmsError(f"all features of the arm {found.arms[int(a.argmin())]} are 0")
        longest_x, longest_a = float(x.max(initial=0)), float(a.max(initial=0))
        if self.vectors == "joint":
            longest = sqrt(longest_x**2 + longest_a**2) or 1.0
            return 1 / longest, 1 / longest, longest
        factors = [1 / longest_x if longest_x else 1.0, 1 / longest_a if longest_a else 1.0]
        return factors[0], factors[1], 1 / (factors[0] * factors[1])

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Read the table, and find whose each row is.

        Streams: ``bandit.split``; ``bandit.order``, index: the agent.

        Raises:
            TableError: It cannot be read, or does not go with the agents.
        """
        self.agents = agents
        self.table_of_contexts = found = self._read(generator)
        self.arm_count = self.shown or len(found.arms)
        self.dimension = self._dimension(found)
        scale, arm_scale, _ = self._scales(found) if self.scale else (1.0, 1.0, 1.0)
        self._scale = scale
        self._arm_vectors = found.arm_features * arm_scale
        self.fixed_actions = self._arm_vectors if self.vectors == "arm" and self.shown is None else None
        self._survey(found)
        if found.propensities is not None:
            self._least = found.propensities.min()
        names = list(map(str, range(agents))) if self.agent_names is None else self.agent_names()
        own = self._own_rows(found, names, generator)
        self._rows = np.concatenate(own[:1] if self._same_rows else own)
        self._counts = np.array([len(each) for each in own])
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]]) * (not self._same_rows)
        if self.vectors == "blocks" and self.shown is None:  # 0 but for what is written into it in each slot
            self._blocks = np.zeros((agents, len(found.arms), len(found.arms), found.contexts.shape[1]))

    @property
    def _same_rows(self) -> bool:
        """Whether all agents draw from the same rows."""
        return self.table_of_contexts.users is None and self._split == "shared" and self._use == "drawn"

    def _survey(self, found: ContextTable) -> None:
        """Find out the best arm of each row, and the range of what arms pay."""
        self._best, self._best_arm = np.empty(len(found.scores)), np.empty(len(found.scores), dtype=np.int64)
        low, high, binary = np.inf, -np.inf, self.noise == 0
        for rows, worth in found.values(self.cost_weight):
            self._best[rows], self._best_arm[rows] = worth.max(axis=1), worth.argmax(axis=1)
            low, high = min(low, float(worth.min())), max(high, float(self._best[rows].max()))
            binary = binary and bool(((worth == 0) | (worth == 1)).all())
        within = self.noise == 0 and low >= 0 and high <= 1
        self.law = "bernoulli" if binary else "other" if within else "gaussian"
        half = 0.5 if within else sqrt(((high - low) / 2) ** 2 + self.noise**2)
        self.sub_gaussian = self.told_sub_gaussian or half or 0.5

    def _own_rows(self, found: ContextTable, names: list[str], generator: GeneratorOf) -> list[NDArray[np.int64]]:
        """Return the rows of each agent."""
        self._fewest(found, names)
        rows, agents = len(found.scores), len(names)
        if found.users is not None:
            return _by_owner(self._owners(found, names), agents)
        if self._split == "shared":
            if self._use == "drawn":
                return [np.arange(rows)] * agents
            return [generator("bandit.order", agent).permutation(rows)[: self.horizon] for agent in range(agents)]
        rng = generator("bandit.split", 0)
        if self._split != "dirichlet":
            order = rng.permutation(rows) if self._split == "parts" else np.argsort(self._best_arm, kind="stable")
            return [np.sort(part) for part in np.array_split(order, agents)]
        assert isinstance(self.split, DirichletSplit)
        owners = np.empty(rows, dtype=np.int64)
        for arm in np.unique(self._best_arm).tolist():
            alike = rng.permutation(np.flatnonzero(self._best_arm == arm))
            shares = rng.dirichlet(np.full(agents, self.split.dirichlet))
            owners[alike] = np.searchsorted(np.cumsum(shares)[:-1] * len(alike), np.arange(len(alike)) + 0.5)
        counts = np.bincount(owners, minlength=agents)
        for agent in np.flatnonzero(counts == 0).tolist():  # one of those of the agent that has most
            richest = int(counts.argmax())
            owners[np.flatnonzero(owners == richest)[0]] = agent
            counts[[richest, agent]] += [-1, 1]
        return _by_owner(owners, agents)

    def begin(self, generator: GeneratorOf) -> None:
        """See :meth:`ActionSetBandit.begin`; streams ``bandit.rows`` and ``bandit.shown``, index: the agent.

        Of a log ``bandit.kept``.
        """
        agents = self.agents
        self._decided = np.zeros(agents, dtype=np.int64)
        self._row = np.zeros(agents, dtype=np.int64)
        self._subset = np.zeros((agents, self.arm_count), dtype=np.int64)
        self._subsets = [generator("bandit.shown", agent) for agent in range(agents if self.shown else 0)]
        if self._use == "drawn":
            self._draws = DecisionNumbers(generator, agents, uniform, purpose="bandit.rows")
        if self.noise:
            self._normals = DecisionNumbers(generator, agents, np.random.Generator.standard_normal)
        if self.table_of_contexts.propensities is not None:
            self._keeps = DecisionNumbers(generator, agents, uniform, purpose="bandit.kept")
        self._always: Numbers | None = None  # what all agents see in each slot
        if self.ignored or self.fixed_actions is not None:
            actions = np.zeros((1, self.dimension)) if self.fixed_actions is None else self.fixed_actions
            self._always = np.broadcast_to(actions, (agents, self.arm_count, self.dimension))
        self._met = np.zeros(len(self._best), dtype=np.int64)  # how often each row was
        self._best_chosen, self._paid, self._spent = np.zeros((3, agents))
        self._kept = 0

    def actions(self, agents: Agents) -> Numbers:
        """See :meth:`ActionSetBandit.actions`."""
        found = self.table_of_contexts
        if self._use == "drawn":
            place = (self._draws.of(0, agents) * self._counts[agents]).astype(np.int64)
        else:
            place = self._decided[agents] % self._counts[agents]
        self._decided[agents] += 1
        rows = self._rows[self._starts[agents] + place]
        self._row[agents] = rows
        for agent in agents.tolist() if self.shown is not None else ():
            self._subset[agent] = self._subsets[agent].choice(len(found.arms), self.shown, replace=False)
        if self._always is not None:
            return self._always[: len(agents)]
        return self._vectors(found.contexts[rows] * self._scale, agents)

    def _vectors(self, contexts: Numbers, agents: Agents) -> Numbers:
        """Return the vectors of the arms that are shown, shape (n, K, d), with these *contexts*, shape (n, p)."""
        count, width = contexts.shape
        if self.vectors == "blocks":
            places = np.arange(self.arm_count)
            if self.shown is None:
                made, where = self._blocks[:count], places
            else:
                made = np.zeros((count, self.arm_count, len(self.table_of_contexts.arms), width))
                where = self._subset[agents]
            made[np.arange(count)[:, None], places, where] = contexts[:, None]
            return made.reshape(count, self.arm_count, -1)
        arms = self._arm_vectors if self.shown is None else self._arm_vectors[self._subset[agents]]
        arms = np.broadcast_to(arms, (count, self.arm_count, arms.shape[-1]))
        if self.vectors == "outer":
            return np.asarray((arms[..., None] * contexts[:, None, None]).reshape(count, self.arm_count, -1))
        if self.vectors == "joint":
            return np.concatenate([np.broadcast_to(contexts[:, None], (*arms.shape[:2], width)), arms], axis=2)
        return arms

    def pull(self, agents: Agents, arms: NDArray[np.int64]) -> tuple[Numbers, Numbers | None]:
        """See :meth:`ActionSetBandit.pull`."""
        if self.logged is not None:
            return self._replayed(agents, arms), None
        found, rows = self.table_of_contexts, self._row[agents]
        chosen = arms if self.shown is None else self._subset[agents, arms]
        costs = found.costs.shape[1] > 0
        paid, best = found.scores[rows, chosen], self._best[rows]
        if costs:
            prices = found.costs[rows, chosen]
            self._spent[agents] += prices
            paid = paid - self.cost_weight * prices
        if self.shown is not None:
            shown = self._subset[agents]
            worth = found.scores[rows[:, None], shown]
            best = (worth - self.cost_weight * found.costs[rows[:, None], shown] if costs else worth).max(axis=1)
        else:
            np.add.at(self._met, rows, 1)
        self._paid[agents] += paid
        self._best_chosen[agents] += paid == best
        rewards = paid + self.noise * self._normals.of(0, agents) if self.noise else paid
        return rewards, best - paid

    def _replayed(self, agents: Agents, arms: NDArray[np.int64]) -> Numbers:
        """Return the rewards of the events that are kept, NaN for others, shape (n,)."""
        found, rows = self.table_of_contexts, self._row[agents]
        assert found.logged is not None
        kept = arms == found.logged[rows]
        if found.propensities is not None:
            kept &= self._keeps.of(0, agents) * found.propensities[rows] < self._least
        rewards = np.where(kept, found.scores[rows, 0], np.nan)
        self._kept += int(kept.sum())
        self._paid[agents[kept]] += rewards[kept]
        return rewards

    def figures(self) -> dict[str, float | int | None]:
        """Return how often the best arm was chosen, what arms cost, and regret against the best single arm.

        Of a log how many events were kept, and their mean reward.
        """
        if self.logged is not None:
            return {"kept": self._kept, "ctr": float(self._paid.sum()) / self._kept if self._kept else None}
        table, decisions = self.table_of_contexts, int(self._decided.sum())
        best = float(self._best_chosen.sum())
        found: dict[str, float | int | None] = {"best_share": best / decisions if decisions else None}
        if self.shown is None:
            of_arms = sum(self._met[rows] @ worth for rows, worth in table.values(self.cost_weight))
            found["regret_best_arm"] = float(np.max(of_arms) - self._paid.sum())
        if table.costs.shape[1]:
            found["arm_cost"] = float(self._spent.sum())
        return found


def _by_owner(owners: NDArray[np.int64], agents: int) -> list[NDArray[np.int64]]:
    """Return the rows of each agent, in their order."""
    return np.split(np.argsort(owners, kind="stable"), np.cumsum(np.bincount(owners, minlength=agents))[:-1])


def _norms(vectors: Numbers) -> Numbers:
    squares = [(vectors[rows] ** 2).sum(axis=1) for rows in blocks(len(vectors))]
    return np.asarray(np.sqrt(np.concatenate([np.zeros(0), *squares])))
