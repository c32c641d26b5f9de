"""Every learner over every protocol that it goes with, while everything goes wrong: it ends, or says why it cannot."""

import pytest
from helpers.combinations import table

from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.testing.properties import ALWAYS, compiled_is_plain
from netbandit.testing.scenes import FAULTS, put_over, small, tables_of
from netbandit.testing.trial import Trial

REASONS = (
    'faults.nodes.memory: must be "kept" with',
    "protocol.deadline: has no effect",
    "protocol.deadline: works with learners of rounds or calls only",
    "protocol.deadline: unknown key",
    "protocol.deadline: asks for",
)

COMBINATIONS = [
    (learner, bandit, protocol)
    for learner, bandit, protocol, runs in table()
    if runs and bandit not in ("gaussian", "mixed", "replay", "table")
    if learner not in ("klucb", "thompson", "lints") or protocol in ("local", "vertical")
]


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "bandit", "protocol"), COMBINATIONS)
def test_it_ends_whatever_goes_wrong_or_says_why_not(learner, bandit, protocol):
    """Protocols are checked with one learner of each pattern under each fault, see `netbandit.testing`; here, all."""
    tables = tables_of(small("bandit", bandit), small("learner", learner), {"kind": protocol}, horizon=120)
    if protocol == "parameter-server":  # an agent waits for an answer that may be lost, and check asks for this
        tables["protocol"]["deadline"] = "5 ms"
    for name, fault in FAULTS.items():
        try:
            trial = Trial(check(load_tables(put_over(tables, fault))).points[0])
        except ScenarioError as error:
            lines = error.lines
            assert all(any(reason in line for reason in REASONS) for line in lines), (name, lines)
            assert name in ("memory", "deadline"), (name, lines)
            continue
        assert [text for holds in ALWAYS if holds is not compiled_is_plain for text in holds(trial)] == [], name
        assert (trial.plain.metrics["absent_slots"] > 0) == (name in ("nodes", "memory", "all")), name
        assert trial.plain.metrics["regret"] >= 0, name
