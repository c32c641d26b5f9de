"""Tables of pandas."""

from netbandit.util.extras import of_extra

with of_extra("frames"):
    import pandas

__all__ = ["pandas"]
