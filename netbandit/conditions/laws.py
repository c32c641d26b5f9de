"""The laws of random durations: from keys of a scenario to what is drawn from."""

from math import exp, inf
from typing import Any

from netbandit.network.delays import Delay, GeometricDelay, ParetoDelay
from netbandit.network.jitter import ExponentialJitter, LognormalJitter, UniformJitter
from netbandit.network.models import jitter as jitters
from netbandit.scenario import delay as keys
from netbandit.util.units import Duration


def delay_law(delay: Any, slot: int) -> Delay:
    """Return the delay distribution that a key describes; *slot* is the length of a slot (ns)."""
    match delay:
        case keys.UniformDelay():
            shortest, longest = (Duration(end).nanoseconds(slot) for end in delay.uniform)
            return UniformJitter(longest, shortest)
        case keys.GeometricDelay():
            return GeometricDelay(delay.geometric, slot)
        case jitters.ExponentialJitter():
            return ExponentialJitter(Duration(delay.exponential).nanoseconds(slot))
        case jitters.LognormalJitter():
            return LognormalJitter(Duration(delay.lognormal[0]).nanoseconds(slot), delay.lognormal[1])
        case keys.ParetoDelay():
            return ParetoDelay(Duration(delay.pareto[0]).nanoseconds(slot), delay.pareto[1])
    constant = Duration(delay).nanoseconds(slot)
    return UniformJitter(constant, constant)


def mean_of(law: Delay) -> float:
    """Return the mean of a delay distribution (ns); infinity where it has none."""
    match law:
        case UniformJitter():
            return (law.shortest + law.longest) / 2
        case ExponentialJitter():
            return law.mean
        case LognormalJitter():
            return law.median * exp(min(law.sigma**2 / 2, 600))
        case GeometricDelay():
            return law.mean * law.slot
        case ParetoDelay():
            return law.least * law.shape / (law.shape - 1) if law.shape > 1 else inf
    raise TypeError(f"{law!r} is no law of a service time")
