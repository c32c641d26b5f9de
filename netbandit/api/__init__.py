"""The public names, as objects and functions of Python."""

from netbandit.api.running import RunsFailedError, compare, load_results, run, sweep
from netbandit.api.scenario import Scenario

__all__ = ["RunsFailedError", "Scenario", "compare", "load_results", "run", "sweep"]
