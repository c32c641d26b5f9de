"""No number of a shipped scenario changes by accident: fingerprint and metrics of every point, cut short, are pinned.

Where one is to change, raise NUMBERS and run tests/helpers/pin_scenarios.py, which says how.
"""

import math

import pytest
from helpers.pin_scenarios import CUTS, numbers, pinned, shipped

PINNED = pinned()
_QUIET = (
    "asynchronous/latency-alone asynchronous/li-alone asynchronous/li-everything byzantine/linear byzantine/mitra "
    "byzantine/swarm-alone byzantine/vial-alone changing/carried-references changing/fwa-alone coop/five-references "
    "contexts/base contexts/digits-alone dpmab/budget-alone coop/twenty-references feducb/fig1b-alone "
    "feducb/private-alone fwa/alone gosine/alone rcl/alone delay/base delay/counts delay/queues delay/silence "
    "delay/which"
)
SILENT = {"late_rewards", *(f"papers/{name}" for name in _QUIET.split())}
"""Where nobody is to talk, or all is known to all without a message."""


def same(before, now, name, metric):
    """Say whether a metric is as it was: exactly, as JSON has every digit of a float.

    Where contexts are multiplied by BLAS the last digit depends on the processor and on how many threads it uses; so it
    does of eigenvalues, and with them of what is mixed.
    """
    if metric == "mass" and before is not None:
        return math.isclose(before, now, rel_tol=1e-12)
    if isinstance(before, float) and isinstance(now, float) and ("vertical" in name or name == "replay"):
        return math.isclose(before, now, rel_tol=1e-12)
    return before == now


IN_SUITE = (
    "abilene continents deadline lora meet outage random ring stragglers vertical "
    "papers/byzantine/mitra papers/changing/petersen papers/coop/base papers/decucb/six papers/dpmab/fig11-case6 "
    "papers/gosine/base papers/rcl/base papers/unreliable/deadline"
)
"""What takes less than a second event by event, and little of it twice."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in IN_SUITE.split() else pytest.mark.ci) for name in PINNED]
)
def test_all_numbers_are_as_they_were(name):
    found = numbers(shipped()[name], PINNED[name]["cut"])
    expected = PINNED[name]["points"]
    for key in ("parameters", "fingerprint"):
        assert [point[key] for point in found] == [point[key] for point in expected]
    changed = [
        (metric, before, now["metrics"].get(metric, "gone"))
        for point, now in zip(expected, found, strict=True)
        for metric, before in point["metrics"].items()  # others may have been added
        if not same(before, now["metrics"].get(metric, "gone"), name, metric)
    ]
    assert not changed


def test_every_shipped_scenario_is_pinned_as_it_is_cut():
    assert {name: one["cut"] for name, one in PINNED.items()} == CUTS
    assert set(CUTS) == set(shipped())


def test_something_happens_in_every_scenario():
    """Were a cut too short, there would be little to compare."""
    for name, one in PINNED.items():
        metrics = [point["metrics"] for point in one["points"]]
        if name not in SILENT:
            assert any(each["messages"] for each in metrics), name
            # A single slot has no time for a decision.
            single = name.startswith(("papers/vertical/fig5", "papers/vertical/theorem42"))
            assert single or any(each["rounds"] for each in metrics), name
