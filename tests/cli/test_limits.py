"""What is too long, too deep, too much or no text at all is answered by one clear line, at once."""

import errno
import io
import os
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from helpers.processes import BACKSTOP, started
from helpers.scenes import SMALL

from netbandit.cli import main
from netbandit.results.merging import Leftover

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="uses files of /dev")


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Check a text, with arguments, in a folder of its own; return exit code and lines."""
    monkeypatch.chdir(tmp_path)

    def called(text=SMALL, *arguments, command="check", file="scene.toml"):
        if file == "scene.toml":
            (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        began = time.process_time()
        done = CliRunner().invoke(main, [command, file, *arguments])
        assert time.process_time() - began < 20
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stderr.splitlines()

    return called


DEEP = ".".join(["a"] * 500)


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (f"{DEEP} = 1\n{SMALL}", [], "scene.toml:1:1: syntax: lists or tables are nested too deeply"),
        (f"{SMALL}[{DEEP}]\nx = 1\n", [], "scene.toml:1:1: syntax: lists or tables are nested too deeply"),
        (f"x = {'[' * 500}{']' * 500}\n{SMALL}", [], "scene.toml:1:1: syntax: lists or tables are nested too deeply"),
        (SMALL, ["--set", f"{DEEP}=1"], "lists or tables are nested too deeply"),
        (f'name = "{"é" * 101}"\n{SMALL}', [], "scene.toml:1:1: name: must have at most 200 bytes in UTF-8"),
        (SMALL, ["--set", "description=\udcff"], "must be text in UTF-8"),
        (b"\xed\xa0\x80", [], "the byte 0xed is not UTF-8"),
        (SMALL, ["--set", "description=\x1b[31m", "--set", "bandit.\x1bred=1"], "--set bandit.\\x1bred"),
    ],
)
def test_what_is_no_scenario_is_one_line(check, text, arguments, said):
    code, lines = check(text, *arguments)
    assert (code, len(lines)) == (2, 1)
    assert said in lines[0]
    assert lines[0].isprintable()


@pytest.mark.ci
def test_thousands_of_unknown_keys_are_named_in_seconds(check):
    many = "".join(f"k{number} = 1\n" for number in range(4000))
    code, lines = check(SMALL.replace("[run]\n", f"[run]\n{many}"))
    assert (code, len(lines)) == (2, 4000)


@LINUX
def test_a_file_without_an_end_is_not_read_to_its_end(check):
    assert check(file="/dev/zero") == (2, ["/dev/zero:1:1: file: is larger than 32 MiB; must be a scenario file"])


def test_names_of_folders_that_are_too_long(check):
    code, lines = check(SMALL, "--out", "a" * 300, command="run")
    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith("Error: cannot write to ")
    assert lines[0].endswith("File name too long")
    code, lines = check(file="a" * 300)
    assert (code, len(lines)) == (2, 1)


def test_more_processes_than_a_machine_has_use_for(check):
    code, lines = check(SMALL, "--jobs", "10000", command="run")
    assert code == 2
    assert "10000 is not in the range 0<=x<=" in lines[-1]


@pytest.mark.ci
@LINUX
@pytest.mark.parametrize("command", [["check", "scene.toml"], ["run", "scene.toml", "--json"], ["--help"]])
def test_a_full_disk_as_standard_output_is_one_line(tmp_path, command):
    (tmp_path / "scene.toml").write_text(SMALL)
    with open("/dev/full", "w") as full:

        def into_full():
            os.dup2(full.fileno(), 1)

        process = started(tmp_path, *command, first=into_full)
        _, errors = process.communicate(timeout=BACKSTOP)
    assert (process.returncode, errors.splitlines()[-1]) == (1, "Error: standard output: No space left on device")
    assert "Traceback" not in errors


@pytest.mark.ci
@LINUX
@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)])
@pytest.mark.parametrize("command", [["run", "scene.toml", "--out", "out"], ["--help"]])
def test_standard_streams_that_are_closed_are_none_to_write_to(tmp_path, command, closed):
    (tmp_path / "scene.toml").write_text(SMALL)

    def close():
        for number in closed:
            os.close(number)

    process = started(tmp_path, *command, first=close)
    output, errors = process.communicate(timeout=BACKSTOP)
    assert (process.returncode, output) == (0, "")
    assert "Traceback" not in errors
    if command[0] == "run":
        assert (tmp_path / "out" / "table.csv").read_text().startswith("replication,seed,metric,value")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_too_many_open_files_name_no_module_of_ours(check, monkeypatch, number):
    def out_of_files(*arguments, **more):
        raise OSError(number, os.strerror(number), "netbandit/running/sweeps.py")

    monkeypatch.setattr("netbandit.cli.checking.valid_and_mistakes", out_of_files)
    said = "Error: too many open files; allow more (ulimit -n), or use fewer processes"
    assert check() == (1, [said])


INTERRUPTED = """\
import os, signal, sys
sys.argv[0] = "netbandit"
class Presses:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Presses())
from netbandit.cli import main
main()
"""


@LINUX
@pytest.mark.parametrize("name", ["click", "netbandit.cli.papers", "pydantic"])
def test_ctrl_c_while_modules_are_imported_is_one_line(tmp_path, name):
    (tmp_path / "scene.toml").write_text(SMALL)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    code = f"import sys; sys.argv[1:] = ['check', 'scene.toml']\n{INTERRUPTED.format(name=name)}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=BACKSTOP
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nstopped\n")


COMMANDS = (
    "check scene.toml", "run scene.toml", "optimize scene.toml --minimize regret --over learner.rounds=1..3", "parts",
    "emulate scene.toml", "suite show", "table out", "plot out", "compare out", "report out", "merge out other",
    "topology ring", "clean out",
)  # fmt: skip
INTERRUPTED_AT = """\
import os, signal, sys
sys.argv = ["netbandit", *{command!r}.split()]
from netbandit.cli import main
class Presses:
    left = {number}
    def find_spec(self, name, path=None, target=None):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.{signal})
