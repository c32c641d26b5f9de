"""The names of Optuna that a search uses."""

from netbandit.util.extras import of_extra

with of_extra("optimize"):
    from optuna import create_study, logging
    from optuna.samplers import TPESampler

__all__ = ["TPESampler", "create_study", "logging"]
