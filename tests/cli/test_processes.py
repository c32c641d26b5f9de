"""The command as a user calls it: real scenarios, real processes."""

import csv
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from helpers.processes import BACKSTOP, eventually, is_alive, members, started, without_progress
from helpers.scenes import SMALL

SCENARIO = SMALL.replace("horizon = 400", "horizon = 2_000\nreplications = 2")

SLOW = '''\
"""A bandit of the user's own, which takes its time to be built for more than three agents."""
import os
import time
from pathlib import Path

from netbandit.bandits.bernoulli import Bernoulli


class Slow(Bernoulli):
    def start(self, agents, generator):
        if agents > 3 and "HURRY" not in os.environ:
            Path(__file__).with_name(f"asleep-{os.getpid()}").touch()
            time.sleep(3600)
        super().start(agents, generator)
'''


@pytest.fixture
def place(tmp_path):
    (tmp_path / "ring.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def call(fresh):
    """Call the command in a process; if it is to have an environment of its own, from its very beginning."""

    def called(place, *arguments, **environment):
        if environment:
            process = started(place, *arguments, **environment)
            output, errors = process.communicate(timeout=BACKSTOP)
            code = process.returncode
        else:
            done = fresh(["-m", "netbandit", *map(str, arguments)], place)
            code, output, errors = done.returncode, done.stdout, done.stderr
        assert "Traceback" not in errors
        return code, output, without_progress(errors)

    return called


@pytest.fixture
def run_json(call):
    def ran(place, *arguments, **environment):
        code, output, errors = call(place, "run", *arguments, "--json", **environment)
        assert code == 0, errors
        return json.loads(output, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))

    return ran


def without_times(found):
    for point in found["points"]:
        del point["metrics"]["wall_s"]
    return found


