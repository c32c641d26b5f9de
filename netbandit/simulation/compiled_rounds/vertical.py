"""Compiled gathers of `vertical`."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from netbandit.network.clock import SENDS
from netbandit.network.message import HEADER_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.vertical import CONTEXT, Vertical
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.compiled_rounds.links import rows_of
from netbandit.simulation.machine import gather as kernel
from netbandit.simulation.machine.execution import Loop, texts_of
from netbandit.simulation.machine.rows import NEVER

_OUTCOMES = 1 << 12


class CompiledVertical(CompiledLoop, Vertical):
    """Stands for `Vertical` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (CONTEXT,)
    name: ClassVar[str] = "vertical"
    loop: ClassVar[Loop] = Loop(kernel.play, texts_of(kernel), "vertical")

    block: int = state()
    """The slots of a block: who decides hears of its users together, no later than of the first of another block."""
    gather: kernel.Gather = state()
    """The users under way."""

    def start(
        self,
        network: Network,
        part_bytes: Sequence[int],
        mask_bytes: Sequence[int],
        decide: Callable[[int, int], None],
    ) -> None:
        """See `GatherProtocol.start`."""
        super().start(network, part_bytes, mask_bytes, decide)
        self.prepare(network, SENDS)
        channels = self.machine.channels
        parents = network.topology.bfs_tree(0)
        up = np.full(network.agents, -1)
        up[1:] = rows_of(channels, np.arange(1, network.agents), parents[1:])
        sizes = np.array(part_bytes)
        senders = np.flatnonzero(sizes[1:]) + 1
        most = min(self.pipeline, self.clock.horizon)
        self.gather = kernel.Gather(
            state=np.zeros(kernel.STATES, dtype=np.int64),
            users=np.full((most, kernel.USER_COLUMNS), kernel.NOBODY, dtype=np.int64),
            unused=np.arange(most),
            senders=np.column_stack([up[senders], HEADER_BYTES + sizes[senders]]),
            up=up,
            outcomes=np.empty((_OUTCOMES, 2), dtype=np.int64),
        )
        self.gather.state[[kernel.HORIZON, kernel.BLOCK_SLOTS]] = self.clock.horizon, self.block
        self.gather.state[kernel.IN_PASSES] = network.delivers_in_passes
        self.gather.state[kernel.PATIENCE] = self.deadline_ns(self.clock.slot) or 0
        self.gather.state[kernel.LAST_DEADLINE] = NEVER
        self.gather.state[[kernel.OLDEST, kernel.NEWEST]] = kernel.NOBODY

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        outcomes = self.gather.outcomes[: self.gather.state[kernel.OUTCOMES]].tolist()
        self.gather.state[kernel.OUTCOMES] = 0
        for user, decided_at in outcomes:
            if decided_at == kernel.WENT_AWAY:
                self.turn_away(user)
            else:
                self.complete_at(user, decided_at)

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.loop, self.machine, self.gather, arrivals_until, steps_until, self.slotted)

    def tell(self) -> None:
        """See `CompiledLoop.tell`."""
        super().tell()
        self.late = int(self.gather.state[kernel.LATE])

    @property
    def under_way(self) -> list[int]:
        """See `GatherProtocol.under_way`."""
        users: list[int] = self.gather.users[self.gather.users[:, kernel.USER] != kernel.NOBODY, kernel.USER].tolist()
        return users

    def _schedule(self, slot: int) -> None:
        self.appoint_step(slot * self.clock.slot)
