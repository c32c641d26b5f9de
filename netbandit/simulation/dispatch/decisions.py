"""Decides which learners and bandits use a compiled decision loop, and from how many decisions on it pays off."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from netbandit.compilation.array_functions import StepError
from netbandit.compilation.steps import Compiled
from netbandit.learners.slots import Learner
from netbandit.learners.steps import StepLearner
from netbandit.simulation.bandit_environments import BanditEnvironment
from netbandit.simulation.dispatch.kernel_choice import KernelChoice, RunPart

ENOUGH = 200_000
"""The number of decisions that take as long without a compiled loop as it takes to compile one."""


@dataclass(frozen=True)
class SlotLoop(KernelChoice):
    """A compiled loop over the steps of a learner and an environment.

    Attributes:
        world: The environment.
        learner: The learner.
        isolated: Whether nothing is ever shared.
        in_turn: Whether agents decide one after another within a slot, each after receiving from all before it.
        sets: The number of parameter sets that agents use in turn.
        everybody: Whether all agents decide in every slot.
        decisions: The expected number of decisions in a run.
        late: Whether feedback may be delayed.
        traced: Whether late rewards are written to a trace.
        loop: Returns the loop, not yet compiled.
    """

    part: ClassVar[RunPart] = "decisions"
    name: ClassVar[str] = "in a compiled loop"

    world: BanditEnvironment
    learner: Learner
    isolated: bool
    in_turn: bool
    sets: int
    everybody: bool
    decisions: float
    late: bool
    traced: bool
    loop: Callable[[], Compiled]

    def unsupported_reason(self) -> str | None:
        """See `KernelChoice.unsupported_reason`."""
        learner = self.learner
        if not isinstance(learner, StepLearner):
            return "this learner is not written in steps"
        kind = type(learner)
        for method in ("choose", "learn", "wants"):
            if not kind.step_in_force(method):
                return f"this learner has a method {method} of its own"
        if self.in_turn:
            return "agents decide one after the other within a slot"
        if self.sets > 1 and not kind.all_sets:
            return "agents of this learner keep several sets of parameters"
        if self.late and not self.everybody:
            return "rewards may be late, and not all agents decide in every slot"
        if self.traced:
            return "late rewards are written to a trace"
        return learner.why_no_loop(isolated=self.isolated) or self.world.why_no_loop(everybody=self.everybody)

    def reason_against(self) -> str | None:
        """See `KernelChoice.reason_against`."""
        try:
            return super().reason_against()
        except StepError as error:
            return str(error)

    def unsupported_event(self) -> str | None:
        """See `KernelChoice.unsupported_event`.

        Raises:
            StepError: The steps cannot be compiled into a loop, which is a remark of the run.
        """
        self.loop()
        return None

    def unprofitable_reason(self) -> str | None:
        """See `KernelChoice.unprofitable_reason`: built-in code is compiled once for all runs.

        Raises:
            StepError: The steps cannot be compiled into a loop.
        """
        loop = self.loop()
        if loop.ours or self.decisions >= ENOUGH or loop.at_hand:
            return None
        return f"about {self.decisions:,.0f} decisions (worth compiling steps of one's own from {ENOUGH:,} on)"
