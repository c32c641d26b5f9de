"""numpy's own draws for compiled functions: those that numba has of them take a second to compile.

They are the functions of C behind ``numpy.random.Generator``, which numpy's documentation has called from numba, too.
The first argument of each is the address of a bit generator, which has to be kept meanwhile.
"""

from collections.abc import Sequence
from ctypes import CDLL, c_void_p, cast

import numpy as np
from numba import types
from numpy.random import _generator

from netbandit.util.jit import External, Integers

_LIBRARY = CDLL(_generator.__file__)


def _draw(name: str, parameters: int) -> External:
    address = cast(_LIBRARY[name], c_void_p).value or 0
    return External(name, address, types.float64(types.int64, *[types.float64] * parameters))


beta = _draw("random_beta", 2)
"""A draw from Beta(a, b), with the arguments a and b: ``Generator.beta``."""
standard_normal = _draw("random_standard_normal", 0)
"""A standard normal draw: ``Generator.standard_normal``."""


def addresses(generators: Sequence[np.random.Generator]) -> Integers:
    """Return the addresses of the bit generators of *generators*, shape (n,)."""
    return np.array([one.bit_generator.ctypes.bit_generator.value for one in generators], dtype=np.int64)
