"""The keys of LinUCB and linear Thompson sampling, wherever they decide."""

from pydantic import Field

from netbandit.learners.learner import LearnerSettings


class LinearSettings(LearnerSettings):
    """The keys of both learners.

    Attributes:
        regularizer: What V starts from, times the identity.
        every: Slots from one synchronisation to the next, where each agent decides on its own and shares its sums.
    """

    regularizer: float = Field(default=1.0, ge=1e-9, le=1e9)
    every: int = Field(default=1, ge=1, le=10**12)


class LinUcbSettings(LinearSettings):
    """The keys of ``linucb``.

    Attributes:
        alpha: The weight of the width of the confidence interval.
    """

    kind: str = "linucb"
    alpha: float = Field(default=0.1, ge=0)


class LinTsSettings(LinearSettings):
    """The keys of ``lints``.

    Attributes:
        v: The spread of the sampled parameter.
    """

    kind: str = "lints"
    v: float = Field(default=0.02, ge=0)
