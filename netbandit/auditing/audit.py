"""An audit: what is stated of a mechanism, what is exact, and what an experiment finds at least."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from zlib import crc32

import numpy as np

from netbandit.auditing.bound import CONFIDENCE, LowerBound, lower_bound
from netbandit.auditing.mechanisms import MECHANISMS, Mechanism
from netbandit.privacy.accountant import PrivacySpent
from netbandit.util.extras import require

_CHOOSING = 4
"""One sample in so many serves to choose what to watch, where there is a choice, and is no part of the test."""

LEAST_SAMPLES = 10
"""Of each of the two inputs: some choose what to watch, some the event, and some are left to measure it."""


@dataclass(frozen=True)
class Audit:
    """What was found of one mechanism.

    Attributes:
        name: The mechanism.
        setting: What was audited, in words.
        spent: What the accountant states: epsilon, delta, the unit, the paper's own claim.
        exact: Epsilon from an account that is not ours; None where nobody knows.
        bound: Epsilon is at least this, found by experiment.
        confidence: With which probability it is.
        watched: What was looked at of all that was released, in words; empty where that is all of it.
    """

    name: str
    setting: str
    spent: PrivacySpent
    exact: float | None
    bound: LowerBound
    confidence: float
    watched: str = ""

    @property
    def caught(self) -> bool:
        """Whether more leaves than is stated."""
        return self.bound.epsilon > self.spent.epsilon

    def as_json(self) -> dict[str, object]:
        """Return the audit as plain data; null stands for what is not known or infinite."""
        stated, claimed = self.spent.epsilon, self.spent.epsilon_claimed
        return {
            "mechanism": self.name,
            "setting": self.setting,
            "unit": self.spent.unit,
            "accountant": self.spent.accountant,
            "caveats": list(self.spent.caveats),
            "delta": self.spent.delta,
            "epsilon_claimed": claimed if isfinite(claimed) else None,
            "epsilon": stated if isfinite(stated) else None,
            "epsilon_exact": self.exact,
            "epsilon_audited": self.bound.epsilon,
            "epsilon_estimated": self.bound.estimate if isfinite(self.bound.estimate) else None,
            "event": {"p": self.bound.p, "q": self.bound.q, "samples": self.bound.samples},
            "confidence": self.confidence,
            "watched": self.watched or None,
            "caught": self.caught,
        }


def audit_mechanism(
    mechanism: Mechanism, *, samples: int | None = None, confidence: float = CONFIDENCE, seed: int = 0
) -> Audit:
    """Return what an experiment finds of *mechanism*.

    Args:
        mechanism: What releases, and what is stated of it.
        samples: Releases of each of the two inputs, those by which it chooses what to watch included; None: as many as
            the mechanism needs.
        confidence: With which probability the bound holds.
        seed: Of all randomness.

    Raises:
        ValueError: Too few samples, a confidence that cannot be, or a seed below 0.
    """
    if samples is not None and (not isinstance(samples, int | np.integer) or samples < LEAST_SAMPLES):
        raise ValueError(f"samples must be {LEAST_SAMPLES} or more, or None, not {samples!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be above 0 and below 1, not {confidence!r}")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be 0 or above, not {seed!r}")
    samples = samples or mechanism.samples
    rngs = [np.random.default_rng([seed, crc32(mechanism.name.encode()), stream]) for stream in range(3)]
    if mechanism.choose is not None:
        apart = max(1, samples // _CHOOSING)
        mechanism, samples = mechanism.choose(apart, rngs[2]), samples - apart
    first, second = (mechanism.draw(world, samples, rngs[world]) for world in (0, 1))
    spent = mechanism.spent if isinstance(mechanism.spent, PrivacySpent) else mechanism.spent()
    bound = lower_bound(first, second, delta=spent.delta, confidence=confidence)
    exact = mechanism.exact() if mechanism.exact else None
    return Audit(mechanism.name, mechanism.setting, spent, exact, bound, confidence, mechanism.watched)


def shipped(names: Sequence[str] = ()) -> Iterator[Mechanism]:
    """Yield the mechanisms of these *names*; all that netbandit ships if there are none.

    Raises:
        MissingExtraError: dp_accounting is not installed, whose figures stand beside theirs.
    """
    require("audit", "an audit of shipped mechanisms")
    for name in names or MECHANISMS:
        yield MECHANISMS[name]()
