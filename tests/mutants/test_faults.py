"""Every fault that is to be planted still can be, and there is one in every room."""

import pytest
from mutants.faults import FAULTS, ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_it_replaces_stands_there_once(fault):
    """Whoever changes that line looks for another one that a mistake could be made in."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1
    assert fault.new != fault.old


def test_every_room_has_one():
    rooms = {path.parent.name for path in (ROOT / "netbandit").glob("*/__init__.py")}
    assert {fault.room for fault in FAULTS} == rooms
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20
