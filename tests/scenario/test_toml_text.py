import tomllib

from hypothesis import given
from hypothesis import strategies as some

from netbandit.scenario.toml_text import toml_text

KEYS = some.text(min_size=1, max_size=8).filter(lambda key: "." not in key)
SCALARS = some.booleans() | some.integers(-(2**63), 2**63 - 1) | some.floats(allow_nan=False) | some.text()
VALUES = some.recursive(
    SCALARS,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
TABLES = some.dictionaries(KEYS, some.none() | VALUES, max_size=5)


@given(TABLES)
def test_what_is_written_is_read_again_but_for_what_is_none(tables):
    assert tomllib.loads(toml_text(tables)) == {key: value for key, value in tables.items() if value is not None}


def test_a_scenario_is_written_as_a_person_would():
    scenario = {
        "name": "ring",
        "run": {"horizon": 10, "seed": None},
        "links": {"peer": {"latency": {"uniform": ["1 ms", "5 ms"]}, "cost": 1.0}},
        "learner": {"kind": "elimination", "epsilon": float("inf")},
        "sweep": {"topology.agents": [2, 3], "cases": [{"protocol": {"kind": "gis"}}]},
    }
    assert toml_text(scenario) == (
        'name = "ring"\n\n'
        "[run]\nhorizon = 10\n\n"
        '[links.peer]\nlatency = { uniform = ["1 ms", "5 ms"] }\ncost = 1.0\n\n'
        '[learner]\nkind = "elimination"\nepsilon = inf\n\n'
        '[sweep]\ntopology.agents = [2, 3]\ncases = [{ protocol = { kind = "gis" } }]\n'
    )
