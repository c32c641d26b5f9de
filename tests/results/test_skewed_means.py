"""What the documentation says of means of skewed regret: how often they are misjudged."""

import math
from pathlib import Path

import pytest
from helpers.skewed_means import COUNTS, LAWS, measured, table

from netbandit.results.failures import ENOUGH

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "statistics.md").read_text(encoding="utf-8")
DOCUMENTED = {
    cells[1]: [tuple(int(number) / 100 for number in cell.split(",")) for cell in cells[2:-1]]
    for cells in ([cell.strip() for cell in line.split("|")] for line in PAGE.splitlines() if line.startswith("|"))
    if cells[1] in LAWS
}
STUDIES = 150


def test_every_law_and_the_first_count_that_decides_are_documented():
    assert list(DOCUMENTED) == list(LAWS)
    assert all(len(cells) == len(COUNTS) for cells in DOCUMENTED.values())
    assert ENOUGH in COUNTS


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [5, ENOUGH])
def test_means_are_misjudged_as_often_as_documented(law, count):
    mean, median, erred = measured(law, count, STUDIES)
    for found, said in zip((mean, erred), DOCUMENTED[law][COUNTS.index(count)], strict=True):
        assert abs(found - said) < 0.005 + 4 * math.sqrt(max(said * (1 - said), 0.01) / STUDIES)
    if count == ENOUGH:  # five have no interval of the median
        assert median > 0.95 - 4 * math.sqrt(0.05 * 0.95 / STUDIES)


@pytest.mark.slow
def test_the_table_is_what_is_measured():
    assert "\n".join(table(20_000)) in PAGE
