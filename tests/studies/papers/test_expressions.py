import math

import numpy as np
import pytest

from netbandit.simulation.result import Curve, LinkUse, RunResult
from netbandit.studies.papers.expressions import Expression, ExpressionError


def ring(agents=6):
    first = np.array([0, *range(agents - 1)])
    second = np.array([agents - 1, *range(1, agents)])
    zeros = np.zeros(agents, dtype=np.int64)
    return RunResult(
        name="ring",
        parameters={},
        resolved={
            "run": {"horizon": 100, "slot": "4 ms"},
            "learner": {"epsilon": math.inf, "kind": "elimination"},
            "links": {"peer": {"latency": "0.5 slots", "bandwidth": "3 Mbit/s"}, "uplink": {"bandwidth": None}},
        },
        seed=0,
        replication=0,
        metrics={"regret": 12.0, "rounds": 0, "delta": None},
        kinds={"ADV": (7, 100)},
        topology={"agents": agents, "diameter": 3},
        curves={"regret": Curve(np.array([0, 50, 100]), np.array([0.0, 10.0, 12.0]))},
        links=LinkUse(first, second, zeros, 10 * first, zeros),
        fingerprint="",
        versions={},
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("regret", 12),
        ("run.horizon / 2 - 1", 49),
        ("-regret ** 2", -144),
        ("ceil(log2(1 / 0.2)) + 1", 4),
        ("regret <= 12", 1),
        ("regret < 12", 0),
        ("curve('regret', 0.25)", 5),
        ("growth('regret', 0.5, 1)", 2),
        ("sent('ADV') + sent('REQ')", 7),
        ("busiest('bytes') + busiest('messages')", 40),
        ("max(rounds, 1) * diameter", 3),
        ("adjacency_eigenvalue(1)", 1),
        ("adjacency_eigenvalue(2)", 0.5),  # cos(2 pi / 6)
        ("laplacian_eigenvalue(1)", 4),
        ("mixing_sum()", 2 * 2 + 0.0 + 1 / 2),  # 1 - (2 - 2 cos(2 pi k / 6)) / 3: 2/3 twice, 0 twice, -1/3
        ("seconds('links.peer.latency') + seconds('run.slot')", 0.006),
        ("8 / bits_per_second('links.peer.bandwidth')", 8 / 3e6),
        ("bits_per_second('links.uplink.bandwidth')", None),
        ("regret / rounds", None),
        ("log(rounds)", None),
        ("9 ** 9 ** 9 ** 9", None),  # at once: whole numbers would be computed for ever
        ("(0 - regret) ** 0.5", None),  # a complex number
        ("delta", None),
        ("learner.epsilon", None),
    ],
)
def test_values(text, value):
    assert Expression(text).of(ring()) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    "text", ["", "1 +", "a = 1", "[1]", "f(1)", "'word'", "a if b else c", "a.b()", "regret.real[0]", "lambda: 1"]
)
def test_what_is_no_expression(text):
    with pytest.raises(ExpressionError):
        Expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "regrets",
        "run.horizons",
        "learner.kind",
        "curve('cost', 1)",
        "seconds('links.latency')",
        "seconds('run.horizon')",
        "seconds('learner.kind')",
        "bits_per_second('learner.kind')",
        "log()",
        "curve('regret')",
    ],
)
def test_what_a_run_does_not_have(text):
    with pytest.raises(ExpressionError):
        Expression(text).of(ring())


def test_which_need_more_than_metrics():
    assert Expression("growth('regret', 0, 1)").needs_curves
    assert not Expression("ceil(regret)").needs_curves


def test_links_count_only_what_they_count():
    with pytest.raises(ExpressionError, match="energy is not counted link by link"):
        Expression("busiest('energy')").of(ring())
