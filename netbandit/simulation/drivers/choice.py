"""Chooses the driver for a learner and a bandit, and the agents' communication pattern.

Used by `replication` and the checks, which need no driver: only the one that runs is imported.
"""

from typing import Literal

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import ArmBandit, Bandit, FiniteBandit
from netbandit.bandits.procurement import Procurement
from netbandit.bandits.vertical_context import VerticalContextBandit
from netbandit.learners.gathering import GatherLearner
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.learners.slots import Learner
from netbandit.parts.component import CommunicationPattern
from netbandit.parts.registry import load_class
from netbandit.simulation.driver import Driver, ReplicationContext

_Driver = Literal["epochs:Epochs", "gathers:Gathers", "slots:Slots"]
_PATTERNS: dict[_Driver, CommunicationPattern] = {"epochs:Epochs": "round", "gathers:Gathers": "gather"}
"""The communication pattern of each driver where that does not depend on the learner."""


def _driver_of(bandit: type[Bandit], learner: type[AnyLearner]) -> _Driver:
    """Return the module and the name of the driver of a learner.

    Raises:
        TypeError: The learner cannot play the bandit; the message says why.
    """
    if issubclass(learner, EpochLearner):
        if not issubclass(bandit, FiniteBandit):
            raise TypeError("it pulls arms in blocks, which this bandit does not offer")
        return "epochs:Epochs"
    if issubclass(learner, GatherLearner) and issubclass(bandit, VerticalContextBandit):
        return "gathers:Gathers"
    slotted = issubclass(learner, Learner) or (
        issubclass(learner, GatherLearner) and learner.stands_in_slots and issubclass(bandit, ActionSetBandit)
    )
    if not slotted:
        raise TypeError("it needs contexts to choose by, which this bandit does not show")
    if issubclass(learner, Learner):
        _check_slots(bandit, learner)
    return "slots:Slots"


def driver_for(context: ReplicationContext) -> Driver:
    """Return the driver of a replication that has passed the checks."""
    name = _driver_of(type(context.bandit), type(context.learner))
    driver: Driver = load_class(f"{__package__}.{name}")(context)
    return driver


def _check_slots(bandit: type[Bandit], learner: type[Learner]) -> None:
    missing = learner.unfinished()
    if missing is not None:
        raise TypeError(f"this learner lacks a method: {missing}")
    if issubclass(bandit, Procurement) != (learner.plays == "market"):
        raise TypeError(
            "it procures quantities, which only the bandit procurement offers"
            if learner.plays == "market"
            else "it chooses among arms, and this bandit asks for quantities"
        )
    if issubclass(bandit, ActionSetBandit | Procurement):
        return
    if learner.plays == "vectors":
        raise TypeError("it chooses among vectors, which this bandit does not show")
    if not issubclass(bandit, ArmBandit):
        raise TypeError("it decides in every slot, which this bandit does not offer")


def pattern_of(bandit: type[Bandit], learner: type[AnyLearner]) -> CommunicationPattern | None:
    """Return the communication pattern of a learner with this bandit; None if agents never communicate.

    Raises:
        TypeError: The learner cannot play the bandit; the message says why.
    """
    driver = _driver_of(bandit, learner)
    if driver in _PATTERNS:
        return _PATTERNS[driver]
    return learner.communication_pattern() if issubclass(learner, Learner) else "call"
