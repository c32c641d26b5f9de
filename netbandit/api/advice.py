"""Advice on networks from Python."""

from dataclasses import dataclass, field
from os import PathLike

from netbandit.api.running import AnyScenario, document_of
from netbandit.parts.arguments import among, whole
from netbandit.results.intervals import Interval
from netbandit.scenario.toml_text import toml_value
from netbandit.studies.advice.confirm import Confirmed, confirm
from netbandit.studies.advice.measure import MEASURES, MeasureName
from netbandit.studies.advice.sources import Source, source_of, source_of_scenario
from netbandit.studies.advice.what_if import Advice, what_if

BEST = 3
"""The number of best links confirmed by running the scenario."""


@dataclass(frozen=True)
class LinkAdvice:
    """Which links to add or to lose.

    Attributes:
        steps: The result of the search for each requested link; see `Advice` for the measure.
        unchanged: The metrics of the unchanged scenario; empty where nothing was run.
        confirmed: The changes in runs of the scenario for the best links of the first step.
    """

    steps: list[Advice]
    unchanged: dict[str, Interval] = field(default_factory=dict)
    confirmed: list[Confirmed] = field(default_factory=list)


def advise_links(
    source: AnyScenario,
    links: int = 1,
    *,
    measure: MeasureName = "time",
    lose: bool = False,
    replications: int = 0,
    **overrides: object,
) -> LinkAdvice:
    """Say which links to add to a network, or which would hurt most to lose; each single candidate is measured exactly.

    Args:
        source: A scenario (a ``.toml`` file, its tables, or a `Scenario`), a graph file, or the name of a family.
        links: Their number; beyond one the best is kept and the search goes on (greedy).
        measure: ``time``: of a round of the scenario's protocol, or of flooding where none is named; of consensus, how
            fast differences even out (``gap``); ``cost``: activations of a round of gis; ``resilience``: pairs of
            agents that the failure of one link can separate.
        lose: Find the links whose loss hurts most.
        replications: Of a scenario: runs of it with each of the best links, beside as many without.
        overrides: Keys of the scenario to set, with ``__`` for each dot: ``links__peer__latency="5 ms"``.

    Raises:
        ScenarioError: There is no such network, or no such measure of its protocol.
        ValueError: A number of links or replications that cannot be, or no measure.
    """
    links, replications = whole("links", links, 1), whole("replications", replications, 0)
    measure = among("measure", measure, MEASURES)
    if isinstance(source, str | PathLike):
        changes = [f"{key.replace('__', '.')}={toml_value(value)}" for key, value in overrides.items()]
        network = source_of(str(source), None, changes)
    else:
        network = source_of_scenario(document_of(source, overrides))
    steps = what_if(network.timed, links, network.measure(measure), network.latency_of, lose=lose)
    if not (network.scenario and replications and steps):
        return LinkAdvice(steps)
    unchanged, confirmed = confirm_best(network, steps[0], replications)
    return LinkAdvice(steps, unchanged, confirmed)


def confirm_best(network: Source, step: Advice, replications: int) -> tuple[dict[str, Interval], list[Confirmed]]:
    """Run the scenario of *network* as it is, and with each of the best links of *step*."""
    timed, changed = network.timed, []
    for change in [change for change in step.best if change.value is not None][:BEST]:
        other = timed.without_link(*change.link) if step.lose else timed.with_link(*change.link, change.latency)
        changed.append((change.link, other))
    return confirm(network, changed, replications) if changed else ({}, [])
