"""The public names, as objects and functions of Python."""

from netbandit.api.running import RunsFailedError, load_results, run, sweep
from netbandit.api.scenario import Scenario
from netbandit.results.compare import compare

__all__ = ["RunsFailedError", "Scenario", "compare", "load_results", "run", "sweep"]
