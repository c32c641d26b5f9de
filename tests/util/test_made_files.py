"""Of files made from known contents, each reader makes these again, or says in a line why not."""

from collections import Counter

import pytest
from helpers.examples import examples
from helpers.made_files import KINDS, made, verdict
from hypothesis import given
from hypothesis import strategies as st


@examples(200)
@given(st.integers(0, 2**32))
def test_files_are_read_into_what_they_were_made_from(tmp_path_factory, seed):
    file = made(seed)
    assert verdict(file, tmp_path_factory.getbasetemp()) == "", (file.kind, file.content)


@pytest.mark.slow
@pytest.mark.ci
def test_five_thousand_of_them(tmp_path):
    kinds = Counter()
    for seed in range(5_000):
        file = made(seed)
        assert verdict(file, tmp_path) == "", (seed, file.kind, file.content)
        kinds[file.kind, file.refusal] += 1
    assert len(kinds) > 4 * len(KINDS)
    assert min(kinds[kind, refusal] for kind in ("edge list", "json", "devices") for refusal in ("not", "must")) > 10
