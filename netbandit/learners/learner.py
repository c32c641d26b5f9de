"""What every learner is: a rhythm, the ways it needs to talk, and its keys."""

from abc import ABC
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from netbandit.settings import Problem, Settings

Rhythm = Literal["epochs", "slots"]
"""``epochs``: phases known ahead; ``slots``: a decision in every slot."""

Talk = Literal["round", "broadcast", "gather"]
"""``round``: everyone contributes and it has an end; ``broadcast``: an item reaches others one by one;
``gather``: one node needs all parts before it can act."""


class LearnerSettings(Settings):
    """The keys that every learner has.

    Attributes:
        kind: Which learner.
    """

    kind: str

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the mistakes between keys of a raw *table*, paths relative to it.

        The table is the raw one, so that these mistakes are shown together with those of single keys; what is
        wrong with a key alone is reported by the model and must be passed over here.
        """
        yield from ()

    def problems_with(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the mistakes between these keys and the bandit, paths relative to the learner's table.

        Args:
            facts: What the bandit's settings know before anything is drawn; a fact may be missing.
        """
        yield from ()


class Learner(ABC):
    """Marks a learner; what it must be able to do follows from its rhythm.

    Attributes:
        Settings: Its keys.
        rhythm: What drives it.
        talks: The ways to talk it can use; the protocol must offer one of them.
    """

    Settings: ClassVar[type[LearnerSettings]]
    rhythm: ClassVar[Rhythm]
    talks: ClassVar[frozenset[Talk]]
