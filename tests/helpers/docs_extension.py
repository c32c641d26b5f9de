"""The extensions with which the documentation makes pages, as modules."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "docs" / "_ext"


def docs_extension(name: str) -> ModuleType:
    """Return an extension of ``docs/_ext`` by its name."""
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
