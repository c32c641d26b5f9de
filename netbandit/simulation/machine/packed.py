"""Tuples of arrays, given to compiled functions as one pointer.

A compiled function is given an array as seven values, and some thirty arrays as more than two hundred, which each call
passes on; and what unpacks as many arguments of Python takes as long to compile as the function. So it is written into
a table where the arrays are, and a compiled function is given a pointer to that. It reads the arrays as attributes, as
those of the tuple.
"""

from ctypes import addressof, c_char
from hashlib import blake2b
from typing import Any

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.extending import NativeValue, register_model, unbox
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np.arrayobj import get_itemsize, make_array, populate_array

_NAME_BYTES = 8


class PackedType(types.Type):  # type: ignore[misc]  # numba has no types
    """The type of a pointer to where the arrays of a tuple are.

    Args:
        name: The name of the tuple.
        fields: The types of its fields: of arrays, None, or tuples.

    Attributes:
        fields: These types, by the names of the fields.
        places: At which word of the table each begins.
        words: How many words the table has: where an array begins, and its shape.
    """

    def __init__(self, name: str, fields: dict[str, types.Type]) -> None:
        self.fields = fields
        self.places: dict[str, int] = {}
        self.words = 0
        for field, kind in fields.items():
            self.places[field] = self.words
            self.words += _words_of(kind)
        said = blake2b(repr(fields).encode(), digest_size=_NAME_BYTES).hexdigest()
        super().__init__(f"{name}_{said}")  # short, as the names of compiled functions have it within


def _words_of(kind: types.Type) -> int:
    if isinstance(kind, PackedType):
        return kind.words
    return 1 + kind.ndim if isinstance(kind, types.Array) else 0


class Packed(int):
    """Where the arrays of a tuple are: the address of a table, which is kept with the tuple.

    Args:
        arrays: A named tuple of arrays, of tuples of arrays, or of None.

    Attributes:
        arrays: The tuple.
    """

    arrays: Any

    def __new__(cls, arrays: Any) -> "Packed":
        """Write the table."""
        table = np.array(_words(arrays), dtype=np.int64)
        packed = super().__new__(cls, table.ctypes.data)
        packed.arrays, packed._table = arrays, table  # type: ignore[attr-defined]
        return packed

    def put(self, arrays: Any) -> None:
        """Write into the table what is another array now in a tuple of the same types."""
        self._table[:] = _words(arrays)  # type: ignore[attr-defined]
        self.arrays = arrays


def _words(arrays: Any) -> list[int]:
    """Return where *arrays* are, each with its shape."""
    words: list[int] = []
    for array in arrays:
        if isinstance(array, tuple):
            words += _words(array)
        elif array is not None:
            # A third of what numpy's own `ctypes` takes; it refuses rows that do not lie one behind the other.
            words.append(addressof(c_char.from_buffer(array)) if array.nbytes else 0)
            words += array.shape
    return words


def kind_of(arrays: Any) -> PackedType:
    """Return the type for numba of `Packed` *arrays*."""
    kinds = (kind_of(array) if isinstance(array, tuple) else typeof(array) for array in arrays)
    return PackedType(type(arrays).__name__, dict(zip(arrays._fields, kinds, strict=True)))


register_model(PackedType)(models.OpaqueModel)


@unbox(PackedType)  # type: ignore[untyped-decorator]
def _from_python(kind: PackedType, packed: Any, call: Any) -> Any:
    return NativeValue(call.pyapi.long_as_voidptr(packed))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = PackedType

    def generic_resolve(self, kind: PackedType, name: str) -> Any:
        return kind.fields.get(name)


@lower_getattr_generic(PackedType)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, kind: PackedType, pointer: Any, name: str) -> Any:
    """Write out how a field is read."""
    field, place = kind.fields[name], kind.places[name]
    table = builder.bitcast(pointer, cgutils.intp_t.as_pointer())
    if isinstance(field, PackedType):
        return builder.bitcast(cgutils.gep_inbounds(builder, table, place), cgutils.voidptr_t)
    if not isinstance(field, types.Array):
        return context.get_dummy_value()

    def word(at: int) -> Any:
        load = builder.load(cgutils.gep_inbounds(builder, table, place + at))
        # While compiled functions run nobody moves an array: what was read once need not be read again.
        load.set_metadata("invariant.load", builder.module.add_metadata([]))
        return load

    array = make_array(field)(context, builder)
    itemsize = get_itemsize(context, field)
    shape = [word(1 + axis) for axis in range(field.ndim)]
    strides = [context.get_constant(types.intp, itemsize)]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(length, strides[0]))
    populate_array(
        array,
        data=builder.inttoptr(word(0), array.data.type),
        shape=shape,
        strides=strides,
        itemsize=context.get_constant(types.intp, itemsize),
        meminfo=None,
    )
    return array._getvalue()
