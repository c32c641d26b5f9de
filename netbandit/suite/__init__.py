"""Every method on the same networks: tracks, entries, scores, and what has been recorded.

``run(learner, protocol)`` compares a pair with all recorded ones; ``recorded()`` returns these.
"""

from netbandit.suite.comparing import Comparison, recorded, run

__all__ = ["Comparison", "recorded", "run"]
