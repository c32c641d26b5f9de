"""Import hook for documented modules that have moved: the former name works, with a DeprecationWarning."""

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED: dict[str, str] = {f"netbandit.{room}": f"netbandit.studies.{room}" for room in ("emulation", "suite")}
"""Former name -> name, of modules of the reference that have moved."""


class MovedModules:
    """Finds modules by their former names, where nothing else does; it is also their loader."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the specification of a module that has moved."""
        if name not in MOVED:
            return None
        warnings.warn(f"{name} is now {MOVED[name]}", DeprecationWarning, stacklevel=2)
        return ModuleSpec(name, self)  # type: ignore[arg-type]  # typeshed asks for a subclass of importlib.abc.Loader

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself in place of the empty one."""
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])
