"""JSON that checks itself: what nobody has written is refused, even where its checksum is right."""

import pytest
from helpers.resealed import resealed

from netbandit.results.safe_files import SealError, sealed, unsealed


def test_what_was_written_is_read():
    entries = {"a": [1, 2.5, None], "b": {"c": 2**63 - 1}}
    assert unsealed(sealed(entries).encode()) == entries


@pytest.mark.parametrize(
    ("value", "why"),
    [("[" * 100_000 + "]" * 100_000, "is nested too deeply"), ("9" * 400, "holds a number of 400 digits")],
)
def test_what_no_run_leaves_is_refused(value, why):
    with pytest.raises(SealError, match=why):
        unsealed(resealed(f'{{"a": {value}}}').encode())


def test_a_byte_that_was_changed_is_refused():
    with pytest.raises(SealError, match="does not match its checksum"):
        unsealed(sealed({"a": 1}).encode().replace(b"1", b"2", 1))
