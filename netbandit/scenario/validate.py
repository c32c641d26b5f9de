"""The tables that every scenario has, and what cannot be together among them."""

from typing import Any

from netbandit.reading import read
from netbandit.scenario.energy import with_bandwidth
from netbandit.scenario.link_checks import combinations
from netbandit.scenario.links import LinksSettings
from netbandit.scenario.model import RunSettings, Scenario
from netbandit.settings import Problem, Raw, Settings


def valid_tables(data: Raw) -> dict[str, Any]:
    """Return those of the tables that every scenario has which have no mistakes, by name; see `validate`."""
    data = with_bandwidth(data)
    found = {}
    for name, field in Scenario.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            table, problems = read(field.annotation, data.get(name, {}))
            if not problems:
                found[name] = table
    return found


def validate(data: Raw) -> tuple[Scenario | None, list[Problem]]:
    """Validate the tables that every scenario has; those of the parts stay as they were written.

    Args:
        data: The tables of one point, see `netbandit.scenario.sweep.expand`.

    Returns:
        The scenario and no problem, or None and all problems.
    """
    data = with_bandwidth(data)
    scenario, problems = read(Scenario, data)
    # A mistake in one table must not hide an impossible combination of two others.
    run, _ = read(RunSettings, data.get("run"))
    topology = data.get("topology")
    links, _ = read(LinksSettings, data.get("links", {}))
    problems = problems + combinations(run, topology.get("family") if isinstance(topology, dict) else None, links)
    return (None if problems else scenario), problems
