"""Whatever has become of the files of compiled functions, a function gives what it gives, and is compiled again."""

import importlib.util
import sys

import pytest
from numba.core.caching import IndexDataCacheFile

from netbandit.util.jit import njit

pytestmark = pytest.mark.compiled

TEXT = """
def inner(x):
    return 3 * x

def doubled(x):
    return x + x
"""

DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "zeros": lambda content: bytes(len(content)),
    "a bit, at the start": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "a bit, in the middle": lambda content: (
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 16]) + content[len(content) // 2 + 1 :]
    ),
    "a bit, at the end": lambda content: content[:-1] + bytes([content[-1] ^ 128]),
    "more": lambda content: content + b"\0",
    "removed": None,
}


@pytest.fixture(scope="module")
def function(tmp_path_factory):
    return written(tmp_path_factory.mktemp("compiled"))


def written(folder):
    file = folder / "twice.py"
    file.write_text(TEXT)
    name = f"twice_in_{folder.name}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # else numba does not find it again
    spec.loader.exec_module(module)
    return module.doubled


def loaded(function):
    """Whether it was taken from disk by a process that has just begun; it gives what it gives."""
    found = njit(cache=True)(function)
    assert found(21) == 42
    return bool(found.stats.cache_hits)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_compiled_again_and_kept(function, damage, ending):
    loaded(function)
    assert loaded(function)
    (folder,) = {file.parent for file in [*_kept(function, "nbi")]}
    (file,) = _kept(function, ending)
    whole = file.read_bytes()
    if DAMAGES[damage] is None:
        file.unlink()
    else:
        file.write_bytes(DAMAGES[damage](whole))
    assert not loaded(function)
    assert loaded(function)
    assert {each.suffix for each in folder.iterdir() if each.is_file()} >= {".nbi", ".nbc"}


def test_what_numba_alone_has_kept_is_not_trusted(function):
    from numba import njit as plain

    for ending in ("nbi", "nbc"):
        for file in _kept(function, ending):
            file.unlink()
    plain(cache=True)(function)(21)
    assert not loaded(function)
    assert loaded(function)
    found = plain(cache=True)(function)  # and what is checked can be read without
    assert found(21) == 42
    assert found.stats.cache_hits


def test_what_is_not_kept_is_as_numba_makes_it():
    assert njit(lambda x: x + 1)(1) == 2
    assert njit()(lambda x: x + 1)(1) == 2


def _kept(function, ending):
    from pathlib import Path

    return sorted(Path(njit(cache=True)(function).stats.cache_path).glob(f"twice.doubled-*.{ending}"))


@pytest.mark.parametrize("read", ["_load_index", "_load_data"])
@pytest.mark.parametrize("error", [ModuleNotFoundError, AttributeError])
def test_what_names_types_of_another_version_is_compiled_again(error, read, monkeypatch, tmp_path):
    """As numba reads them by pickle, their modules are looked for."""
    function = written(tmp_path)
    loaded(function)

    def load(file, *name):
        raise error("no such type here")

    with monkeypatch.context() as patched:
        patched.setattr(IndexDataCacheFile, read, load)
        assert not loaded(function)
    assert loaded(function)
