"""What must hold of every replication, whatever its parts: the swarm asks it of random scenarios, checks of one's own.

A property takes a `Trial` and yields in a line each what it breaks.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from math import isclose, isfinite
from typing import Any

from netbandit.conditions.energy import Energy
from netbandit.protocols.deadline import DeadlineKey
from netbandit.simulation.result import RunResult
from netbandit.testing.conservation import breaches
from netbandit.testing.trial import Trial

Property = Callable[[Trial], Iterator[str]]


def differences(one: RunResult, other: RunResult, digits: int | None = None) -> Iterator[str]:
    """Yield in what two runs differ that must be the same; the time they took is no number.

    Args:
        one: A run.
        other: Another one.
        digits: To how many digits figures must be the same that are not whole; None: to the last.
    """
    for name, value in one.metrics.items():
        found = other.metrics.get(name)
        if digits is not None and isinstance(found, float) and isinstance(value, float):
            same = isclose(found, value, rel_tol=10.0**-digits)
        else:
            same = found == value
        if name != "wall_s" and not same:
            yield f"{name} is {found}, not {value}"
    if one.fingerprint != other.fingerprint:
        yield "they have different fingerprints"


def compiled_is_plain(trial: Trial) -> Iterator[str]:
    """Yield in what a run that is compiled, or in bulk, is another one than event by event.

    What agents have lost is added up in another order where slots are compiled, so the last digits may differ.
    """
    found = differences(trial.plain, trial.compiled, digits=10)
    yield from (f"compiled, not event by event: {text}" for text in found)


def traced_is_untraced(trial: Trial) -> Iterator[str]:
    """Yield in what a run that writes a trace is another one than without."""
    yield from (f"with a trace, not without: {text}" for text in differences(trial.plain, trial.traced.result))


def figures_are_finite(trial: Trial) -> Iterator[str]:
    """Yield figures that are NaN or infinite."""
    for name, value in trial.traced.result.metrics.items():
        if value is not None and not isfinite(value):
            yield f"{name} is {value}"


def messages_are_accounted_for(trial: Trial) -> Iterator[str]:
    """Yield messages without an end, or with two, and where the ledger, the links and the trace disagree."""
    result, messages, *_ = trial.traced
    metrics = result.metrics
    yield from breaches(result, trial.traced.lines, trial.end, trial.server)
    sent = [message for message in messages if "broadcast" not in message]
    copies = {name: metrics[f"broadcast{name}"] or 0 for name in ("_copies", "s_missed", "s_in_flight")}
    heard = [message for message in messages if "broadcast" in message]
    refused = sum("broadcast" in line and line.get("fate") == "refused" for line in trial.traced.lines)
    found = {
        "_copies": len(heard),
        "s_missed": sum("lost" in message for message in heard) + refused,
        "s_in_flight": sum("lost" not in message and message["arrival"] >= trial.end for message in heard),
    }
    if copies != found:
        yield f"broadcasts: {copies}, by the trace {found}"
    size = sum(message["bytes"] for message in sent)
    for name, value in (("messages", len(sent)), ("bytes", size)):
        kinds = sum(counts[name == "bytes"] for counts in result.kinds.values())
        if not metrics[name] == value == kinds:
            yield f"the ledger has {metrics[name]} {name}, {kinds} by kinds, and the trace {value}"
    slot = trial.point.scenario.run.slot_nanoseconds
    over: Counter[tuple[int, int]] = Counter()
    slots: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for message in sent:
        if "server" not in (message["from"], message["to"]):
            link = (min(message["from"], message["to"]), max(message["from"], message["to"]))
            over[link] += 1
            # What is handed out before the first slot has one of its own; at its moment it cannot be told from others.
            slots[link].add(message["start"] // slot if message["arrival"] else -1)
    links = result.links
    carried = zip(links.first.tolist(), links.second.tolist(), links.messages, links.activations, strict=True)
    for first, second, number, activations in carried:
        link = first, second
        if number != over[link] or (activations != len(slots[link]) and -1 not in slots[link]):
            text = f"carried {number} messages in {activations} slots"
            yield f"link {first}-{second} {text}, by the trace {over[link]} in {len(slots[link])}"


def nobody_acts_while_down(trial: Trial) -> Iterator[str]:
    """Yield nodes that send or hear while they are down, links that bring something then, and agents that play."""
    outages, scenario, server = trial.outages, trial.point.scenario, trial.server
    result, messages, *_ = trial.traced
    slot, horizon = scenario.run.slot_nanoseconds, scenario.run.horizon
    absent = sum(last - first for agent in range(server) for first, last in outages.absent_slots(agent, slot, horizon))
    found = int(result.metrics["absent_slots"] or 0)
    run_empty = scenario.table(Energy).capacity is not None
    if scenario.run.activity == "every" and (found < absent if run_empty else found != absent):  # else decisions
        yield f"{found} slots are absent, and {absent} by the outages"
    for message in messages:
        if not message["arrival"]:  # what is handed out before the first slot never fails
            continue
        sender, receiver = (server if message[end] == "server" else message[end] for end in ("from", "to"))
        if outages.node(sender).at(message["start"]):
            yield f"{sender} is down, and sends {_shown(message)}"
        if message.get("lost") or message["arrival"] >= trial.end:  # what comes later is under way, whatever happens
            continue
        if outages.node(receiver).at(message["arrival"]):
            yield f"{receiver} is down, and hears {_shown(message)}"
        if server not in (sender, receiver):
            link = outages.link(min(sender, receiver), max(sender, receiver))
            if link.during(message["start"], message["arrival"]):
                yield f"the link is down, and brings {_shown(message)}"


def items_travel_by_messages(trial: Trial) -> Iterator[str]:
    """Yield who goes on with an item that cannot have reached it by then, and items that are used twice in a round."""
    _, messages, _, seen, _ = trial.traced
    yield from seen.breaches
    if not trial.point.protocol.out_of_band:
        links, outages = trial.point.scenario.links, trial.outages
        overtakes = any(one.overtaking and one.duplicate > 0 for one in (links.peer, links.uplink))
        yield from seen.unheard(messages, lambda agent, *when: outages.node(agent).during(*when), overtakes)


def nobody_waits_unsaid(trial: Trial) -> Iterator[str]:
    """Yield agents that wait for a round to end, which cannot, where nothing is lost or nothing is said of it."""
    result, messages, jobs, seen, _ = trial.traced
    run, protocol = trial.point.scenario.run, trial.point.protocol
    slot = run.slot_nanoseconds
    latest = max((max(message["sent"], message["arrival"]) for message in messages), default=0)
    latest = max([latest, *(job["end"] for job in jobs)])
    # What would go on after the horizon is cut, and does not wait for ever: gossip goes on in the next slot, and who
    # waits for a deadline after it, and after that of a server.
    patience = protocol.deadline_ns(slot) if isinstance(protocol, DeadlineKey) else None
    if not seen.stalled or latest >= run.horizon * slot - 2 * slot - 3 * (patience or 0):
        return
    who = f"{len(seen.stalled)} of the agents wait for the end of a round for ever"
    if seen.pending:
        round, agent = seen.pending[0]
        who = f"agent {agent} waits for the end of round {round} for ever, one of {len(seen.stalled)}"
    if not result.metrics["may_stall"]:
        yield f"{who}, and nothing was lost that it could wait for"
    elif not any("agents waited at the horizon" in remark for remark in result.remarks):
        yield f"{who}, and no remark says so"


def who_stalls_may_stall(trial: Trial) -> Iterator[str]:
    """Yield that agents stalled in a run of which it is said that none can."""
    metrics = trial.plain.metrics
    if metrics["stalled"] and not metrics["may_stall"]:
        yield f"{metrics['stalled']} agents stalled, and may_stall is 0"


def nodes_do_one_job_at_a_time(trial: Trial) -> Iterator[str]:
    """Yield nodes that compute two things at once, or anything while they are down or after the horizon."""
    run, end = trial.point.scenario.run, defaultdict[int, int](int)
    for job in trial.traced.jobs:
        node = trial.server if job["node"] == "server" else job["node"]
        text = f"{job['node']} computes from {job['begin']} to {job['end']}"
        if job["begin"] < end[node]:
            yield f"{text}, and something else up to {end[node]}"
        if job["begin"] >= run.horizon * run.slot_nanoseconds or trial.outages.node(node).at(job["begin"]):
            yield f"{text}, and is down or at the horizon"
        end[node] = job["end"]


def _shown(message: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in message.items())


ALWAYS: tuple[Property, ...] = (
    compiled_is_plain,
    traced_is_untraced,
    figures_are_finite,
    messages_are_accounted_for,
    nobody_acts_while_down,
    items_travel_by_messages,
    nobody_waits_unsaid,
    who_stalls_may_stall,
    nodes_do_one_job_at_a_time,
)
"""The properties of every replication of every scenario."""
