"""Tables of pandas."""

from netbandit.extras import of_extra

with of_extra("frames"):
    import pandas

__all__ = ["pandas"]
