"""The ways in which a scenario of the grid is executed, and what a run leaves behind.

Counts, times and prices of messages are compared exactly, and so is the fingerprint; all other figures to ten digits,
because the last ones depend on the processor where matrices are multiplied.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from grid.table import Line

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.simulation.drivers import slots
from netbandit.simulation.execution import Execution, executed
from netbandit.simulation.result import RunResult

BASE = Path(__file__).with_name("base.toml")

EXECUTIONS: tuple[Execution, ...] = ("plain", "compiled")
"""What is chosen for users is the second, but for steps of one's own that are not worth their compilation."""

METRICS = Path(__file__).with_name("metrics.txt")
"""The names of the metrics that are pinned: one that is new changes no line until it is entered here."""

_LEDGER = (
    *("messages", "bytes", "activations", "cost", "energy_j", "broadcasts"),
    *("delivered", "lost", "missed", "duplicates", "duplicates_dropped", "retransmissions", "given_up", "in_flight"),
    *("dropped", "unsent", "cut_off", "collided", "refused", "unhandled"),
)
_LINKS = ("first", "second", "messages", "bytes", "activations", "lost")


def run(scenario: str, execution: Execution) -> RunResult:
    """Run the scenario of a line."""
    point = check(load(BASE, scenario.split("; "))).points[0]
    with executed(execution):
        return point.simulation(0).run()


def numbers(found: RunResult) -> dict[str, Any]:
    """Return all that a line hashes, by column, ready for JSON."""
    names = METRICS.read_text(encoding="utf-8").split()
    metrics = {name: found.metrics[name] for name in names if name in found.metrics}
    curves = {name: [curve.slots.tolist(), curve.values.tolist()] for name, curve in sorted(found.curves.items())}
    return {
        "ledger": {
            "metrics": {name: value for name, value in metrics.items() if name in _LEDGER},
            "kinds": dict(sorted(found.kinds.items())),
            "links": {name: getattr(found.links, name).tolist() for name in _LINKS},
        },
        "metrics": _cut({name: value for name, value in metrics.items() if name not in _LEDGER}),
        "curves": _cut(curves),
        "remarks": {
            "remarks": [remark for remark in found.remarks if remark != slots._NO_COMPILED_LOOP],  # no result
            "privacy": [found.privacy_unit, found.privacy_accountant, found.privacy_caveats, found.privacy_bound],
        },
    }


def _cut(value: Any) -> Any:
    """Return *value* with ten digits of each float."""
    if isinstance(value, Mapping):
        return {key: _cut(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(each) for each in value]
    return f"{value:.10g}" if isinstance(value, float) else value


def line_of(scenario: str, execution: str) -> Line:
    """Return the line of a scenario as it is now."""
    found = run(scenario, execution)
    hashes = {
        column: blake2b(json.dumps(value).encode(), digest_size=4).hexdigest()
        for column, value in numbers(found).items()
    }
    shown = {name: str(found.metrics[name]) for name in ("messages", "bytes", "rounds")}
    return Line(fingerprint=found.fingerprint[:16], **shown, **hashes, scenario=scenario)
