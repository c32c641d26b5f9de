"""Compiled functions run as the Python that they are written in: compiling takes most of the time of small runs."""

from contextlib import contextmanager
from unittest.mock import patch

from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from netbandit.compilation import steps
from netbandit.util.process import environment_variable

_COMPILED = "netbandit.bandits.draws", "netbandit.learners.linear_kernels"
"""Small, and slow as Python: words of 64 bits that run over, and matrices number by number."""

_DISABLE = "NUMBA_DISABLE_JIT"
_call_compiled = CPUDispatcher.__call__
_MADE = {}


def _call(function, *given, **named):
    if function.py_func.__module__ in _COMPILED:
        return _call_compiled(function, *given, **named)
    return function.py_func(*given, **named)


def _compile(function, signature):
    with environment_variable(_DISABLE, "0"):  # numba reads it again where it compiles
        return Dispatcher.compile(function, signature)


@contextmanager
def interpreted():
    """Let nothing be compiled, neither here nor in processes that are started meanwhile, but of `_COMPILED`."""
    with (
        environment_variable(_DISABLE, "1"),
        patch.object(steps, "_MADE", _MADE),
        patch.object(steps, "_dispatcher", lambda function, *, ours, kept: function),
        patch.object(CPUDispatcher, "__call__", _call),
        patch.object(CPUDispatcher, "compile", _compile),
    ):
        yield
