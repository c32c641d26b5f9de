"""Functions that are compiled apart: whoever calls them need not be compiled with them."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from llvmlite.binding import add_symbol
from numba import types
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing import signature

from netbandit.util.jit import checked

_RETURNED = {bool: types.boolean, None: types.void}


class Apart(types.ExternalFunction):  # type: ignore[misc]  # numba has no types
    """A function of a network, and of whole numbers, that compiled functions call by its address.

    Numba writes what a function calls into the function, and looks for what can be left out anew, at each level.

    Args:
        function: The function, whose first argument is a tuple of arrays.
        options: Numba's.

    Attributes:
        py_func, stats: As numba has them.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func = function
        self.stats = SimpleNamespace(cache_path=FunctionCache(function).cache_path)
        self._options = options
        self._compiled: CFunc | None = None
        super().__init__(f"netbandit_{function.__qualname__}", None)

    def compile_for(self, network: types.Type) -> None:
        """Compile it, or take it from disk, for arrays of this type."""
        with global_compiler_lock:
            if self._compiled is None:
                numbers = [types.int64] * (len(inspect.signature(self.py_func).parameters) - 1)
                returned = _RETURNED.get(self.py_func.__annotations__.get("return"), types.int64)
                self.sig = signature(returned, network, *numbers)
                made = CFunc(self.py_func, (self.sig.args, returned), {}, self._options)
                made.enable_caching()
                checked(made).compile()
                add_symbol(self.symbol, made.address)
                self._compiled = made  # not before it can be called: it may be interrupted

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return its signature, as numba asks for it."""
        self.compile_for(args[0])
        return self.sig
