"""Batteries against one that is counted nanosecond by nanosecond, and cases that a pen finds."""

import random

import pytest

from netbandit.network.battery import Battery
from netbandit.network.downtimes import Downtimes

JOULE = 10**18
MILLIWATT = 10**6
SECOND = 10**9


def counted(capacity, idle, pull, slot, end, powers, recover, faults, payments):
    """Return when the agent is up, and level, spent and kept, by steps of a nanosecond."""
    level, empty, dies, spent, kept, power, up_at, first = capacity, False, False, 0, 0, 0, [], None
    for time in range(end):
        power = dict(powers).get(time, power)
        empty, dies = empty or dies, False
        if empty and recover is not None and level >= recover:
            empty = False
        if empty and first is None:
            first = time
        up = not empty and not any(begin <= time < until for begin, until in faults)
        up_at.append(up)
        due = [*payments.get(time, ()), *([pull] if pull and time % slot == 0 else [])] if up else []
        for amount in due:
            taken = min(amount, level)
            spent, level = spent + taken, level - taken
            dies = dies or (level == 0 and amount > 0)
        used = idle if up and not dies else 0
        after = level + power - used
        if used and after <= 0:
            spent, kept, level, dies = spent + level + power, kept + power, 0, True
        else:
            lost = max(0, after - capacity)
            spent, kept, level = spent + used, kept + power - lost, after - lost
    return up_at, level, spent, kept, first


def random_battery(rng):
    """Draw what a battery has to bear."""
    end, capacity = rng.choice([50, 200, 400]), rng.choice([1, 5, 30, 200, 2000])
    moments = sorted(rng.sample(range(1, end), rng.choice([0, 1, 4])))
    faults = sorted(rng.sample(range(end), rng.choice([0, 4])))
    payments = {}
    for _ in range(rng.choice([0, 3, 20])):
        payments.setdefault(rng.randrange(end), []).append(rng.randint(0, max(1, capacity // 3)))
    return {
        "capacity": capacity,
        "idle": rng.choice([0, 1, 2, 5]),
        "pull": rng.choice([0, 0, 1, 3, 10, 50]),
        "slot": rng.choice([1, 3, 7, 20]),
        "end": end,
        "powers": [(0, rng.choice([0, 0, 1, 2, 3])), *((time, rng.choice([0, 1, 2, 4, 8])) for time in moments)],
        "recover": rng.choice([None, max(1, capacity // 5), capacity]),
        "faults": list(zip(faults[::2], faults[1::2], strict=True)),
        "payments": payments,
    }


@pytest.mark.parametrize("seed", range(200))
def test_it_is_what_steps_of_a_nanosecond_give(seed):
    rng = random.Random(seed)
    case = random_battery(rng)
    powers, faults, payments = (case.pop(key) for key in ("powers", "faults", "payments"))
    end = case["end"]
    battery = Battery(**case, harvest=iter(powers), faulted=Downtimes(faults))
    for time in sorted({*payments, *rng.sample(range(end), 5)}):
        battery.advance(time)
        for amount in payments.get(time, ()) if battery.is_up else ():
            battery.pay(time, amount)
    battery.advance(end)
    up = [True] * end
    for begin, back in zip(battery.begins, battery.ends, strict=True):
        for time in range(begin, int(min(back, end))):
            up[time] = False
    first = battery.first_death if battery.first_death != end else None
    found = up, battery.level, battery.spent, battery.harvested, first
    assert found == counted(**case, powers=powers, faults=faults, payments=payments)


@pytest.mark.parametrize("seed", range(50))
def test_it_foresees_its_next_change(seed):
    """If nothing is paid, the agent changes when it was said, and not before; or it is asked again then."""
    case = random_battery(random.Random(seed))
    powers, faults, _ = (case.pop(key) for key in ("powers", "faults", "payments"))
    battery = Battery(**case, harvest=iter(powers), faulted=Downtimes(faults))
    while (expected := battery.next_change()) < case["end"]:
        known = len(battery.begins), battery.is_up
        battery.advance(expected - 1)
        assert (len(battery.begins), battery.is_up) == known
        battery.advance(expected)
        assert battery.time == expected


def full(joule=1, watt=MILLIWATT, *, end=2_000 * SECOND, **more):
    return Battery(joule * JOULE, idle=watt, pull=0, slot=SECOND, end=end, **more)


def test_a_joule_lasts_a_milliwatt_a_thousand_seconds():
    battery = full()
    battery.advance(2_000 * SECOND)
    assert battery.begins == [1_000 * SECOND]
    assert (battery.spent, battery.level) == (JOULE, 0)


def test_with_half_of_it_taken_after_a_hundred_seconds_five_hundred():
    battery = full()
    battery.pay(100 * SECOND, JOULE // 2)
    battery.advance(2_000 * SECOND)
    assert battery.begins == [500 * SECOND]


def test_what_empties_it_is_paid_and_the_agent_is_down_a_nanosecond_later():
    battery = full()
    battery.pay(SECOND, 2 * JOULE)
    assert battery.is_up
    battery.advance(SECOND + 1)
    assert not battery.is_up
    assert battery.spent == JOULE


def test_who_recovers_is_back_at_its_share():
    """From nothing, a fifth of a joule takes a milliwatt 200 seconds; a net milliwatt then takes 200 to spend it."""
    battery = full(harvest=iter([(0, MILLIWATT)]), watt=2 * MILLIWATT, recover=JOULE // 5, end=3_000 * SECOND)
    battery.advance(3_000 * SECOND)
    assert battery.begins[:3] == [1_000 * SECOND, 1_400 * SECOND, 1_800 * SECOND]
    assert battery.ends[:2] == [1_200 * SECOND, 1_600 * SECOND]


def test_pulls_are_counted_without_a_step_for_each():
    """10^9 slots of 2 nJ and a pull of 3 nJ: 5 J."""
    battery = Battery(10 * JOULE, idle=2, pull=3 * 10**9, slot=SECOND, end=10**9 * SECOND)
    battery.advance(10**9 * SECOND)
    assert battery.spent == 5 * JOULE
    assert battery.is_up
