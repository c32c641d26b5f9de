"""The names of Optuna that a search uses."""

from netbandit.util.extras import of_extra

with of_extra("optimize"):
    from optuna import create_study, logging
    from optuna.samplers import TPESampler
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import TrialState

__all__ = ["JournalFileBackend", "JournalStorage", "TPESampler", "TrialState", "create_study", "logging"]
