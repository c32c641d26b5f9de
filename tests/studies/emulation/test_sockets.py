"""Nobody but the two processes of a link is at its ends."""

import os
import resource
import socket

import psutil
import pytest

from netbandit.studies.emulation import sockets


def test_a_stranger_that_connects_first_is_refused():
    strangers = []

    def connect(address):
        strangers.append(socket.create_connection(address))

    with pytest.raises(sockets.StrangerError, match="has connected to a link of the emulation, so nothing was run"):
        sockets.joined("tcp", reachable=connect)
    for stranger in strangers:
        stranger.close()


def test_nothing_listens_when_the_ends_are_joined():
    ends = sockets.joined("tcp")
    address = ends[1].getsockname()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    for end in ends:
        end.close()


def test_a_strangers_datagram_is_not_read():
    one, two = sockets.joined("udp")
    with socket.socket(type=socket.SOCK_DGRAM) as stranger:
        stranger.sendto(b"strange", two.getsockname())
    one.send(b"ours")
    two.setblocking(True)
    assert two.recv(100) == b"ours"
    two.setblocking(False)
    with pytest.raises(BlockingIOError):
        two.recv(100)
    for end in (one, two):
        end.close()


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("size", [0, sockets.TOKEN_BYTES, 100])
def test_a_datagram_that_comes_before_an_end_is_connected_is_refused(place, size):
    addresses = []

    def send(address):
        addresses.append(address)
        if len(addresses) == place + 1:
            with socket.socket(type=socket.SOCK_DGRAM) as stranger:
                stranger.sendto(b"x" * size, address)

    with pytest.raises(sockets.StrangerError, match="does not know its token"):
        sockets.joined("udp", reachable=send)


def test_sockets_that_may_not_be_opened_are_an_error_and_no_wait():
    before = psutil.Process().children()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with open(os.devnull) as least:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least.fileno() + 10, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            sockets.Wiring([(0, agent) for agent in range(1, 30)], "tcp")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert psutil.Process().children() == before


def test_who_does_not_know_the_token_is_refused(monkeypatch):
    tokens = iter([b"a" * 16, b"b" * 16])
    monkeypatch.setattr(socket.socket, "sendall", lambda end, token: end.send(next(tokens)[:15] + b"?"))
    with pytest.raises(sockets.StrangerError, match="does not know its token"):
        sockets.joined("tcp")
