"""Validates what user-defined classes return before it is used: numpy and JSON would accept almost anything."""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import isnan
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import ArmBandit, Bandit, FiniteBandit, Outline
from netbandit.bandits.vertical_context import Findings, Users, VerticalContextBandit
from netbandit.learners.gathering import GatherLearner
from netbandit.learners.learner import AnyLearner, Commit, EpochLearner, Phase
from netbandit.learners.slots import Learner
from netbandit.learners.world import World
from netbandit.parts.component import Part
from netbandit.privacy.accountant import PrivacySpent
from netbandit.simulation.result import Metric
from netbandit.user_code.errors import ReturnedError, is_ours

PartType = TypeVar("PartType", bound=Part)
Agents = NDArray[np.int64]

LARGEST = 2**63 - 1
"""The largest integer that results can hold."""
MOST_BYTES = 2**53
"""The most bytes of an item: beyond, times of transmission would not be exact."""

OF_EVERY_RUN = frozenset({
    "regret", "reward", "regret_per_agent", "regret_per_decision", "decisions", "rounds", "round_slots", "cost",
    "activations", "messages", "bytes", "energy_j", "handed", "delivered", "lost", "unsent", "duplicates",
    "duplicates_dropped", "in_flight", "handed_bytes", "delivered_bytes", "lost_bytes", "unsent_bytes",
    "duplicates_bytes", "duplicates_dropped_bytes", "in_flight_bytes", "broadcasts_in_flight",
    "retransmissions", "given_up", "stalled", "waiting_slots", "absent_slots", "availability", "simulated_s", "epsilon",
    "delta", "epsilon_claimed", "epsilon_basic_composition", "delta_basic_composition", "broadcasts", "events",
    "wall_s", "broadcast_copies", "broadcasts_missed", "may_stall",
})  # fmt: skip
"""Metric names reserved for every run."""


def checked(part: PartType) -> PartType:
    """Return *part*, not yet started; methods of a user-defined part raise a ReturnedError for invalid values.

    The message names the class, the method, the expected and the returned value, and the slot, if known.
    """
    if not is_ours(type(part)):
        kinds = [returns for base, returns in _RETURNS.items() if isinstance(part, base)]
        looks = type("Looks", tuple(reversed(kinds)), {})(part)
        object.__setattr__(part, "_looks", looks)
        for name in dir(looks):
            if not name.startswith("_") and hasattr(part, name):
                object.__setattr__(part, name, _looked_at(looks, name, getattr(part, name), getattr(looks, name)))
    return part


def note_slot(part: Part, slot: int) -> None:
    """Set the *slot* of the next values that *part* returns, for methods without a slot argument."""
    looks = part.__dict__.get("_looks")
    if looks is not None:
        looks._slot = slot


def figures_of(part: object, figures: Any, taken: Collection[str] = (), method: str = "figures") -> dict[str, Metric]:
    """Return *figures* of a *part* as plain numbers; infinities are allowed here.

    Args:
        part: The part that returned them, for messages.
        figures: Number by name.
        taken: Names of other metrics, besides those of every run.
        method: The method that returned them, for messages.

    Raises:
        ReturnedError: A name or number that results cannot hold, or a name that is taken.
    """
    owner = f"{type(part).__qualname__}.{method}"
    if not isinstance(figures, Mapping):
        raise ReturnedError(f"{owner} must return a dictionary of numbers, not {described(figures)}")
    found: dict[str, Metric] = {}
    for name, value in figures.items():
        if not isinstance(name, str) or not name or not name.isprintable():
            text = repr(name) if isinstance(name, str) else described(name)
            raise ReturnedError(f"{owner} must give each figure a name, a printable text, not {text}")
        if name in OF_EVERY_RUN or name in taken:
            raise ReturnedError(f"{owner} must give its figures names of their own: {name} is one of the run's")
        number = value.item() if isinstance(value, np.generic) else value
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise ReturnedError(f"{owner} must give numbers, or None: {name} is {described(value)}")
        if isinstance(number, int) and abs(number) > LARGEST:
            raise ReturnedError(f"{owner} must give numbers of at most 64 bits: {name} is {described(value)}")
        found[name] = number
    return found


class _WrongError(Exception):
    """A returned value is invalid."""

    def __init__(self, wanted: str, found: str) -> None:
        self.wanted = wanted
        self.found = found


