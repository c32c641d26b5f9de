"""Methods of learners and worlds, compiled: what they read of objects become arguments, and numba does the rest."""
