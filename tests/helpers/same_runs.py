"""What must be the same of a replication that is run in two ways."""

import numpy as np


def same(one, other):
    assert one.fingerprint == other.fingerprint
    assert list(one.metrics) == list(other.metrics)
    for name in one.metrics.keys() - {"wall_s"}:
        assert one.metrics[name] == other.metrics[name], name
    assert one.kinds == other.kinds
    assert one.remarks == other.remarks
    assert one.curves.keys() == other.curves.keys()
    for name, curve in one.curves.items():
        assert (curve.slots == other.curves[name].slots).all(), name
        assert (curve.values == other.curves[name].values).all(), name
    for links, others in ((one.links, other.links), (one.uplinks, other.uplinks)):
        for name, column in vars(others).items():
            assert np.array_equal(getattr(links, name), column), name
