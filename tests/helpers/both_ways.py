"""The same replication played in a compiled loop and event by event, and what must be the same."""

import sys
from unittest.mock import patch

import numpy as np

from netbandit.simulation.choosing import network_loops
from netbandit.simulation.compiled_rounds.engine import CompiledLoop


def both_ways(point):
    """Run a replication compiled, which it must be, and event by event."""
    with patch.object(CompiledLoop, "prepare", autospec=True, side_effect=CompiledLoop.prepare) as prepare:
        with network_loops.worth_it_from(0):
            compiled = point.simulation(0).run()
        assert prepare.called  # else there is nothing to compare
    with network_loops.worth_it_from(sys.maxsize):
        return compiled, point.simulation(0).run()


def same(compiled, events):
    assert compiled.fingerprint == events.fingerprint
    assert list(compiled.metrics) == list(events.metrics)
    for name in compiled.metrics.keys() - {"wall_s"}:
        assert compiled.metrics[name] == events.metrics[name], name
    assert compiled.kinds == events.kinds
    assert compiled.remarks == events.remarks
    assert compiled.curves.keys() == events.curves.keys()
    for name, curve in compiled.curves.items():
        assert (curve.slots == events.curves[name].slots).all(), name
        assert (curve.values == events.curves[name].values).all(), name
    for one, other in ((compiled.links, events.links), (compiled.uplinks, events.uplinks)):
        for name, column in vars(other).items():
            assert np.array_equal(getattr(one, name), column), name
