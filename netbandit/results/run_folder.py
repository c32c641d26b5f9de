"""The folder of one run: complete once ``result.json`` is in it, and not before.

``result.json`` holds a checksum of every other file and of itself, so any modification is detected.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netbandit.results import run_content
from netbandit.results.run_content import ContentError
from netbandit.results.safe_files import (
    SealError,
    as_text,
    digest,
    digest_of,
    discard,
    integer,
    make_folder,
    sealed,
    storage,
    unsealed,
    write_whole,
)
from netbandit.simulation.result import RunResult
from netbandit.util.nesting import any_depth, read_json

FORMAT = 3
"""The version of the files in a results folder; those of versions before 0.2.0 are 1 and 2, and are not read."""

RESULT = "result.json"
CURVES = "curves.json"
LINKS = "links.json"
NODES = "nodes.json"
TRACE = "trace.jsonl"
ERROR = "error.txt"

FILES = frozenset({CURVES, LINKS, NODES, TRACE})
"""The files of a run besides its result; nodes and a trace are optional."""

_DAMAGED = (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError)
"""The exceptions of reading a file that is not as written."""


class DamagedRunError(ValueError):
    """The files of a run are not as written, or have an unreadable format; the message states which."""


def save_run(folder: Path, result: RunResult, trace: Path | None = None) -> None:
    """Write *result* into *folder*; the folder is complete from the moment ``result.json`` appears in it.

    That file alone is flushed to disk: if the machine fails before the others are, their checksums are wrong, and the
    run is done again.

    Args:
        folder: The run folder; created if it does not exist or is a link.
        result: The result of the run.
        trace: A finished trace in the same folder, which is renamed to its final name.

    Raises:
        StorageError: The folder cannot be written.
    """
    curves = {
        name: {"slots": curve.slots.tolist(), "values": curve.values.tolist()} for name, curve in result.curves.items()
    }
    links = run_content.links_to_write(result.links, result.uplinks)
    files: dict[str, object] = {CURVES: curves, LINKS: links}
    if result.nodes is not None:
        files[NODES] = run_content.nodes_to_write(result.nodes)
    make_folder(folder)
    with storage(folder):
        _clear(folder, kept=files)
    checksums: dict[str, str] = {}
    for name, content in files.items():
        text = as_text(content)
        write_whole(folder / name, text, flushed=False)
        checksums[name] = digest(text.encode())
    if trace is not None:
        with storage(folder):
            trace.replace(folder / TRACE)
            checksums[TRACE] = digest_of(folder / TRACE)
    whole = {
        "format": FORMAT,
        "run": folder.name,
        "name": result.name,
        "parameters": result.parameters,
        "scenario": result.resolved,
        "seed": result.seed,
        "replication": result.replication,
        "topology": run_content.finite_figures(result.topology),
        "metrics": run_content.finite_figures(result.metrics),
        "kinds": {kind: [int(messages), int(size)] for kind, (messages, size) in result.kinds.items()},
        "fingerprint": result.fingerprint,
        "versions": result.versions,
        "machine": result.machine,
        "privacy_unit": result.privacy_unit,
        "privacy_accountant": result.privacy_accountant,
        "privacy_caveats": list(result.privacy_caveats),
        "privacy_bound": result.privacy_bound,
        "remarks": list(result.remarks),
        "checksums": checksums,
    }
    write_whole(folder / RESULT, sealed(whole))


def _clear(folder: Path, kept: Mapping[str, object]) -> None:
    """Remove files of an earlier run from *folder* that this run does not replace, and folders at their paths."""
    for name in (RESULT, CURVES, LINKS, NODES, TRACE, ERROR):
        path = folder / name
        if name in (TRACE, ERROR) or (name == NODES and name not in kept) or (path.is_dir() and not path.is_symlink()):
            discard(path)


class RunFiles:
    """The files of one run; ``result.json`` is read once.

    Args:
        folder: The run folder.

    Raises:
        FileNotFoundError: There is no finished run.
        DamagedRunError: Its ``result.json`` cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._contents = {RESULT: _content_of_result(folder)}
        self._checksums: Mapping[str, Any] = {}
        self._plain: RunResult | None = None

    @property
    def size(self) -> int:
        """The size of what is kept of the files (bytes)."""
        return sum(map(len, self._contents.values()))

    def digest(self) -> str:
        """Return a hash of all that the files say, and of whether a trace is among them."""
        return digest(self._contents[RESULT] + str((self.folder / TRACE).is_file()).encode())

    def result(self, details: bool = True) -> RunResult:
        """Return the run.

        Args:
            details: Whether to read the curves and the links too; without, both are empty.

        Raises:
            DamagedRunError: A file is not as written.
        """
        try:
            with any_depth():
                if self._plain is None:
                    whole = _whole(self._contents[RESULT])
                    if whole["run"] != self.folder.name:
                        raise DamagedRunError(f"{RESULT} is of the run {whole['run']}")
                    self._checksums = _names(whole)
                    self._plain = run_content.run_of({**whole, "resolved": whole["scenario"]})
                if not details:
                    return self._plain
                links = self._json(LINKS)
                read = {
                    "curves": self._json(CURVES),
                    "uplinks": links.pop("uplinks", None),
                    "links": links,
                    "nodes": self._json(NODES) if NODES in self._checksums else None,
                }
                return run_content.detailed(self._plain, read)
        except DamagedRunError:
            raise
        except ContentError as error:
            raise DamagedRunError(f"its files say what no run does: {error}") from None
        except _DAMAGED as error:
            raise DamagedRunError(f"{RESULT} does not say what a run's does ({type(error).__name__})") from error

    def verify(self, keep: bool = False) -> bool:
        """Check every file of the run; return whether its trace is among them.

        A trace that was removed after it was written counts as no damage.

        Args:
            keep: Whether the curves and links are kept until the run is read with them.

        Raises:
            DamagedRunError: A file is not as written.
        """
        self.result(details=False)
        for name, checksum in self._checksums.items():
            if keep and name != TRACE:
                self._contents[name] = self._content(name)
                continue
            try:
                if digest_of(self.folder / name) != checksum:
                    raise DamagedRunError(f"{name} does not match its checksum")
            except FileNotFoundError:
                if name != TRACE:
                    raise DamagedRunError(f"{name} is not there") from None
                return False
            except OSError as error:
                raise DamagedRunError(f"{name} cannot be read: {error.strerror}") from error
        return TRACE in self._checksums

    def _content(self, name: str) -> bytes:
        """Return the verified content of a file of the run."""
        if name in self._contents:
            return self._contents[name]
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            raise DamagedRunError(f"{name} is not there") from None
        except OSError as error:
            raise DamagedRunError(f"{name} cannot be read: {error.strerror}") from error
        if digest(content) != self._checksums.get(name):
            raise DamagedRunError(f"{name} does not match its checksum")
        return content

    def _json(self, name: str) -> Any:
        """Return what a file with curves, links or nodes says; its text is kept no longer."""
        content = self._content(name)
        self._contents.pop(name, None)
        return read_json(content, parse_int=integer)