def _looked_at(
    looks: "_Returns", name: str, method: Callable[..., Any], look: Callable[..., Any]
) -> Callable[..., Any]:
    ahead = name in ("next_share", "next_ask")
    slotted = "slot" in list(inspect.signature(look).parameters)[1:2]

    def called(*arguments: Any, **keywords: Any) -> Any:
        slot = looks._slot
        if slotted:
            slot = arguments[0] if arguments else keywords.get("slot")
            looks._slot = looks._slot if ahead else slot
        returned = method(*arguments, **keywords)
        try:
            return look(returned, *arguments, **keywords)
        except _WrongError as error:
            when = "" if slot is None else f" (slot {slot})"
            text = f"{looks._owner}.{name} must return {error.wanted}, not {error.found}{when}"
            raise ReturnedError(text, looks._table) from None

    return called


class _Returns:
    """Checks of what methods return: a method of the same name each, called with the returned value and the arguments.

    Args:
        part: Whose methods they are.
    """

    def __init__(self, part: Any) -> None:
        self._part = part
        self._owner = type(part).__qualname__
        self._table = "bandit" if isinstance(part, Bandit) else "learner"
        self._slot: int | None = None

    def _refuse(self, method: str, wanted: str, found: str) -> None:
        self._refuse_all([(method, wanted, found)])

    def _refuse_all(self, wrong: Sequence[tuple[str, str, str]]) -> None:
        """Refuse what is *wrong*: methods, what each must do, and what was found instead."""
        if wrong:
            texts = (f"{self._owner}.{method} must {wanted}, not {found}" for method, wanted, found in wrong)
            raise ReturnedError("; ".join(texts), self._table)


