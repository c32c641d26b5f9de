"""Synchronisations over compiled rounds, for which agents call by messages in the same loop."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Message
from netbandit.network.network import Network
from netbandit.protocols.triggered_rounds import CALL, FloodedCall, Signal, TriggeredRounds
from netbandit.simulation.compiled_rounds.engine import CompiledLoop, CompiledRounds
from netbandit.simulation.machine import calls as kernel
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop


class CalledLoop(CompiledLoop):
    """A loop of rounds for which agents may call; see `CompiledLoop`. The last of its kinds is that of calls."""

    calling: ClassVar[Loop] = Loop(kernel.call)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (calling,)

    def hear_calls(self, hear: Callable[[int, Arrival], None]) -> None:
        """Have *hear* told of each agent that a call reaches, and of the call, unless it has no effect."""
        assert self.kinds[-1] is CALL
        self._hear_call = hear
        self.machine = self.machine._replace(called=np.zeros(self.network.agents, dtype=np.int64))

    def call(self, agent: int, told_by: int, round: int, *, answer: bool = False) -> None:
        """Let *agent*, who has heard of a *round*, call its neighbours to it, from now on.

        That is all of them but *told_by*; as an *answer* this one alone.
        """
        kind, size = len(self.kinds) - 1, HEADER_BYTES + LABEL_BYTES
        given = agent, told_by, answer, kind, size, round, self.clock.now
        self.send(lambda: self.run(self.calling, self.machine, *given))

    def forget_calls(self, agent: int) -> None:
        """Let *agent* have heard no call."""
        self.machine.called[agent] = 0

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
        begun, round = int(state[rows.HEARD_BEGUN]), int(state[rows.HEARD_ROUND])
        message = Message(CALL, HEADER_BYTES + LABEL_BYTES, begun, round)
        self._hear_call(receiver, (self.clock.now, sender, message))


class CalledRounds(CalledLoop, CompiledRounds):
    """Compiled rounds for which agents may call."""


class CompiledCall(FloodedCall):
    """Stands for `FloodedCall` over compiled rounds.

    Args:
        rounds: Their loop.
        network: The network.
        hear: Called with (agent, round) when an agent hears the call to a round.
        over: Says whether a round has ended.
    """

    def __init__(
        self, rounds: CalledLoop, network: Network, hear: Callable[[int, int], None], over: Callable[[int], bool]
    ) -> None:
        super().__init__(network, rounds.slotted, hear, over)
        self._rounds = rounds
        rounds.hear_calls(self.receive)

    def _pass_on(self, node: int, sender: int, round: int) -> None:
        self._rounds.call(node, sender, round)

    def _answer(self, node: int, caller: int, round: int) -> None:
        self._rounds.call(node, caller, round, answer=True)

    def forget(self, agent: int) -> None:
        """See :meth:`Signal.forget`."""
        super().forget(agent)
        self._rounds.forget_calls(agent)


class TriggeredCompiledRounds(TriggeredRounds):
    """See `TriggeredRounds`; over a `CalledLoop`, or rounds over broadcasts of one."""

    def signal_over(self, network: Network) -> Signal:
        """See `TriggeredRounds.signal_over`."""
        loop = self.rounds if isinstance(self.rounds, CalledLoop) else getattr(self.rounds, "broadcasts", None)
        assert isinstance(loop, CalledLoop)
        return CompiledCall(loop, network, self._hear, self.rounds.answered)