def read_run(folder: Path, details: bool = True) -> RunResult:
    """Return the run in *folder*; see `RunFiles`."""
    return RunFiles(folder).result(details)


def load_run(folder: Path, details: bool = True) -> RunResult | None:
    """Return the run in *folder*, or None if it is missing, incomplete, damaged or of another format.

    Args:
        folder: The run folder.
        details: Whether to read the curves and the links too; without, both are empty.
    """
    try:
        return read_run(folder, details)
    except (FileNotFoundError, DamagedRunError):
        return None


def complete(folder: Path, trace: bool = False) -> bool:
    """Return whether *folder* holds a complete run with valid checksums, and its trace if *trace* is set."""
    try:
        return RunFiles(folder).verify() or not trace
    except (FileNotFoundError, DamagedRunError):
        return False


def check_trace(trace: Path) -> None:
    """Check the trace of a run in its folder against the record in the run.

    Raises:
        FileNotFoundError: There is no finished run in the folder of the trace.
        DamagedRunError: The trace is not as written, or the run has no record of it.
    """
    whole = _whole(_content_of_result(trace.parent))
    known = _names(whole).get(trace.name)
    try:
        same = known == digest_of(trace)
    except OSError as error:
        raise DamagedRunError(f"{trace.name} cannot be read: {error.strerror}") from error
    if not same:
        raise DamagedRunError(f"{trace.name} is not as it was written")


def was_traced(folder: Path) -> bool:
    """Return whether a trace was written into *folder*, even if it or the run is gone."""
    return (folder / TRACE).exists()


def _content_of_result(folder: Path) -> bytes:
    try:
        return (folder / RESULT).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{folder} has no {RESULT}") from None
    except OSError as error:
        raise DamagedRunError(f"{RESULT} cannot be read: {error.strerror}") from error


def _whole(content: bytes) -> dict[str, Any]:
    """Return the content of a ``result.json``."""
    try:
        whole = unsealed(content)
    except SealError as error:
        raise DamagedRunError(f"{RESULT} {error}") from None
    return of_this_format(whole, RESULT)


def of_this_format(whole: dict[str, Any], name: str) -> dict[str, Any]:
    """Return *whole*, the content of the file *name*.

    Raises:
        DamagedRunError: It is of another format.
    """
    form = whole.get("format")
    if form != FORMAT:
        age = "an earlier" if type(form) is int and form < FORMAT else "another"
        raise DamagedRunError(f"{name} is of {age} version of netbandit (format {form!r}, this one reads {FORMAT})")
    return whole


def _names(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the checksum of each file of the run."""
    found = whole.get("checksums")
    if not isinstance(found, dict) or not found.keys() <= FILES:
        raise DamagedRunError(f"{RESULT} does not say which files the run has")
    return found
