"""A privacy audit: the stated epsilon of a mechanism, the exact one, and an empirical lower bound."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from zlib import crc32

import numpy as np

from netbandit.privacy.accountant import PrivacySpent
from netbandit.studies.auditing.bound import CONFIDENCE, LowerBound, lower_bound
from netbandit.studies.auditing.mechanisms import MECHANISMS, Mechanism
from netbandit.util.extras import require

_CHOOSING = 4
"""One sample in this many selects what to observe, if there is a choice, and is excluded from the test."""

LEAST_SAMPLES = 10
"""The minimum per input: samples to select what to observe, to select the event, and to measure it."""


@dataclass(frozen=True)
class Audit:
    """The result of auditing one mechanism.

    Attributes:
        name: The mechanism.
        setting: The audited setting, in words.
        spent: The accountant's statement: epsilon, delta, the unit, the paper's claim.
        exact: Epsilon from an independent accountant; None if unknown.
        bound: The empirical lower bound of epsilon.
        confidence: The confidence level of the bound.
        watched: The observed part of the releases, in words; empty if all of them were observed.
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
        """Whether the lower bound exceeds the stated epsilon."""
        return self.bound.epsilon > self.spent.epsilon

    def as_json(self) -> dict[str, object]:
        """Return the audit as plain data; null stands for unknown or infinite values."""
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
    """Audit *mechanism* by experiment.

    Args:
        mechanism: The mechanism and its stated guarantee.
        samples: Releases of each of the two inputs, including those that select what to observe; None: the default
            of the mechanism.
        confidence: The confidence level of the bound.
        seed: The seed of all randomness.

    Raises:
        ValueError: There are too few samples, the confidence is out of range, or the seed is negative.
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
    """Yield the mechanisms with these *names*, or all that netbandit ships if none are given.

    Raises:
        MissingExtraError: dp_accounting, which provides the reference values, is not installed.
    """
    require("audit", "an audit of shipped mechanisms")
    for name in names or MECHANISMS:
        yield MECHANISMS[name]()
