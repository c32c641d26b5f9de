import os
import subprocess
import sys
import tempfile

import pytest

from netbandit.results.held_folders import opened, temporary_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folders")


def test_a_folder_is_held_alone_or_with_others_until_it_is_let_go_of(tmp_path):
    with opened(tmp_path) as first:
        assert first.alone()
        with opened(tmp_path) as second:
            assert not second.alone()
            first.together()
            second.together()
            assert not first.alone()  # and so it is held by neither alone
        assert first.alone()
    with opened(tmp_path) as third:
        assert third.alone()


def test_where_there_are_no_locks_nobody_holds_a_folder(tmp_path, monkeypatch):
    def refuse(file, how):
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with opened(tmp_path) as first, opened(tmp_path) as second:
        first.alone_at_last()
        first.together()
        assert second.alone()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """What is made in it besides: the folder of a living process of ours, a file and a link with such names."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (tmp_path / "tmp" / "netbandit-workers-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "tmp" / "netbandit-workers-file").touch()
    (tmp_path / "tmp" / "netbandit-of-mine").mkdir()
    return tmp_path


def test_what_a_killed_process_has_left_is_removed_and_nothing_else(place):
    kept = {"netbandit-workers-link", "netbandit-workers-file", "netbandit-of-mine"}
    code = (
        "from netbandit.results.held_folders import temporary_folder\n"
        "with temporary_folder() as folder:\n"
        "    (folder / 'inside').mkdir()\n"
        "    print(folder.name, flush=True)\n"
        "    input()\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(place / "tmp")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes) as process:
        name = process.stdout.readline().strip()
        with temporary_folder() as ours:
            assert set(os.listdir(place / "tmp")) == {*kept, name, ours.name}
            assert ours.stat().st_mode & 0o077 == 0
        process.kill()
        process.wait()
        assert set(os.listdir(place / "tmp")) == {*kept, name}
    with temporary_folder() as ours:
        assert set(os.listdir(place / "tmp")) == {*kept, ours.name}
    assert set(os.listdir(place / "tmp")) == kept
    assert (place / "elsewhere" / "kept").exists()


def test_a_folder_that_another_process_takes_for_one_that_was_left_is_made_again(place, monkeypatch):
    """Between its being made and its being held."""
    make, made = tempfile.mkdtemp, []

    def robbed(prefix):
        made.append(make(prefix=prefix))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr("netbandit.results.held_folders.mkdtemp", robbed)
    with temporary_folder() as ours:
        assert ours.is_dir()
        assert str(ours) == made[1]
