"""Auditing privacy from Python."""

from typing import Any

from netbandit.api.running import AnyScenario, document_of
from netbandit.studies.auditing.audit import Audit, audit_mechanism, shipped
from netbandit.studies.auditing.bound import CONFIDENCE
from netbandit.studies.auditing.mechanisms import MECHANISMS, Mechanism


def audit(
    what: Mechanism | AnyScenario | None = None,
    *,
    samples: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    **overrides: Any,
) -> list[Audit]:
    """Bound epsilon from below, by experiment, beside the stated privacy.

    A mechanism of your own is a `Mechanism`: its release function, and the stated privacy::

        def draw(world, samples, rng):               # of either input, 0 or 1: shape (samples, numbers)
            return world + rng.laplace(0, 1 / 0.5, (samples, 1))

        stated = nb.PrivacySpent(epsilon=0.5, delta=0.0, epsilon_claimed=0.5, unit="one number")
        nb.audit(nb.Mechanism(name="mine", setting="epsilon 0.5", spent=stated, draw=draw))

    Args:
        what: The name of a mechanism; a `Mechanism`; a scenario, as for `run`: then whole runs of each of its points
            are audited, with whatever learner it has. All mechanisms that netbandit ships if nothing is given.
        samples: Releases of each of the two inputs (of a scenario: runs); None: enough for a decision.
        confidence: With which probability a bound holds.
        seed: Of all randomness.
        overrides: Keys of the scenario to set, with ``__`` for each dot: ``run__horizon=500``.

    Returns:
        An `Audit` for each mechanism: ``spent.epsilon`` is stated, ``bound.epsilon`` found, ``caught`` whether the
        latter is larger.

    Raises:
        ScenarioError: The scenario has mistakes, nothing in it leaves an agent, or no privacy is stated for what does.
        ValueError: Too few samples, or a confidence that cannot be.
    """
    found: list[Mechanism]
    if what is None or (isinstance(what, str) and what in MECHANISMS):
        found = list(shipped([what] if isinstance(what, str) else []))
    elif isinstance(what, Mechanism):
        found = [what]
    else:
        from netbandit.checks.check import check
        from netbandit.studies.auditing.whole_runs import whole_runs

        found = [whole_runs(point) for point in check(document_of(what, overrides)).points]
    return [audit_mechanism(one, samples=samples, confidence=confidence, seed=seed) for one in found]
