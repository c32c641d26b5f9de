"""The conditions of a scenario: what can be the case beside its parts."""

from collections.abc import Mapping

CONDITIONS: Mapping[str, str] = {
    "faults": "netbandit.scenario.faults:FaultsSettings",
    "adversary": "netbandit.scenario.adversary:AdversarySettings",
    "energy": "netbandit.scenario.energy:EnergySettings",
    "feedback": "netbandit.scenario.feedback:FeedbackSettings",
    "compute": "netbandit.scenario.compute:ComputeSettings",
}
"""Table -> the class that describes it, as ``module:Class``; in Python it is named as its table, with a capital."""