def test_a_scenario_leaves_a_table_results_and_a_picture(place, call):
    code, output, errors = call(place, "run", "ring.toml")
    assert (code, errors) == (0, "")
    assert "regret" in output
    folder = place / "results" / "ring"
    assert (folder / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(folder.glob("runs/*/result.json"))) == 2
    with (folder / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    assert metrics[:5] == ["regret", "regret_per_agent", "reward", "rounds", "round_slots"]
    assert len(rows) == 2 * len(metrics)


@pytest.mark.ci
def test_the_same_seed_gives_the_same_numbers_traced_or_not_in_any_order_of_hashing(place, run_json):
    first = run_json(place, "ring.toml", "--seed", 3, "--out", "first", PYTHONHASHSEED="1")
    second = run_json(place, "ring.toml", "--seed", 3, "--out", "second", "--trace", PYTHONHASHSEED="2")
    other = run_json(place, "ring.toml", "--seed", 4, "--out", "other")
    assert first["points"][0]["fingerprints"] != other["points"][0]["fingerprints"]
    assert without_times(first) == without_times(second)
    assert len(list(place.glob("second/runs/*/trace.jsonl"))) == 2
    assert not list(place.glob("first/runs/*/trace.jsonl"))


@pytest.mark.ci
def test_the_object_is_what_the_interface_says(place, run_json):
    found = run_json(place, "ring.toml", "--set", "sweep.topology.agents=[4, 6]")
    assert [point["parameters"] for point in found["points"]] == [{"topology.agents": 4}, {"topology.agents": 6}]
    point = found["points"][1]
    assert point["topology"] == {"agents": 6, "links": 6, "diameter": 3, "radius": 3}
    assert set(point["metrics"]) >= {
        "regret", "regret_per_agent", "rounds", "round_slots", "cost", "activations", "messages", "bytes", "energy_j",
        "simulated_s", "epsilon", "delta", "events", "wall_s",
    }  # fmt: skip
    for metric in point["metrics"].values():
        assert len(metric["values"]) == 2
    assert point["metrics"]["epsilon"]["mean"] is None
    low, high = point["metrics"]["regret"]["ci95"]
    assert low <= point["metrics"]["regret"]["mean"] <= high
    assert len(set(point["fingerprints"])) == 2
    one = run_json(place, "ring.toml", "--replications", 1, "--out", "one")
    assert one["points"][0]["metrics"]["regret"]["ci95"] is None


@pytest.mark.ci
def test_raising_the_replications_runs_only_the_new_ones(place, call):
    call(place, "run", "ring.toml")
    before = {path: path.stat().st_mtime_ns for path in place.glob("results/ring/runs/*/result.json")}
    code, output, _ = call(place, "run", "ring.toml", "--replications", 4)
    assert (code, "(2 runs of 4 already there)" in output) == (0, True)
    after = {path: path.stat().st_mtime_ns for path in place.glob("results/ring/runs/*/result.json")}
    assert len(after) == 4
    assert before.items() <= after.items()


def test_a_mistake_writes_nothing(place, call):
    (place / "ring.toml").write_text(SCENARIO.replace("horizon", "horizont").replace('"gis"', '"gris"'))
    code, output, errors = call(place, "run", "ring.toml", "--out", "here")
    assert (code, output) == (2, "")
    lines = errors.splitlines()
    assert any(line.startswith("ring.toml:2:1: run.horizont: ") and 'did you mean "horizon"' in line for line in lines)
    assert any(line.startswith("ring.toml:13:") and "protocol.kind: " in line for line in lines)
    assert not (place / "here").exists()
    assert not (place / "results").exists()


@pytest.mark.ci
def test_a_graph_file_counts_by_its_content_and_not_by_where_it_is(place, call, run_json):
    (place / "net").mkdir()
    (place / "net" / "triangle.txt").write_text("0 1\n1 2\n0 2\n")
    text = SCENARIO.replace('family = "ring"\nagents = 4', 'family = "file"\nfile = "net/triangle.txt"')
    (place / "own.toml").write_text(text)
    first = run_json(place, "own.toml")
    assert first["points"][0]["topology"]["links"] == 3
    moved = place / "moved"
    shutil.copytree(place / "net", moved / "net")
    shutil.copytree(place / "results", moved / "results")
    shutil.copy(place / "own.toml", moved)
    _, output, _ = call(moved, "run", "own.toml")
    assert "(2 runs of 2 already there)" in output
    (moved / "net" / "triangle.txt").write_text("0 1\n1 2\n")
    _, output, _ = call(moved, "run", "own.toml")
    assert "already there" not in output


@pytest.mark.ci
def test_check_schema_plot_and_topology(place, call):
    assert call(place, "check", "ring.toml") == (0, "ring.toml: ok, 1 point, 2 runs\n", "")
    _, output, _ = call(place, "check", "ring.toml", "--execution")
    assert output.splitlines()[1].startswith("  messages: event by event; there is no other way for these parts")
    code, output, _ = call(place, "schema")
    assert (code, "properties" in json.loads(output)) == (0, True)
    call(place, "run", "ring.toml")
    (place / "results" / "ring" / "regret.png").unlink()
    code, output, _ = call(place, "plot", Path("results/ring"))
    assert (code, str(Path("results/ring/regret.png")) in output.splitlines()) == (0, True)
    assert (place / "results" / "ring" / "regret.png").exists()
    code, output, _ = call(place, "topology", "ring.toml", "--agents", 50)
    assert (code, "1250" in output.split()) == (0, True)


@pytest.mark.skipif(sys.platform != "linux", reason="sends the signal of Ctrl-C to a group of processes, uses /proc")
def test_ctrl_c_however_often_ends_all_workers_at_once_and_the_same_command_goes_on(place, run_json):
    """Also that a part of the user's own is found on the workers, and that they find what one process finds."""
    (place / "slow.py").write_text(SLOW)
    (place / "own.toml").write_text(SCENARIO.replace('kind = "bernoulli"', 'kind = "slow:Slow"'))
    command = ["run", "own.toml", "--set", "sweep.topology.agents=[3, 4, 5]", "--replications", 1]
    process = started(place, *command, "--jobs", 2)
    assert eventually(
        lambda: len(list(place.glob("asleep-*"))) == 2 and len(list(place.glob("results/own/runs/*/result.json"))) == 1
    )
    workers = {int(path.name.partition("-")[2]) for path in place.glob("asleep-*")}
    (parent,) = {int(Path(f"/proc/{worker}/stat").read_text().split()[3]) for worker in workers}
    assert parent != process.pid, "workers are not forked from a process that has imported what they need"
    os.killpg(process.pid, signal.SIGINT)
    for send in (os.killpg, os.kill):  # the impatient press it again while the workers end; others end the command
        time.sleep(0.15)
        send(process.pid, signal.SIGINT if send is os.killpg else signal.SIGTERM)
    output, errors = process.communicate(timeout=BACKSTOP)
    assert (process.returncode, output) == (130, "")
    # The worker that has written a result may not yet have said so.
    assert re.fullmatch(
        r"imports slow.py, beside the scenario\n\nstopped: [01] of 3 runs are done; "
        r"the same command continues from there\n",
        without_progress(errors),
    )
    assert not any(is_alive(worker) for worker in workers)
    assert eventually(lambda: not members(process.pid))
    assert len(list((place / "results" / "own" / "runs").iterdir())) == 1
    there = without_times(run_json(place, *command[1:], HURRY="1"))
    here = without_times(run_json(place, *command[1:], "--out", "afresh", HURRY="1"))
    assert there == here
