"""Text on a terminal."""

import io

import pytest
from rich.console import Console

from netbandit.util.text import print_line

LINE = " ".join(["replications"] * 20)


@pytest.mark.parametrize(("terminal", "lines"), [(True, 4), (False, 1)])
def test_a_long_line_is_broken_between_words_on_a_terminal_only(terminal, lines):
    file = io.StringIO()
    print_line(Console(file=file, width=80, force_terminal=terminal, color_system=None), LINE)
    shown = file.getvalue().splitlines()
    assert len(shown) == lines
    assert " ".join(" ".join(shown).split()) == LINE
