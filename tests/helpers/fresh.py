"""Processes that begin with the libraries imported, which takes Python longer than most commands do.

`netbandit` itself is imported by each of them, as it is wherever a command or a script begins.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from runpy import run_module
from types import ModuleType

ROOT = Path(__file__).parents[2]
LIBRARIES = (
    "click", "matplotlib.backends.backend_agg", "matplotlib.figure", "mpl_toolkits.mplot3d", "networkx", "numba",
    "pandas", "pydantic", "pydantic.json_schema", "rich.table", "scipy.sparse", "scipy.interpolate", "simpy",
)  # fmt: skip


class Fresh:
    """Start processes, one after the other: each is forked from one that has done nothing but import libraries."""

    def __init__(self, folder):
        """Take a folder for what they print."""
        self._printed = folder / "stdout", folder / "stderr"
        self._source = None

    def __call__(self, words, place):
        """Run Python with *words*, which are -m, a module and its arguments, or -c and code, in the folder *place*."""
        if not hasattr(os, "fork"):
            return subprocess.run(
                [sys.executable, *words], cwd=place, env=_environment(), capture_output=True, text=True
            )
        if self._source is None:
            self._source = subprocess.Popen(
                [sys.executable, __file__], env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        asked = {"words": words, "place": str(place), "printed": [str(path) for path in self._printed]}
        print(json.dumps(asked), file=self._source.stdin, flush=True)
        code = int(self._source.stdout.readline())
        return subprocess.CompletedProcess(words, code, *(path.read_text(encoding="utf-8") for path in self._printed))

    def close(self):
        """End the process from which they are forked."""
        if self._source is not None:
            self._source.communicate()


def _environment():
    return os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}


def next_asked():
    """Fork a process for each line of stdin; return what is asked in those, and None at the end."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            return json.loads(line)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return None


def begin(words, place, printed):
    """Run what is asked as Python does with *words* on its command line."""
    os.chdir(place)
    for number, path in enumerate((os.devnull, *printed)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115, as Python leaves it
    if words[0] == "-m":
        sys.path[0] = place
        sys.argv = words[1:]
        run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = ""
        sys.argv = ["-c", *words[2:]]
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(words[1], "<string>", "exec"), vars(main))


if __name__ == "__main__":
    for library in LIBRARIES:
        __import__(library)
    asked = next_asked()
    if asked:
        begin(**asked)
