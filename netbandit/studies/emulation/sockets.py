"""Loopback sockets: an authenticated pair for each link, and the kernel's counters for them."""

import errno
import os
import secrets
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from netbandit.studies.emulation.forks import become, undisturbed

Transport = Literal["tcp", "udp"]
LinkEnd = tuple[int, int]
"""An end of a link: the node there, and the node at the other end."""

TOKEN_BYTES = 16
PACKET_BYTES: dict[Transport, int] = {"tcp": 52, "udp": 28}
"""The headers of a packet: IP 20, UDP 8, TCP 32 with timestamps."""

_LOCALHOST = "127.0.0.1"
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


class StrangerError(Exception):
    """A peer other than our own socket has connected."""


class Counted(NamedTuple):
    """The kernel's counters for one end of a TCP connection.

    Attributes:
        sent: Bytes sent, including retransmissions.
        packets: Packets sent.
        again: Bytes retransmitted: on a busy host acknowledgements come late.
    """

    sent: int
    packets: int
    again: int


def joined(
    transport: Transport, reachable: Callable[[tuple[str, int]], None] = lambda address: None
) -> list[socket.socket]:
    """Return the two ends of a link, connected over loopback, non-blocking.

    Args:
        transport: Their transport protocol.
        reachable: Called with each address at which a stranger can reach an end, while he can; for tests.

    Raises:
        StrangerError: A foreign peer has connected or has sent something, or does not know the token.
    """
    if transport == "udp":
        one, two = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
        for end in (one, two):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            end.bind((_LOCALHOST, 0))
            reachable(end.getsockname())
        one.connect(two.getsockname())
        two.connect(one.getsockname())
    else:
        with socket.create_server((_LOCALHOST, 0), backlog=1) as server:
            reachable(server.getsockname())
            one = socket.create_connection(server.getsockname())
            two, peer = server.accept()
        if peer != one.getsockname():
            _refuse([one, two], f"{peer[0]}:{peer[1]} has connected to a link of the emulation")
        for end in (one, two):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for end, other in ((one, two), (two, one)):  # what came to either end before it was connected would be read first
        token = secrets.token_bytes(TOKEN_BYTES)
        end.sendall(token)
        other.settimeout(5)
        if other.recv(TOKEN_BYTES) != token:
            _refuse([one, two], "the other end of a link of the emulation does not know its token")
    one.setblocking(False)
    two.setblocking(False)
    return [one, two]


def _refuse(ends: Sequence[socket.socket], why: str) -> NoReturn:
    for end in ends:
        end.close()
    raise StrangerError(f"{why}, so nothing was run")


def counted(end: socket.socket) -> Counted:
    """Return the kernel's counters for an *end* of a TCP connection."""
    info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (packets,), (sent, again) = struct.unpack_from("I", info, 136), struct.unpack_from("QQ", info, 200)
    return Counted(sent, packets, again)


class Wiring:
    """The sockets of all links, and the namespace they are in.

    A helper process creates the sockets in an empty network namespace, where that is permitted, so that its counters
    contain no other traffic; otherwise they are created in this process's own.

    Attributes:
        ends: The socket at each end of each link.
        isolated: Whether they are in their own namespace.
        before: The traffic of the loopback interface when all sockets were connected: bytes, and packets.
    """

    def __init__(self, links: Sequence[tuple[int, int]], transport: Transport) -> None:
        self.ends: dict[LinkEnd, socket.socket] = {}
        self._control, theirs = socket.socketpair()
        parent = os.getpid()
        with undisturbed():
            self.helper = os.fork()
            if self.helper == 0:
                become(parent)
                self._control.close()
                try:
                    _serve(theirs, len(links), transport)
                finally:
                    os._exit(1)
        theirs.close()
        self.isolated = self._control.recv(1) == b"1"
        try:
            for first, second in links:
                one, two = self._received() if self.isolated else joined(transport)
                self.ends[first, second], self.ends[second, first] = one, two
            self.before = self.carried()
        except BaseException:
            self.close()
            self.end()
            os.waitpid(self.helper, 0)
            raise

    def _received(self) -> list[socket.socket]:
        """Return the two ends of a link that the helper process has made."""
        data, files, _, _ = socket.recv_fds(self._control, 1, 2)
        if not data:
            raise StrangerError("the sockets of the emulation could not be made")
        ends = [socket.socket(fileno=file) for file in files]
        if len(ends) < 2:  # this process may open no more: the system leaves out what is beyond
            for end in ends:
                end.close()
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return ends

    def carried(self) -> tuple[int, int]:
        """Return the bytes and packets carried by the loopback interface; zeros if others use it too."""
        if not self.isolated:
            return 0, 0
        self._control.sendall(b"?")
        size, packets = map(int, self._control.recv(64).split())
        return size, packets

    def close(self) -> None:
        """Close all sockets of this process."""
        for end in self.ends.values():
            end.close()

    def end(self) -> None:
        """Stop the helper process."""
        self._control.close()


def _serve(control: socket.socket, links: int, transport: Transport) -> None:
    """Create sockets in an empty network namespace, send them to *control*, and report its loopback traffic."""
    isolated = _isolate()
    control.sendall(b"1" if isolated else b"0")
    if not isolated:
        os._exit(0)
    for _ in range(links):
        ends = joined(transport)
        socket.send_fds(control, [b"+"], [end.fileno() for end in ends])
        for end in ends:
            end.close()
    while control.recv(1):
        with open("/proc/self/net/dev", encoding="ascii") as file:
            fields = next(line for line in file if line.lstrip().startswith("lo:")).partition(":")[2].split()
        control.sendall(f"{fields[0]} {fields[1]}".encode())
    os._exit(0)


def _isolate() -> bool:
    """Move this process to its own network namespace, with loopback up; return whether that was permitted."""
    import ctypes
    import fcntl

    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    with socket.socket(type=socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
    with suppress(OSError):  # all acknowledgements then have the same length
        Path("/proc/sys/net/ipv4/tcp_sack").write_text("0", encoding="ascii")
    return True
