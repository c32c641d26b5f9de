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
