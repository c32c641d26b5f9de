"""Text for people: numbers of things, and lines that are safe on a terminal."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def one_line(text: str) -> str:
    """Return *text* with its line breaks and other control characters written out, so that a message is a line."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def print_line(console: "Console", text: str) -> None:
    """Print *text* as one line; on a terminal it is broken between words, where there is no room for it."""
    from rich.text import Text

    console.print(Text(one_line(text)), soft_wrap=not console.is_terminal)


def in_words(texts: Sequence[str], last: str) -> str:
    """Return *texts* as a list in a sentence, with the word *last* before the last one: ``a, b and c``."""
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def first_few(texts: Sequence[str], most: int = 3) -> str:
    """Return the first of *texts* in a line, and how many more there are: ``a; b; c; and 4 more``."""
    return "; ".join([*texts[:most], *([f"and {len(texts) - most} more"] if len(texts) > most else [])])


def in_runs(some: Sequence[int], planned: Sequence[int]) -> str:
    """Return in how many of the *planned* runs of each point something holds; empty where it holds in all.

    ``in 2 to 16 of 20 runs``: a range, since the points that are named beside it may be in another order.
    """
    if list(some) == list(planned):
        return ""
    low, high = (" to ".join(f"{one:,}" for one in sorted({min(part), max(part)})) for part in (some, planned))
    return f"in {low} of {high} runs"


def pluralize(number: int | str, what: str) -> str:
    """Return *number*, or its text, of *what*, in the plural where it is not one: ``1 point``, ``2000 points``."""
    return f"{number} {what}" if str(number) == "1" else f"{number} {what}s"


def each_once(lines: Iterable[str]) -> list[str]:
    """Return *lines*, each once, and none that another one begins with."""
    found = list(dict.fromkeys(lines))
    return [line for line in found if not any(other != line and other.startswith(line) for other in found)]
