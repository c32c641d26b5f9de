"""Restricts linear algebra to one thread during a replication: the last digits depend on the number of threads."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LIBRARIES = ("numpy", "scipy.linalg")
"""Libraries that ship their own BLAS."""

_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Environment variables read by a BLAS that is loaded inside the context."""

_found: dict[tuple[bool, ...], Any] = {}  # looking for the libraries takes milliseconds


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Restrict linear algebra to one thread inside the context, including libraries loaded there."""
    loaded = tuple(library in sys.modules for library in _LIBRARIES)
    if loaded not in _found:
        from threadpoolctl import ThreadpoolController

        _found[loaded] = ThreadpoolController()
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update(dict.fromkeys(_VARIABLES, "1"))
    try:
        with _found[loaded].limit(limits=1, user_api="blas"):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
