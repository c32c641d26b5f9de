"""Put the pictures of recorded figures beside the pages: ``python docs/papers/keep_pictures.py DIR``.

``DIR`` is what ``netbandit reproduce --record FILE --out DIR`` left: a folder for each paper. Pictures are stored with
a palette, which is a third of their size.
"""

import sys
from pathlib import Path

from PIL import Image

from netbandit.studies.papers.figures import load_paper, paper_names

PICTURES = Path(__file__).parent / "pictures"
COLOURS = 96


def keep(folder: Path) -> None:
    """Store the pictures of all papers that are in *folder*."""
    PICTURES.mkdir(exist_ok=True)
    for name in paper_names():
        for figure in load_paper(name).figures:
            drawn = folder / name / f"{figure.id}.png"
            if drawn.exists():
                picture = Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
                picture.save(PICTURES / f"{name}-{figure.id}.png", optimize=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
