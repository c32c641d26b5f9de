"""The conditions of a scenario: what can be the case beside its parts."""

from collections.abc import Mapping

CONDITIONS: Mapping[str, str] = {
    "faults": "netbandit.conditions.faults:Faults",
    "adversary": "netbandit.conditions.adversary:Adversary",
    "energy": "netbandit.conditions.energy:Energy",
    "feedback": "netbandit.conditions.feedback:Feedback",
    "compute": "netbandit.conditions.compute:Compute",
}
"""Table -> the class that describes it, as ``module:Class``; in Python it is named as its table, with a capital."""
