import hashlib
import re
import time

import numpy as np
import pandas as pd
import pytest
from helpers.criteo_logs import write_log

from netbandit.bandits import criteo_lines
from netbandit.bandits.criteo import read
from netbandit.bandits.criteo_features import combined, filled, pair
from netbandit.bandits.criteo_lines import LogError

NAMES = ["Label", *(f"I{number}" for number in range(1, 14)), *(f"C{number}" for number in range(1, 27))]


def read_log(path, arms=40, skip=False, lines=None):
    return read(path, arms=arms, skip=skip, lines=lines, watch=lambda *told: None)


def table(rows, seed=0, vocabulary=5):
    """Return a made-up log with holes: I1, I10, I12, C19 and C20 lack more than 40 % of their fields."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(index=range(rows), columns=NAMES, dtype=object)
    for name in NAMES:
        if name == "Label":
            frame[name] = rng.integers(0, 2, rows).astype(str)
            continue
        numbers = rng.integers(-3 if name == "I2" else 0, 50 if name[0] == "I" else vocabulary, rows)
        texts = numbers.astype(str) if name[0] == "I" else np.array([f"w{name}{number}" for number in numbers])
        share = 0.6 if name in ("I1", "I10", "I12", "C19", "C20") else 0.2
        frame[name] = np.where(rng.random(rows) < share, "", texts)
    return frame


def save(frame, path):
    path.write_text("".join("\t".join(row) + "\n" for row in frame.to_numpy()))
    return path


def expected(frame, arms):
    """Do with pandas what the spec says, step by step."""
    frame = frame.replace("", np.nan)
    frame = frame[[name for name in frame.columns if frame[name].isna().mean() <= 0.4]].ffill().bfill()
    integers = [name for name in frame.columns if name[0] == "I"]
    users = frame[integers].astype(int)
    users["I2"] += 3
    words = frame[[name for name in frame.columns if name[0] == "C"]]
    hashed = words.map(lambda word: int(hashlib.md5(word.encode()).hexdigest(), 16) % 3)
    counts = np.stack([(hashed == bucket).sum(axis=1) for bucket in range(3)], axis=1)
    labels = pd.Series([cantor(cantor(a, b), c) for a, b, c in counts.tolist()])
    often = sorted(labels.value_counts().items(), key=lambda item: (-item[1], item[0]))[:arms]
    kept = labels.isin([found for found, _ in often])
    ordered = sorted(found for found, _ in often)
    users = users[kept].to_numpy()
    items = np.array([counts[labels == found][0] for found in ordered])
    return (
        (users - users.min(axis=0)) / (users.max(axis=0) - users.min(axis=0)),
        (items - items.min(axis=0)) / (items.max(axis=0) - items.min(axis=0)),
        [ordered.index(found) for found in labels[kept]],
        frame["Label"][kept].astype(int).tolist(),
    )


def cantor(first, second):
    return (first + second) * (first + second + 1) // 2 + second


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [700, 100_000])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_log_is_what_pandas_makes_of_it(tmp_path, monkeypatch, size, seed):
    monkeypatch.setattr(criteo_lines, "_PIECE", size)
    frame = table(300, seed)
    log = read_log(save(frame, tmp_path / "log.txt"), arms=12)
    users, items, shown, clicks = expected(frame, 12)
    assert users.shape[1] == 10
    np.testing.assert_array_equal(log.scaled_users(slice(None)), users)
    np.testing.assert_array_equal(log.items, items)
    assert (log.shown.tolist(), log.clicks.tolist()) == (shown, clicks)
    assert (log.lines, log.skipped) == (300, 0)
    assert log.users[:, 0].min() >= 0  # I2 has been shifted


def test_pairing_counts_the_diagonals():
    first, second = np.meshgrid(np.arange(40), np.arange(40), indexing="ij")
    pairs = pair(first, second)
    assert sorted(pairs[first + second < 40].tolist()) == list(range(40 * 41 // 2))
    assert [pair(np.array(a), np.array(b)) for a, b in [(0, 0), (1, 0), (0, 1), (2, 0)]] == [0, 1, 2, 3]


def test_filling_goes_forward_and_begins_with_what_was_before():
    values, missing = np.array([0, 0, 5, 0, 7, 0]), np.array([True, True, False, True, False, True])
    assert filled(values, missing, 3).tolist() == [3, 3, 5, 5, 7, 7]


def test_contexts_are_flat_sums_or_products():
    users, items = np.array([[1.0, 2.0]]), np.array([[0.5, 3.0, 4.0]])
    assert combined(users, items, "sum").tolist() == [[1.5, 4.0, 5.0, 2.5, 5.0, 6.0]]
    assert combined(users, items, "product").tolist() == [[0.5, 3.0, 4.0, 1.0, 6.0, 8.0]]
    assert combined(np.ones((5, 1, 10)), np.ones((40, 3)), "sum").shape == (5, 40, 30)


def test_a_bad_line_is_an_error_or_a_counted_skip(tmp_path):
    frame = table(60)
    path = save(frame, tmp_path / "log.txt")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:20], "1\t2", *lines[20:40], lines[40].replace("\t", "\tx", 1), *lines[40:]]))
    with pytest.raises(LogError, match=re.escape(f"{path}:21: has 2 fields, but must have 40: a label, 13 integers")):
        read_log(path)
    log = read_log(path, skip=True)
    assert (log.lines, log.skipped, log.first_skipped.number) == (62, 2, 21)
    path.write_text("\n".join(lines))
    whole = read_log(path)
    np.testing.assert_array_equal(log.users, whole.users)
    np.testing.assert_array_equal(log.shown, whole.shown)
    assert read_log(path, lines=10).lines == 10


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x\ny\n", ":1: has 1 field"),
        ("x\ny\n", "nor can any other line be used"),
        ("1" + "\t" * 39 + "\n", "more than 40% of each of the integers are missing"),
        ("1" + "\t5" * 13 + "\t" * 26 + "\n", "more than 40% of each of the categories are missing"),
    ],
)
def test_a_log_with_nothing_to_replay_is_an_error(tmp_path, content, text):
    path = tmp_path / "log.txt"
    path.write_text(content)
    with pytest.raises(LogError, match=re.escape(text)):
        read_log(path, skip=True)


def test_a_file_is_read_again_when_it_has_changed(tmp_path):
    path = save(table(50), tmp_path / "log.txt")
    first = read_log(path)
    assert read_log(path) is first
    save(table(51), path)
    assert read_log(path).lines == 51


@pytest.mark.slow
def test_a_million_lines_take_less_than_a_minute(tmp_path):
    path = tmp_path / "log.txt"
    write_log(path, 1_000_000)
    began = time.process_time()
    assert len(read_log(path).shown) == 1_000_000
    assert time.process_time() - began < 60
