"""Validation of the tables of every scenario, and of combinations among them."""

from collections.abc import Iterator, Mapping

from netbandit.parts.registry import BUILT_IN
from netbandit.parts.settings import Problem, Raw, Settings
from netbandit.parts.validation import read
from netbandit.scenario.links import LinksSettings, UniformLatency
from netbandit.scenario.model import RunSettings, Scenario, read_scenario, tables_of
from netbandit.util.key_paths import lookup
from netbandit.util.wording import show


def valid_tables(data: Raw) -> Mapping[str, Settings]:
    """Return those of the tables that every scenario has which have no mistakes, by name; see `validate`."""
    filled = _filled_in(data)
    found: dict[str, Settings] = {}
    kinds: dict[str, type[Settings]] = {"run": RunSettings, "links": LinksSettings, **tables_of(data)}
    for name, kind in kinds.items():
        table, problems = read(kind, filled.get(name, {}))
        if table is not None and not problems:
            found[name] = table
    _forget_bandwidth(found.get("links"), data)
    return found


def validate(data: Raw) -> tuple[Scenario | None, list[Problem]]:
    """Validate the tables that every scenario has; those of the parts stay as they were written.

    Args:
        data: The tables of one point, see `netbandit.scenario.sweep.expand`.

    Returns:
        The scenario and no problem, or None and all problems.
    """
    filled = _filled_in(data)
    scenario, problems = read_scenario(filled)
    # A mistake in one table must not hide an impossible combination of two others.
    run, _ = read(RunSettings, data.get("run"))
    topology = data.get("topology")
    links, _ = read(LinksSettings, filled.get("links", {}))
    _forget_bandwidth(None if scenario is None else scenario.links, data)
    problems = problems + combinations(run, topology.get("family") if isinstance(topology, dict) else None, links)
    return (None if problems else scenario), problems


def _forget_bandwidth(links: Settings | None, data: Raw) -> None:
    """Let a bandwidth that a preset filled in, and *data* does not have, count as not written."""
    for table in ("peer", "uplink") if links is not None else ():
        if lookup(data, f"links.{table}.bandwidth", None) is None:
            getattr(links, table).model_fields_set.discard("bandwidth")


def _filled_in(data: Raw) -> Raw:
    """Return the tables of a scenario with what presets of conditions set in others."""
    for condition in tables_of(data).values():
        data = condition.fill_in_others(data)
    return data


def combinations(run: RunSettings | None, family: object, links: LinksSettings | None) -> list[Problem]:
    """Return incompatible settings among the tables of this package, as far as they are valid.

    Args:
        run: ``[run]``, or None if it has mistakes.
        family: The family of the topology, also where it is implied.
        links: ``[links]``, or None if it has mistakes.
    """
    problems: list[Problem] = []
    if links is None:
        return problems
    ours = isinstance(family, str) and family in BUILT_IN["topology"]
    needs = {"geographic": "coordinates", "edges": "links"}.get(str(links.peer.latency))
    if ours and needs is not None and family != "file" and (family, needs) != ("contacts", "links"):
        problems.append(
            (
                ("links", "peer", "latency"),
                f"{show(links.peer.latency)} needs the {needs} of a topology file: "
                f'must be a duration such as "10 ms" with topology.family = {show(family)}',
            )
        )
    problems += _radio_problems(links)
    for which in ("peer", "uplink"):
        settings = getattr(links, which)
        if settings.queue is not None and getattr(settings, "radio", None) is not None:
            problems.append((("links", which, "queue"), "cannot be with a radio, whose agents share the air"))
        elif settings.queue is not None and settings.bandwidth is None:
            problems.append((("links", which, "queue"), f"needs links.{which}.bandwidth: without it nothing waits"))
        latency = settings.latency
        if not isinstance(latency, UniformLatency):
            continue
        shortest, longest = latency.ends
        if shortest.in_slots != longest.in_slots and run is None:
            continue
        slot = run.slot_nanoseconds if run is not None else 1
        if shortest.amount * (slot if shortest.in_slots else 1) > longest.amount * (slot if longest.in_slots else 1):
            problems.append(
                (
                    ("links", which, "latency", "uniform"),
                    f"must go from the shortest to the longest latency, not from {show(latency.uniform[0])} "
                    f"to {show(latency.uniform[1])}",
                )
            )
    return problems


_NOT_BY_RADIO = (
    *(("peer", key) for key in ("jitter", "overtaking", "duplicate", "retry")),
    ("uplink", "retry"),
)


def _radio_problems(links: LinksSettings) -> Iterator[Problem]:
    """Yield keys that are incompatible with a radio, and an unknown airtime."""
    radio = links.peer.radio
    if radio is None:
        return
    for table, key in _NOT_BY_RADIO:
        settings = getattr(links, table)
        if getattr(settings, key) != type(settings).model_fields[key].default:
            yield ("links", table, key), "must be left out where agents share the air (links.peer.radio)"
    if links.peer.bandwidth is None and radio.airtime is None:
        text = 'is missing: give it, a preset, or links.peer.bandwidth such as "250 kbit/s"'
        yield ("links", "peer", "radio", "airtime"), text
