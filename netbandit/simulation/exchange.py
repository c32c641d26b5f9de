"""The rhythm of slots for agents that procure: a decision in every slot, in one compiled call from event to event."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.bandits.procurement import Procurement
from netbandit.learners.pfcb import Pfcb, PfcbSettings
from netbandit.network.clock import SENDS, ScheduledEvent
from netbandit.network.message import NUMBER_BYTES, Kind
from netbandit.protocols.adapters import broadcast_protocol
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.protocol import Item
from netbandit.simulation.compiling import announce
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.regret import knots
from netbandit.simulation.result import Curve, Metric
from netbandit.simulation.trace_phases import Phases

PROCURE = Kind("procure")

BLOCK = 1_024
"""Slots whose luck is drawn at once."""

_DIGEST = (1 << 63) - 1


def optimum(bandit: Procurement) -> NDArray[np.int64]:
    """Return what the oracle chooses for each agent with the true qualities, shape (n, m)."""
    from netbandit.learners.greedy import choose

    chosen = np.zeros((bandit.agents, bandit.producers))
    order = np.zeros(bandit.producers, dtype=np.int64)
    for agent in range(bandit.agents):
        revenues, capacities = bandit.revenues[agent], bandit.capacities[agent]
        choose(bandit.qualities, revenues, capacities, bandit.threshold, order, chosen[agent])
    return chosen.astype(np.int64)


class Exchange(Driver):
    """Agents of P-FCB in a market.

    Nothing but a message changes an agent's mind between two of its slots, so all agents play on in one compiled call
    up to the next slot in which something is heard or sent. The luck of slot t with producer i is a number of its own,
    whatever the agent does: modes that are compared with the same seed have the same luck.

    Args:
        stage: All that it works with; the bandit is a `Procurement`, the learner `Pfcb`, the protocol broadcasts.
    """

    talk = "broadcast"

    def __init__(self, stage: ReplicationContext) -> None:
        super().__init__(stage)
        bandit = stage.bandit
        point = stage.point
        settings = point.learner_settings
        assert isinstance(bandit, Procurement)
        assert issubclass(point.learner, Pfcb)
        assert isinstance(settings, PfcbSettings)
        self._bandit = bandit
        self._clock = stage.clock
        self._protocol = broadcast_protocol(point.protocol, point.protocol_settings, stage.network, self._hear)
        self._learner = point.learner(
            settings,
            costs=bandit.costs,
            capacities=bandit.capacities,
            horizon=stage.clock.horizon,
            sharers=np.array(self._protocol.reach),
        )
        agents, horizon = bandit.agents, stage.clock.horizon
        best = optimum(bandit)
        self._best = bandit.revenue(best)
        self._aim = bandit.threshold + settings.margin
        self._factors = self._learner.sharers if self._learner.pooled else np.ones(agents, dtype=np.int64)
        self._tables = _tables(bandit)
        self._knots = knots(horizon)
        self._next_knot = np.ones(agents, dtype=np.int64)
        self._curve = np.zeros((agents, len(self._knots)))
        self._regrets = np.zeros(agents)
        self._violations = np.zeros(agents, dtype=np.int64)
        self._digests = np.full(agents, 0xCBF29CE484222325, dtype=np.uint64)
        self._generators = [stage.streams.generator("rewards", agent) for agent in range(agents)]
        self._luck = np.empty((agents, 0, bandit.producers))
        self._luck_from = self._luck_until = 0
        self._played = 0
        self._rounds = 0
        self._sent_at: dict[int, int] = {}
        self._delays = [0, 0]
        self._phases: Phases | None = None
        if stage.network.trace is not None:
            explore, others = self._learner.explore.tolist(), (self._learner.sharers - 1).tolist()
            self._phases = Phases(stage.network.trace, stage.clock.slot, explore, others, len(self._learner.slots))
        self._callbacks: list[Callable[[Event], None]] = [self._send]

    def start(self) -> None:
        """Appoint the first slot in which agents share."""
        from netbandit.simulation.kernels.procurement import play

        announce(play, "pfcb and procurement")
        self._appoint()

    def finish(self) -> DriverResult:
        """Play to the horizon, and add up."""
        self._play(self._clock.horizon)
        if self._phases is not None:
            self._phases.end(self._clock.horizon)
        for agent, digest in enumerate(self._digests.tolist()):
            self.stage.fingerprint.record(self._clock.end, agent, PROCURE.code, digest & _DIGEST)
        values = self._curve.sum(axis=0)
        told = self._rounds if self.stage.network.ledger.kinds else 0
        spent = self._learner.account(told)
        learner = self._learner
        metrics: dict[str, Metric] = {
            "rounds": told,
            "round_slots": 0.0,
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "epsilon_claimed": spent.epsilon_claimed,
            "violations": float(self._violations.sum()) / (self._bandit.agents * self._clock.horizon),
            "binding": float(self._bandit.binding.mean()),
            "accepted": learner.accepted / learner.heard if learner.heard else None,
            "delay_slots": self._delays[0] / self._delays[1] if self._delays[1] else None,
        }
        curves = {"regret": Curve(self._knots, values)}
        return DriverResult(float(values[-1]), curves, metrics, spent, tuple(self._remarks()))

    def _remarks(self) -> Iterator[str]:
        """Yield that agents never get to use what they learn."""
        longest = int(self._learner.explore.max())
        if longest >= self._clock.horizon:
            yield f"agents that explore for {longest:,} slots never exploit: the horizon is {self._clock.horizon:,}"

    def _appoint(self) -> None:
        """Have the next slot in which agents share wake them, after what is heard at its boundary."""
        if self._rounds < len(self._learner.slots):
            environment = self._clock.environment
            time = self._learner.slots[self._rounds] * self._clock.slot
            environment.schedule(ScheduledEvent(self._callbacks), SENDS, time - environment.now)

    def _send(self, _: Event) -> None:
        """Let all agents play this slot, and then tell the others what they have learnt."""
        slot = self._learner.slots[self._rounds]
        self._play(slot + 1)
        self._rounds += 1
        told = self._learner.share(self._rounds, self.stage.streams.generator("noise", self._rounds))
        self._sent_at[self._rounds] = slot
        if self._phases is not None:
            self._phases.tell(slot)
        size = 2 * NUMBER_BYTES * self._bandit.producers
        for agent in range(self._bandit.agents):
            self._protocol.broadcast(self._rounds, agent, Item(size, told[agent]))
        self._appoint()

    def _hear(self, agent: int, heard: list[Heard]) -> None:
        """Let *agent* decide all slots that began before this instant, and then weigh what it hears."""
        boundary = self._clock.boundary(self._clock.now)
        if boundary >= self._clock.horizon:
            return  # it has no decision left
        self._play(boundary)
        self._learner.weigh(agent, np.array([message.item.value for message in heard]), self._played - 1)
        self._delays[0] += sum(boundary - self._sent_at[message.round] for message in heard)
        self._delays[1] += len(heard)
        if self._phases is not None:
            self._phases.hear(agent, (message.round for message in heard), boundary)

    def _play(self, until: int) -> None:
        """Let all agents play the slots before *until* that they have not played yet."""
        from netbandit.simulation.kernels.procurement import play

        bandit, learner = self._bandit, self._learner
        while self._played < until:
            if self._played == self._luck_until:
                self._draw()
            last = min(until, self._luck_until)
            play(
                self._played,
                last,
                self._luck[:, self._played - self._luck_from :],
                learner.explore,
                self._factors,
                bandit.rho,
                bandit.costs,
                bandit.capacities,
                self._aim,
                learner.units,
                learner.good,
                learner.fresh_units,
                learner.fresh_good,
                bandit.qualities,
                bandit.revenues,
                bandit.threshold,
                self._best,
                bandit.least_revenue,
                *self._tables,
                self._regrets,
                self._violations,
                self._knots,
                self._next_knot,
                self._curve,
                self._digests,
            )
            self._played = last

    def _draw(self) -> None:
        """Draw the luck of the next slots, each agent from its own stream."""
        slots = min(BLOCK, self._clock.horizon - self._luck_until)
        if self._luck.shape[1] != slots:
            self._luck = np.empty((self._bandit.agents, slots, self._bandit.producers))
        for luck, generator in zip(self._luck, self._generators, strict=True):
            generator.random(out=luck)
        self._luck_from = self._luck_until
        self._luck_until += slots


def _tables(bandit: Procurement) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the binomial distribution of each full capacity, where its row starts, and guides into the rows."""
    from scipy.special import bdtr

    from netbandit.simulation.kernels.procurement import GUIDE

    lengths = bandit.capacities.ravel() + 1
    starts = np.cumsum(lengths) - lengths
    rows = np.repeat(np.arange(len(lengths)), lengths)
    good = np.arange(len(rows)) - starts[rows]
    qualities = np.broadcast_to(bandit.qualities, bandit.capacities.shape).ravel()
    table = np.asarray(bdtr(good.astype(np.float64), lengths[rows] - 1, qualities[rows]), dtype=np.float64)
    table[starts + lengths - 1] = 1.0
    levels = np.arange(GUIDE) / GUIDE
    guides = np.array(
        [np.searchsorted(table[start : start + length], levels) for start, length in zip(starts, lengths, strict=True)]
    )
    shape = bandit.capacities.shape
    return table, starts.reshape(shape), guides.reshape(*shape, GUIDE)
