"""Agents that lie, and rules of aggregation that withstand them."""
