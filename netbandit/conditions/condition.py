"""What a condition is: a table of a scenario, the checks of it, and what it does in a run."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.conditions.facts import Facts
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.network.network import Network
from netbandit.network.observer import Observer
from netbandit.parts.component import UnknownError
from netbandit.parts.metric import Metric
from netbandit.parts.settings import ConditionSettings, Problem


class Condition(ConditionSettings):
    """A table of a scenario that says what is the case beside its parts; its fields are the keys.

    It is registered under the name of its table: ours in `netbandit.parts.conditions`, those of other packages as entry
    points of the group ``netbandit.conditions``. Each check yields problems, a key path and a text each, up to what it
    cannot know (`Facts`).
    """

    def known(self, facts: Facts) -> Mapping[str, Any]:
        """Return what others ask of it, by the names that `Facts` lists; asked again once the graph is drawn."""
        return {}

    def problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield mistakes of its keys, and among them and those of others, before a graph is drawn."""
        yield from ()

    def notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield keys that have no effect, or not the one that is likely meant, before a graph is drawn."""
        yield from ()

    def graph_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield mistakes in view of the graph of the first replication."""
        yield from ()

    def graph_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield notes in view of the graph of the first replication."""
        yield from ()

    def prepare(self, plan: ReplicationPlan) -> None:
        """Say in the *plan* of a replication what is the case, before the network is built of it.

        Conditions are asked in the order of the registry, those of other packages last: each finds what those before it
        have said.
        """

    def start(self, network: Network) -> "Model | None":
        """Return what it does and counts in a replication, before any agent acts; None: nothing.

        Conditions are started in the order of `prepare`.
        """
        return None


class Model(Observer):
    """What a condition does in one replication, and what it counts.

    Attributes:
        watches: Whether it acts during the run, as by default: then all is executed event by event, because no kernel
            in bulk knows what it does. False: it counts only what the network tells after the last event.
    """

    watches: ClassVar[bool] = True

    def metrics(self, found: Mapping[str, Metric]) -> Mapping[str, Metric]:
        """Return its metrics, which `Condition.METRICS` describes, after the last event.

        Args:
            found: The metrics of the drivers of agents, of the network, and of the conditions before.
        """
        return {}

    def of_agents(self) -> Mapping[str, NDArray[np.float64]]:
        """Return arrays over agents, shape (M,), by the names of `netbandit.simulation.result.Nodes`."""
        return {}

    def remarks(self) -> Iterable[str]:
        """Return what readers of the metrics must know, a sentence each."""
        return ()


def learn_from(conditions: Iterable[Condition], facts: Facts) -> None:
    """Let *facts* learn what *conditions* say of themselves, as far as they can; see `Condition.known`.

    What is so by one condition is so, whatever others say.
    """
    for condition in conditions:
        with suppress(UnknownError):
            known = condition.known(facts).items()
            facts.learn(**{name: value or getattr(facts, name, value) for name, value in known})
