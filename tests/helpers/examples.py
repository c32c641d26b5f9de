"""How many examples a property is tested with."""

from hypothesis import settings


def examples(number):
    """Settings with this *number* of examples in a search; in the suite, where they are always the same, a third."""
    return settings(max_examples=max(number // 3, min(number, 12)) if settings.default.derandomize else number)
