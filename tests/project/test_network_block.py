"""The tests' own fence: loopback works, everything else fails loudly."""

from __future__ import annotations

import asyncio
import socket

import pytest


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("8.8.8.8", 53)])
def test_connections_to_other_hosts_are_refused(address):
    with socket.socket() as client:
        with pytest.raises(RuntimeError, match="only loopback is allowed"):
            client.connect(address)
        with pytest.raises(RuntimeError, match="only loopback is allowed"):
            client.connect_ex(address)


async def test_asyncio_is_fenced_as_well():
    with pytest.raises(RuntimeError, match="only loopback is allowed"):
        await asyncio.open_connection("198.51.100.7", 80)


def test_names_are_not_looked_up():
    with pytest.raises(RuntimeError, match="only loopback is allowed"):
        socket.getaddrinfo("example.com", 443)


def test_an_invalid_name_fails_as_an_unknown_host_does():
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("gpu.invalid", 443)


def test_loopback_works(free_port):
    with socket.create_server(("127.0.0.1", free_port)), socket.create_connection(("localhost", free_port)):
        pass


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_loopback_works_on_ipv6():
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with server, socket.create_connection(server.getsockname()[:2]):
        pass


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no unix sockets")
def test_unix_sockets_work():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"x")
        assert theirs.recv(1) == b"x"


def test_free_ports_are_free(free_ports):
    assert all(0 < free_ports() < 65536 for _ in range(3))


def test_the_hostile_texts_are_hostile(hostile_texts):
    assert "</script>" in hostile_texts["close_script"]
    assert hostile_texts["lone_surrogate"] == "a\ud800b"
    assert hostile_texts["empty"] == ""
    assert len(hostile_texts["long_chinese_id"]) == 300
    assert "\r\nb\rc\u0085" in hostile_texts["mixed_line_ends"]
