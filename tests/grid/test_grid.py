"""No number of the grid may move: a sample of its lines, and by hand all of them, as `grid.__main__` says."""

import re

import pytest
from grid.executions import EXECUTIONS, METRICS, line_of
from grid.table import CONDITIONS, group_of, one_in, protocol_of, read

from netbandit.parts.registry import BUILT_IN

TABLE = read()


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("line", one_in(100, TABLE), ids=lambda line: group_of(line.scenario))
def test_a_sample_is_as_it_was(line, execution):
    assert not line.differences(line_of(line.scenario, execution)), line.scenario


@pytest.mark.slow
@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("kind", sorted({protocol_of(line.scenario) for line in TABLE}))
def test_every_line_is_as_it_was(kind, execution):
    lines = [line for line in TABLE if protocol_of(line.scenario) == kind]
    changed = [(line.scenario, line.differences(line_of(line.scenario, execution))) for line in lines]
    assert not [each for each in changed if each[1]]


@pytest.mark.parametrize("table", BUILT_IN)
def test_every_kind_of_part_is_in_the_grid(table):
    """Whoever adds one adds lines with it, too; a graph from a file is one like any other."""
    key = "family" if table == "topology" else "kind"
    found = {kind for line in TABLE for kind in re.findall(rf"(?:^|; ){table}\.{key}=([\w-]+)(?:;|$)", line.scenario)}
    assert found == set(BUILT_IN[table]) - {"file"}


def test_every_condition_is_in_the_sample():
    assert {group_of(line.scenario) for line in one_in(100, TABLE)} >= set(CONDITIONS)


def test_every_scenario_stands_there_once_and_in_order():
    scenarios = [line.scenario for line in TABLE]
    assert scenarios == sorted(set(scenarios))
    assert METRICS.read_text(encoding="utf-8").split() == sorted(set(METRICS.read_text(encoding="utf-8").split()))
