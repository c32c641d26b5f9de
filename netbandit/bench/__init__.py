"""Benchmarks: how fast the simulator is on this machine, beside something that is known."""
