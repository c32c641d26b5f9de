"""Modules that workers need, imported once in the process from which they are forked, while files are read.

Numba, networkx and scipy are not among them: not all runs need them, small studies would wait for them, and workers
import them at the same time, each on its core.
"""

import gc

from netbandit.parts import describing

describing.described = False  # before the classes are made

import threadpoolctl

from netbandit.checks import check
from netbandit.running import worker
from netbandit.running.pool import end_with_parent
from netbandit.simulation.drivers import slots

__all__ = ["check", "slots", "threadpoolctl", "worker"]

gc.set_threshold(200_000, 20, 20)  # as in the command itself
gc.freeze()  # what workers share with this process is no garbage, and stays shared

end_with_parent()  # workers own the pipe that tells this process when the last of them, and the command, have ended
