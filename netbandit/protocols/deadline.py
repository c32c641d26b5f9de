"""The `deadline` key of protocols that can proceed without missing agents, and the list of waiting agents.

Each agent waits in a round by its own clock, and concludes for itself from the items that it holds. `server` defines
how long a server waits, `tree_collection` how long the sink of a tree does.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError
from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import Clock, ScheduledEvent
from netbandit.parts.component import Checks, Mistake, Others, Part
from netbandit.protocols.protocol import Item
from netbandit.util.units import DURATION, Duration
from netbandit.util.wording import Allowed

DEADLINES = EventPriority(5)
"""A deadline passes after all arrivals and effects of its instant."""


def _positive(text: Any) -> Any:
    try:
        if Duration(text).amount > 0:
            return text
    except (TypeError, ValueError):
        pass
    raise PydanticCustomError("deadline", "must be above 0, {what}", {"what": DURATION})


class DeadlineKey(Part):
    """The key of a protocol whose agents wait for a limited time."""

    deadline: Annotated[Duration, BeforeValidator(_positive), Allowed(DURATION)] | None = None
    """How long a node waits for others, by its own clock; absent: without limit."""

    def deadline_ns(self, slot: int) -> int | None:
        """Return the deadline in nanoseconds, for slots of *slot* nanoseconds; None: unlimited."""
        return None if self.deadline is None else max(1, self.deadline.nanoseconds(slot))


def deadline_without_rounds(keys: DeadlineKey, others: Others) -> Checks:
    """Yield a deadline where agents neither take part in rounds nor call for them."""
    if keys.deadline is not None and not {"round", "call"} & set(getattr(others.learner, "talks", ())):
        kind = others.kinds["learner"]
        yield Mistake(
            "deadline",
            f'works with learners of rounds or calls only, such as elimination and feducb, not with "{kind}"',
        )


class WaitList:
    """The agents that wait in each round, until they are informed or their deadline passes.

    Args:
        clock: The clock.
        deadline: How long (ns) an agent waits, from its own contribution; None: for ever.
        holds: Returns the items that an agent holds in a round, given (round, agent), at its deadline.
        conclude: Returns the conclusion of an agent from items, given (round, items, agent).

    Attributes:
        late: The number of items that reached an agent after it had proceeded without them.
    """

    def __init__(
        self,
        clock: Clock,
        deadline: int | None,
        holds: Callable[[int, int], Sequence[Item]],
        conclude: Callable[[int, Sequence[Item], int], Item],
    ) -> None:
        self._clock = clock
        self._deadline = deadline
        self._holds = holds
        self._conclude = conclude
        self._waiting: dict[int, dict[int, Event]] = {}
        self._gone_on: set[tuple[int, int]] = set()
        self._kept: dict[tuple[int, int], Item] = {}
        self._done: set[int] = set()
        self.late = 0

    def wait(self, round: int, agent: int) -> Event:
        """Return the event that *agent* proceeds; its value is the conclusion, or None if it has received nothing."""
        self._done.discard(agent)
        informed = Event(self._clock.environment)
        kept = self._kept.pop((round, agent), None)
        if kept is not None:
            self._gone_on.add((round, agent))
            return informed.succeed(kept)
        self._waiting.setdefault(round, {})[agent] = informed
        if self._deadline is not None:
            callbacks: list[Callable[[Event], None]] = [lambda _: self._pass_deadline(round, agent, informed)]
            self._clock.environment.schedule(ScheduledEvent(callbacks), DEADLINES, self._deadline)
        return informed

    def waiting(self, round: int) -> list[int]:
        """Return the agents that wait in *round*, ascending."""
        return sorted(self._waiting.get(round, ()))

    def waits(self, round: int, agent: int) -> bool:
        """Return whether *agent* waits in *round*."""
        return agent in self._waiting.get(round, ())

    def went_on(self, round: int, agent: int) -> bool:
        """Return whether *agent* has left *round*, and so cannot use later items."""
        return (round, agent) in self._gone_on

    def inform(self, round: int, agent: int, items: Sequence[Item]) -> None:
        """Let *agent*, if it waits, conclude from *items*."""
        if self.waits(round, agent):
            self.tell(round, agent, self._conclude(round, items, agent))

    def tell(self, round: int, agent: int, answer: Item | None) -> None:
        """Let *agent*, which waits, proceed with an *answer*; None: it has received nothing."""
        self._gone_on.add((round, agent))
        self._leave(round, agent).succeed(answer)

    def answer(self, round: int, agent: int, answer: Item) -> None:
        """Pass an *answer* to *agent*: now if it waits, or when it reaches that round; otherwise count it as late."""
        if self.waits(round, agent):
            self.tell(round, agent, answer)
        elif self.went_on(round, agent):
            self.late += 1
        elif agent not in self._done:
            self._kept[round, agent] = answer

    def done(self, agent: int) -> None:
        """Note that *agent* has left: it gets no more answers."""
        self._done.add(agent)

    def is_done(self, agent: int) -> bool:
        """Return whether *agent* has left."""
        return agent in self._done

    def forget(self, agent: int) -> None:
        """Discard all rounds of *agent*; it waits in none."""
        self._done.discard(agent)
        self._kept = {key: answer for key, answer in self._kept.items() if key[1] != agent}
        for round in [round for round, waiting in self._waiting.items() if agent in waiting]:
            self._leave(round, agent)
        self._gone_on = {(round, other) for round, other in self._gone_on if other != agent}

    def _leave(self, round: int, agent: int) -> Event:
        waiting = self._waiting[round]
        informed = waiting.pop(agent)
        if not waiting:
            del self._waiting[round]
        return informed

    def _pass_deadline(self, round: int, agent: int, informed: Event) -> None:
        if self._waiting.get(round, {}).get(agent) is not informed or self._clock.now > self._clock.end:
            return  # it has gone on, or has lost its memory meanwhile
        items = self._holds(round, agent)
        if len(items) > 1:
            self.inform(round, agent, items)
        else:  # it has nothing but its own
            self.tell(round, agent, None)


def only_a_server(round: int, items: Sequence[Item], agent: int) -> Item:
    """Stand for the conclusions of agents where only a server concludes."""
    raise RuntimeError("only the server concludes")
