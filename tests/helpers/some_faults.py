"""What can go wrong on the links between agents, drawn at random, and loops that have little room for it."""

from netbandit.simulation.compiled_rounds import faults, link_draws, links, neighbour_rounds

LOSSES = [
    "links.peer.loss = 0.1",
    "links.peer.loss = 0.4",
    "links.peer.loss = { per_bit = 1e-3 }",
    'links.peer.loss = { good = 0.02, bad = 0.9, good_for = "5 ms", bad_for = "3 ms" }',
]
JITTERS = [
    'links.peer.jitter = "3 ms"',
    'links.peer.jitter = "2 ns"',
    'links.peer.jitter = { exponential = "2 ms" }',
    'links.peer.jitter = { lognormal = ["2 ms", 0.5] }',
    "links.peer.jitter = { geometric = [1, 4] }",
]
RETRIES = [
    "links.peer.retry = {}",
    'links.peer.retry = { timeout = "4 ms" }',
    'links.peer.retry = { timeout = "700 us", spread = 1.0, factor = 1.5, attempts = 3 }',
    'links.peer.retry = { timeout = "2 ns", factor = 1.0, attempts = 6 }',
]
FAILURES = [
    'faults.links = { up_for = "9 ms", down_for = "4 ms" }',
    'faults.links = { up = 0.8, every = "2.5 ms" }',
]


def some_faults(rng):
    """Draw what goes wrong on the links between agents, as changes: one thing at least."""
    while True:
        some = (LOSSES, JITTERS, RETRIES, ["links.peer.duplicate = 0.2"], FAILURES)
        lines = [rng.choice(["", *one]) for one in some]
        if any(lines):
            return {"faults": "\n".join([*lines, f"links.peer.overtaking = {rng.choice(['true', 'false'])}"])}


def in_nanoseconds(lines):
    """Return *lines* of faults in times a million times shorter, so that many things happen at one instant."""
    return lines.replace("700 us", "1 ns").replace("2.5 ms", "5 ns").replace(" ms", " ns")


def with_little_room(monkeypatch):
    """Let loops stop all the time for want of room, and of numbers that are drawn."""
    monkeypatch.setattr(links, "_EVENTS", 3)
    for module in (links, faults):
        monkeypatch.setattr(module, "_LEAST_ROOM", 1)
    monkeypatch.setattr(link_draws, "_WINDOW", 1)
    monkeypatch.setattr(link_draws, "_STAYS", 1)
    monkeypatch.setattr(neighbour_rounds, "_LISTS", 0)
    monkeypatch.setattr(neighbour_rounds, "_TELLERS", 1)
