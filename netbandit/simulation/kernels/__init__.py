"""Kernels: ordinary compiled functions over arrays for regular work; everything else goes event by event."""
