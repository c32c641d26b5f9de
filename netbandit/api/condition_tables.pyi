"""The conditions that `Scenario` takes as keywords, for type checkers and editors."""

from collections.abc import Mapping
from typing import Any, TypedDict

from netbandit.scenario.adversary import AdversarySettings
from netbandit.scenario.compute import ComputeSettings
from netbandit.scenario.energy import EnergySettings
from netbandit.scenario.faults import FaultsSettings
from netbandit.scenario.feedback import FeedbackSettings

Keys = Mapping[str, Any]

class ConditionTables(TypedDict, total=False):
    faults: FaultsSettings | Keys | None
    adversary: AdversarySettings | Keys | None
    energy: EnergySettings | Keys | None
    feedback: FeedbackSettings | Keys | None
    compute: ComputeSettings | Keys | None
