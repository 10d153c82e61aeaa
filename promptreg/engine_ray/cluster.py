"""The connection to a Ray cluster: one that runs already, or one of this machine that lives as long as a command."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import socket
import tempfile
import warnings
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from promptreg.errors import ClusterError, UsageError

ADDRESS_VARIABLE: Final = "RAY_ADDRESS"
"""What Ray itself reads, and sets for its jobs."""

_OBJECT_STORE_BYTES: Final = 512 * 1024 * 1024
"""Of a local cluster: room for the blocks that are scored at once. Ray's own choice is 30 % of the memory."""

_ADDRESS: Final = re.compile(r"[^/\s]+:[0-9]{1,5}")
_REACHED_WITHIN_S: Final = 5.0

_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns that it will behave so one day
}

_LOOPBACK: Final = {
    # Despite its name it says on every system whether others may reach the cluster: with 0 all listens on 127.0.0.1.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",  # no other user of this machine may run code in it
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that this process is connected to."""

    cpus: int
    temporary: str | None = None
    """Folder of a cluster that was started for this command; None for one that was there."""
    joined: bool = True
    """False when this process was connected before."""

    def leave(self) -> None:
        """Disconnect, and end a cluster that was started for this command."""
        import ray  # noqa: PLC0415 - see `join`

        if not self.joined:
            return
        ray.shutdown()
        if self.temporary is not None:
            shutil.rmtree(self.temporary, ignore_errors=True)


def join(address: str | None, workers: int | None) -> Cluster:
    """Connect to the cluster at an address, or start one on this machine.

    Args:
        address: HOST:PORT of a running cluster, or "auto" for the one that this machine belongs to; None for what
            RAY_ADDRESS says, else a cluster of this machine alone. A process that is connected stays as it is.
        workers: how many CPUs a cluster of this machine lends; None for those that it has.

    Raises:
        UsageError: Ray is not installed, or the address is none that can be used.
        ClusterError: it cannot be reached, or not started.
    """
    address = address or os.environ.get(ADDRESS_VARIABLE) or None
    if address not in {None, "auto", "local"} and not _ADDRESS.fullmatch(address or ""):
        raise UsageError(
            f"--ray-address is HOST:PORT of the cluster's head, or `auto`; {address!r} is not. Run promptreg on a node "
            "of the cluster, or as a job: `ray job submit -- promptreg compare --engine ray`."
        )
    os.environ.update(_QUIET)
    if address is None or address == "local":
        os.environ.update(_LOOPBACK)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    # Ray's settings above are read when it is imported.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray  # noqa: PLC0415 - see above
            import ray.data  # noqa: PLC0415 - see above

            ray.data.DataContext.get_current().enable_progress_bars = False
    except ImportError as error:
        raise UsageError(
            f"--engine ray needs Ray with its data library, which cannot be imported here ({error}). Install it with "
            "`pip install 'promptreg-migrate[ray]'`, on every node of a cluster, or leave --engine out."
        ) from error
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if ray.is_initialized():
        return Cluster(_cpus(), joined=False)
    return _connected(address) if address not in {None, "local"} else _started(workers)


def _connected(address: str | None) -> Cluster:
    import ray  # noqa: PLC0415 - see `join`

    try:
        if address != "auto":
            _reach(address or "")
        ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level=logging.CRITICAL)
    except Exception as error:
        raise ClusterError(
            f"No Ray cluster can be reached at {address}: {_said(error)} Check the address and that this machine is a "
            "node of the cluster (`ray status`), or leave --ray-address out to start one here."
        ) from error
    return Cluster(_cpus())


def _reach(address: str) -> None:
    """Connect once, since Ray would go on trying for many minutes.

    Raises:
        OSError: nobody listens there.
    """
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED_WITHIN_S).close()


def _started(workers: int | None) -> Cluster:
    import ray  # noqa: PLC0415 - see `join`

    temporary = tempfile.mkdtemp(prefix="promptreg-ray-")
    try:
        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            logging_level=logging.CRITICAL,
            object_store_memory=_OBJECT_STORE_BYTES,
            _temp_dir=temporary,
        )
    except BaseException as error:
        with suppress(Exception):
            ray.shutdown()
        shutil.rmtree(temporary, ignore_errors=True)
        if not isinstance(error, Exception):
            raise
        raise ClusterError(f"Ray cannot be started on this machine: {_said(error)} Leave --engine out.") from error
    cluster = Cluster(_cpus(), temporary)
    if not ip_address(ray.util.get_node_ip_address()).is_loopback:
        cluster.leave()
        raise ClusterError(
            "Ray was imported before promptreg could tell it to listen on 127.0.0.1 alone. Connect to a cluster with "
            "ray.init() before, or import ray after promptreg has started one."
        )
    return cluster


def _cpus() -> int:
    import ray  # noqa: PLC0415 - see `join`

    return int(ray.cluster_resources().get("CPU", 0))


def _said(error: Exception) -> str:
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return first if first.endswith(".") else f"{first}."
