"""A benchmark of all methods on the same networks: tracks, entries, scores, and recorded results.

``run(learner, protocol)`` compares a pair with all recorded entries; ``recorded()`` returns the record.
"""

from netbandit.studies.suite.comparing import Comparison, recorded, run

__all__ = ["Comparison", "recorded", "run"]
