"""Remarks needed to interpret a study's metrics: the privacy spent, and the remarks of its runs."""

from collections.abc import Callable, Mapping, Sequence

from netbandit.checks.exploration import unequal_learners
from netbandit.results.failures import BEST_LOST, MARKED, MEDIANS, TROUBLE, too_few, troubles
from netbandit.results.message_fates import (
    CAUSES,
    MANY,
    OF_ARRIVED,
    counted,
    described_fates,
    failing,
    much_not_arrived,
    of_a_hundred,
)
from netbandit.results.numbers import duration, percentage, rounded, shortest
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import failures
from netbandit.results.varied_keys import which_points
from netbandit.simulation.result import RunResult, bound_of
from netbandit.util.key_paths import lookup
from netbandit.util.text import first_few, in_runs, in_words, pluralize

INFINITE = "infinite"
"""The text of a value without a bound."""

NOT_ASKED = "no privacy was asked for"
"""The text of an epsilon without a bound: there was no noise."""

MEANING = (
    "(epsilon, delta): if one such unit changes, no event becomes more than exp(epsilon) times as probable, plus delta"
)
"""The text of a privacy account; delta is not the probability that epsilon is exceeded."""

_FEW = 4


def cost_lines(study: StudyResult) -> list[str]:
    """Return the components of the cost, if anything has a cost; one line for each distinct price of links."""
    lines = []
    for run in (run for point in study.points for run in point.finished):
        cost, activations = run.metrics.get("cost"), run.metrics.get("activations")
        peer, uplink = (lookup(run.resolved, f"links.{link}.cost") for link in ("peer", "uplink"))
        if not cost or activations is None or not all(isinstance(price, int | float) for price in (peer, uplink)):
            continue
        parts = []
        if cost != activations * uplink or peer == uplink:
            parts.append(f"{shortest(peer)} for each link between agents and slot in which a message is sent on it")
        if cost != activations * peer or peer == uplink:
            parts.append(f"{shortest(uplink)} for each link to the server and round in which it is used")
        lines.append(f"cost: {', '.join(parts)}")
    return list(dict.fromkeys(lines))


def privacy_lines(study: StudyResult) -> list[str]:
    """Return the privacy spent per agent, with the paper's own statement, its unit of protection, and its omissions.

    One account for each unit of privacy; none if no privacy is configured. Isolated agents, which release nothing and
    need no noise, get no line.
    """
    lines = []
    runs = [run for point in study.points for run in point.finished if run.privacy_unit and not _kept_all(run)]
    for unit in dict.fromkeys(run.privacy_unit for run in runs):
        alike = [run for run in runs if run.privacy_unit == unit]
        asked = [run for run in alike if asked_for(run)]
        if not asked:
            continue
        found, claimed, basic = (
            _with_delta(asked, *names)
            for names in (("epsilon", "delta"), ("epsilon_claimed",), (f"epsilon{_BASIC}", f"delta{_BASIC}"))
        )
        at_most = ", an upper bound," if bound_of(asked) == "upper" else ""
        line = f"privacy of {unit}: epsilon {found}{at_most} for the worst-off agent; the paper states {claimed}"
        if best := [value for run in asked if (value := run.metrics.get("epsilon_best_off")) is not None]:
            line += f"; the best-off agent spent {spread(best)}"
        if basic:
            line += f"; basic composition, an upper bound that adds up all releases: {basic}"
        lines.append(line + (f" (elsewhere {NOT_ASKED})" if len(asked) < len(alike) else ""))
        lines.append(f"  {MEANING}")
        lines += dict.fromkeys(f"  not covered: {caveat}" for run in asked for caveat in run.privacy_caveats)
    return lines


_BASIC = "_basic_composition"


def _with_delta(runs: Sequence[RunResult], epsilon: str, delta: str = "") -> str:
    """Return the values of two metrics as ``1 at delta 0.1``; empty if no run has them."""
    values = [run.metrics.get(epsilon) for run in runs if epsilon in run.metrics]
    deltas = spread([value for run in runs if (value := run.metrics.get(delta))])
    return f"{spread(values)} at delta {deltas}" if deltas else spread(values)


def unequal_privacy(study: StudyResult) -> list[str]:
    """Return a line if points that release anything spend different privacy: their regrets are not comparable."""
    runs = [run for point in study.points for run in point.finished if run.privacy_unit and not _kept_all(run)]
    spent = [run.metrics.get("epsilon") for run in runs]
    if set(spent) <= {None} or (len(set(spent)) < 2 and len({run.privacy_unit for run in runs}) < 2):
        return []
    return [f"privacy differs between these points, epsilon {spread(spent)}: lower regret may come from less privacy"]


def asked_for(run: RunResult) -> bool:
    """Return whether *run* guarantees privacy: its account has an epsilon, and not only because nothing is released."""
    return run.metrics.get("epsilon") is not None and not _kept_all(run)


def _kept_all(run: RunResult) -> bool:
    return run.metrics.get("epsilon") == 0 and not run.metrics.get("epsilon_claimed")


