"""Where what agents conclude from comes from, and whether it can have reached them: for runs of rounds with a trace.

Every item is followed from the agent that contributes it through all that is made of it to those who go on with the
conclusion. From the trace follows what each node can know at most: a message carries no more than its sender knew.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from simpy import Event

from netbandit.protocols.protocol import Item
from netbandit.simulation import replication
from netbandit.simulation.driver import Driver, ReplicationContext
from netbandit.simulation.drivers.choice import driver_for
from netbandit.simulation.drivers.epochs import Epochs
from netbandit.testing.call_recorder import content

Origin = tuple[int, int]
"""A round, and the agent that contributed an item to it."""

_CARRY_NO_ITEM = ("ADV", "REQ", "ACK", "DONE")
_REPETITION = "-RETRY"


@dataclass(frozen=True)
class Use:
    """An agent goes on with what was concluded.

    Attributes:
        agent: The agent.
        time: When (ns).
        origins: What was concluded from.
    """

    agent: int
    time: int
    origins: frozenset[Origin]


@dataclass
class Provenance:
    """The observed history of the items of a run.

    Attributes:
        contributed: When (ns) each item was contributed.
        uses: Which agent adopted which items.
        breaches: What was wrong with how items were put together.
        disorder: Items that were put together in another order than that of their agents.
        stalled: Of each agent that waits at the horizon for what cannot come any more, for how many slots.
        pending: The contributions of which their agents have not been informed by then.
        events: For each contribution, what happens when its agent is informed.
    """

    contributed: dict[Origin, int] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    disorder: list[str] = field(default_factory=list)
    stalled: list[int] = field(default_factory=list)
    pending: list[Origin] = field(default_factory=list)
    events: dict[Origin, Event] = field(default_factory=dict)
    _origins: dict[int, frozenset[Origin]] = field(default_factory=dict)
    _kept: list[tuple[Item, str]] = field(default_factory=list)  # what is gone would leave its number to another

    def of(self, item: Item) -> frozenset[Origin]:
        """Return what an item was made of; nothing if it was not seen before."""
        return self._origins.get(id(item), frozenset())

    def made(self, item: Item, origins: frozenset[Origin]) -> None:
        """Remember what an item was made of."""
        self._origins[id(item)] = origins
        self._kept.append((item, content(item)))

    def changed(self) -> Iterator[str]:
        """Yield which items have another content than when they were made."""
        for item, before in self._kept:
            if content(item) != before:
                agents = sorted(agent for _, agent in self.of(item))
                rounds = sorted({round for round, _ in self.of(item)})
                of = f"agent {agents[0]}" if len(agents) == 1 else f"agents {', '.join(map(str, agents))}"
                yield f"the item of {of} in round {', '.join(map(str, rounds))} is changed after it was handed over"

    def put_together(self, items: Sequence[Item]) -> frozenset[Origin]:
        """Return what *items* are made of together; none of it may be in two of them."""
        first = [min(origins) for item in items if (origins := self.of(item))]
        if first != sorted(first):
            agents = ", ".join(str(agent) for _, agent in first)
            self.disorder.append(f"items are put together in the order of agents {agents} in round {first[0][0]}")
        seen: set[Origin] = set()
        for item in items:
            origins = self.of(item)
            twice = seen & origins
            if twice:
                self.breaches.append(f"what agents contributed is used twice: {sorted(twice)} (round, agent)")
            seen |= origins
        return frozenset(seen)

    def unheard(
        self,
        messages: Sequence[Mapping[str, Any]],
        was_down: Callable[[int, int, int], bool],
        copies_overtake: bool = False,
    ) -> Iterator[str]:
        """Yield who went on with what cannot have reached it, by the *messages* of the run.

        Args:
            messages: Those of its trace, in order.
            was_down: Whether an agent was down at any moment from one time (ns) to another: who was down in a round
                counts in the next, and hears of the end of this one by the clock that ends it.
            copies_overtake: Whether a copy that the network made of a message, which no trace shows, may come before
                the message does.
        """
        known: dict[int | str, set[Origin]] = {}
        for use in _in_order(messages, self.contributed, self.uses, known, copies_overtake):
            missing = use.origins - known.get(use.agent, set())
            rounds = {round for round, _ in use.origins}
            begun = min(time for (round, _), time in self.contributed.items() if round in rounds)
            if missing and not was_down(use.agent, begun, use.time):
                text = f"{sorted(missing)} (round, agent)"
                yield f"{use.agent} goes on at {use.time} ns with what has not reached it: {text}"


def _in_order(
    messages: Sequence[Mapping[str, Any]],
    contributed: dict[Origin, int],
    uses: Sequence[Use],
    known: dict[int | str, set[Origin]],
    copies_overtake: bool,
) -> Iterator[Use]:
    """Yield *uses* in order of time, each when *known* holds what every node can know by then."""
    # At an instant: what was sent before arrives, agents contribute, messages go out in the order of the trace (and
    # arrive, where nothing takes time), and who can goes on.
    events: list[tuple[int, int, int, Any]] = []
    for number, message in enumerate(messages):
        if message.get("lost") or message["kind"].removesuffix(_REPETITION) in _CARRY_NO_ITEM:
            continue
        arrival = message["start"] if copies_overtake else message["arrival"]
        events.append((message["sent"], 2, number, (message, arrival)))
        if arrival > message["sent"]:
            events.append((arrival, 0, number, (message, arrival)))
    events += [(time, 1, number, origin) for number, (origin, time) in enumerate(contributed.items())]
    events += [(use.time, 3, number, use) for number, use in enumerate(uses)]
    under_way: dict[int, frozenset[Origin]] = {}
    for _, what, number, event in sorted(events, key=lambda one: one[:3]):
        if what == 3:
            yield event
        elif what == 1:
            known.setdefault(event[1], set()).add(event)
        elif what == 2:
            message, arrival = event
            carried = frozenset(known.get(message["from"], ()))
            if arrival > message["sent"]:
                under_way[number] = carried
            else:
                known.setdefault(message["to"], set()).update(carried)
        else:
            known.setdefault(event[0]["to"], set()).update(under_way.pop(number))


@contextmanager
def watched() -> Iterator[Provenance]:
    """Follow the items of all runs of rounds that are made while this lasts, and who waits for ever in any run."""
    seen = Provenance()

    def watching(context: ReplicationContext) -> Driver:
        driver = driver_for(context)
        _watch_end(driver, seen)
        if isinstance(driver, Epochs):
            _watch(driver, seen)
        return driver

    with patch.object(replication, "driver_for", watching):
        yield seen


def _watch_end(driver: Driver, seen: Provenance) -> None:
    """Have *driver* tell who waits for ever: it is asked by the simulation itself only where messages may be lost."""
    stalled, context = driver.stalled, driver.context

    def asked() -> list[int]:
        seen.stalled = stalled()
        seen.pending = sorted(origin for origin, event in seen.events.items() if not event.triggered)
        return seen.stalled

    def ask_if_idle() -> None:
        if context.clock.environment.idle:  # with nothing queued, under way or timed, who waits does so for ever
            asked()

    watched: Any = driver
    watched.stalled = asked
    if not replication.may_never_come(context):
        context.clock.at_end(ask_if_idle)


def _watch(driver: Epochs, seen: Provenance) -> None:
    """Have *driver* tell of all items that agents contribute, that are put together, and that agents go on with."""
    start, aggregate, conclude = driver.start, driver.aggregation.aggregate, driver.aggregation.conclude
    clock = driver.context.clock

    def starts() -> None:
        start()
        protocol: Any = driver.aggregation.protocol
        contribute = protocol.contribute

        def contributes(round: int, agent: int, item: Item | None) -> Event:
            if item is not None:
                seen.contributed.setdefault((round, agent), clock.now)
                seen.made(item, frozenset({(round, agent)}))
            event: Event = contribute(round, agent, item)
            seen.events[round, agent] = event
            if not event.triggered:  # if it is, the round had ended while the agent was down
                assert event.callbacks is not None
                event.callbacks.append(lambda done: uses(agent, done))
            return event

        def uses(agent: int, done: Event) -> None:
            if isinstance(done.value, Item) and seen.of(done.value):
                seen.uses.append(Use(agent, clock.now, seen.of(done.value)))

        protocol.contribute = contributes

    def aggregates(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        items = list(items)
        made = aggregate(items, weights)
        origins = seen.put_together(items)
        if weights is not None and origins and sum(weights) != len(origins):
            seen.breaches.append(f"{sum(weights)} are said to be in what {len(origins)} contributed")
        seen.made(made, origins)
        return made

    def concludes(round: int, group: int, found: Item) -> Item:
        answer = conclude(round, group, found)
        seen.made(answer, seen.of(found))
        return answer

    watched: Any = driver
    watched.start = starts
    watched.aggregation.aggregate, watched.aggregation.conclude = aggregates, concludes
