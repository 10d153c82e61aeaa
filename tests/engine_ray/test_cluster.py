"""What is said when there is no cluster: each case with what to do, and within seconds."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from promptreg.engine_ray.cluster import join
from promptreg.errors import UsageError
from promptreg.testing import Project


@pytest.mark.parametrize("address", ["head", "ray://head:10001", "head:port", "http://10.0.0.5:8265", "集群"])
def test_an_address_that_is_none_is_told_before_ray_is_imported(address):
    with pytest.raises(UsageError, match="--ray-address is HOST:PORT") as raised:
        join(address, None)
    assert repr(address) in str(raised.value)


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"promptreg-migrate\[ray\]"):
        join("10.0.0.5:6379", None)


def test_options_of_ray_need_the_engine(tmp_path):
    done = Project(tmp_path).run("compare", "--ray-workers", "2")
    assert (done.exit_code, "only means something with --engine ray" in done.stderr) == (2, True)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra `ray` is not installed")
@pytest.mark.parametrize("variable", [False, True])
def test_an_address_where_nobody_listens_is_an_error_within_seconds(tmp_path, closed_port, variable):
    project = Project(tmp_path)
    project.deployment("gpu", "http://127.0.0.1:1/v1", role="source")
    address = f"127.0.0.1:{closed_port}"
    arguments = [] if variable else ["--ray-address", address]
    env = {"RAY_ADDRESS": address} if variable else {}
    done = project.run_process("compare", "--engine", "ray", *arguments, env=env, timeout_s=60)
    assert done.exit_code == 4
    assert f"No Ray cluster can be reached at {address}: " in done.stderr
    assert "leave --ray-address out" in done.stderr
