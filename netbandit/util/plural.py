"""Numbers of things in words."""


def counted(number: int, what: str) -> str:
    """Return *number* of *what*, in the plural where it is not one: ``1 point``, ``2000 points``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
