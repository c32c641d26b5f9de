"""A class of the user's own is called by its name in tables and legends, unless two differ only by their module."""

import pytest
from helpers.made_up_runs import arranged, made_up, study_of

from netbandit.plots.study_pictures import Asked, draw_asked
from netbandit.results.columns import class_names, parameter_cells

KINDS = ("moss:Moss", "my.parts:Eager", "ucb")


def runs(kinds):
    return [
        made_up(parameters={"learner.kind": kind, "topology.agents": agents}, replication=number)
        for kind in kinds
        for agents in (5, 9)
        for number in range(2)
    ]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (KINDS, {"moss:Moss": "Moss", "my.parts:Eager": "Eager"}),
        (("one:Moss", "two:Moss", "two:Eager"), {"two:Eager": "Eager"}),
        (("one:ucb", "ucb"), {}),
        (("10:30", 5, None, "5 ms", "a:b:c", "C:\\graph.gml"), {}),
    ],
)
def test_only_what_names_a_class_is_shortened_and_only_where_that_tells_them_apart(values, shown):
    assert class_names(values) == shown


def test_tables_and_legends_show_the_class():
    assert parameter_cells(KINDS) == ["Moss", "Eager", "ucb"]
    assert parameter_cells(("one:Moss", "two:Moss")) == ["one:Moss", "two:Moss"]
    assert arranged(runs(KINDS)).values["learner.kind"] == ["Moss", "Eager", "ucb"]
    assert arranged(runs(("one:Moss", "two:Moss"))).values["learner.kind"] == ["one:Moss", "two:Moss"]


@pytest.mark.parametrize("name", ["moss:Moss", "Moss"])
def test_points_are_chosen_by_either_name(name):
    asked = Asked(x="topology.agents", y="regret", color=None, where={"learner.kind": (name,)})
    figure = draw_asked(study_of(runs(KINDS)), asked).figure
    assert len(figure.axes[0].get_lines()) > 0
