"""Carriers of the items of a communication strategy: a protocol, message by message, or a kernel, in bulk.

Strategies (`broadcasts`, `exchanges`) call carriers, which call neither strategies nor drivers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.simulation.result import Metric

Numbers = NDArray[np.int64]


class Received(NamedTuple):
    """Rows that agents have received, in order of arrival.

    Attributes:
        listeners: The receivers, shape (n,).
        sources: The agents that sent them, shape (n,).
        payload: The rows, shape (n, k).
        sent_at: The slots in which they were sent, shape (n,).
    """

    listeners: Numbers
    sources: Numbers
    payload: NDArray[np.float64]
    sent_at: Numbers


class BroadcastCarrier(ABC):
    """Carries broadcasts to their receivers.

    Attributes:
        members: The number of agents that each agent learns with, itself included, shape (M,).
        needs_all: Whether all agents must send when one does.
        waited: The delays (slots) of all items received, summed.
        heard: The number of items received.
    """

    members: Numbers
    needs_all: bool = False
    waited: int = 0
    heard: int = 0

    def open(self, learner: Learner) -> None:
        """Attach the started learner, before the first slot."""
        self.learner = learner

    @abstractmethod
    def send(self, slot: int, agents: Numbers, payload: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> None:
        """Let *agents* broadcast after their decision of *slot*.

        Args:
            slot: The slot.
            agents: The agents, ascending, shape (n,).
            payload: For each agent its row, shape (k,), or its observations, shape (any, k).
        """

    def forward(self, slot: int) -> None:
        """Let agents forward items in *slot*, in which none broadcasts; by default messages do so by themselves."""
        return

    @abstractmethod
    def received(self, slot: int) -> Received | None:
        """Return the rows received since the last call by agents, which decide in *slot* next; None: there are none."""

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`."""
        raise NotImplementedError

    def figures(self) -> Mapping[str, Metric]:
        """Return carrier-specific metrics."""
        return {}

    def finish(self) -> None:
        """Note that the horizon has been reached."""
        return


class Mixed(NamedTuple):
    """A step of some agents.

    Attributes:
        agents: The agents, ascending, shape (n,).
        rows: For each the mean of its own row and its neighbours', weighted, shape (n, k).
        largest: The largest of each number among these rows, shape (n, k).
    """

    agents: Numbers
    rows: NDArray[np.float64]
    largest: NDArray[np.float64]


class ExchangeCarrier(ABC):
    """Carries the rows of exchanges to neighbours, and mixes them.

    Attributes:
        isolated: Whether no agent has a neighbour.
        eigenvalue: The second largest modulus of the eigenvalues of the matrix that rows are mixed with.
        matrix: Returns that matrix, shape (M, M).
    """

    isolated: bool = False
    eigenvalue: float
    matrix: Callable[[], NDArray[np.float64]]

    @abstractmethod
    def ready(self, present: Numbers) -> Numbers:
        """Return the agents of *present* that have a row to send after their next decision, ascending."""

    @property
    @abstractmethod
    def steps(self) -> Numbers:
        """How many steps each agent has made, shape (M,)."""

    def open(self, learner: Learner) -> None:
        """Attach the started learner, before the first slot."""
        self.learner = learner

    def should_send(self, slot: int, present: Numbers) -> bool:
        """Return whether `send` is to be called after the decision of *slot*, given the agents *present*."""
        return len(self.ready(present)) > 0

    def last(self, first: int, last: int, present: Numbers) -> int:
        """See `CommunicationStrategy.last`."""
        return first + 1 if len(self.ready(present)) else last

    @abstractmethod
    def send(self, slot: int, agents: Numbers, rows: NDArray[np.float64]) -> None:
        """Send the row of each of *agents*, which are ready, to its neighbours.

        Args:
            slot: The slot of their decision.
            agents: The agents, ascending, shape (n,); empty only if `should_send` is true without any ready.
            rows: Shape (n, k).
        """

    def postpone(self, slot: int) -> None:
        """Note that agents have nothing to send yet in *slot*."""
        return

    @abstractmethod
    def mixed(self, slot: int) -> Sequence[Mixed]:
        """Return the steps since the last call, of agents that decide in *slot* next, in order."""

    def figures(self) -> Mapping[str, Metric]:
        """Return carrier-specific metrics."""
        return {}

    def finish(self) -> None:
        """Note that the horizon has been reached."""
        return
