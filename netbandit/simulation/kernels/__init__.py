"""Kernels: ordinary compiled functions over arrays, for what is regular; all else goes event by event."""
