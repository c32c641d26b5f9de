"""Whether a report is older than its results: the page contains a digest of its inputs and says when it is outdated."""

import re
from hashlib import blake2b
from html import escape
from pathlib import Path

from netbandit.results.safe_files import canonical, write_whole
from netbandit.results.store import StudyResult

_MARK = re.compile(r'<html lang="en" data-results="([0-9a-f]*)">')
_BANNER = re.compile(r'<p class="outdated" role="alert">.*?</p>\n?', re.DOTALL)
_BODY = "<body>\n"


def mark_of(study: StudyResult) -> str:
    """Return what tells the results of *study* from others: a hash of its points and of the runs that are finished."""
    points = [
        [point.parameters, [None if run is None else run.fingerprint for run in point.runs], point.keys]
        for point in study.points
    ]
    return blake2b(canonical([study.name, points]).encode(), digest_size=8).hexdigest()


def outdate(page: Path, study: StudyResult, command: str) -> bool:
    """Let the report *page* say that it is older than its results, if it is; one that is not stops saying so.

    Args:
        page: A report that may be there.
        study: The results that are there now.
        command: What writes the report anew.

    Returns:
        Whether there is a page that is older.

    Raises:
        StorageError: The page cannot be written.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    mark = _MARK.search(text)
    if mark is None:
        return False
    older = mark[1] != mark_of(study)
    plain = _BANNER.sub("", text, count=1)
    banner = (
        '<p class="outdated" role="alert">This page is older than its results, which have changed since it was '
        f"written: <code>{escape(command)}</code> writes it anew.</p>\n"
    )
    now = plain.replace(_BODY, _BODY + banner, 1) if older else plain
    if now != text:
        write_whole(page, now)
    return older
