"""Rows that are needed soon, in compiled loops: fetched from memory while something else is done."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array

from netbandit.simulation.machine.rows import Rows

_TO_READ, _TO_KEEP, _DATA = 0, 3, 1


def fetch(rows: Rows, place: int) -> None:
    """Have a row in the cache soon; there need not be one at this *place*. In plain Python this does nothing."""


@type_callable(fetch)  # type: ignore[untyped-decorator]
def _type_of_fetch(context: Any) -> Callable[[Any, Any], Any]:
    return lambda rows, place: types.none


@lower_builtin(fetch, types.Array, types.Integer)  # type: ignore[untyped-decorator]
def _write_fetch(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])
    row = builder.bitcast(builder.gep(array.data, [given[1]]), cgutils.voidptr_t)
    number = ir.IntType(32)
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], _SIGNATURE)
    builder.call(prefetch, [row, number(_TO_READ), number(_TO_KEEP), number(_DATA)])
    return context.get_dummy_value()


_SIGNATURE = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *3 * [ir.IntType(32)]])
