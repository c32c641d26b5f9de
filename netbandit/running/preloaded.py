"""What workers need, imported in the process from which they are forked: so it is imported once, and while others read.

What numba knows of Python and numpy it looks up when the first function is compiled or loaded, which takes as long.
"""

import os

import distributed
import networkx
import scipy.sparse.csgraph
import threadpoolctl
from numba.core.registry import cpu_target

from netbandit.checks import check
from netbandit.running import worker
from netbandit.running.parents import end_with_parent
from netbandit.simulation import slots

__all__ = ["check", "distributed", "networkx", "scipy", "slots", "threadpoolctl", "worker"]

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()

os.register_at_fork(after_in_child=end_with_parent)  # this process ends with the command
