"""The numbers of the page "Why trust it?", each from a file: substitutions of its text."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from netbandit.studies.papers.figures import load_paper, paper_names
from netbandit.studies.papers.record import shipped
from netbandit.studies.papers.regions import FAILS, HOLDS

ROOT = Path(__file__).parents[2]


def substitutions() -> dict[str, Any]:
    """Return what stands for the names between braces on the page."""
    measured = json.loads((ROOT / "docs" / "trust" / "measured.json").read_text(encoding="utf-8"))
    pinned = json.loads((ROOT / "tests" / "data" / "scenario_numbers.json").read_text(encoding="utf-8"))
    grid = (ROOT / "tests" / "grid" / "grid.csv").read_text(encoding="utf-8").splitlines()[1:]
    fingerprints = {
        "scenarios": len(pinned),
        "points": sum(len(one["points"]) for one in pinned.values()),
        "grid": len(grid),
    }
    messages = measured["conservation"]
    fates = ("delivered", "lost", "dropped", "duplicates_dropped", "unsent", "in_flight")
    messages["unaccounted"] = messages["handed"] + messages["duplicates"] - sum(messages[fate] for fate in fates)
    return {
        "trust": _texts({**measured, "fingerprints": fingerprints, "papers": _papers()}),
        "closed_forms": _closed_forms(measured["closed_forms"]),
        "audit": _audit(measured["audit"]),
    }


def _texts(value: Any) -> Any:
    """Return numbers as the page shows them."""
    if isinstance(value, dict):
        return {key: _texts(inner) for key, inner in value.items()}
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def _papers() -> dict[str, int]:
    record = shipped()
    found: Counter[str] = Counter()
    for name in paper_names():
        for claim in load_paper(name).claims:
            figure = record.get((name, claim.figure))
            if claim.kind == "the paper's":
                judged = [] if figure is None else [one.verdict for one in figure.claims if one.id == claim.id]
                found.update(judged or ["not recorded"])
    return {"claims": found.total(), "holds": found[HOLDS], "fails": found[FAILS]}


def _closed_forms(found: dict[str, dict[str, Any]]) -> str:
    lines = ["| what | formula | simulated | z | runs |", "|---|--:|--:|--:|--:|"]
    for one in found.values():
        z = "exact" if one["z"] is None else f"{one['z']:.1f}"
        lines.append(f"| {one['what']} | {one['theory']:.5g} | {one['measured']:.5g} | {z} | {one['runs']} |")
    return "\n".join(lines)


def _audit(found: dict[str, dict[str, Any]]) -> str:
    lines = ["| mechanism | stated | exact | bounded from below | caught |", "|---|--:|--:|--:|---|"]
    for name, one in found.items():
        numbers = ("-" if one[key] is None else f"{one[key]:.3g}" for key in ("stated", "exact", "audited"))
        lines.append(f"| `{name}`, {one['setting']} | {' | '.join(numbers)} | {'yes' if one['caught'] else 'no'} |")
    return "\n".join(lines)
