"""What the checks of a scenario's tables know, and the four questions that each of them may answer.

A condition answers by methods, from `Facts` to the problems found: ``problems`` and ``notes`` before a graph is drawn,
``graph_problems`` and ``graph_notes`` with the graph of the first replication. So do the modules `activity`, `links`
and `contacts` by functions, for tables that every scenario has.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from netbandit.bandits.bandit import Bandit
from netbandit.learners.learner import AnyLearner
from netbandit.network.families.family import Family
from netbandit.network.topology import Topology
from netbandit.parts.component import CommunicationPattern, Others, UnknownError
from netbandit.parts.settings import ConditionSettings, Problem
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.links import LinksSettings
from netbandit.scenario.model import RunSettings

Table = TypeVar("Table", bound=ConditionSettings)

Question = Literal["problems", "notes", "graph_problems", "graph_notes"]


class Facts(Others):
    """What parts know of a scenario (`Others`), its other tables, and what follows from these and from the graph.

    As there, reading what is not known (it has mistakes, or comes later) ends the check.

    Attributes:
        bandit, learner, protocol, graph: See `Others`.
        run, links: These tables.
        conditions: The conditions, by the names of their tables; those without mistakes.
        family: The family of graphs.
        attack: The class of a user-defined attack.
        used_links: The classes of links that the protocol uses.
        pattern: The communication pattern of the learner in this world; None if agents never communicate.
        agents_fail: Whether agents may be down at times.
        agents_forget: Whether they have lost their memory when they come back.
        may_lack: Whether agents that explore in phases may go on without some rewards of a phase.
        may_run_empty: Whether agents may run empty.
        may_change: Whether links come and go, or agents may run empty.
        may_refuse: Whether the inbox of a node may be full.
        peer_latencies: The latency of each link between agents (ns).
        uplink_latencies: The latency of each uplink (ns).
        longest_job: How long (ns) the longest kind of job takes the slowest node, in the mean.
        end: The horizon (ns).
    """

    bandit: Bandit
    learner: AnyLearner
    protocol: NetworkProtocol
    graph: Topology
    run: RunSettings
    links: LinksSettings
    conditions: Mapping[str, ConditionSettings]
    family: Family
    attack: type
    used_links: frozenset[str]
    pattern: CommunicationPattern | None
    agents_fail: bool
    agents_forget: bool
    may_lack: bool
    may_run_empty: bool
    may_change: bool
    may_refuse: bool
    peer_latencies: Sequence[int]
    uplink_latencies: Sequence[int]
    longest_job: float
    end: int

    def learn(self, **known: Any) -> None:
        """Add what is *known* now; None: it is not."""
        self.__dict__.update((name, value) for name, value in known.items() if value is not None)

    def table(self, kind: type[Table]) -> Table:
        """Return the condition of a *kind*."""
        for condition in self.conditions.values():
            if isinstance(condition, kind):
                return condition
        raise UnknownError(f"{kind.__name__} is not known")

    def knows(self, *names: str) -> bool:
        """Return whether all of these can be read."""
        return self.__dict__.keys() >= set(names)


def found(question: Question, tables: Iterable[object], facts: Facts) -> Iterator[Problem]:
    """Yield what all *tables* answer to a *question*, each up to what it cannot know."""
    for table in tables:
        ask: Callable[[Facts], Iterator[Problem]] | None = getattr(table, question, None)
        if ask is not None:
            try:
                yield from ask(facts)
            except UnknownError:
                continue
