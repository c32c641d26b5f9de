"""The same replications in another process, in which texts have other hashes and nothing has been done before."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from netbandit.simulation.replication import RunnablePoint
from netbandit.simulation.result import RunResult
from netbandit.testing.call_recorder import CallRecorder
from netbandit.testing.trial import Trial
from netbandit.user_code.errors import is_ours

_RUN = "import sys; from netbandit.testing import elsewhere; elsewhere.answer(sys.stdin.buffer, sys.stdout.buffer)"


class ElsewhereError(Exception):
    """The other process has not come to an end; the message says what it said."""


class Answer(NamedTuple):
    """The first replication of a point, run in another process.

    Attributes:
        result: What it leaves behind.
        recorder: What a part did in it, where that was asked for.
    """

    result: RunResult
    recorder: CallRecorder | None


def run_elsewhere(points: Sequence[RunnablePoint], hash_seed: int, table: str = "") -> list[Answer]:
    """Return what another process finds of each point.

    Args:
        points: The points.
        hash_seed: Its ``PYTHONHASHSEED``.
        table: The part of which it is to keep a recorder: ``bandit``, ``learner`` or ``protocol``; nothing: of none.

    Raises:
        ElsewhereError: It failed.
    """
    import cloudpickle  # a class of a notebook, or of a test, goes along as it is

    with _by_value(points):
        packed = cloudpickle.dumps((list(points), table))
    done = subprocess.run(
        [sys.executable, "-P", "-c", _RUN],
        input=packed,
        capture_output=True,
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ElsewhereError(lines[-1] if lines else f"it ended with {done.returncode}")
    found: list[Answer] = pickle.loads(done.stdout)
    return found


def answer(given: Any, told: Any) -> None:
    """Run the points that are *given*, and write what `run_elsewhere` returns of them."""
    points, table = pickle.load(given)
    trials = [Trial(point) for point in points]
    found = [Answer(trial.plain, trial.recorded_calls(table) if table else None) for trial in trials]
    told.write(pickle.dumps(found))


@contextmanager
def _by_value(points: Sequence[RunnablePoint]) -> Iterator[None]:
    """Have modules of the points' own classes sent along: another process may not find them."""
    import cloudpickle

    kinds = {type(part) for point in points for part in (point.bandit, point.learner, point.protocol, point.family)}
    names = {base.__module__ for kind in kinds for base in kind.__mro__ if not is_ours(kind)}
    packages = {__package__.partition(".")[0], *sys.stdlib_module_names, "pydantic", "numpy", "builtins"}
    own = [
        sys.modules[name] for name in sorted(names) if name in sys.modules and name.partition(".")[0] not in packages
    ]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)
