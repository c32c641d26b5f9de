"""Whether a learner can begin anew when an agent that was down comes back without its memory."""

from collections.abc import Iterator

from netbandit.bandits.bandit import Bandit
from netbandit.learners.learner import AnyLearner
from netbandit.learners.slots import Learner
from netbandit.parts.settings import Problem
from netbandit.scenario.faults import FaultsSettings
from netbandit.simulation.drivers import talk_of
from netbandit.util.wording import show


def memory_problems(faults: FaultsSettings, bandit: Bandit, learner: AnyLearner, kind: str) -> Iterator[Problem]:
    """Yield a memory that is lost where the learner cannot begin anew.

    Args:
        faults: ``[faults]``.
        bandit: The world.
        learner: The learner.
        kind: The learner's kind.
    """
    if faults.nodes is None or faults.nodes.memory == "kept":
        return
    here = ("faults", "nodes", "memory")
    if talk_of(type(bandit), type(learner)) == "exchange":
        text = "whose neighbours need the row of each of its steps"
        yield here, f'must be "kept" with learner.kind = {show(kind)}, {text}'
    elif isinstance(learner, Learner) and not learner.has("forget"):
        yield here, f'"lost" needs a learner with a method forget(slot, agents), which {kind} does not have'
