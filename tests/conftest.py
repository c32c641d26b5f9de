"""Settings of all tests."""

import os

import pytest
from helpers.fresh import Fresh
from hypothesis import settings

# How long an example takes is the machine's affair: a busy one is no failure.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

# Processes that tests start keep what Python makes of the package's modules, as a user's do, wherever the tests run:
# else each of them, and there are hundreds, compiles all modules anew, which takes longer than what most of them do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """Run Python in a process of its own; see `helpers.fresh`."""
    processes = Fresh(tmp_path_factory.mktemp("fresh"))
    yield processes
    processes.close()
