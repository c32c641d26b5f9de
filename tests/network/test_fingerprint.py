import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.fingerprint import Fingerprint
from netbandit.network.message import Kind

EVENTS = st.lists(st.tuples(*[st.integers(0, 2**62)] * 4), max_size=20)


def fingerprint(events):
    made = Fingerprint()
    for event in events:
        made.record(*event)
    return made.hexdigest()


@given(EVENTS, EVENTS)
def test_it_tells_events_apart_and_their_order(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (one == other)


@given(EVENTS, st.integers(0, 20))
def test_asking_in_between_changes_nothing(events, where):
    made = Fingerprint()
    for number, event in enumerate(events):
        if number == where:
            made.hexdigest()
        made.record(*event)
    assert made.hexdigest() == fingerprint(events)
    assert made.events == len(events)


def test_times_beyond_63_bits_count():
    assert fingerprint([(2**70, 0, 0, 0)]) == fingerprint([(2**70, 0, 0, 0)])
    assert fingerprint([(2**63 + 1, 0, 0, 0)]) != fingerprint([(2**63 + 2, 0, 0, 0)])


def test_long_runs_are_hashed_in_blocks_without_a_seam():
    whole = Fingerprint()
    for number in range(40_000):
        whole.record(number, 1, 2, 3)
    again = Fingerprint()
    again.pending += [part for number in range(40_000) for part in (number, 1, 2, 3)]
    assert whole.hexdigest() == again.hexdigest()


def test_codes_of_kinds_do_not_depend_on_the_process():
    code = "from netbandit.network.message import Kind; print(Kind('DATA').code)"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{Kind('DATA').code}\n"}
