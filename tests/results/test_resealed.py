"""Whatever a folder of results says under checksums that are right, all who read it show it or say what is wrong."""

import os
import random
from collections import Counter

import pytest
from helpers.resealed import READERS, Studies, change, outcome

SEED = 27
COUNT = int(os.environ.get("RESEALED", "20"))
"""By hand: ``RESEALED=10000 pytest tests/results/test_resealed.py -n0``, an hour."""


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    return Studies(tmp_path_factory.mktemp("studies"), *([["map"]] if COUNT < 100 else []))


@pytest.mark.ci
def test_all_readers_show_what_was_changed_or_say_what_is_wrong(studies):
    chance = random.Random(SEED)
    found = Counter()
    for number in range(COUNT):
        study = chance.choice(studies.all)
        said = change(chance, study.folder, study.runs)
        (read,) = chance.choices([*READERS], READERS.values())
        found[outcome(read, study, f"{number}: {said}")] += 1
        study.restore()
    assert set(found) == {"shown", "refused"}, "\n\n".join(found)
    assert min(found.values()) > COUNT * 0.1