def remarks(study: StudyResult) -> list[str]:
    """Return the remarks needed to read the metrics, each line once.

    A remark that holds at some points names them; one that holds in some of their runs gives their number.
    """
    there: dict[str, list[PointResult]] = {}
    for point in study.points:
        for line in dict.fromkeys(line for run in point.finished for line in run.remarks):
            there.setdefault(line, []).append(point)
    return [
        _at(study, points, line, [sum(line in run.remarks for run in point.finished) for point in points])
        for line, points in there.items()
    ]


def failure_lines(study: StudyResult) -> list[str]:
    """Return where the best arm was lost, where replications are too few to show a failure, and the effect of stalls.

    Stalled agents and rounds without an end are in the remarks of the runs.
    """
    points = [point for point in study.points if point.finished]
    found = {id(point): failures(point) for point in points}
    lines = []
    lost = [point for point in points if BEST_LOST in found[id(point)].kinds]
    if lost:
        lines.append(_at(study, lost, BEST_LOST, [found[id(point)].kinds[BEST_LOST] for point in lost]))
    short = [point for point in points if found[id(point)].runs > 1 and found[id(point)].leave_open("regret")]
    for count in dict.fromkeys(found[id(point)].runs for point in short):
        having = [point for point in short if found[id(point)].runs == count]
        lines.append(_at(study, having, too_few(found[id(having[0])]) + MEDIANS))
    if len(points) > 1 and any(one.stalled for one in found.values()):
        lines.append(MARKED)
    return lines


def trouble_lines(study: StudyResult) -> list[str]:
    """Return the signs that a network failed to deliver: agents without energy, undelivered messages.

    Stalled agents are in the remarks of the runs.
    """
    lines = [*_not_arrived(study), *_of_arrived(study)]
    for name in TROUBLE:
        points = [point for point in study.points if name in troubles([run.metrics for run in point.finished])]
        runs = [[run for run in point.finished if name in troubles([run.metrics])] for point in points]
        if points and name in _TROUBLES:
            text = _TROUBLES[name]([run for some in runs for run in some])
            lines.append(_at(study, points, text, [len(some) for some in runs]))
    return lines


def _not_arrived(study: StudyResult) -> list[str]:
    """Return where many messages do not arrive, how many, and why most of these; a line for each cause."""
    found = [(point, of_a_hundred(run.metrics for run in point.finished)) for point in study.points]
    alike: dict[str, list[tuple[PointResult, float]]] = {}
    for point, shares in found:
        if shares is not None and (number := failing(shares)) > MANY:
            cause = max(CAUSES, key=lambda one: shares[one])
            most = "most" if 2 * shares[cause] > number else "the largest part"
            text = described_fates(run.metrics for run in point.finished)[cause]
            alike.setdefault(f"{most} {text}", []).append((point, number))
    lines = []
    for why, bad in alike.items():
        numbers = spread([percentage(number / 100) for _, number in bad])
        told = counted(run.metrics for point, _ in bad for run in point.finished)
        lines.append(_at(study, [point for point, _ in bad], f"of 100 {told} {numbers} do not arrive, {why}"))
    return lines


def _of_arrived(study: StudyResult) -> list[str]:
    """Return where the mean delay is not that of all messages, since many of them had not arrived by the end."""
    late = much_not_arrived(study.points)
    numbers = spread([percentage(share / 100) for _, share in late])
    line = f"{OF_ARRIVED[0]} is the mean delay of what arrived: {numbers} % of messages had not by the end"
    return [_at(study, [point for point, _ in late], line)] if late else []


def energy_lines(study: StudyResult) -> list[str]:
    """Return how long batteries last that none emptied: whether harvesting suffices, or a forecast of the first."""
    lines = []
    for text, holds in (
        ("batteries last: what is harvested suffices for what is spent", lambda run: run.metrics["sustained"] == 1),
        (
            "whether batteries last cannot be said: run.horizon must be long enough for the harvest to end twice",
            lambda run: run.metrics["sustained"] is None,
        ),
        (
            "no battery ran empty in {ran}; the first is forecast to after {first}, at the rate of the run",
            lambda run: run.metrics.get("lifetime_slots") is not None and run.metrics.get("first_death") is None,
        ),
    ):
        known = [(point, [run for run in point.finished if "sustained" in run.metrics]) for point in study.points]
        found = [(point, [run for run in runs if holds(run)]) for point, runs in known]
        found = [(point, runs) for point, runs in found if runs]
        if found:
            all_runs = [run for _, runs in found for run in runs]
            times = {"first": map(_lifetime, all_runs), "ran": (run.metrics.get("simulated_s") for run in all_runs)}
            said = {name: _range([one for one in some if one is not None]) for name, some in times.items()}
            counts = [len(runs) for _, runs in found]
            lines.append(_at(study, [point for point, _ in found], text.format(**said), counts))
    return lines


def _range(seconds: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(map(duration, [min(seconds), max(seconds)]))) if seconds else ""


