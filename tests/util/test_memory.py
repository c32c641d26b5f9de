import subprocess
import sys

import pytest

MIB = 2**20


def peak_after(program: str) -> int:
    command = f"from netbandit.util.memory import peak\n{program}\nprint(peak())"
    return int(subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout)


@pytest.mark.ci
def test_the_peak_is_of_the_process_itself_and_remembers_what_was_given_back():
    ours = bytearray(b"x") * (300 * MIB)
    small = peak_after("")
    assert 3 * MIB < small < 150 * MIB < len(ours)
    large = peak_after(f"held = bytearray(b'x') * (200 * {MIB})\ndel held")
    assert 199 * MIB < large - small < 230 * MIB
