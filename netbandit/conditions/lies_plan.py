"""Who lies in a replication, and how."""

from typing import NamedTuple

from netbandit.byzantine.adversaries.attack_kinds import Attack, Target


class LiesPlan(NamedTuple):
    """Who lies, and how; see the keys of ``[adversary]``. By default nobody does.

    Attributes:
        liars: The agents that lie; regret counts only the others.
        attack: A built-in attack.
        own: Or the class of a user-defined one; None of both: there is no adversary.
        target: The arm that liars praise.
        strength: What they say in place of 1; None: lies are within what an honest message can say.
        begin: From when on they lie (ns).
    """

    liars: frozenset[int] = frozenset()
    attack: Attack | None = None
    own: type | None = None
    target: Target = "worst"
    strength: float | None = None
    begin: int = 0
