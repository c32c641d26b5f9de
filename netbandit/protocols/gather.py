"""What every protocol of gathers offers: agent 0 needs a part from every other participant before it can decide."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from netbandit.network.network import Network
from netbandit.protocols.protocol import NetworkProtocol, Pattern, ProtocolSettings
from netbandit.settings import Problem


class GatherSettings(ProtocolSettings):
    """The keys that every protocol of gathers has: who decides must know them.

    Attributes:
        masks: Whether contexts are masked; if not they travel in the clear: the central run.
        secure_sum: Whether pairwise one-time pads hide each part, so that only their sum is learnt. The seeds of the
            pads are agreed on before, out of band.
        pipeline: How many users' contexts may be under way at a time.
        unserved: The regret of a user who goes away unserved: ``free``: none, so that to serve fewer looks like a gain
            (compare ``regret_per_decision``); ``worst``: that of the user's worst arm; ``random``: that of an arm drawn
            at random, in expectation.
    """

    masks: bool = True
    secure_sum: bool = False
    pipeline: int = Field(default=1, ge=1)
    unserved: Literal["free", "worst", "random"] = "free"

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield sums of what is not masked."""
        if table.get("secure_sum") is True and table.get("masks") is False:
            yield ("secure_sum",), "needs masks = true: in the clear there is nothing to hide"


class GatherProtocol(NetworkProtocol):
    """A protocol of gathers. Its keys are a `GatherSettings`.

    Args:
        settings: The keys.
        network: The network it talks over.
        parts: Bytes of each agent's part of a user's contexts; 0: it sends nothing. Agent 0's does not travel.
        masks: Bytes of the mask of each agent; 0: none.
        decide: Called with the slot of a user when all of its contexts are there.

    Attributes:
        setup: The time (ns) that handing out the masks took before the first slot.
        waited: The time (ns) from the slot of a user to its decision, summed over decisions.
        decisions: The number of decisions.
        unserved: The number of users who went away unserved.
        gone: The slots in which they came, ascending; empty where their regret is not counted.
        relayed: Whether masks passed through nodes that they were not meant for.
    """

    Settings: ClassVar[type[ProtocolSettings]] = GatherSettings
    patterns: ClassVar[frozenset[Pattern]] = frozenset({"gather"})

    def __init__(
        self,
        settings: ProtocolSettings,
        network: Network,
        parts: Sequence[int],
        masks: Sequence[int],
        decide: Callable[[int], None],
    ) -> None:
        super().__init__(settings, network)
        self.parts = parts
        self.masks = masks
        self._decide = decide
        self.setup = 0
        self.waited = 0
        self.decisions = 0
        self.unserved = 0
        self.gone: list[int] = []
        assert isinstance(settings, GatherSettings)
        self._notes_gone = settings.unserved != "free"
        self.relayed = False

    @abstractmethod
    def start(self) -> None:
        """Hand out the masks, if any, and let the first user come; the event loop has not run yet."""

    def complete(self, user: int) -> None:
        """Decide for the *user* of a slot, now that all its parts are at agent 0, unless the horizon has passed."""
        now = self.clock.now
        if now < self.clock.end:
            self.decisions += 1
            self.waited += now - user * self.clock.slot
            self._decide(user)

    def turn_away(self, user: int) -> None:
        """Let the *user* of a slot go away unserved."""
        self.unserved += 1
        if self._notes_gone:
            self.gone.append(user)
