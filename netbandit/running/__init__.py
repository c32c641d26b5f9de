"""Runs of a study, in this process or in several."""
