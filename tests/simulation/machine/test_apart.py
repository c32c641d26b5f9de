"""Functions that are called by their address: known to callers that were kept, and compiled anew when they change."""

import os
import re
import subprocess
import sys

CALLED = """\
from netbandit.simulation.machine.compiled import apart

def add(network: tuple, place: int) -> int:
    network.state[place] += 1
    return network.state[place]

add = apart(add)

def add_once(network: tuple, place: int) -> int:
    return add(network, place)
"""

CALLER = """\
from typing import NamedTuple
import numpy as np
from netbandit.simulation.compile_notice import announce
from netbandit.simulation.machine.compiled import apart, apart_from, entry, machine_code
import called

class Network(NamedTuple):
    state: np.ndarray

add_once = apart(called.add_once)

@entry
def loop(network, times):
    found = 0
    for place in range(times):
        found += add_once(network, place % 2)
    return found

assert list(apart_from(loop)) == [called.add, add_once]
network = Network(np.zeros(2, dtype=np.int64))
announce(loop, "a test")
print(machine_code(loop, network, 4)(network, 4), network.state.sum())
"""


def test_what_is_called_by_its_address_is_found_again_and_compiled_anew_when_it_changes(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}  # it tells sources of one size apart by the second only
    environment.pop("NUMBA_CACHE_DIR", None)

    def run():
        done = subprocess.run(
            [sys.executable, "-c", "import caller"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout, bool(re.match("compiling the loop of a test", done.stderr))

    (tmp_path / "called.py").write_text(CALLED)
    assert run() == ("6 4\n", True)
    for _ in range(2):
        assert run() == ("6 4\n", False)
    (tmp_path / "called.py").write_text(CALLED.replace("+= 1", "+= 2"))
    assert run() == ("12 8\n", True)
