"""Text on a terminal."""

import io

import pytest
from rich.console import Console

from netbandit.util.text import each_once, in_runs, pluralize, print_line

LINE = " ".join(["replications"] * 20)


@pytest.mark.parametrize(("terminal", "lines"), [(True, 4), (False, 1)])
def test_a_long_line_is_broken_between_words_on_a_terminal_only(terminal, lines):
    file = io.StringIO()
    print_line(Console(file=file, width=80, force_terminal=terminal, color_system=None), LINE)
    shown = file.getvalue().splitlines()
    assert len(shown) == lines
    assert " ".join(" ".join(shown).split()) == LINE


def test_one_is_singular_and_a_line_that_another_begins_with_is_left_out():
    assert [pluralize(number, "slot") for number in (1, "1", "1.5", 2)] == ["1 slot", "1 slot", "1.5 slots", "2 slots"]
    assert each_once(["a: b", "a: b (in 2 of 3 runs)", "c", "c"]) == ["a: b (in 2 of 3 runs)", "c"]


def test_how_many_runs_are_a_range_since_no_order_of_points_is_meant():
    assert in_runs([16, 2], [20, 20]) == "in 2 to 16 of 20 runs"
    assert in_runs([3, 3], [20, 1_000]) == "in 3 of 20 to 1,000 runs"
    assert in_runs([5, 6], [5, 6]) == ""
