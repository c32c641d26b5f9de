"""Text that is safe on a terminal."""


def one_line(text: str) -> str:
    """Return *text* with its line breaks and other control characters written out, so that a message is a line."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
