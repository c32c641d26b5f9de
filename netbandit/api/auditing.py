"""Auditing privacy from Python."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from netbandit.auditing.audit import Audit, audit_mechanism, shipped
from netbandit.auditing.bound import CONFIDENCE
from netbandit.auditing.mechanisms import MECHANISMS, Mechanism


def audit(
    what: str | PathLike[str] | Mapping[str, Any] | Mechanism | None = None,
    *,
    samples: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    overrides: Sequence[str] = (),
) -> list[Audit]:
    """Bound epsilon from below, by experiment, beside what is stated.

    A mechanism of one's own is a `Mechanism`: what releases, and what is stated of it::

        def draw(world, samples, rng):               # of either input, 0 or 1: shape (samples, numbers)
            return world + rng.laplace(0, 1 / 0.5, (samples, 1))

        stated = nb.PrivacySpent(epsilon=0.5, delta=0.0, epsilon_claimed=0.5, unit="one number")
        nb.audit(nb.Mechanism(name="mine", setting="epsilon 0.5", spent=stated, draw=draw))

    Args:
        what: The name of a mechanism; a `Mechanism`; a scenario, as for `run`: then whole runs of each of its points
            are audited, with whatever learner it has. All mechanisms that netbandit ships if nothing is given.
        samples: Releases of each of the two inputs (of a scenario: runs); None: as many as tell enough.
        confidence: With which probability a bound holds.
        seed: Of all randomness.
        overrides: Of a scenario: keys to set, as ``--set`` takes them.

    Returns:
        An `Audit` for each mechanism: ``spent.epsilon`` is stated, ``bound.epsilon`` found, ``caught`` whether the
        latter is larger.

    Raises:
        ScenarioError: The scenario has mistakes, or nothing in it leaves an agent.
        ValueError: Too few samples, or a confidence that cannot be.
    """
    found: list[Mechanism]
    if what is None or (isinstance(what, str) and what in MECHANISMS):
        found = list(shipped([what] if isinstance(what, str) else []))
    elif isinstance(what, Mechanism):
        found = [what]
    else:
        from netbandit.auditing.whole_runs import whole_runs
        from netbandit.scenario.load import load
        from netbandit.scenario.toml_text import toml_text
        from netbandit.simulation.check import check

        if isinstance(what, Mapping):
            document = load("scenario", overrides, text=toml_text(what))
        else:
            document = load(what, overrides)
        found = [whole_runs(point) for point in check(document).points]
    return [audit_mechanism(one, samples=samples, confidence=confidence, seed=seed) for one in found]
