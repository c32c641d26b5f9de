"""What Python users write as values becomes what a scenario holds: plain lists, numbers and texts."""

from pathlib import Path

import numpy as np
import pandas
import pytest

from netbandit.parts.validation import DEEPEST, KeysError, native, natives


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]),
        ([(1,), range(2)], [[1], [0, 1]]),
        (np.array([[1.5, 2.5]]), [[1.5, 2.5]]),
        (np.int64(3), 3),
        (pandas.Series([0.25]), [0.25]),
        (Path("a") / "b", str(Path("a") / "b")),
        ("abc", "abc"),
        (None, None),
    ],
)
def test_values_are_plain(given, expected):
    found = native(given)
    assert (found, type(found)) == (expected, type(expected))


def test_a_list_that_holds_itself_is_refused_with_its_key():
    endless = []
    endless.append(endless)
    with pytest.raises(KeysError, match=r"Ring\(agents=\.\.\.\): lists or tables are nested too deeply"):
        natives("Ring", {"agents": endless})
    deep = 0
    for _ in range(DEEPEST):
        deep = [deep]
    assert natives("Ring", {"agents": deep}) == {"agents": deep}
