"""Compiled gathers of `vertical`."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from netbandit.network.clock import SENDS
from netbandit.network.message import HEADER_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.vertical import CONTEXT, Vertical
from netbandit.simulation.compiled_rounds.links import rows_of
from netbandit.simulation.compiled_rounds.queued import QueuedLoop
from netbandit.simulation.kernels import gather as loop
from netbandit.simulation.kernels.traffic import NEVER

_OUTCOMES = 1 << 12


class CompiledVertical(QueuedLoop, Vertical):
    """Stands for `Vertical` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (CONTEXT,)
    name: ClassVar[str] = "vertical"
    compiled: ClassVar[Any] = loop.play
    compiled_with_faults: ClassVar[Any] = loop.play_with_faults

    block: int = state()
    """The slots of a block: who decides hears of its users together, no later than of the first of another block."""
    gather: loop.Gather = state()
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
        channels = self.traffic.channels
        parents = network.topology.bfs_tree(0)
        up = np.full(network.agents, -1)
        up[1:] = rows_of(channels, np.arange(1, network.agents), parents[1:])
        sizes = np.array(part_bytes)
        senders = np.flatnonzero(sizes[1:]) + 1
        most = min(self.pipeline, self.clock.horizon)
        self.gather = loop.Gather(
            state=np.zeros(loop.STATES, dtype=np.int64),
            users=np.full((most, loop.USER_COLUMNS), loop.NOBODY, dtype=np.int64),
            unused=np.arange(most),
            senders=np.column_stack([up[senders], HEADER_BYTES + sizes[senders]]),
            up=up,
            outcomes=np.empty((_OUTCOMES, 2), dtype=np.int64),
        )
        self.gather.state[[loop.HORIZON, loop.BLOCK_SLOTS]] = self.clock.horizon, self.block
        self.gather.state[loop.IN_PASSES] = network.delivers_in_passes
        self.gather.state[loop.PATIENCE] = self.deadline_ns(self.clock.slot) or 0
        self.gather.state[loop.LAST_DEADLINE] = NEVER
        self.gather.state[[loop.OLDEST, loop.NEWEST]] = loop.NOBODY

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        outcomes = self.gather.outcomes[: self.gather.state[loop.OUTCOMES]].tolist()
        self.gather.state[loop.OUTCOMES] = 0
        for user, decided_at in outcomes:
            if decided_at == loop.WENT_AWAY:
                self.turn_away(user)
            else:
                self.complete_at(user, decided_at)

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.traffic, self.queues, self.gather, arrivals_until, steps_until, self.slotted)

    def tell(self) -> None:
        """See `CompiledLoop.tell`."""
        super().tell()
        self.late = int(self.gather.state[loop.LATE])

    @property
    def under_way(self) -> list[int]:
        """See `GatherProtocol.under_way`."""
        users: list[int] = self.gather.users[self.gather.users[:, loop.USER] != loop.NOBODY, loop.USER].tolist()
        return users

    def _schedule(self, slot: int) -> None:
        self.appoint_step(slot * self.clock.slot)
