import pytest

from netbandit.util.key_paths import lookup

TABLE = {"links": {"peer": {"latency": {"uniform": ["1 ms", "5 ms"]}}}, "bandit": {"means": [0.1, 0.2], "gap": None}}


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("links.peer.latency.uniform", ["1 ms", "5 ms"]),
        (("bandit", "means", 1), 0.2),
        ("bandit.gap", None),
        ("bandit", TABLE["bandit"]),
        ((), TABLE),
        ("bandit.mean", "absent"),
        ("bandit.means.1", "absent"),
        (("bandit", "means", 2), "absent"),
        ("bandit.gap.x", "absent"),
    ],
)
def test_what_stands_at_a_key(key, found):
    assert lookup(TABLE, key, "absent") == found
