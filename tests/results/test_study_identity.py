"""What belongs to a study, whatever it is called, and what is kept of it in its folder."""

import pytest

import netbandit as nb
from netbandit.results.results_folder import OtherStudyError

BASE = """\
run = { horizon = 60, slot = "1 ms" }
topology = { family = "ring", agents = 3 }
bandit = { kind = "bernoulli", means = [0.2, 0.5] }
learner.kind = "elimination"
protocol.kind = "gis"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text="", *, base=BASE, name="base", **changes):
    """Run a scenario into one folder; return the values of its points, by key."""
    with open(f"{name}.toml", "w") as file:
        file.write(f"schema = 1\n{base}{text}")
    results = nb.run(f"{name}.toml", out="out", **changes)
    keys = [key for key in results if key not in ("replication", "seed", "metric", "value", "run")]
    return [tuple(values) for values in results[keys].drop_duplicates().to_numpy().tolist()], keys


LATENCIES = '[sweep]\n"links.peer.latency" = ["0 ms", "2 ms"]\n'


def test_values_of_swept_keys_are_added_in_any_way(place):
    run(LATENCIES)
    assert run(LATENCIES.replace('"2 ms"', '"5 ms"'))[0] == [("2 ms",), ("0 ms",), ("5 ms",)]
    assert run(LATENCIES, links__peer__latency="9 ms")[0][-1] == ("9 ms",)
    assert len(run(LATENCIES)[0]) == 4  # fewer values are the same study
    assert len(run('[[sweep.cases]]\nlinks.peer.latency = "11 ms"\n')[0]) == 5


def test_defaults_that_are_written_and_another_name_or_file_change_nothing(place):
    run(LATENCIES)
    base = BASE.replace('protocol.kind = "gis"\n', "")
    again, _ = run(f"[protocol]\nkind = 'gis'\ntiming = 'slotted'\n{LATENCIES}", base=base, name="other")
    assert again == [("0 ms",), ("2 ms",)]


def test_a_key_more_is_swept_if_its_value_is_one_of_the_values(place):
    run(LATENCIES)
    found, keys = run(f'{LATENCIES}"topology.agents" = [3, 4]\n')
    assert keys == ["links.peer.latency", "topology.agents"]
    assert found == [("0 ms", 3), ("0 ms", 4), ("2 ms", 3), ("2 ms", 4)]
    found, keys = run(LATENCIES)  # what the folder has keeps its columns
    assert len(found) == 4
    with pytest.raises(OtherStudyError, match=r"run\.horizon is 60 there, which is none of its values here"):
        run(f'{LATENCIES}"run.horizon" = [70, 80]\n')


def test_older_points_have_values_of_the_new_key(place):
    run(LATENCIES)
    found, keys = run('[sweep]\n"links.peer.latency" = ["0 ms"]\n"topology.agents" = [3, 4]\n')
    assert keys == ["links.peer.latency", "topology.agents"]
    assert sorted(found) == [("0 ms", 3), ("0 ms", 4), ("2 ms", 3)]


def test_another_kind_of_part_in_a_sweep_of_kinds_belongs_to_it(place):
    run('[sweep]\n"protocol.kind" = ["gis", "silent"]\n')
    assert ("flooding",) in run('[sweep]\n"protocol.kind" = ["flooding"]\n')[0]
    run('[sweep]\n"protocol.kind" = ["gis"]\n"learner.kind" = ["elimination", "ucb"]\n')


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"run__horizon": 50}, r"run\.horizon is 60 there and 50 here"),
        ({"run__seed": 7}, r"run\.seed is 0 there and 7 here"),
        ({"protocol__kind": "silent"}, r': protocol\.kind is "gis" there and "silent" here; these would'),
        ({"links__peer__loss": 0.1}, r"links\.peer\.loss is 0\.0 there and 0\.1 here"),
    ],
)
def test_what_is_not_swept_makes_another_study(place, changes, difference):
    run(LATENCIES)
    before = (place / "out" / "table.csv").read_bytes()
    with pytest.raises(OtherStudyError, match=difference):
        run(LATENCIES, **changes)
    assert (place / "out" / "table.csv").read_bytes() == before


def test_runs_of_an_edited_file_are_replaced_and_that_is_said(place, capsys):
    base = BASE.replace('family = "ring", agents = 3', 'family = "file", file = "net.csv"')
    (place / "net.csv").write_text("source,target\na,b\nb,c\n")
    run(LATENCIES, base=base)
    (place / "same.csv").write_text("source,target\na,b\nb,c\n")
    run(LATENCIES, base=base.replace("net.csv", "same.csv"))  # a file of the same content
    (place / "net.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    with pytest.warns(UserWarning, match=r"2 of the points that were here are replaced: what topology\.file names has"):
        found, _ = run(LATENCIES.replace('"2 ms"', '"3 ms"'), base=base)
    assert found == [("0 ms",), ("3 ms",)]
