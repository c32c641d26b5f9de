"""Payloads as bytes."""

from netbandit.util.extras import of_extra

with of_extra("emulate"):
    import msgpack

__all__ = ["msgpack"]
