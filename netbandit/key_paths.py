"""Where a key stands, and what is wrong there."""

from typing import Any

KeyPath = tuple[str | int, ...]
"""Where in a scenario a value stands: ``("links", "peer", "latency")``."""

Problem = tuple[KeyPath, str]
"""A mistake: the key path it stands at, and what is wrong and allowed there."""

Raw = dict[str, Any]
"""A table as it was written, not yet validated by the part it belongs to."""
