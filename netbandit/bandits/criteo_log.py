"""The events of a file in the format of Criteo's challenge, to be replayed."""

import numpy as np

from netbandit.bandits.bandit import GeneratorOf
from netbandit.bandits.criteo import Log
from netbandit.bandits.criteo_features import Combination
from netbandit.bandits.recorded import Events, Recorded


class CriteoLog(Recorded):
    """The events of a log, in its order; nothing is drawn, and nobody knows what the best arm would have paid.

    Args:
        log: The log.
        combination: How a user and an item make a context.
        name: What its file is called.

    Attributes:
        events_there: How many events there are.
    """

    knows_best = False

    def __init__(self, log: Log, combination: Combination, name: str) -> None:
        super().__init__(log.items, log.users.shape[1], combination)
        self._log = log
        self.events_there = len(log.shown)
        if log.first_skipped is not None:
            first = log.first_skipped
            self.remarks = (
                f"{log.skipped:,} of {log.lines:,} lines of {name} were skipped; "
                f"the first is line {first.number}: {first.text}",
            )

    def events(self, block: int, generator: GeneratorOf) -> Events:
        """Return the events of a block; the last one of the log may be shorter."""
        part = slice(block * self.block, (block + 1) * self.block)
        shown, clicks = self._log.shown[part].astype(np.int64), self._log.clicks[part].astype(np.float64)
        return Events(self._log.scaled_users(part), shown, clicks)
