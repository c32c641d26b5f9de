"""The rhythm of slots: a decision in every slot, from one network event to the next in a single call."""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.learners.slots import Surroundings
from netbandit.network.clock import DECISIONS, ScheduledEvent
from netbandit.network.message import NUMBER_BYTES, Kind
from netbandit.protocols.adapters import call_protocol
from netbandit.protocols.protocol import Item
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.play import Account, compiled, generic, is_compiled, say_if_new
from netbandit.simulation.result import Curve, Metric
from netbandit.simulation.slot_learner import slot_learner

CHOOSE = Kind("choose")

_DIGEST = (1 << 63) - 1

_GENERIC = "this learner and this bandit have no compiled loop: the generic one has the same law, but takes longer"


class Slots(Driver):
    """Agents that decide in every slot, and synchronise when one of them calls for it.

    Nothing but a message changes an agent's mind between two of its slots. So when it wakes, all slots that begin
    before the next event of the network are played in one call; the first slot in which anybody calls ends it, because
    from there on a message is under way that others could hear. Nobody has then passed a moment at which it could have
    reached them. What is adopted at a boundary is adopted before its decision; what is released there, after it.

    Args:
        stage: All that it works with; the bandit shows actions, the learner decides in slots.
    """

    talk = "call"

    def __init__(self, stage: ReplicationContext) -> None:
        super().__init__(stage)
        assert isinstance(stage.bandit, ActionSetBandit)
        self._bandit = stage.bandit
        learner = slot_learner(stage.point.learner)
        assert learner is not None
        self._learner = learner
        self._clock = stage.clock
        self._account = Account.open(stage.topology.agents, stage.clock.horizon)
        self._played = 0
        self._callbacks: list[Callable[[Event], None]] = [self._wake]
        self._released_at: dict[tuple[int, int], int] = {}
        self._waits: dict[int, list[int]] = {}
        self._quiet: set[tuple[int, int]] = set()
        self._releases: dict[tuple[int, int], int] = {}

    def start(self) -> None:
        """Build the protocol, then the learner that suits it, and appoint the first slot."""
        point, bandit = self.stage.point, self._bandit
        self._protocol = call_protocol(point.protocol, point.protocol_settings, self.stage.network, self)
        self._alone = self._protocol.isolated
        groups = np.asarray(self._protocol.groups)
        surroundings = Surroundings(
            agents=bandit.agents,
            arms=bandit.arm_count,
            dimension=bandit.dimension,
            fixed_actions=bandit.fixed_actions,
            sub_gaussian=bandit.sub_gaussian,
            horizon=self._clock.horizon,
            members=np.bincount(groups)[groups],
            sets=self._protocol.sets,
            alone=self._alone,
        )
        if is_compiled(point.bandit, self._learner):
            say_if_new()
        self.learner = self._learner.build(point.learner_settings, surroundings, self.stage.streams)
        bandit.begin(self.stage.streams.generator)
        play = compiled(bandit, self.learner, self._account)
        self._generic = play is None
        self._play = play or generic(bandit, self.learner, self._account, self._protocol.sets)
        self._appoint()

    def finish(self) -> DriverResult:
        """Add up."""
        account = self._account
        for agent, digest in enumerate(account.digests.tolist()):
            self.stage.fingerprint.record(self._clock.end, agent, CHOOSE.code, digest & _DIGEST)
        spent = self.learner.account(max(self._releases.values(), default=0))
        ended = [round for round, time in self._protocol.ended.items() if time <= self._clock.end]
        waits = [slots for round in ended for slots in self._waits.get(round, [])]
        metrics: dict[str, Metric] = {
            "rounds": len(ended),
            "round_slots": sum(waits) / len(waits) if waits else 0.0,
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "epsilon_claimed": spent.epsilon_claimed,
            **self.learner.figures(),
            **self._protocol.figures(),
        }
        curve = Curve(account.knots, account.curve)
        remarks = (*self.learner.remarks(), *((_GENERIC,) if self._generic else ()))
        return DriverResult(float(account.curve[-1]), {"regret": curve}, metrics, spent, remarks)

    def sync_started(self, agent: int, param_set: int) -> None:
        """Tell the learner; see `SyncHandler`."""
        self._quiet.add((agent, param_set))
        self.learner.sync_started(agent, param_set)

    @property
    def release_size(self) -> int:
        """Bytes; see `SyncHandler`."""
        return NUMBER_BYTES * self._learner.release_numbers(self._bandit.dimension)

    def release(self, agent: int, param_set: int) -> Item:
        """Ask the learner; see `SyncHandler`."""
        key = agent, param_set
        self._released_at[key] = self._clock.now
        self._releases[key] = self._releases.get(key, 0) + 1
        numbers = self.learner.release(agent, param_set)
        return Item(NUMBER_BYTES * len(numbers), numbers)

    def aggregate(self, items: Sequence[Item]) -> Item:
        """Ask the learner; see `SyncHandler`."""
        combined: NDArray[np.float64] = self.learner.combine([item.value for item in items])
        return Item(NUMBER_BYTES * len(combined), combined)

    def apply_sync(self, agent: int, param_set: int, aggregate: Item, round: int) -> None:
        """Tell the learner; see `SyncHandler`."""
        released, now = self._released_at[agent, param_set], self._clock.now
        waited = now - released
        trace = self.stage.network.trace
        if trace is not None and self._protocol.sets == 1:  # sets wait at the same time, and an agent has one track
            trace.phase("exploit", agent, round, released, now)
        self._waits.setdefault(round, []).append(-(-waited // self._clock.slot))
        self._quiet.discard((agent, param_set))
        self.learner.adopt(agent, param_set, aggregate.value)

    def _appoint(self) -> None:
        """Wake at the next slot, after what arrives and is adopted at its boundary."""
        if self._played < self._clock.horizon:
            environment = self._clock.environment
            environment.schedule(
                ScheduledEvent(self._callbacks), DECISIONS, self._played * self._clock.slot - environment.now
            )

    def _wake(self, _: Event) -> None:
        """Play on until something else is due, or somebody calls."""
        clock, account = self._clock, self._account
        environment, slot = clock.environment, clock.slot
        first = self._played
        due = environment.peek()
        last = clock.horizon if due == inf else min(clock.horizon, -(-int(due) // slot))
        self._played = self._play(first, max(last, first + 1))
        if account.calls.any():
            latest = self._played - 1
            if latest > first:  # nothing else is due before
                environment.advance(latest * slot)
            own = latest % self._protocol.sets
            begin = self._protocol.call if self.learner.called else self._protocol.begin
            for agent in np.flatnonzero(account.calls).tolist():
                if not self._alone and (agent, own) not in self._quiet:
                    self._quiet.add((agent, own))
                    begin(agent, own)
        self._appoint()
