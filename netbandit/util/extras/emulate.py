"""The message format between processes of an emulation."""

from netbandit.util.extras import of_extra

with of_extra("emulate"):
    import msgpack

__all__ = ["msgpack"]
