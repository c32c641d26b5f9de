"""Numba's ``njit``, typed, with a checked disk cache: damaged machine code is compiled again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_double, c_int64, c_void_p
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from llvmlite.binding import add_symbol
from numba import njit as _njit
from numba import types
from numba.core.caching import IndexDataCacheFile
from numba.extending import get_cython_function_address, models, register_model
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])

_DIGEST_BYTES = 16


class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """Files of numba's cache that end in a checksum; numba itself does not look at what follows its own content."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + _digest(content.getvalue()))

    def _load_index(self) -> Any:
        try:
            return super()._load_index() if _is_whole(self._index_path) else {}
        except (ImportError, AttributeError):  # it names types of another version of ours
            return {}

    def _load_data(self, name: str) -> Any:
        if not _is_whole(self._data_path(name)):
            raise OSError("not as it was written")  # which numba takes for one that has been removed
        try:
            return super()._load_data(name)
        except (ImportError, AttributeError) as error:
            raise OSError("of another version") from error


@overload
def njit(function: Function, /) -> Function: ...
@overload
def njit(**options: Any) -> Callable[[Function], Function]: ...
def njit(*given: Any, **options: Any) -> Any:
    """Compile as ``numba.njit`` does, but not for callers in C; with ``cache=True`` what is kept on disk is checked.

    To mypy the result has the type of the function.
    """
    made = _njit(*given, **{"no_cfunc_wrapper": True, **options})
    if given:
        return checked(made)
    return lambda function: checked(made(function))


class External(types.ExternalFunction):  # type: ignore[misc]  # numba has no types
    """A function of a library, for compiled functions: it takes numbers and addresses, such as ``array.ctypes``.

    Args:
        name: Its name.
        address: Where it is.
        signature: Its types, in numba's words.
    """

    def __init__(self, name: str, address: int, signature: Any) -> None:
        super().__init__(f"netbandit_{name}", signature)
        self._address, self.__name__ = address, name
        add_symbol(self.symbol, address)  # by which machine code on disk finds it in another process

    @property
    def py_func(self) -> Callable[..., Any]:
        """What functions call that are not compiled, as of those of ``njit``."""
        return CFUNCTYPE(_IN_C.get(self.sig.return_type), *(_IN_C[one] for one in self.sig.args))(self._address)

    def __call__(self, *given: Any) -> Any:
        """Call it from functions that are not compiled."""
        return self.py_func(*given)


_IN_C: dict[Any, type[Any]] = {types.voidptr: c_void_p, types.int64: c_int64, types.float64: c_double}
register_model(External)(models.OpaqueModel)


def blas(name: str, arguments: int) -> External:
    """Return a routine of BLAS that takes so many *arguments*, all of them addresses.

    It is the one that ``np.dot`` calls in compiled functions, without the checks and messages of that, which take
    a second to compile.
    """
    address = get_cython_function_address("scipy.linalg.cython_blas", name)
    return External(name, address, types.void(*[types.voidptr] * arguments))


def checked(dispatcher: Any) -> Any:
    """Verify the checksum of *dispatcher*'s disk cache whenever numba loads it."""
    # If numba is disabled, this is the plain function.
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if type(file) is IndexDataCacheFile:
        file.__class__ = _CheckedFile
    return dispatcher


def _is_whole(path: str) -> bool:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return content[-_DIGEST_BYTES:] == _digest(content[:-_DIGEST_BYTES])


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


@njit(cache=True)
def copy_vector(values: Floats, into: Floats) -> None:
    """Write *values* into an array of the same length.

    In compiled loops ``into[:] = values`` carries along its messages about shapes, which take seconds to compile.
    """
    for place in range(values.shape[0]):
        into[place] = values[place]
