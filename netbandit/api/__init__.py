"""The public names, as objects and functions of Python."""

from netbandit.api.running import RunsFailedError, Scenario, compare, load_results, run, sweep

__all__ = ["RunsFailedError", "Scenario", "compare", "load_results", "run", "sweep"]
