"""Messages on all links at once where something can go wrong, slot by slot, in compiled loops."""

from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import AGENTS
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.simulation.announcing import announce
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.machine import all_links, rows
from netbandit.simulation.machine.execution import Loop


class AllLinks(CompiledLoop):
    """All links of a network, on which messages are put at the beginning of slots."""

    name: ClassVar[str] = "all links"
    loop: ClassVar[Loop] = Loop(all_links.arrive)
    putting: ClassVar[Loop] = Loop(all_links.put_all)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (putting,)

    due: NDArray[np.int64] = state()
    """At which boundary the message of each channel and slot takes effect, shape (channels, D), that of slot u in
    column u mod D; -1: it has not arrived, or there is none."""

    def start(self, network: Network, due: NDArray[np.int64]) -> None:
        """Begin to send over *network*.

        Args:
            network: The network.
            due: See above; filled in.
        """
        self.connect(network)
        self.prepare(network, AGENTS)
        self.due = due

    def put(self, slot: int, sizes: NDArray[np.int64]) -> None:
        """Put messages of these *sizes* on all channels at the beginning of *slot*, 0: none; shape (channels,)."""
        self.arrive_until(slot * self.clock.slot)
        self.due[:, slot % self.due.shape[1]] = -1
        self.expect(int(sizes.max(initial=0)))
        while (why := self.run(self.putting, self.machine, sizes, slot * self.clock.slot)) != rows.ARRIVED:
            self.more(why)

    def arrive_until(self, time: int) -> None:
        """Let all arrive that does so up to a *time* (ns)."""
        while (why := self.play(time, time)) != rows.STOPPED:
            self.tell()
            if why != rows.EVENTS_FULL:
                self.more(why)
        self.tell()

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`; there are no steps."""
        return self.run(self.loop, self.machine, self.due, arrivals_until)

    def inform(self) -> None:
        """Nobody is told of anything but by `due`."""


def all_links_for(kind: Kind, network: Network, due: NDArray[np.int64]) -> AllLinks:
    """Return all links of *network* for messages of a *kind*; see `AllLinks.start`."""
    made = _for_messages(kind)
    announce(made.loop.over(network), "messages on all links", *(one.over(network) for one in made.compiled_beside))
    links = made()
    links.start(network, due)
    return links


@cache
def _for_messages(kind: Kind) -> type[AllLinks]:
    namespace: dict[str, Any] = {"kinds": (kind,), "__module__": __name__, "__annotations__": {"kinds": ClassVar}}
    return type("AllLinks", (AllLinks,), namespace)
