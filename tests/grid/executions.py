"""The ways in which a scenario of the grid is executed, and what a run leaves behind.

Counts, times and prices of messages are compared exactly, and so is the fingerprint; all other figures to ten digits,
because the last ones depend on the processor where matrices are multiplied.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

from grid.table import Line

from netbandit.scenario.load import load
from netbandit.simulation import patterns, slots
from netbandit.simulation.check import check
from netbandit.simulation.compiled_rounds import choice
from netbandit.simulation.result import RunResult

BASE = Path(__file__).with_name("base.toml")

EXECUTIONS = ("chosen", "plain", "compiled")
"""``chosen``: as for a user; ``plain``: message by message, event by event, and slot by slot in numpy; ``compiled``: in
loops and in bulk from the first hop on, wherever they know all that can happen."""

METRICS = Path(__file__).with_name("metrics.txt")
"""The names of the metrics that are pinned: one that is new changes no line until it is entered here."""

_LEDGER = (
    *("messages", "bytes", "activations", "cost", "energy_j", "broadcasts"),
    *("delivered", "lost", "missed", "duplicates", "duplicates_dropped", "retransmissions", "given_up", "in_flight"),
)
_LINKS = ("first", "second", "messages", "bytes", "activations", "lost")


@contextmanager
def executed(execution: str) -> Iterator[None]:
    """Have runs be executed in one of the ways."""
    with ExitStack() as stack:
        if execution == "compiled":
            stack.enter_context(choice.worth_it_from(0))
        elif execution == "plain":
            stack.enter_context(choice.worth_it_from(sys.maxsize))
            stack.enter_context(patch.object(patterns, "bulk_broadcasts", lambda *_: None))
            stack.enter_context(patch.object(patterns, "bulk_exchanges", lambda *_: None))
            stack.enter_context(patch.object(slots, "is_compiled", lambda *_: False))
        yield


def run(scenario: str, execution: str) -> RunResult:
    """Run the scenario of a line."""
    point = check(load(BASE, scenario.split("; "))).points[0]
    with executed(execution):
        return point.simulation(0).run()


def numbers(found: RunResult) -> dict[str, Any]:
    """Return all that a line hashes, by column, ready for JSON."""
    names = METRICS.read_text(encoding="utf-8").split()
    ledger = {name: found.metrics[name] for name in names if name in _LEDGER and name in found.metrics}
    curves = {name: [curve.slots.tolist(), curve.values.tolist()] for name, curve in sorted(found.curves.items())}
    return {
        "ledger": {
            "metrics": ledger,
            "kinds": dict(sorted(found.kinds.items())),
            "links": {name: getattr(found.links, name).tolist() for name in _LINKS},
        },
        "metrics": _cut({name: found.metrics.get(name, "gone") for name in names if name not in _LEDGER}),
        "curves": _cut(curves),
        "remarks": {
            "remarks": [remark for remark in found.remarks if remark != slots._GENERIC],  # no result
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
