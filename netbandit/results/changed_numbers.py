"""Changes of netbandit that alter the numbers of some scenarios only, and the `NUMBERS` version of each scenario.

Each such change has an entry in `CHANGES`; runs of all other scenarios from earlier versions are still reused.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Scenario = Mapping[str, Any]
"""A resolved scenario, possibly incomplete, with the names of its files: keys that were added later may be missing."""


def numbers_of(scenario: Scenario, least: int) -> int:
    """Return *least*, the version of all scenarios, plus one for each change that affects *scenario*."""
    return least + sum(concerns(scenario) for concerns in CHANGES)


CHANGES: Sequence[Callable[[Scenario], bool]] = ()
"""For each such change since 0.2.0, whether it affects a scenario; entries are never removed."""