def _lifetime(run: RunResult) -> float | None:
    """Return the life (s) of the first battery to run out; None: unlimited or unknown."""
    slots = run.metrics.get("lifetime_slots")
    return None if slots is None else slots * run.slot_ns / 1e9


def _values(runs: Sequence[RunResult], name: str, scale: float = 1.0, digits: int = 6) -> str:
    """Return the values of a metric in *runs*, times *scale*."""
    values = [run.metrics.get(name) for run in runs]
    return spread([None if value is None else rounded(value * scale, digits) for value in values])


def _half_dead(runs: Sequence[RunResult]) -> str:
    """Return when half of the batteries were empty, where they were in all *runs*."""
    known = [run.metrics.get("half_dead") is not None for run in runs]
    return f", half of all by slot {_values(runs, 'half_dead', digits=4)}" if all(known) else ""


def _against_bursts(runs: Sequence[RunResult]) -> str:
    """Return what helps where messages come in bursts."""
    queues = [f"links.{table}.queue" for table in ("peer", "uplink")]
    given = [key for key in queues if any(lookup(run.resolved, key) is not None for run in runs)]
    longer = f"a longer {' and '.join(given)} holds more of them"
    if all(lookup(run.resolved, "protocol.timing") == "asynchronous" for run in runs):
        return longer
    return f'slotted messages start together, protocol.timing = "asynchronous" spreads them, and {longer}'


_TROUBLES: Mapping[str, Callable[[Sequence[RunResult]], str]] = {
    "alive": lambda runs: f"batteries are empty: {_values(runs, 'alive', 100, 3)} % of agents are alive at the horizon",
    "first_death": lambda runs: (
        f"batteries do not last: the first is empty in slot {_values(runs, 'first_death', digits=4)} "
        f"of {spread([lookup(run.resolved, 'run.horizon') for run in runs])}{_half_dead(runs)}"
    ),
    "unanswered": lambda runs: (
        f"in {_values(runs, 'unanswered')} of {_values(runs, 'rounds')} rounds no agent had an answer: "
        "the server waits for all, and what is lost is not repeated unless links.*.retry is on"
    ),
    "unsent": lambda runs: (
        f"{_values(runs, 'unsent')} of {_values(runs, 'handed')} messages waited for their link or the air and were "
        "never sent (unsent)"
    ),
    "in_flight": lambda runs: (
        f"{_values(runs, 'in_flight')} of {_values(runs, 'handed')} messages were under way at the end and would "
        "arrive after it (in_flight): in a longer run.horizon they would be delivered"
    ),
    "dropped_share": lambda runs: (
        f"{_values(runs, 'dropped_share', 100, 3)} % of messages found the queue of their link full, though links were "
        f"busy for only {_values(runs, 'links_busy', 100, 2)} % of the time (links_busy): they come in bursts; "
        f"{_against_bursts(runs)}"
    ),
    "collided": lambda runs: f"{_values(runs, 'collided')} messages collided on the air",
}
"""The text of each trouble, with the runs that have it."""


def result_lines(study: StudyResult) -> list[str]:
    """Return what is said of the figures of *study*: costs, troubles, energy and failures."""
    return [*cost_lines(study), *trouble_lines(study), *energy_lines(study), *failure_lines(study)]


def missing_lines(study: StudyResult) -> list[str]:
    """Return a line that names runs of *study* that are missing, if there are any."""
    runs = pluralize(len(study.missing), "run")
    return [f"{runs} missing: {first_few(study.missing)}"] if study.missing else []


def exploration_lines(study: StudyResult) -> list[str]:
    """Return a line each if learners with different exploration bonuses are compared, or told more than others."""
    return unequal_learners([point.resolved.get("learner", {}) for point in study.points if point.finished])


def comparison_notes(study: StudyResult, metrics: Sequence[str]) -> list[str]:
    """Return the remarks needed to compare *metrics* between points."""
    priced = cost_lines(study) if "cost" in metrics else []
    arrived = _of_arrived(study) if set(metrics) & set(OF_ARRIVED) else []
    return [*priced, *arrived, *unequal_privacy(study), *exploration_lines(study)]


def _at(study: StudyResult, points: Sequence[PointResult], line: str, runs: Sequence[int] = ()) -> str:
    """Return *line* with the points it holds for, if not all, and the number of *runs*, if not all of theirs."""
    where = which_points(study, points)
    if runs and (some := in_runs(runs, [len(point.finished) for point in points])):
        line = f"{line} ({some})"
    return f"at {where}: {line}" if where else line


def spread(values: Sequence[float | int | None]) -> str:
    """Return the few distinct values, or the smallest and the largest; infinite values are null in a result.

    Equal values give one value, and no values an empty text.
    """
    known = sorted({float(value) for value in values if value is not None})
    texts = list(dict.fromkeys(shortest(value, 6) for value in known))
    if None in values:
        texts.append(INFINITE)
    if len(texts) <= _FEW:
        return in_words(texts, "or")
    return f"{texts[0]} to {texts[-1]}"
