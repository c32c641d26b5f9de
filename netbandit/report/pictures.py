"""The pictures of some results, embedded in a page."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netbandit.plots import folder_pictures
from netbandit.plots.style import encoded
from netbandit.report.curves import Reading, readings
from netbandit.results.picture_names import REGRET, REWARD
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.study_result import StudyResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TAG = re.compile(r"<svg\b.*?>", re.DOTALL)
_ASIDE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
_NAMED = re.compile(r'(\bid="|href="#|url\(#)')
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_SPACE = re.compile(r">\s+<")


@dataclass(frozen=True)
class Drawn:
    """A picture of a report.

    Attributes:
        name: Its name, which no other has.
        title: What is to be seen.
        subtitle: How it was measured and what is held fixed.
        svg: The drawing.
        reading: The values shown at the pointer; None where there are none.
    """

    name: str
    title: str
    subtitle: str
    svg: str
    reading: Reading | None


def drawn(folder: Path, study: StudyResult) -> list[Drawn]:
    """Return the pictures of *study*, whose results are in *folder*: the curves of regret first."""
    found = []
    for index, picture in enumerate(one.drawn() for one in folder_pictures(ResultsFolder(folder), study)):
        svg = inline(picture.figure, f"p{index}-")
        reading = readings(study, picture.figure) if picture.name in (REGRET, REWARD) else None
        found.append(Drawn(picture.name, picture.title, picture.subtitle, svg, reading))
    return found


def inline(figure: "Figure", prefix: str) -> str:
    """Return *figure* as an ``svg`` element for a page: no outside references, and no names but with *prefix*.

    Whatever shows it says what it is: to a screen reader it is no picture of its own.
    """
    text = _STYLE.sub("", _ASIDE.sub("", encoded(figure, "svg").decode()))
    text = _NAMED.sub(rf"\g<1>{prefix}", text).replace("xlink:href", "href")
    match = _SIZE.search(text)
    assert match is not None
    tag = f'<svg viewBox="0 0 {match[1]} {match[2]}" aria-hidden="true" focusable="false">'
    return _SPACE.sub("><", _TAG.sub(tag, text, count=1)).strip()
