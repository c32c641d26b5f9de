"""Settings of all tests."""

import gc
import importlib.util
import os
import signal
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from zlib import crc32

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook
from helpers.fresh import Fresh
from helpers.interpreted import interpreted
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from netbandit.running import progress

# Each run tests the same examples, however long they take: nothing is found by chance, or missed by a busy machine.
settings.register_profile(
    "same",
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# Others, and more, from the seed that --hypothesis-seed gives: what the tests search with, where they are asked to.
settings.register_profile("search", settings.get_profile("same"), max_examples=100, derandomize=False, database=None)
settings.load_profile("same")

# Hypothesis also draws numbers that stand in modules of ours, of those that this worker happens to have imported.
providers.is_local_module_file = lambda path: False

# Threads of linear algebra, of which each worker would have as many as there are cores, mostly wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Processes that tests start keep what Python makes of the package's modules, as a user's do, wherever the tests run:
# else each of them, and there are hundreds, compiles all modules anew, which takes longer than what most of them do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Where tests stand in for a terminal, it is one that can show a bar, and where they run in the background, processes
# that they start can still be interrupted: a signal that is ignored here would be ignored in these, too.
os.environ["TERM"] = "xterm-256color"
for name in "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE":
    os.environ.pop(name, None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Most of what tests make stays to the end of a test, and what collecting them makes, to the end of all.
gc.set_threshold(100_000, 20, 20)

# How far a sweep is, and that it is long, would be told on a busy machine where tests expect nothing.
progress.LINE_EVERY = progress.LONG = 1e6


def pytest_addoption(parser):
    """Let CI compile in every test what users have compiled."""
    parser.addoption("--compiled", action="store_true", help="compile in all tests, as users do")


def pytest_itemcollected(item):
    """Mark as slow what ``ci`` and ``sampled`` leave out, of which cases by their names: a new one moves no other."""
    sampled = item.get_closest_marker("sampled")
    if item.get_closest_marker("ci") or (sampled and crc32(item.callspec.id.encode()) % sampled.args[0]):
        item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Compile nothing, which takes seconds where a test takes milliseconds, but for tests of what is compiled."""
    with nullcontext() if item.config.option.compiled or item.get_closest_marker("compiled") else interpreted():
        return (yield)


def pytest_configure(config):
    """Do once, before workers start, what each would do: list fonts for matplotlib, rewrite assertions for pytest."""
    if getattr(config.option, "numprocesses", None):
        importlib.import_module("matplotlib.font_manager")
        rewrite_assertions(config.args)
    if not config.option.compiled:  # compiled functions do not say where words of 64 bits run over, or zero divides
        config.addinivalue_line("filterwarnings", "ignore:.* encountered in scalar:RuntimeWarning")


def rewrite_assertions(places):
    """Have pytest keep the rewritten assertions of all files in these *places*, in a process for each core."""
    hook = next((one for one in sys.meta_path if isinstance(one, AssertionRewritingHook)), None)
    if hook is None or not hasattr(os, "fork"):
        return
    files = sorted(file for place in places for file in Path(place).rglob("test_*.py"))
    children = []
    for number in range(os.cpu_count()):
        if child := os.fork():
            children.append(child)
            continue
        sys.dont_write_bytecode = False  # as in workers, whatever the environment says here
        try:
            for file in files[number :: os.cpu_count()]:
                module = importlib.util.module_from_spec(hook.find_spec(file.stem, [str(file.parent)]))
                vars(module)["__builtins__"] = {}  # so that nothing is executed: it begins with an import
                with suppress(ImportError):
                    hook.exec_module(module)
        finally:
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)


def pytest_collection_finish():
    """Look for garbage no more among what has been collected, which stays to the end."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def each_function_is_compiled_by_one_worker(tmp_path_factory):
    """Let the others wait for it: half of what is compiled would else be compiled by several at the same time."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    from helpers.compiled_once import compiled_once

    with compiled_once(tmp_path_factory.getbasetemp().parent / "compiled_once"):
        yield


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """Run Python in a process of its own; see `helpers.fresh`."""
    processes = Fresh(tmp_path_factory.mktemp("fresh"))
    yield processes
    processes.close()
