"""Pictures of handwritten digits."""

from netbandit.util.extras import of_extra

with of_extra("digits"):
    from sklearn.datasets import load_digits

__all__ = ["load_digits"]
