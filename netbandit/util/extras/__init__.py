"""Optional dependencies: each extra has one module here, the only one that imports the libraries of the extra.

Other modules import an optional library from there at the point of use. If a command uses it only late, the command
calls `require` first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

PACKAGES = {
    "audit": ("dp_accounting",),
    "cluster": ("dask", "distributed"),
    "digits": ("sklearn",),
    "emulate": ("msgpack",),
    "frames": ("pandas",),
    "optimize": ("optuna",),
    "parquet": ("pyarrow",),
    "plots": ("matplotlib",),
}
"""Extra -> what it installs, by the names under which it is imported."""


class MissingExtraError(ModuleNotFoundError):
    """An extra is not installed.

    Args:
        extra: Its name.
        what: Who needs it.
    """

    def __init__(self, extra: str, what: str = "this") -> None:
        packages = " and ".join(_DISTRIBUTIONS.get(name, name) for name in PACKAGES[extra])
        super().__init__(f"{what} needs {packages}: pip install 'netbandit[{extra}]'")
        self.extra = extra


_DISTRIBUTIONS = {"dp_accounting": "dp-accounting", "sklearn": "scikit-learn"}


def installed(extra: str) -> bool:
    """Say whether all that an extra installs is there."""
    return all(find_spec(name) is not None for name in PACKAGES[extra])


def require(extra: str, what: str) -> None:
    """Refuse to begin *what* takes an extra that is not installed.

    Raises:
        MissingExtraError: It is not.
    """
    if not installed(extra):
        raise MissingExtraError(extra, what)


@contextmanager
def of_extra(extra: str) -> Iterator[None]:
    """Import in the body what an extra installs.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES[extra]:
            raise
        raise MissingExtraError(extra) from None
