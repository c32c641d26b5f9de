"""What processes of an emulation send to one another."""

from netbandit.util.extras import of_extra

with of_extra("emulate"):
    import msgpack

__all__ = ["msgpack"]
