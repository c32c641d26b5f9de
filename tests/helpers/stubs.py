"""Write the stubs of what is imported when it is asked for: ``cd tests; python -m helpers.stubs``."""

from pathlib import Path

import netbandit
from netbandit.parts import registry
from netbandit.parts.conditions import CONDITIONS

ROOT = Path(netbandit.__file__).parent


def stubs():
    """Return the text of each stub, by its path inside the package."""
    found = {"__init__.pyi": _stub("public names", netbandit._LAZY, "\nVERSION: str\n__version__: str\n")}
    for table, room in (("bandit", "bandits"), ("learner", "learners"), ("protocol", "protocols")):
        classes = {target.partition(":")[2]: target for target in registry.BUILT_IN[table].values()}
        found[f"{room}/__init__.pyi"] = _stub(f"public {room}", classes)
    imports = "\n".join(sorted(_import(target) for target in CONDITIONS.values()))
    keys = "\n".join(f"    {table}: {target.partition(':')[2]} | Keys | None" for table, target in CONDITIONS.items())
    found["api/condition_tables.pyi"] = (
        '"""The conditions that `Scenario` takes as keywords, for type checkers and editors."""\n\n'
        "from collections.abc import Mapping\nfrom typing import Any, TypedDict\n\n"
        f"{imports}\n\nKeys = Mapping[str, Any]\n\nclass ConditionTables(TypedDict, total=False):\n{keys}\n"
    )
    return found


def _import(target):
    module, _, inside = target.partition(":")
    return f"from {module} import {inside}"


def _stub(what, names, more=""):
    """Return a stub that exports *names*, each of a target; one imported under another name is assigned (PEP 484)."""
    exported, inside_of, assigned = [], {}, []
    for name, target in names.items():
        module, _, inside = target.partition(":")
        if not inside:
            module, _, inside = module.rpartition(".")
        if inside == name:
            exported.append(f"from {module} import {name} as {name}")
        else:
            inside_of.setdefault(module, []).append(inside)
            assigned.append(f"{name} = {inside}")
    imports = [*exported, *(f"from {module} import {', '.join(sorted(found))}" for module, found in inside_of.items())]
    lines = "\n".join([*sorted(imports), *(["", *sorted(assigned)] if assigned else [])])
    opening = f'"""The {what} for type checkers and editors; at run time each is imported on first use."""'
    return f"{opening}\n\n{lines}\n{more}"


if __name__ == "__main__":
    for path, text in stubs().items():
        (ROOT / path).write_text(text, encoding="utf-8")
