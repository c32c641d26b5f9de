"""Robust aggregation: combines values of several agents, some of which may be arbitrary (numpy arrays in and out)."""
