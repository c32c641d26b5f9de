"""Checks for authors of parts, and the swarm of random scenarios."""
