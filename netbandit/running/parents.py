"""Processes that end with the one that has started them, in whatever they are then."""

import os
import signal
import sys

_WHEN_THE_PARENT_ENDS = 1
"""PR_SET_PDEATHSIG of Linux's prctl; what other systems offer waits until a compiled loop has come to its end."""


def end_with_parent(parent: int | None = None) -> None:
    """Have the kernel kill this process as soon as its parent has ended, however that ends; on Linux alone.

    Args:
        parent: The number of the parent's process, which may have ended already; None: it has not.
    """
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_WHEN_THE_PARENT_ENDS, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
