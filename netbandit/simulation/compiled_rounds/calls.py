"""Synchronisations over compiled rounds, for which agents call by messages in the same loop."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Message
from netbandit.network.network import Network
from netbandit.protocols.triggered_rounds import CALL, FloodedCall, Signal, TriggeredRounds
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.machine import calls as kernel
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop


class CalledRounds(CompiledRounds):
    """Compiled rounds for which agents may call; see `CompiledRounds`. The last of its kinds is that of calls."""

    calling: ClassVar[Loop] = Loop(kernel.call)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (calling,)

    def hear_calls(self, hear: Callable[[int, Arrival], None]) -> None:
        """Have *hear* told of each agent that a call to a round reaches for the first time, and of the call."""
        assert self.kinds[-1] is CALL
        self._hear_call = hear
        self.machine = self.machine._replace(called=np.zeros(self.network.agents, dtype=np.int64))

    def call(self, agent: int, told_by: int, round: int) -> None:
        """Let *agent*, who has heard of a *round*, call all its neighbours but *told_by* to it, from now on."""
        self.send(lambda: self._put(agent, told_by, round))

    def _put(self, agent: int, told_by: int, round: int) -> int:
        kind, size = len(self.kinds) - 1, HEADER_BYTES + LABEL_BYTES
        return self.run(self.calling, self.machine, agent, told_by, kind, size, round, self.clock.now)

    def react(self, why: int) -> None:
        """See `CompiledLoop.react`."""
        if why != rows.HEARD_CALL:
            super().react(why)
            return
        state = self.machine.state
        # Nodes act on what came before the call before they act on the call, if it is at the same boundary.
        self.appoint_steps()
        channel = self.machine.channels[state[rows.HEARD_OVER]]
        receiver, sender = int(channel["receiver"]), int(channel["sender"])
        begun, round = int(state[rows.HEARD_BEGUN]), int(self.machine.called[receiver])
        message = Message(CALL, HEADER_BYTES + LABEL_BYTES, begun, round)
        self._hear_call(receiver, (self.clock.now, sender, message))


class CompiledCall(FloodedCall):
    """Stands for `FloodedCall` over compiled rounds.

    Args:
        rounds: The rounds.
        network: The network.
        hear: Called with (agent, round) when an agent hears the call to a round.
    """

    def __init__(self, rounds: CalledRounds, network: Network, hear: Callable[[int, int], None]) -> None:
        super().__init__(network, rounds.slotted, hear, rounds.answered)
        self._rounds = rounds
        rounds.hear_calls(self.receive)

    def _pass_on(self, node: int, sender: int, round: int) -> None:
        self._rounds.call(node, sender, round)


class TriggeredCompiledRounds(TriggeredRounds):
    """See `TriggeredRounds`; over `CalledRounds`."""

    def signal_over(self, network: Network) -> Signal:
        """See `TriggeredRounds.signal_over`."""
        assert isinstance(self.rounds, CalledRounds)
        return CompiledCall(self.rounds, network, self._hear)
