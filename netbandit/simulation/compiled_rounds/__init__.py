"""Rounds between outside events played in one compiled call; which protocols, and when, is decided in `choosing`."""
