"""What every test gets: no network but loopback, free ports, the hostile texts, one Hypothesis profile."""

from __future__ import annotations

import json
import os
import shutil
import socket
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# One BLAS thread in each process, before numpy loads: on a busy machine two threads spin while they wait for each
# other, which made small matrix products ten times as slow.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Read when the libraries around sentence-transformers are imported: no test downloads a model.
os.environ["HF_HUB_OFFLINE"] = "1"

# No deadline: the machines that run these tests are shared and noisy, a slow example says nothing about the code.
settings.register_profile(
    "promptreg", deadline=None, max_examples=60, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("promptreg")

ROOT = Path(__file__).parent.parent


class NetworkBlockedError(RuntimeError):
    """A test reached for a host other than this machine."""


def _is_loopback(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        return ip_address(str(host.decode() if isinstance(host, bytes) else host).split("%")[0]).is_loopback
    except ValueError:
        return False


def _check_address(family: int, address: Any) -> None:
    # Precedence: unix sockets are of this machine; else the address must be loopback; names never get this far alone.
    if family == getattr(socket, "AF_UNIX", None):
        return
    if not _is_loopback(address[0]):
        raise NetworkBlockedError(f"a test tried to reach {address[0]!r}; only loopback is allowed")


@pytest.fixture(scope="session", autouse=True)
def only_loopback() -> Iterator[None]:
    """Blocks every connection and name look-up that leaves this machine.

    Names under `.invalid` fail as an unknown host does, so that tests can ask for one. Child processes are not covered.
    """
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check_address(self.family, address)
        return connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check_address(self.family, address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if str(host).rstrip(".").endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not _is_loopback(host):
            raise NetworkBlockedError(f"a test tried to look up {host!r}; only loopback is allowed")
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield


@pytest.fixture
def free_ports() -> Callable[[], int]:
    """A function that gives a free loopback port at each call. Servers that can bind port 0 themselves should."""

    def next_port() -> int:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return next_port


@pytest.fixture
def free_port(free_ports: Callable[[], int]) -> int:
    """A loopback port that was free a moment ago."""
    return free_ports()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A loopback port at which nobody listens, and that nobody else gets while the test runs."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def _hostile() -> dict[str, str]:
    texts: dict[str, str] = json.loads((ROOT / "tests/corpus/hostile.json").read_text(encoding="utf-8"))
    texts["long_line"] = "长line" * 40_000
    texts["many_lines"] = "\n".join(f"第{n}行" for n in range(50_000))
    texts["long_chinese_id"] = "测试用例" * 75
    return texts


_HOSTILE = _hostile()


@pytest.fixture
def hostile_texts() -> dict[str, str]:
    """Every hostile text by name. Lone surrogates included."""
    return dict(_HOSTILE)


@pytest.fixture(params=sorted(_HOSTILE))
def hostile_text(request: pytest.FixtureRequest) -> str:
    """One hostile text; a test that asks for it runs once for each."""
    return _HOSTILE[request.param]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the system's Chromium. Without one the test is skipped, except in CI, where it fails."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    if os.environ.get("CI"):
        pytest.fail("Chromium is not installed; `make test` installs it where it may")
    pytest.skip("Chromium is not installed")
