"""The conditions that `Scenario` takes as keywords, for type checkers and editors."""

from collections.abc import Mapping
from typing import Any, TypedDict

from netbandit.conditions.adversary import Adversary
from netbandit.conditions.compute import Compute
from netbandit.conditions.energy import Energy
from netbandit.conditions.faults import Faults
from netbandit.conditions.feedback import Feedback

Keys = Mapping[str, Any]

class ConditionTables(TypedDict, total=False):
    faults: Faults | Keys | None
    adversary: Adversary | Keys | None
    energy: Energy | Keys | None
    feedback: Feedback | Keys | None
    compute: Compute | Keys | None
