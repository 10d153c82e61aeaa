"""Where a simulated deployment listens."""

from __future__ import annotations

import socket

import pytest

from promptreg.deployment.simulated.server import base_url, bind, listening
from promptreg.errors import EndpointError


def test_connections_name_their_protocol_so_that_asyncio_sends_at_once():
    with listening("127.0.0.1", 0) as bound, socket.create_connection(bound.getsockname()):
        accepted, _ = bound.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_the_address_that_clients_use():
    with bind("0.0.0.0", 0) as bound:
        assert base_url(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def test_a_taken_port_is_said():
    with listening("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        with pytest.raises(EndpointError, match=rf"127\.0\.0\.1:{port} .* Choose another --port, or 0"):
            bind("127.0.0.1", port)
