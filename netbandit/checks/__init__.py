"""Checks of a scenario before it runs: compatibility of its parts, estimates and warnings."""
