"""Which driver makes a learner play a bandit."""

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import Bandit, FiniteBandit
from netbandit.bandits.procurement import Procurement
from netbandit.bandits.vertical_context import VerticalContextBandit
from netbandit.learners.learner import EpochLearner, Learner
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.slots import SlotLearner
from netbandit.simulation.driver import Driver
from netbandit.simulation.slot_learner import slot_learner


def driver_of(bandit: type[Bandit], learner: type[Learner]) -> type[Driver]:
    """Return the driver of a learner's rhythm.

    Raises:
        TypeError: The learner cannot play the bandit; the message says why.
    """
    if issubclass(learner, EpochLearner):
        if not issubclass(bandit, FiniteBandit):
            raise TypeError("this learner pulls arms in blocks, which this bandit does not offer")
        from netbandit.simulation.epochs import Epochs

        return Epochs
    if slot_learner(learner) is not None and (issubclass(learner, SlotLearner) or issubclass(bandit, ActionSetBandit)):
        if not issubclass(bandit, ActionSetBandit):
            raise TypeError("this learner chooses among vectors, which this bandit does not show")
        from netbandit.simulation.slots import Slots

        return Slots
    if issubclass(learner, Pfcb):
        if not issubclass(bandit, Procurement):
            raise TypeError("this learner procures quantities, which only the bandit procurement offers")
        from netbandit.simulation.exchange import Exchange

        return Exchange
    if "gather" in learner.talks and issubclass(bandit, VerticalContextBandit):
        from netbandit.simulation.gathers import Gathers

        return Gathers
    if "broadcast" in learner.talks:
        raise TypeError("this learner tells others item by item, and only those derived from pfcb can")
    raise TypeError("this learner needs contexts to choose by, which this bandit does not show")
