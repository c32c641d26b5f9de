import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load


@pytest.fixture
def point(tmp_path):
    """Check a scenario that is given as text; return its point."""

    def checked(text):
        file = tmp_path / "scenario.toml"
        file.write_text(text)
        return check(load(file)).points[0]

    return checked
