"""Commands from their start to their end, beside a Python that does nothing, and two processes beside one."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Done, Found, Row, Subject, median_ratio

PROCESSES, VALUES, WARMUPS = 5, 1, 1
LONG, REPLICATIONS = "feducb.toml", 16
"""The long study."""

_SCENARIOS = Path(__file__).parents[1] / "scenarios"
_NOTHING = "python -c pass"


def subjects() -> dict[str, Subject]:
    """Return each command; of the long study also two commands at once that do half of it each."""
    small, long = str(_SCENARIOS / "star.toml"), (str(_SCENARIOS / LONG), "--set", f"run.replications={REPLICATIONS}")
    half = REPLICATIONS // 2
    parts = [_command("run", *long, "--replications", part) for part in (f"0:{half}", f"{half}:{REPLICATIONS}")]
    return {
        _NOTHING: partial(_python, ("-c", "pass")),
        "import netbandit": partial(_python, ("-c", "import netbandit")),
        "--help": partial(_python, _command("--help")),
        "check": partial(_python, _command("check", small)),
        "quickstart": partial(_python, _command("run", str(_SCENARIOS / "quickstart.toml"))),
        "small study": partial(_python, _command("run", small)),
        "small study, --jobs 2": partial(_python, _command("run", small, "--jobs", "2")),
        "long study, --jobs 2": partial(_python, _command("run", *long, "--jobs", "2")),
        "long study, two commands": partial(_python, *parts),
    }


def rows(found: Found) -> list[Row]:
    """Return the seconds of each command, and their ratio to those of a Python that does nothing."""
    return [
        {"command": name, "seconds": one.seconds, "ratio": median_ratio(one, found[_NOTHING])}
        for name, one in found.items()
    ]


def _command(*words: str) -> tuple[str, ...]:
    return "-m", "netbandit", *words


def _python(*processes: tuple[str, ...]) -> Done:
    """Run Python with the words of each process, at the same time, each in a folder of its own."""
    with ExitStack() as ending:
        folders = [ending.enter_context(TemporaryDirectory()) for _ in processes]
        environment = os.environ | {"PYTHONPATH": str(_SCENARIOS.parent)}
        began = time.perf_counter()
        running = [
            subprocess.Popen([sys.executable, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
            for words, folder in zip(processes, folders, strict=True)
        ]
        codes = [process.wait() for process in running]
        if any(codes):
            raise RuntimeError(f"{processes} ended with {codes}")
        return Done(time.perf_counter() - began)
