"""The slot driver: agents decide turn by turn; all turns between two network events are played in one step.

It calls a communication strategy between decisions, and never a protocol or a kernel of messages itself. `presence`
says when agents are up, `slot_learning` when they know their rewards, the lies of the strategy whose regret counts,
and `own_jobs` whether decisions take time.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.compilation.array_functions import StepError
from netbandit.conditions.turns import turns_of
from netbandit.learners.gathering import in_slots
from netbandit.learners.slots import Learner
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World
from netbandit.network.clock import DECISIONS, ScheduledEvent
from netbandit.simulation.answers import Answers, all_answered
from netbandit.simulation.bandit_environments import bandit_environment
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.drivers.decision_loop import compiled_loop, vectorized_loop
from netbandit.simulation.drivers.own_jobs import DecisionJobs
from netbandit.simulation.drivers.presence import presence_of
from netbandit.simulation.drivers.slot_learning import slot_learning
from netbandit.simulation.regret import SlotAccount
from netbandit.simulation.result import Curve, Metric
from netbandit.simulation.return_validation import checked, figures_of
from netbandit.simulation.strategies.patterns import communication
from netbandit.user_code.errors import is_ours

_DIGEST = (1 << 63) - 1

_NO_COMPILED_LOOP = (
    "this learner and bandit have no compiled loop: the vectorized one gives the same distribution, but is slower"
)


class Slots(Driver):
    """Agents that decide in every slot, or in turns (`turns`), with any bandit and any communication pattern.

    Only a message can change an agent's choice between two of its decisions. So when the driver wakes, it plays all
    turns before the next network event in one step. The step ends early after the first turn in which an agent sends,
    because from then on a message is in flight; no agent has then passed the instant at which it could arrive. An
    agent receives before its decision at the same instant, and sends after it.

    An agent that is down at its turn does not decide. Going down and coming back up are network events like any other,
    so the same agents are up until the next event.

    Four parts work together: the turns (`turns`), the environment (`bandit_environments`), the learner, and the
    communication strategy (`communication`). Numpy calls or a compiled loop play the turns (`decision_loop`).

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        self._clock = context.clock
        self._agents = context.topology.agents
        self.world = bandit_environment(context.bandit)
        self.account = SlotAccount.open(self._agents, context.clock.horizon, each=self.world.each)
        run = context.run
        self.turns = turns_of(
            run.activity, run.skew, self._agents, context.clock.slot, context.clock.horizon, context.streams
        )
        self._played = 0
        self._decisions = 0
        self._presence = presence_of(context.network, forgets=context.network.forgets)
        self._up: NDArray[np.bool_] = np.ones(self._agents, dtype=np.bool_)
        self._jobs = DecisionJobs(context.network)
        self._over: int | None = None  # after how many slots all that are up have
        self._several_lives = False  # whether agents have lost their memory after a release
        self._callbacks: list[Callable[[Event], None]] = [self._wake]

    def start(self) -> None:
        """Build the protocol, then the learner that suits it, and appoint the first slot."""
        context = self.context
        template = checked(in_slots(context.learner).fresh())
        if isinstance(context.bandit, ActionSetBandit):
            context.bandit.ignored = template.plays == "arms"
        self.strategy = strategy = communication(context, template)
        self.world.count_only(strategy.lies.counted)
        self.turns.count_only(strategy.lies.counted > 0)
        self.learners = [checked(learner) for learner in template.replicas(strategy.sets)]
        self._stops = template.has("stopped")
        self._answers = Answers(context.bandit, strategy.lies.counted > 0, stops=self._stops)
        if self._stops:
            self._answers.note(0, self._answers.nobody)
        if context.run.idle:
            strategy.idle = np.zeros(self._agents, dtype=np.bool_)
        self._learning = slot_learning(context, self.world, self.learners, strategy)
        degrees = np.array([len(near) for near in context.topology.neighbours], dtype=np.int64)
        for param_set, learner in enumerate(self.learners):
            world = World(
                agents=self._agents,
                horizon=context.run.horizon,  # the limit, where the run ends with the last answer
                expected_decisions=self.turns.expected * (context.run.horizon / self._clock.horizon),
                streams=context.streams,
                members=strategy.members,
                degrees=degrees,
                in_turn=strategy.in_turn,
                log=strategy.log,
                isolated=strategy.isolated,
                causal=strategy.causal,
                deposits=strategy.uploads,
                eigenvalue=strategy.eigenvalue,
                matrix=strategy.matrix,
                sets=strategy.sets,
                param_set=param_set,
                forgets=self._presence.forgets,
                liars=len(strategy.lies.liars),
                **self._learning.facts(),
                **self.world.facts(),
            )
            if isinstance(learner, StepLearner):
                learner.world = world
            learner.start(world, self._agents, context.streams.generator("learner", param_set))
        strategy.open(self.learners)
        self.world.start(context.streams.generator, self._clock.horizon, each_slot=self.turns.everybody)
        self._slow, self._uncompiled = False, ""
        played_by = self.world, self.learners, self.account, strategy, self.turns, self._learning.queue
        play = None
        try:
            play = compiled_loop(*played_by)
            written = self.world.why_no_loop(everybody=True) is None
            self._slow = play is None and template.plays == "vectors" and is_ours(type(template)) and written
        except StepError as error:
            self._uncompiled = f"the steps of {type(template).__qualname__} are not compiled: {error}"
        self._play = vectorized_loop(*played_by) if play is None else play
        for agent in self._presence.watch(self._changed):
            self.turns.note(agent, up=False)
            self._up[agent] = False
        strategy.present = self.turns.here
        self._appoint()

    def _changed(self, agent: int, up: bool) -> None:
        """Exclude *agent* from the turns while it is down; it has played all earlier turns."""
        strategy = self.strategy
        self._up[agent] = up
        self.turns.note(agent, up=up and not (strategy.idle is not None and strategy.idle[agent]))
        strategy.present = self.turns.here if strategy.idle is None else np.flatnonzero(self._up)
        slot = self._clock.boundary(self._clock.now)
        if not up:
            strategy.on_down(agent, forgets=self._presence.forgets)
        elif slot < self._clock.horizon:
            back = np.array([agent])
            if self._presence.forgets:
                self._several_lives |= strategy.releases > 0
                self._learning.forget(agent)
                for learner in self.learners:
                    learner.forget(slot, back)
                self._resume(agent)
            strategy.on_up(slot, back)

    @property
    def waits(self) -> bool:
        """See `Driver.waits`."""
        return self.strategy.waits

    def waiting(self) -> list[int]:
        """See `Driver.waiting`."""
        return self.strategy.waiting()

    def finish(self) -> DriverResult:
        """Add up."""
        account, strategy, learner = self.account, self.strategy, self.learners[0]
        strategy.finish()
        for agent, digest in enumerate(account.digests.tolist()):
            self.context.fingerprint.record(self._clock.end, agent, self.world.kind.code, digest & _DIGEST)
        spent = learner.account(strategy.releases)
        if self._several_lives:
            spent = spent.after_lost_memory()
        talked, paid, answered = strategy.metrics(), self.world.metrics(self._decisions), self._answered()
        metrics: dict[str, Metric] = {
            "reward": float(self.world.rewards.sum()),
            "rounds": talked.pop("rounds"),
            "round_slots": talked.pop("round_slots"),
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "epsilon_claimed": spent.epsilon_claimed,
            **({} if self.turns.everybody and strategy.idle is None else self._counted()),
            **paid,
            **answered,
            **figures_of(learner, learner.figures(), taken=paid.keys() | talked.keys() | answered.keys()),
            **talked,
            **strategy.lies.metrics(),
            **self._learning.metrics(self.turns),
        }
        values = account.total()
        reasons = (_NO_COMPILED_LOOP if self._slow else "", self._uncompiled)
        remarks = (*learner.remarks(), *filter(None, reasons))
        known = self.world.knows_best
        curves = {"regret" if known else "reward": Curve(account.knots, values)}
        curves |= self._answers.curves(self._clock.horizon)
        return DriverResult(
            float(values[-1]) if known else None, curves, metrics, spent, remarks, self._answers.of_agents
        )

    def _counted(self) -> dict[str, Metric]:
        """Return the number of decisions, and of turns missed by agents that were down."""
        due = self.turns.decisions
        absent = {"absent_slots": due - self._decisions, "availability": self._decisions / due if due else None}
        return {"decisions": self._decisions, **({} if self._presence.always or self.turns.everybody else absent)}

    def _answered(self) -> dict[str, Metric]:
        """Return the metrics of answers, if the learner gives any."""
        slot, everybody = self._clock.horizon - 1, self.strategy.everybody
        learner = self._learner_of(slot)
        if not learner.has("answers"):
            return {}
        local = learner.local_answers(everybody)
        return self._answers.metrics(slot, learner.answers(everybody), local, self._up)

    def _learner_of(self, slot: int) -> Learner:
        return self.learners[slot % len(self.learners)]

    def answered(self) -> int:
        """See `Driver.answered`."""
        return self._clock.horizon if self._over is None else self._over

    def _ask(self, slot: int) -> None:
        """Ask agents, at the end of *slot*, who has answered for good."""
        answers, strategy, everybody = self._answers, self.strategy, self.strategy.everybody
        stopped = np.logical_and.reduce([learner.stopped(everybody) for learner in self.learners])
        new = stopped & (answers.stopped == 0)
        answers.stopped[new] = slot + 1
        if strategy.idle is not None:
            strategy.idle |= new
            for agent in np.flatnonzero(new).tolist():
                self.turns.note(agent, up=False)
        if self.account.knots[self.account.next_knot[0] - 1] == slot + 1:
            answers.note(slot + 1, self._learner_of(slot).answers(everybody))
        if self.context.run.until == "answered" and all_answered(self._up, stopped, answers.honest):
            self._over = slot + 1
            self.over.succeed()

    def _resume(self, agent: int) -> None:
        """Note that *agent* has lost its memory, and with it its answer."""
        self._answers.stopped[agent] = 0
        if self.strategy.idle is not None:
            self.strategy.idle[agent] = False
            self.turns.note(agent, up=True)

    def _appoint(self) -> None:
        """Wake at the next turn, after the arrivals and adoptions of its instant."""
        if self.turns.reach(self._played):
            environment = self._clock.environment
            environment.schedule(
                ScheduledEvent(self._callbacks), DECISIONS, self.turns.time(self._played) - environment.now
            )

    def _wake(self, _: Event) -> None:
        """Play on until another event is due or an agent wants to send."""
        strategy, turns, environment = self.strategy, self.turns, self._clock.environment
        first = self._played
        slot = turns.slot(first)
        strategy.apply_received(slot)
        # Only a network event can change a decision: agents play up to the next one. Where deciding takes time, each
        # decision is an event of its own.
        last = first if self._jobs.any or self._stops else turns.before(environment.peek())
        stop = turns.after(strategy.last(slot, self._clock.horizon) - 1)  # the strategy may want to send earlier
        self._played = self._play(first, max(first + 1, min(last, stop)))
        self._decisions += turns.decided(first, self._played)
        latest = self._played - 1  # only its agents may send: playing stops once somebody calls
        strategy.deciding = turns.agents(latest)
        self._jobs.begin(strategy.deciding)
        slot = turns.slot(latest)
        if strategy.should_send(slot, self.account.calls):
            if latest > first:  # nothing else is due before
                environment.advance(turns.time(latest))
            strategy.send(slot, self.account.calls)
        if self._stops:
            self._answers.samples[strategy.deciding] += self._answers.stopped[strategy.deciding] == 0
            if turns.ends(latest):
                self._ask(slot)
        if self.over.triggered:
            return
        self._appoint()
