"""The version of netbandit: the release and, in a git checkout, the commit."""

import re
from functools import cache
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGITS = 7


@cache
def version(release: str, root: Path) -> str:
    """Return *release*, with the commit of the git checkout *root* as a local version: ``0.2.0+g1a2b3c4``.

    Without a checkout it is *release* alone, as for an installed package. Changes that are not committed are not seen.
    """
    commit = commit_of(root)
    return release if commit is None else f"{release}+g{commit[:_DIGITS]}"


def commit_of(root: Path) -> str | None:
    """Return the hash of the commit that is checked out in *root*, None if that cannot be read.

    Git itself would take longer to start than ``netbandit --version`` may take, so its files are read.
    """
    git = root / ".git"
    try:
        if git.is_file():  # a worktree or a submodule, whose file names its folder
            git = root / _line(git).removeprefix("gitdir: ")
        head = _line(git / "HEAD")
        if head.startswith("ref: "):
            # Worktrees have heads of their own, and share the branches.
            shared = git / _line(git / "commondir") if (git / "commondir").is_file() else git
            head = _tip(shared, head.removeprefix("ref: "))
    except (OSError, ValueError):
        return None
    return head if _COMMIT.fullmatch(head) else None


def _tip(git: Path, branch: str) -> str:
    """Return the hash of the last commit of *branch*, such as ``refs/heads/main``; empty if there is none."""
    if (git / branch).is_file():
        return _line(git / branch)
    packed = (git / "packed-refs").read_text(encoding="utf-8").splitlines()
    return next((line.removesuffix(f" {branch}") for line in packed if line.endswith(f" {branch}")), "")


def _line(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip()
