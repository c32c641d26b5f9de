"""Every metric that a shipped scenario gives has its entry in the reference."""

import json
from pathlib import Path

from click.testing import CliRunner

from netbandit.cli import main
from netbandit.results.metrics import METRICS

PINNED = json.loads((Path(__file__).parents[1] / "data" / "scenario_numbers.json").read_text())


def names(value):
    """Yield the names of all metrics in the pinned numbers."""
    if isinstance(value, dict):
        if isinstance(value.get("metrics"), dict):
            yield from value["metrics"]
        for inner in value.values():
            yield from names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names(inner)


def test_each_metric_of_a_shipped_scenario_has_an_entry():
    found = set(names(PINNED))
    assert {"regret", "round_slots", "epsilon", "accepted", "parameter_error"} <= found
    assert found - set(METRICS) == set()


def test_entries_are_sentences():
    for name, entry in METRICS.items():
        assert entry.meaning[0].isupper(), name
        assert entry.meaning.endswith((".", "1 if exact.")), name


def test_the_command_prints_the_entry_of_a_metric():
    one, both = (CliRunner().invoke(main, ["parts", *names]).output for names in (["stop_slot"], ["stop_slot", "lies"]))
    assert one.startswith("stop_slot (slots): After how many slots")
    assert both.startswith(one)
    assert both.count("\n") == 2
    misspelt = CliRunner().invoke(main, ["parts", "wrong_anny"])
    assert (misspelt.exit_code, 'did you mean "wrong_any"?' in misspelt.output) == (2, True)


def test_the_command_prints_tables_and_keys():
    def said(name):
        done = CliRunner().invoke(main, ["parts", name])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert said("run").startswith("``[run]``")
    assert "\n    until: When the run ends" in said("run")
    assert said("run.until").startswith("run.until: When the run ends: at the horizon")
    for table, keys in {"links.peer": ["latency", "loss", "queue"], "faults": ["nodes"], "links": ["peer"]}.items():
        assert all(f"\n    {key}: " in said(table) for key in keys)
    gilbert = said("links.peer.loss")
    assert gilbert.startswith("links.peer.loss: ")
    assert "\n\n" in gilbert  # the tables that may stand there
    assert "up_for: " in said("faults.nodes")
    assert said("faults.nodes.up_for").startswith("faults.nodes.up_for: ")
    assert said("energy.harvest").startswith("energy.harvest: Power that each agent harvests")
    assert said("protocol") == said("protocol.kind")
    assert said("protocol").startswith("protocol.kind\n  master-worker ")
    every = CliRunner().invoke(main, ["parts"]).stdout
    assert said("protocol") in every
    assert "\n  faults            failures of links, agents and the server; by default none.\n" in every


def test_the_command_answers_what_is_no_key_in_one_line():
    for name, text in {
        "links.peer.los": 'links.peer.los: unknown key (did you mean "loss"?): links.peer has loss, jitter, ',
        "run.horizn": 'run.horizn: unknown key (did you mean "horizon"?): run has horizon, ',
        "run.horizon.more": "run.horizon.more: unknown key: run.horizon has no keys",
        "fault": "fault: must be metrics, the name of a metric, a table or key such as links.peer, or a part such as "
        'learner.ucb (did you mean "faults"?)',
        "links..peer": "links..peer: unknown key: links has ",
        "learner.usb": "learner.usb: ",
    }.items():
        done = CliRunner().invoke(main, ["parts", name])
        assert done.exit_code == 2
        assert text in done.stderr
        assert done.stderr.count("\n") == 1
