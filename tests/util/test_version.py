"""The version names the commit of a checkout, as git's own commands do, however git keeps it."""

import shutil
import subprocess
from pathlib import Path

import pytest

import netbandit
from netbandit.util.version import commit_of, version

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(folder, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A repository of one commit on the branch ``some/branch``."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "some/branch")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def _packed(folder):
    git(folder, "tag", "-a", "v1", "-m", "a tag, whose commit stands in a line of its own")
    git(folder, "pack-refs", "--all")
    return folder


def _detached(folder):
    git(folder, "checkout", "-q", "--detach")
    return folder


def _worktree(folder):
    git(folder, "worktree", "add", "-q", "-b", "other", "../worktree")
    git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    return folder.parent / "worktree"


def _packed_worktree(folder):
    return _packed(_worktree(folder))


def _submodule(folder):
    whole = folder.parent / "whole"
    whole.mkdir()
    git(whole, "init", "-q")
    git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(folder), "part")
    return whole / "part"


@pytest.mark.parametrize("made", [Path, _packed, _detached, _worktree, _packed_worktree, _submodule])
def test_a_checkout_says_its_commit(checkout, made):
    folder = made(checkout)
    commit = git(folder, "rev-parse", "HEAD")
    assert commit_of(folder) == commit
    assert version("0.2.0", folder) == f"0.2.0+g{commit[:7]}"


def _empty(folder):
    git(folder, "checkout", "-q", "--orphan", "nothing")


def _unreadable(folder):
    (folder / ".git" / "HEAD").write_bytes(b"\xff\xfe")


def _elsewhere(folder):
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text("gitdir: ../gone\n")


@pytest.mark.parametrize("spoil", [lambda folder: shutil.rmtree(folder / ".git"), _empty, _unreadable, _elsewhere])
def test_where_git_tells_no_commit_there_is_none(checkout, spoil):
    spoil(checkout)
    assert version("0.2.0", checkout) == "0.2.0"


def test_a_folder_in_a_checkout_is_not_one(checkout):
    """As an environment with an installed package, in a project of the user's own."""
    inside = checkout / "environment" / "site-packages"
    inside.mkdir(parents=True)
    assert version("0.2.0", inside) == "0.2.0"


def test_the_version_is_that_of_the_checkout_of_the_package():
    root = Path(netbandit.__file__).parents[1]
    assert netbandit.__version__ == version(netbandit.VERSION, root)
    assert (root / ".git").exists() == ("+g" in netbandit.__version__)
