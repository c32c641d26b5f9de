"""One replication of one point, in any process: runs it, and writes its folder atomically."""

import errno
import pickle
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, NamedTuple

import netbandit
from netbandit.compilation import compile_notice
from netbandit.results.run_folder import ERROR, TRACE, DamagedRunError, complete, read_run, save_run
from netbandit.results.safe_files import StorageError, make_folder, partial, write_whole
from netbandit.simulation.sweep_point import Point
from netbandit.user_code.errors import complaint
from netbandit.user_code.loading import find_beside, importing, kept_alive

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

_STORAGE_IS_GONE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


@dataclass(frozen=True)
class Failure:
    """The failure of a run.

    Attributes:
        text: One line, including the type of error.
        report: The file with the traceback; None if there is none.
    """

    text: str
    report: Path | None = None


class Ended(NamedTuple):
    """How a run ended.

    Attributes:
        failure: The failure; None if it succeeded.
        seconds: The computing time of the process that did it, from its beginning to its folder; 0 where it was there.
    """

    failure: Failure | None
    seconds: float = 0.0


def perform(point: "RunnablePoint", replication: int, folder: Path, trace: bool) -> Ended:
    """Run one replication of *point* and write its *folder*; return how it ended.

    Any error of the run is returned, not raised, so that the other runs of a sweep continue.

    Raises:
        StorageError: The folder cannot be written; the other runs would then fail too.
    """
    began = time.process_time()
    record = partial(folder / TRACE) if trace else None
    try:
        if record is not None:
            make_folder(folder)
        with kept_alive():
            result = point.simulation(replication).run(trace=record)
        save_run(folder, result, record)
    except (StorageError, KeyboardInterrupt):
        raise
    except BaseException as error:  # user code may raise anything
        if isinstance(error, OSError) and error.errno in _STORAGE_IS_GONE:
            raise StorageError(f"cannot write to {folder}: {error.strerror}") from error
        return Ended(_failure(error, folder), time.process_time() - began)
    finally:
        if record is not None:
            with suppress(OSError):
                record.unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()  # empty if the run did not get to its end
    return Ended(None, time.process_time() - began)


def copy_run(source: Path, point: Point, folder: Path, trace: bool) -> Failure | None:
    """Write into *folder*, as a run of *point*, the equal run of another point in *source*.

    Raises:
        StorageError: The folder cannot be written.
    """
    record = partial(folder / TRACE) if trace else None
    try:
        result = read_run(source)
        if record is not None:
            make_folder(folder)
            copyfile(source / TRACE, record)
        own = replace(result, parameters=dict(point.parameters), resolved=dict(point.resolved))
        save_run(folder, own, record)
    except (FileNotFoundError, DamagedRunError) as error:
        return Failure(f"the run that it is equal to, {source}, cannot be read: {error}")
    return None


class Order(NamedTuple):
    """A run, as it is sent to another process.

    Attributes:
        packed: The point, pickled.
        replication: The replication's number.
        folder: The run folder.
        trace: Whether to write a trace.
        imports: The folder in which the user's own parts are found first, if there are any.
        version: The sender's version of netbandit.
    """

    packed: bytes
    replication: int
    folder: Path
    trace: bool
    imports: Path | None
    version: str


def perform_order(order: Order, tell: Callable[[str], None]) -> Ended:
    """Do what `perform` does, in a worker process, unless the run is there; *tell* the user what he should know.

    When a worker dies, a scheduler repeats what it had done too: that the runs are in their folders it cannot know.
    """
    if order.version != netbandit.__version__:
        return Ended(Failure(f"a worker has netbandit {netbandit.__version__}, this is {order.version}"))
    if order.imports is not None:
        find_beside(order.imports)
    if complete(order.folder, order.trace):
        return Ended(None)
    try:
        with compile_notice.telling(tell):
            return perform(_unpacked(order.packed), order.replication, order.folder, order.trace)
    except StorageError:
        raise
    except BaseException as error:  # Ctrl-C never comes here: what looks like it is the user's own code
        return Ended(_failure(error, order.folder))


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> "RunnablePoint":
    """Return the point, the same object for all its replications: what it has found out it need not again."""
    with importing():
        point: RunnablePoint = pickle.loads(packed)
    return point


def _failure(error: BaseException, folder: Path) -> Failure:
    report = folder / ERROR
    make_folder(folder)
    write_whole(report, "".join(traceback.format_exception(error)))
    return Failure(complaint(error), report)