class _OfAnyLearner(_Returns):
    def account(self, spent: Any, *_: Any, **__: Any) -> PrivacySpent:
        wanted = "a PrivacySpent with epsilon of at least 0 and delta from 0 to 1"
        if not isinstance(spent, PrivacySpent):
            raise _WrongError(wanted, described(spent))
        for name, most in (("epsilon", np.inf), ("delta", 1)):
            value = getattr(spent, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise _WrongError(wanted, f"one with {name} = {described(value)}")
        if spent.bound not in ("exact", "upper"):
            raise _WrongError('a PrivacySpent whose bound is "exact" or "upper"', f"one with bound = {spent.bound!r}")
        _texts((spent.unit, spent.accountant, *spent.caveats), "texts of one line each")
        return spent

    def remarks(self, lines: Any, *_: Any, **__: Any) -> tuple[str, ...]:
        return _texts(lines, "a tuple of remarks, each a text of one line")

    def combine(self, row: Any, *_: Any, **__: Any) -> NDArray[Any]:
        found = _no_numbers(row, infinite=True)
        if found:
            raise _WrongError("a row of numbers", found)
        return np.asarray(row)


class _OfLearner(_OfAnyLearner):
    _world: World | None = None
    _width: int | None = None

    def start(self, nothing: Any, world: World, *_: Any) -> None:
        self._world = world

    def choose(self, arms: Any, slot: int, agents: Agents) -> NDArray[Any]:
        assert self._world is not None, "it is started before it chooses"
        count = self._world.arms
        if not count:  # a market
            return self._units(arms, agents)
        found = _mismatch(arms, "iu", agents.shape) or _outside(arms, 0, count - 1, "arm ")
        if found:
            shape = f"integers of shape ({len(agents)},)"
            raise _WrongError(f"an arm from 0 to {count - 1} for each of its {len(agents)} agents, {shape}", found)
        return np.asarray(arms)

    def _units(self, units: Any, agents: Agents) -> NDArray[Any]:
        assert self._world is not None
        assert self._world.capacities is not None
        capacities = self._world.capacities[agents]
        found = _mismatch(units, "iuf", capacities.shape) or _outside(units, 0, capacities, "")
        if found or (units % 1).any():
            text = f"units of each producer, from 0 to its capacity, whole numbers of shape {capacities.shape}"
            raise _WrongError(text, found or "parts of units")
        return np.asarray(units)

    def replicas(self, learners: Any, sets: int) -> list[Learner]:
        kind = type(self._part)
        if not isinstance(learners, list) or len(learners) != sets or not all(type(one) is kind for one in learners):
            raise _WrongError(f"a list of {sets} learners like itself", described(learners))
        return learners

    def answers(self, arms: Any, agents: Agents) -> NDArray[Any]:
        assert self._world is not None, "it is started before it answers"
        count = self._world.arms
        found = _mismatch(arms, "iu", agents.shape) or _outside(arms, -1, count - 1, "arm ")
        if found:
            text = f"an arm from 0 to {count - 1}, or -1, for each of its {len(agents)} agents, integers of shape"
            raise _WrongError(f"{text} ({len(agents)},)", found)
        return np.asarray(arms)

    local_answers = answers

    def stopped(self, said: Any, agents: Agents) -> NDArray[np.bool_]:
        return self._said(said, agents)

    def wants(self, said: Any, slot: int, agents: Agents) -> NDArray[np.bool_]:
        return self._said(said, agents)

    def ask(self, said: Any, slot: int, agents: Agents) -> NDArray[np.bool_]:
        return self._said(said, agents)

    def _said(self, said: Any, agents: Agents) -> NDArray[np.bool_]:
        found = _mismatch(said, "b", agents.shape)
        if found:
            wanted = f"yes or no for each of its {len(agents)} agents, booleans of shape ({len(agents)},)"
            raise _WrongError(wanted, found)
        return np.asarray(said)

    def share(self, rows: Any, slot: int, agents: Agents) -> NDArray[Any] | None:
        kind = type(self._part)
        # In a round every agent shares, and an agent that has begun to exchange does so in every step.
        or_none = kind.communication_pattern() != "call" and not (kind.has("mix") and self._width is not None)
        if rows is None and or_none:
            return None
        silent, wanted = self._silent(rows, agents), ", or None" if or_none else ""
        if silent is None:
            return self._rows(rows, agents, wanted)
        told = np.array(np.ma.getdata(rows[0] if isinstance(rows, tuple) else rows))
        if told.shape[:1] == silent.shape:
            told[silent] = 0  # never sent
        return np.ma.array(
            self._rows(told, agents, wanted), mask=np.repeat(silent[:, np.newaxis], told.shape[1], axis=1)
        )

    def _silent(self, rows: Any, agents: Agents) -> NDArray[np.bool_] | None:
        """Return which agents send nothing; None: nobody said so."""
        if isinstance(rows, tuple) and len(rows) == 2:
            silent = rows[1]
        elif isinstance(rows, np.ma.MaskedArray):
            silent = np.ma.getmaskarray(rows).any(axis=-1)
            if (np.ma.getmaskarray(rows).all(axis=-1) != silent).any():
                raise _WrongError("rows that are masked as a whole", "one that is masked in part")
        else:
            return None
        if not self._part.may_be_silent or type(self._part).communication_pattern() != "broadcast":
            text = "mask no agent, unless it is of a class of broadcasts with may_be_silent: ClassVar[bool] = True"
            self._refuse("share", text, "a mask")
        found = _mismatch(silent, "b", agents.shape)
        if found:
            raise _WrongError(f"a mask of its {len(agents)} agents, booleans of shape ({len(agents)},)", found)
        return np.asarray(silent)

    def answer_for(self, row: Any, agent: int) -> NDArray[Any] | None:
        if row is None:
            return None
        numbers = self._part.answer_numbers(self._width)
        found = _mismatch(row, "biuf", (numbers,)) or _no_numbers(row, infinite=True)
        if found:
            raise _WrongError(f"{numbers} numbers for agent {agent}, shape ({numbers},), or None", found)
        return np.array(row)  # rows in flight do not change

    def answer_numbers(self, numbers: Any, *_: Any) -> int:
        return _whole(numbers, MOST_BYTES, "numbers")

    def lagging(self, agents: Any) -> list[int]:
        assert self._world is not None
        wanted = f"agents from 0 to {self._world.agents - 1}"
        if not isinstance(agents, Iterable):
            raise _WrongError(wanted, described(agents))
        return [_number(agent, 0, self._world.agents - 1, wanted, "") for agent in agents]

    def answer(self, rows: Any, slot: int, agents: Agents) -> NDArray[Any]:
        return self._rows(rows, agents, "")

    def _rows(self, rows: Any, agents: Agents, or_none: str) -> NDArray[Any]:
        found = _mismatch(rows, "biuf", (len(agents), self._width)) or _no_numbers(rows, agents, infinite=True)
        if found:
            shape = f"({len(agents)}, {'k' if self._width is None else self._width})"
            raise _WrongError(f"a row of numbers for each of its {len(agents)} agents, shape {shape}{or_none}", found)
        self._width = rows.shape[1]
        return np.array(rows)  # rows in flight do not change

    def next_share(self, following: Any, slot: int) -> int | None:
        return _later(following, slot)

    def next_ask(self, following: Any, slot: int) -> int | None:
        return _later(following, slot)

    def item_bytes(self, size: Any, *_: Any) -> int:
        return _whole(size, MOST_BYTES, "bytes")

    def item_bits(self, bits: Any, *_: Any) -> int:
        return _whole(bits, 8 * MOST_BYTES, "bits")

    def share_numbers(self, numbers: Any, *_: Any) -> int:
        return _whole(numbers, MOST_BYTES, "numbers")

    def deposit_numbers(self, numbers: Any, *_: Any) -> int:
        return _whole(numbers, MOST_BYTES, "numbers")

    def explored_slots(self, slots: Any) -> NDArray[np.int64] | None:
        if slots is None:
            return None
        assert self._world is not None
        found = _mismatch(slots, "iu", (self._world.agents,)) or _outside(slots, 0, LARGEST, "")
        if found:
            raise _WrongError(f"slots, integers of shape ({self._world.agents},), or None", found)
        return np.asarray(slots)


class _OfEpochLearner(_OfAnyLearner):
    _arms = 0

    def start(self, nothing: Any, *, arms: int, **_: Any) -> None:
        self._arms = arms

    def start_per_agent(self, nothing: Any, *, arms: int, **_: Any) -> None:
        self._arms = arms

    def begin(self, action: Any, epoch: int) -> Phase | Commit:
        wanted = f"a Phase of some arms from 0 to {self._arms - 1}, ascending, each with a pull at least, or a Commit"
        if isinstance(action, Commit):
            _number(action.arm, 0, self._arms - 1, wanted, "one to arm ")
            return action
        if not isinstance(action, Phase):
            raise _WrongError(wanted, described(action))
        arms = action.arms
        found = _mismatch(arms, "iu", (None,)) or _outside(arms, 0, self._arms - 1, "one of arm ")
        if found or not len(arms) or (np.diff(arms) <= 0).any():
            raise _WrongError(wanted, found or f"one of the arms {arms.tolist()}")
        _number(action.pulls, 1, np.inf, wanted, "one with pulls = ")
        return action

    def observe(self, nothing: Any, sums: NDArray[Any], rng: Any) -> None:
        shape = sums.shape
        releases, best = self._part.releases, self._part.best_arms
        found = _mismatch(releases, "biuf", shape) or _no_numbers(releases)
        if found:
            self._refuse("observe", f"make releases, numbers of shape {shape}", found)
        found = _mismatch(best, "iu", shape[:1]) or _outside(best, 0, self._arms - 1, "arm ")
        if found:
            self._refuse("observe", f"make best_arms, from 0 to {self._arms - 1}, shape {shape[:1]}", found)

    def participants(self, number: Any, members: int) -> int:
        return _number(number, 1, members, f"an integer from 1 to {members}", "")


class _OfGatherLearner(_OfAnyLearner):
    def play(self, arms: Any, contexts: NDArray[Any], *_: Any) -> NDArray[Any]:
        users, count = contexts.shape[:2]
        found = _mismatch(arms, "iu", (users,)) or _outside(arms, 0, count - 1, "arm ")
        if found:
            text = f"an arm from 0 to {count - 1} for each of {users} users, integers of shape ({users},)"
            raise _WrongError(text, found)
        return np.asarray(arms)

    def operations(self, number: Any, *_: Any) -> int | None:
        return None if number is None else _whole(number, LARGEST, "operations")


class _OfBandit(_Returns):
    def __init__(self, part: Any) -> None:
        super().__init__(part)
        self._unknown: dict[str, bool] = {}

    def _is_unknown(self, what: str, value: Any) -> bool:
        """Return whether *value* is None: in every slot or in none."""
        if self._unknown.setdefault(what, value is None) != (value is None):
            raise _WrongError(f"a {what} in every slot, or None in every slot", described(value))
        return value is None

    def outline(self, outline: Any) -> Outline:
        if not isinstance(outline, Outline):
            raise _WrongError("an Outline", described(outline))
        for name in ("arms", "dimension"):
            value = getattr(outline, name)
            if value is not None:
                _number(value, 1, LARGEST, f"an Outline whose {name} are at least 1, or None", "")
        return outline


class _OfArmBandit(_OfBandit):
    _agents = 0
    _means: tuple[int, ...] | None = None

    def start(self, nothing: Any, agents: int, *_: Any) -> None:
        self._agents = agents
        part = self._part
        if getattr(part, "agents", None) != agents:
            self._refuse(
                "start", f"set agents to the number of agents, {agents}", described(getattr(part, "agents", None))
            )
        means = part.means_at(0)  # looked at below
        arms = part.arm_count if means is None else means.shape[-1]
        wrong = []
        if not isinstance(part.law, str):
            wrong.append(("law", "be a text", described(part.law)))
        if not _positive(part.sub_gaussian):
            wrong.append(("sub_gaussian", "be a number above 0", described(part.sub_gaussian)))
        if part.arm_count != arms or isinstance(arms, bool) or not isinstance(arms, int) or arms < 1:
            wanted = "at least 1" if means is None else str(arms)
            wrong.append(("arm_count", f"be the number of arms, {wanted}", described(part.arm_count)))
        self._refuse_all(wrong)
        own = part.own_arms
        shape = (agents, arms)
        found = "" if own is None else _mismatch(own, "b", shape)
        if found or (own is not None and not own.any(axis=1).all()):
            self._refuse(
                "own_arms", f"be booleans of shape {shape}, an arm at least for each", found or "none for some"
            )

    def means_at(self, means: Any, slot: int) -> NDArray[Any] | None:
        if self._is_unknown("means", means):
            return None
        shape = getattr(means, "shape", ())
        fits = shape[-1:] > (0,) and shape[:-1] in ((), (self._agents,)) and self._means in (None, shape)
        found = _no_numbers(means) or ("" if fits else described(means))
        if found:
            shapes = f"({self._agents}, K) or (K,) with K of at least 1" if self._means is None else str(self._means)
            raise _WrongError(f"the mean of each arm, numbers of shape {shapes}", found)
        self._means = shape
        return np.asarray(means)

    def draw(self, numbers: Any, rng: Any, slots: int) -> NDArray[Any]:
        found = _mismatch(numbers, "biuf", (slots,)) or _no_numbers(numbers)
        if found:
            raise _WrongError(f"a number for each of {slots} slots, shape ({slots},)", found)
        return np.asarray(numbers)

    def pull(self, rewards: Any, slot: int, agents: Agents, *_: Any) -> NDArray[Any]:
        return _of_agents(rewards, agents, "a reward")

    def regrets(self, regrets: Any, slot: int, agents: Agents, *_: Any) -> NDArray[Any] | None:
        return None if self._is_unknown("regret", regrets) else _of_agents(regrets, agents, "a regret")


class _OfFiniteBandit(_OfArmBandit):
    def start(self, nothing: Any, agents: int, *_: Any) -> None:
        if not isinstance(getattr(self._part, "gaps", None), np.ndarray):
            self._refuse("start", "settle(means, agents)", "leave the means open")
        super().start(nothing, agents)
        if self._means is not None and self._means[-1] != len(self._part.gaps):
            self._refuse("means_at", f"have the {len(self._part.gaps)} arms that were settled", str(self._means[-1]))

    def pull_blocks(self, sums: Any, rng: Any, agents: Agents, arms: NDArray[Any], pulls: int) -> NDArray[Any]:
        shape = (len(agents), len(arms))
        found = _mismatch(sums, "biuf", shape) or _no_numbers(sums, agents)
        if found:
            raise _WrongError(f"the sum of the rewards of each agent and arm, shape {shape}", found)
        return np.asarray(sums)


class _OfActionSetBandit(_OfBandit):
    def start(self, nothing: Any, agents: int, *_: Any) -> None:
        part, wrong = self._part, []
        for name in ("arm_count", "dimension"):
            value = getattr(part, name, None)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                wrong.append(("start", f"set {name} to an integer of at least 1", described(value)))
        if not _positive(getattr(part, "sub_gaussian", None)):
            wrong.append(("start", "set sub_gaussian to a number above 0", "leave it out or set it to something else"))
        self._refuse_all(wrong)

    def actions(self, actions: Any, agents: Agents) -> NDArray[Any]:
        shape = (len(agents), self._part.arm_count, self._part.dimension)
        found = _mismatch(actions, "biuf", shape) or _no_numbers(actions, agents)
        if found:
            raise _WrongError(f"action vectors, numbers of shape {shape}", found)
        return np.asarray(actions)

    def pull(self, paid: Any, agents: Agents, *_: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        if not isinstance(paid, tuple) or len(paid) != 2:
            raise _WrongError("rewards and regrets, two arrays", described(paid))
        rewards = _of_agents(paid[0], agents, "a reward")
        return rewards, None if self._is_unknown("regret", paid[1]) else _of_agents(paid[1], agents, "a regret")


class _OfVerticalBandit(_OfBandit):
    def users(self, users: Any, *_: Any) -> Users:
        part = self._part
        if not isinstance(users, Users):
            raise _WrongError("Users", described(users))
        shape = (None, part.arm_count, part.seen)
        found = _mismatch(users.contexts, "biuf", shape) or _no_numbers(users.contexts)
        if found:
            raise _WrongError(f"Users with contexts of shape (users, {part.arm_count}, {part.seen})", f"with {found}")
        for name in ("rewards", "regrets"):  # NaN: unknown
            found = _mismatch(getattr(users, name), "biuf", users.contexts.shape[:2])
            if found:
                raise _WrongError(f"Users with {name} of shape {users.contexts.shape[:2]}", f"with {found}")
        return users

    def findings(self, findings: Any, users: NDArray[Any], *_: Any) -> Findings:
        if not isinstance(findings, Findings):
            raise _WrongError("Findings", described(findings))
        _texts(findings.remarks, "Findings whose remarks are texts of one line each")
        for name, values in findings.tracks.items():
            found = _mismatch(values, "biuf", users.shape)
            if found or name in ("regret", "parameter_error"):
                raise _WrongError(f"Findings with tracks of their own, shape {users.shape}", found or f"one of {name}")
        return findings


_RETURNS: Mapping[type[Part], type[_Returns]] = {
    AnyLearner: _OfAnyLearner,
    Learner: _OfLearner,
    EpochLearner: _OfEpochLearner,
    GatherLearner: _OfGatherLearner,
    Bandit: _OfBandit,
    ArmBandit: _OfArmBandit,
    FiniteBandit: _OfFiniteBandit,
    ActionSetBandit: _OfActionSetBandit,
    VerticalContextBandit: _OfVerticalBandit,
}


def described(value: Any) -> str:
    """Return the type of a returned value, with the shape of an array; a number as it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "an integer of many digits" if isinstance(value, int) and abs(value) > LARGEST else repr(value)
    return f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def _mismatch(value: Any, kinds: str, shape: tuple[int | None, ...]) -> str:
    """Return what *value* is instead of an array of some *kinds* of numbers and a *shape*, None for any length."""
    fits = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    lengths = zip(value.shape, shape, strict=True) if fits else ()
    return "" if fits and all(wanted in (None, length) for length, wanted in lengths) else described(value)


def _outside(value: NDArray[Any], least: int, most: Any, what: str) -> str:
    wrong = value[(value < least) | (value > most)]
    return f"{what}{wrong[0]}" if len(wrong) else ""


def _positive(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(0 < value < np.inf)


def _no_numbers(rows: Any, agents: Agents | None = None, *, infinite: bool = False) -> str:
    """Return what *rows* are instead of numbers, finite ones unless they may be infinite; of *agents* whose it is."""
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "biuf":
        return described(rows)
    wrong = np.isnan(rows) if infinite else ~np.isfinite(rows)
    if not wrong.any():
        return ""
    found = "NaN" if isnan(rows[wrong][0]) else "an infinite number"
    if agents is None:
        return found
    return f"{found} for agent {agents[wrong.reshape(len(agents), -1).any(axis=1).argmax()]}"


def _of_agents(values: Any, agents: Agents, what: str) -> NDArray[Any]:
    found = _mismatch(values, "biuf", agents.shape) or _no_numbers(values, agents)
    if found:
        raise _WrongError(f"{what} for each of its {len(agents)} agents, numbers of shape ({len(agents)},)", found)
    return np.asarray(values)


def _number(value: Any, least: int, most: float, wanted: str, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise _WrongError(wanted, f"{what}{described(value)}")
    return int(value)


def _whole(value: Any, most: int, what: str) -> int:
    return _number(value, 0, most, f"a number of {what}, an integer of at least 0", "")


def _later(following: Any, slot: int) -> int | None:
    if following is None:
        return None
    return _number(following, slot, np.inf, f"an integer of at least {slot}, or None", "")


def _texts(lines: Any, wanted: str) -> tuple[str, ...]:
    if not isinstance(lines, tuple | list):
        raise _WrongError(wanted, described(lines))
    for line in lines:
        if not isinstance(line, str) or not line.isprintable():
            raise _WrongError(wanted, repr(line) if isinstance(line, str) else f"one with {described(line)}")
    return tuple(lines)
