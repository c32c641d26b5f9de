"""Pictures that are asked for: which panels, colours, curves and points they have."""

from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.made_up_runs import made_up, study_of, write
from matplotlib.colors import to_hex

import netbandit as nb
from netbandit.cli import main
from netbandit.plots import Asked, UnknownNameError, draw_asked, planned
from netbandit.results.picture_names import PICTURE_NAMES


def cube(arms=(5, 20)):
    return [
        made_up(
            parameters={"protocol.kind": kind, "learner.rounds": rounds, "bandit.arms": count},
            replication=replication,
            bend=1_000.0 + 100 * rounds + 10 * count,
        )
        for kind, rounds, count, replication in product(("gis", "flooding"), (1, 2, 4), arms, range(2))
    ]


def test_panels_stand_in_the_rows_and_columns_that_were_asked_for():
    runs = cube()
    asked = Asked(x="learner.rounds", rows="protocol", columns="arms")
    picture = draw_asked(study_of(runs), asked)
    assert picture.name == "regret-against-learner.rounds-rows-protocol-columns-arms"
    titles = [panel.get_title() for panel in picture.figure.axes]
    assert titles == ["gis, arms 5", "gis, arms 20", "flooding, arms 5", "flooding, arms 20"]
    assert len({panel.get_ylim() for panel in picture.figure.axes}) == 1
    assert [len(panel.containers) for panel in picture.figure.axes] == [1] * 4
    for panel, arms in zip(picture.figure.axes, [5, 20] * 2, strict=True):
        kind = panel.get_title().partition(",")[0]
        means = [
            np.mean([run.metrics["regret"] for run in runs if run.parameters == values])
            for values in (
                {"protocol.kind": kind, "learner.rounds": rounds, "bandit.arms": arms} for rounds in (1, 2, 4)
            )
        ]
        np.testing.assert_allclose(panel.containers[0][0].get_ydata(), means)


def test_curves_over_time_have_the_panels_and_colours_that_were_asked_for():
    runs = cube()
    asked = Asked(x="slot", color="learner.rounds", columns="protocol")
    picture = draw_asked(study_of(runs), asked)
    assert picture.name == "regret-over-time-by-learner.rounds-columns-protocol"
    assert [panel.get_title() for panel in picture.figure.axes] == ["gis", "flooding"]
    assert all(panel.get_xlabel() == "time (slots)" for panel in picture.figure.axes)
    lines = [line for line in picture.figure.axes[0].lines if not line.get_label().startswith("_")]
    assert len(lines) == 6  # three colours, dashed along the arms
    assert len({to_hex(line.get_color()) for line in lines}) == 3
    assert len({line.get_linestyle() for line in lines}) == 2
    again = Asked.from_json(asked.as_json())
    assert again == asked
    assert Asked.from_json(asked.as_json() | {"bands": "both"}) is None
    with pytest.raises(UnknownNameError, match="--y: there is no cost here; the metrics are regret"):
        draw_asked(study_of(runs), Asked(x="slot", y="cost"))


def test_a_named_picture_is_drawn_of_some_points():
    runs = cube()
    named = Asked(name="parameter", where={"protocol": ("gis",)})
    assert draw_asked(study_of(runs), named).name == "parameter-protocol-gis"
    with pytest.raises(UnknownNameError, match=r"no picture 'heatmap' \(.*of three values or more\) here, only regret"):
        draw_asked(study_of(runs), Asked(name="heatmap"))
    with pytest.raises(UnknownNameError, match="parameter has panels and colours of its own"):
        draw_asked(study_of(runs), Asked(name="parameter", rows="arms"))


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        (Asked(x="learner.rounds", y="round_slots"), "waiting per round is the same at every budget R"),
        (Asked(x="protocol.kind"), "regret is between "),
        (Asked(x="bytes"), "the least regret is "),
    ],
)
def test_a_picture_that_is_asked_for_has_an_answer_too(asked, title):
    assert draw_asked(study_of(cube()), asked).title.startswith(f"quickstart: {title}")


def test_every_planned_picture_has_a_name_that_help_lists():
    runs = cube(arms=(5, 20, 50))
    names = {one.name.partition("-")[0] for one in planned(study_of(runs))}
    assert names <= set(PICTURE_NAMES)
    said = CliRunner().invoke(main, ["plot", "--help"]).output
    assert all(f"  {name} " in said for name in PICTURE_NAMES)


def test_several_values_of_a_key_are_drawn_with_the_colours_of_all():
    runs = [
        made_up(parameters={"protocol.kind": kind, "learner.rounds": rounds}, replication=replication)
        for kind, rounds, replication in product(("gis", "flooding", "sink", "relay"), (1, 2), range(2))
    ]
    whole = draw_asked(study_of(runs), Asked(x="rounds"))
    some = draw_asked(study_of(runs), Asked(x="rounds", where={"protocol": ("sink", "gis")}))
    assert some.name == "regret-against-rounds-protocol-sink-gis"
    assert "(protocol sink or gis)" in some.figure.get_suptitle()
    colours = {box[0].get_label(): box[0].get_color() for box in whole.figure.axes[0].containers}
    kept = {box[0].get_label(): box[0].get_color() for box in some.figure.axes[0].containers}
    assert kept == {kind: colours[kind] for kind in ("gis", "sink")}
    with pytest.raises(
        UnknownNameError, match=r"protocol=gossip: protocol\.kind has no such value here, only gis, flo"
    ):
        draw_asked(study_of(runs), Asked(where={"protocol": ("sink", "gossip")}))
    asked = Asked(where={"protocol": ("sink", "gis")})
    assert Asked.from_json(asked.as_json()) == asked
    assert Asked.from_json({**asked.as_json(), "where": {"protocol": "sink"}}).where == {"protocol": ("sink",)}
    assert Asked.from_json({**asked.as_json(), "where": {"protocol": []}}) is None


@pytest.mark.ci
def test_pictures_of_some_points_from_the_command_python_and_a_part_of_the_table(tmp_path):
    write(tmp_path, cube(arms=(5,)))
    found = nb.load_results(tmp_path)
    given = ["plot", str(tmp_path), "--x", "rounds", "rounds=1", "rounds=4"]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    assert "regret-against-rounds-rounds-1-4.png" in done.output

    def drawn(figure):
        return [line.get_xdata().tolist() for line in (box[0] for box in figure.axes[0].containers)]

    asked = drawn(found.plot(x="rounds", where={"rounds": [1, 4]}))
    part = found[found["learner.rounds"] != 2]
    assert drawn(part.plot(x="rounds")) == asked
    assert drawn(part[part["metric"] == "regret"].plot(x="rounds")) == asked
    assert drawn(part.plot(x="rounds", where={"rounds": 4})) != asked
    with pytest.raises(ValueError, match="has no such value here, only 1, 4"):
        part.plot(where={"rounds": 2})
