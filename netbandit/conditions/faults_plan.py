"""Builds the network's fault models from the keys of ``[faults]`` and of links."""

from fractions import Fraction
from math import inf
from typing import NamedTuple

from netbandit.conditions.nodes import NodeNumbers
from netbandit.conditions.outage_keys import FailingSettings, OutageSettings, RedrawnSettings
from netbandit.network import jitter as jitters
from netbandit.network.faults import ChannelFaults
from netbandit.network.models import loss as loss_models
from netbandit.network.models.retransmission import Retry
from netbandit.network.outages import Failing, LinkSchedule, Outage, Redrawn
from netbandit.network.radio_plan import Aloha, Csma, RadioPlan
from netbandit.network.topology import Topology
from netbandit.scenario import link_faults
from netbandit.scenario.radio import AlohaAccess, RadioSettings
from netbandit.util.units import parse_duration


class Changing(NamedTuple):
    """How peer links come and go; see `OutagePlan`."""

    contacts: LinkSchedule
    sensed: bool
    waits: bool
    carry: int | None
    waits_for_slots: bool


def channel_faults(keys: link_faults.FaultyLinkSettings, slot: int) -> ChannelFaults:
    """Return what can go wrong on the links of a class; *slot* is the length of a slot (ns)."""
    retry = keys.retry
    timeout = 0 if retry is None else max(1, ns(retry.timeout, slot))
    return ChannelFaults(
        loss=_loss(keys.loss, slot),
        jitter=jitter_of(keys.jitter, slot),
        overtaking=keys.overtaking,
        duplicate=keys.duplicate,
        retry=None if retry is None else Retry(timeout, retry.factor, retry.spread, retry.attempts),
    )


def radio_plan(radio: RadioSettings, slot: int) -> RadioPlan:
    """Return how agents share the radio channel; *slot* is the length of a slot (ns)."""
    access: Aloha | Csma | None = None
    if isinstance(radio.access, AlohaAccess):
        access = Aloha(ns(radio.access.aloha, slot))
    elif radio.access is not None:
        access = Csma(max(1, ns(radio.access.csma, slot)), radio.access.attempts)
    return RadioPlan(access, Fraction(repr(radio.duty)))  # exactly the decimal number as written


def _loss(loss: float | link_faults.PerBitLoss | link_faults.BurstLossSettings, slot: int) -> loss_models.Loss | None:
    if isinstance(loss, link_faults.PerBitLoss):
        return loss_models.BitLoss(loss.per_bit) if loss.per_bit else None
    if isinstance(loss, link_faults.BurstLossSettings):
        good_for, bad_for = max(1, ns(loss.good_for, slot)), max(1, ns(loss.bad_for, slot))
        return loss_models.BurstLoss(loss.good, loss.bad, good_for, bad_for)
    return loss_models.ConstantLoss(loss) if loss else None


def jitter_of(
    jitter: str | link_faults.ExponentialJitter | link_faults.LognormalJitter | link_faults.GeometricJitter, slot: int
) -> jitters.Jitter | None:
    """Return the law of *jitter*; None: there is none."""
    if isinstance(jitter, link_faults.ExponentialJitter):
        return jitters.ExponentialJitter(ns(jitter.exponential, slot))
    if isinstance(jitter, link_faults.LognormalJitter):
        return jitters.LognormalJitter(ns(jitter.lognormal[0], slot), jitter.lognormal[1])
    if isinstance(jitter, link_faults.GeometricJitter):
        mean, largest = (link_faults.slots_of(number) or 0.0 for number in jitter.geometric)
        return jitters.GeometricJitter(mean, int(largest), slot)
    longest = ns(jitter, slot)
    return jitters.UniformJitter(longest) if longest else None


def at_random(law: FailingSettings | RedrawnSettings | None, slot: int) -> Failing | Redrawn | None:
    """Return how links fail; *slot* is the length of a slot (ns)."""
    if isinstance(law, RedrawnSettings):
        return Redrawn(law.up, max(1, ns(law.every, slot)))
    return failing(law, slot)


def failing(law: FailingSettings | None, slot: int) -> Failing | None:
    """Return how nodes fail; *slot* is the length of a slot (ns)."""
    return None if law is None else Failing(max(1, ns(law.up_for, slot)), max(1, ns(law.down_for, slot)))


def outage_of(outage: OutageSettings, topology: Topology, slot: int) -> Outage:
    """Return a scheduled outage of nodes and links of the graph; *slot* is the length of a slot (ns)."""
    numbers = NodeNumbers(topology)
    group = None
    if outage.partition is not None:
        group = [0] * topology.agents
        for number, members in enumerate(outage.partition, start=1):
            for member in members:
                group[numbers[member]] = number
    pairs = [sorted((numbers[first], numbers[second])) for first, second in outage.links or ()]
    begin = ns(outage.from_, slot)
    end = inf if outage.until is None else ns(outage.until, slot)
    return Outage(
        begin=begin,
        end=end if outage.for_ is None else begin + ns(outage.for_, slot),
        every=None if outage.every is None else ns(outage.every, slot),
        links=frozenset((first, second) for first, second in pairs),
        nodes=frozenset(numbers[node] for node in outage.nodes or ()),
        server=bool(outage.server),
        group=group,
    )


def ns(text: str, slot: int) -> int:
    """Return the nanoseconds of a duration, in slots of *slot* (ns)."""
    return parse_duration(text).nanoseconds(slot)
