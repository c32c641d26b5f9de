"""Made logs as files in the format of Criteo's challenge, as the reader of such files must read them."""

import gzip
from itertools import count
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.criteo import SHIFT, SHIFTED
from netbandit.bandits.criteo_features import BUCKETS, Buckets, Combination
from netbandit.bandits.criteo_lines import CATEGORIES, INTEGERS
from netbandit.bandits.synthetic_log import DROPPED_CATEGORIES, DROPPED_INTEGERS, ClickLaw, MadeLog
from netbandit.util.streams import Streams

_VOCABULARY = 256


def write_log(
    file: str | PathLike[str],
    events: int,
    *,
    seed: int = 0,
    replication: int = 0,
    arms: int = 40,
    combine: Combination = "sum",
) -> ClickLaw:
    """Write a made log in the format of Criteo's challenge, gzipped if the file's name ends with ``.gz``.

    These are the events that replication *replication* of a scenario with ``run.seed = seed`` has where it names no
    file: the same users, arms and clicks, if every arm comes up.

    Args:
        file: The file; one that is there is replaced.
        events: The number of lines.
        seed: The root seed.
        replication: The replication.
        arms: The number K of arms, at most 253.
        combine: ``"sum"`` or ``"product"``: the contexts that the chance of a click is linear in.

    Returns:
        What the clicks follow.

    Raises:
        ValueError: No such log can be made.
        OSError: The file cannot be written.
    """
    if events < 1:
        raise ValueError(f"a log of {events} events would be empty")
    generator = Streams(seed, replication).generator
    log = MadeLog(ClickLaw.draw(arms, combine, generator))
    vocabulary = _vocabulary()
    path = Path(file)
    with gzip.open(path, "wt", encoding="utf-8") if path.suffix == ".gz" else path.open("w", encoding="utf-8") as out:
        for block in range(-(-events // log.block)):
            first = block * log.block
            integers, drawn = log.law.events(block, log.block, generator)
            words = _words(log.law.counts[drawn.shown], vocabulary, generator("log.words", block))
            out.writelines(_lines(integers, words, drawn.clicks, first)[: events - first])
    return log.law


def _vocabulary() -> NDArray[np.str_]:
    """Return words of eight hexadecimal digits, row i of bucket i, shape (3, 256)."""
    buckets = Buckets()
    found: list[list[str]] = [[] for _ in range(BUCKETS)]
    for number in count():
        word = f"{number * 2654435761 % 2**32:08x}"  # looks as arbitrary as Criteo's
        of_its_kind = found[buckets[word.encode()]]
        if len(of_its_kind) < _VOCABULARY:
            of_its_kind.append(word)
        elif all(len(words) == _VOCABULARY for words in found):
            return np.array(found)
    raise AssertionError("there is always another number")


def _words(counts: NDArray[np.int64], vocabulary: NDArray[np.str_], rng: np.random.Generator) -> NDArray[np.str_]:
    """Return the words of lines with *counts* in each bucket, shape (n, 3), in any order, shape (n, 21)."""
    buckets = np.array([np.repeat(np.arange(BUCKETS), row) for row in counts])
    words: NDArray[np.str_] = vocabulary[rng.permuted(buckets, axis=1), rng.integers(_VOCABULARY, size=buckets.shape)]
    return words


def _lines(integers: NDArray[np.int64], words: NDArray[np.str_], clicks: NDArray[np.float64], first: int) -> list[str]:
    """Return the lines of events, the first of which has the number *first*, from 0."""
    size = len(clicks)
    # More than 40 % are missing, of any number of lines.
    seldom = ["5f3c9a01" if event % 2 else "" for event in range(first, first + size)]
    rare = ["7" if word else "" for word in seldom]
    columns: list[list[str]] = [["1" if click else "0" for click in clicks]]
    numbers, texts = iter(integers.T), iter(words.T)
    for column in range(INTEGERS):
        shift = SHIFT * (column == SHIFTED)
        columns.append(rare if column in DROPPED_INTEGERS else [str(value - shift) for value in next(numbers).tolist()])
    columns += [seldom if column in DROPPED_CATEGORIES else next(texts).tolist() for column in range(CATEGORIES)]
    return ["\t".join(line) + "\n" for line in zip(*columns, strict=True)]
