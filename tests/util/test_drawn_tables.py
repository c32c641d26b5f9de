"""Of files drawn at random, whole and damaged, no reader makes anything else than the csv module alone."""

from collections import Counter

import pytest
from helpers.drawn_tables import Drawn, disagreement
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st


@examples(200)
@given(st.integers(0, 2**32))
def test_files_are_read_as_the_csv_module_reads_them(tmp_path_factory, seed):
    drawn = Drawn(tmp_path_factory.getbasetemp(), seed)
    assert disagreement(drawn) == "", drawn.content


@pytest.mark.slow
def test_ten_thousand_of_them(tmp_path):
    outcome = Counter()
    for seed in range(10_000):
        drawn = Drawn(tmp_path, seed)
        assert disagreement(drawn) == "", (seed, drawn.content)
        outcome[drawn.kind, "changed" if drawn.changed else "whole", type(drawn.read()).__name__] += 1
    print(*sorted(outcome.items()), sep="\n")
    assert all(outcome[kind, "whole", read] > 500 for kind, read in KINDS_READ)


KINDS_READ = [("wide", "RewardTable"), ("long", "RewardTable"), ("edges", "list"), ("harvest", "list")]
