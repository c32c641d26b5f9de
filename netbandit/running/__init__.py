"""Runs of a study, in this process or on many."""
