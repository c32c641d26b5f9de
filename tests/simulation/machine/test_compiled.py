"""How loops are compiled: once for all constants, and what is inlined has no way in for Python."""

import pytest
from numba import int64, njit

from netbandit.simulation.machine.compiled import inlined, machine_code


@inlined
def add(one, other):
    return one + other


@njit
def sums(value):
    return add(value, 1), add(value, 2), add(3, value)


def test_functions_are_compiled_once_for_all_constants():
    assert sums(5) == (6, 7, 8)
    assert add.signatures == [(int64, int64)]


@pytest.mark.parametrize("call", [add, machine_code(add, 1, 2)])
def test_python_is_told_that_it_cannot_call_what_is_inlined(call):
    assert sums(1)[0] == 2
    with pytest.raises(TypeError, match="only compiled functions can call add: it is inlined"):
        call(1, 2)
