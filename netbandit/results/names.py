"""What ``--x``, ``--y`` and ``--color`` may name: the keys that vary, the metrics, the facts of the topology."""

import difflib
from collections.abc import Sequence

METRICS_ONLY = "--y"
"""The option that names no key."""


class UnknownNameError(Exception):
    """There is no such key or metric; the text says which there are."""


def resolve(name: str, option: str, keys: Sequence[str], metrics: Sequence[str] = ()) -> str:
    """Return the key or metric that *name* means: itself, or the only key that ends in it.

    Args:
        name: What the user wrote.
        option: The option it was written for.
        keys: The keys it may name.
        metrics: The metrics it may name.

    Raises:
        UnknownNameError: There is none, or there are several.
    """
    if name in keys or name in metrics:
        return name
    ends = [key for key in keys if key.endswith(f".{name}") or key == f"{name}.kind"]
    if len(ends) == 1:
        return ends[0]
    close = difflib.get_close_matches(name, [*keys, *metrics], n=1)
    parts = [f"{option}: there is no {name} here"]
    if ends:
        parts = [f"{option}: {name} may be any of {', '.join(ends)}"]
    elif close:
        parts[0] += f" (did you mean {close[0]}?)"
    if option != METRICS_ONLY:
        parts.append(f"the keys that vary are {', '.join(keys)}" if keys else "no key varies")
    if metrics:
        parts.append(f"the metrics are {', '.join(metrics)}")
    raise UnknownNameError("; ".join(parts))