sys.meta_path.insert(0, Presses())
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
main()
"""


@LINUX
@pytest.mark.sampled(48)
@pytest.mark.parametrize("number", [1, 2, 5, 20])
@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_at_the_nth_import_of_a_command_is_one_line(fresh, tmp_path, command, signal, number):
    (tmp_path / "scene.toml").write_text(SMALL)
    done = fresh(["-c", INTERRUPTED_AT.format(command=command, number=number, signal=signal)], tmp_path)
    if number > 2 and done.returncode in (0, 2):  # it imports less
        assert "stopped" not in done.stderr
    else:
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nstopped\n")


def pressed(*arguments, **more):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "place",
    [
        *("click.Context.__init__", "click.Command.parse_args"),
        *("netbandit.results.merging.leftovers", "netbandit.results.merging.remove"),
    ],
)
def test_a_signal_within_click_is_the_same_line(tmp_path, monkeypatch, place):
    monkeypatch.setattr("netbandit.results.merging.leftovers", lambda folder: [Leftover(tmp_path, 3)])
    monkeypatch.setattr(place, pressed)
    done = CliRunner().invoke(main, ["clean", str(tmp_path), "--yes"])
    assert (done.exit_code, done.stderr) == (130, "\nstopped\n")


def test_a_signal_while_a_question_is_asked_is_the_same_line(tmp_path, monkeypatch):
    monkeypatch.setattr("netbandit.results.merging.leftovers", lambda folder: [Leftover(tmp_path, 3)])
    monkeypatch.setattr("click.testing.make_input_stream", lambda *arguments: Answers())
    done = CliRunner().invoke(main, ["clean", str(tmp_path)])
    assert (done.exit_code, done.stderr.splitlines()) == (130, ["", "stopped"])


class Answers(io.BytesIO):
    """What is typed: Ctrl-C."""

    read1 = read = pressed


def test_the_end_of_answers_is_no_signal(tmp_path, monkeypatch):
    monkeypatch.setattr("netbandit.results.merging.leftovers", lambda folder: [Leftover(tmp_path, 3)])
    done = CliRunner().invoke(main, ["clean", str(tmp_path)], input="")
    assert (done.exit_code, done.stderr) == (1, "Aborted!\n")
