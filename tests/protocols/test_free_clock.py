"""The free clock looks at who lacked something when it looked last, and at all others only once that one has it."""

from types import SimpleNamespace

from netbandit.protocols.free_clock import FreeClock

KEY = (1, 0)


def test_who_lacked_something_is_looked_at_first():
    known = [0b001, 0b111, 0b111]
    looks = []

    def lists(label):
        looks.append(label)
        return known[label]

    def held():
        return clock.held(KEY, range(3), lambda label, other: bool(known[label] >> other & 1), lists)

    clock = FreeClock(SimpleNamespace(agents_fail=False), lambda key: None, apart=True)
    clock.begin(KEY)
    assert held() is None
    assert looks == [0]
    known[0] = 0b011
    assert held() is None
    assert looks == [0]  # it still lacks the item of agent 2
    known[0] = 0b111
    assert held() == 0b111


def test_who_lacks_something_and_has_committed_holds_nobody_up():
    known = [0b001, 0b110, 0b110]
    ended = []

    def look(key):
        ended.append(clock.held(key, range(3), lambda label, other: bool(known[label] >> other & 1), known.__getitem__))

    clock = FreeClock(SimpleNamespace(agents_fail=False), look, apart=True)
    clock.begin(KEY)
    look(KEY)
    clock.done(0, 1)
    assert ended == [None, 0b110]
