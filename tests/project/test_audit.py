"""`make audit`: what an index tells of vulnerabilities, and that its silence is never taken for good news."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci/audit.py"
CANARY = {"/pypi/jinja2/2.10/json": [{"id": "PYSEC-2019-217", "aliases": ["CVE-2019-10906"], "fixed_in": ["2.10.1"]}]}
FINE = {**CANARY, "/pypi/left-pad/1.0/json": [], "/pypi/torch/2.13.0/json": []}
HOLE = {"id": "GHSA-x", "aliases": ["CVE-1"], "fixed_in": ["1.1", "2.0"], "summary": "s", "withdrawn": None}


@contextmanager
def index(pages, *, prefix="", password=None):
    """A package index on this machine. A page is its list of vulnerabilities, or the bytes of the whole answer."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            page = pages.get(self.path.removeprefix(prefix))
            basic = "Basic " + base64.b64encode(f"me:{password}".encode()).decode()
            if password is not None and self.headers["Authorization"] != basic:
                page, status = b"", 401
            else:
                status = 404 if page is None else 200
            body = page if isinstance(page, bytes) else json.dumps({"info": {}, "vulnerabilities": page}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def packages(tmp_path):
    for name, version in (("Left_Pad", "1.0"), ("torch", "2.13.0+cpu"), ("promptreg-migrate", "9")):
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def audit(monkeypatch, capsys):
    """The script in this process, with an index as pip would tell it: starting pip takes a second."""
    spec = importlib.util.spec_from_file_location("audit", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "audit", module)
    monkeypatch.setenv("NO_PROXY", "*")
    spec.loader.exec_module(module)

    def run(packages, address, *arguments):
        monkeypatch.setattr(module, "pip_settings", lambda: {"index-url": address})
        code = module.main(["--path", str(packages), *arguments])
        return code, *capsys.readouterr()

    return run


def audit_alone(packages, address, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": address, "NO_PROXY": "*"}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--path", packages, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=environment,
    )
    return done.returncode, done.stdout, done.stderr


def test_every_release_is_asked_for_and_none_has_a_hole(packages):
    with index(FINE, prefix="/team") as (host, asked):
        assert audit_alone(packages, f"http://{host}/team/simple") == (
            0,
            "No vulnerability is known of 2 installed releases.\n",
            "",
        )
    assert sorted(asked) == sorted(f"/team{path}" for path in FINE)


def test_a_hole_is_told_with_its_repair_and_one_that_was_withdrawn_is_not(audit, packages):
    pages = {**FINE, "/pypi/left-pad/1.0/json": [HOLE, {**HOLE, "id": "GHSA-y", "withdrawn": "2020-01-01"}]}
    with index(pages) as (host, _):
        assert audit(packages, f"http://{host}/simple/") == (1, "left-pad 1.0: GHSA-x CVE-1; fixed in 1.1, 2.0\n", "")
        assert audit(packages, f"http://{host}/simple/", "--ignore", "CVE-1")[0] == 0
        assert audit(packages, f"http://{host}/simple/", "--ignore", "CVE-2")[0] == 1


@pytest.mark.parametrize(
    "page", [None, b"<html>", b"[]", b"{}", b'{"vulnerabilities": null}', b'{"vulnerabilities": [1]}']
)
def test_a_release_that_the_index_does_not_tell_of_is_no_pass(audit, packages, page):
    with index({**FINE, "/pypi/torch/2.13.0/json": page}) as (host, _):
        code, told, said = audit(packages, f"http://{host}/simple")
    assert (code, told) == (2, "")
    assert said.startswith("1 of 2 releases were not checked: torch 2.13.0 (")


@pytest.mark.parametrize("canary", [[], None, b"{}"])
def test_an_index_that_knows_nothing_is_not_asked_further(audit, packages, canary):
    with index({**FINE, "/pypi/jinja2/2.10/json": canary}) as (host, asked):
        code, told, said = audit(packages, f"http://{host}/simple")
    assert (code, told) == (2, "")
    assert said.startswith(f"Nothing was checked: http://{host}/ does not tell of vulnerabilities (")
    assert asked == ["/pypi/jinja2/2.10/json"]


def test_an_index_that_cannot_be_reached_is_no_pass(packages, closed_port):
    code, told, said = audit_alone(packages, f"http://127.0.0.1:{closed_port}/simple")
    assert (code, told) == (2, "")
    assert "Nothing was checked" in said
    assert "refused" in said


def test_the_password_of_an_index_is_used_and_never_shown(audit, packages):
    with index({**FINE, "/pypi/torch/2.13.0/json": None}, password="p@ss word") as (host, _):
        code, told, said = audit(packages, f"http://me:p%40ss%20word@{host}/simple")
        assert (code, told) == (2, "")
        assert "torch 2.13.0 (HTTP 404)" in said
        refused = audit(packages, f"http://me:wrong-password@{host}/simple")
    assert refused[0] == 2
    assert "HTTP 401" in refused[2]
    assert "p@ss" not in said + refused[2]
    assert "wrong-password" not in said + refused[2]


def test_nothing_installed_is_no_pass(audit, tmp_path):
    code, told, said = audit(tmp_path, "http://127.0.0.1:9/simple")
    assert (code, told, said) == (2, "", "Nothing was checked: nothing is installed there.\n")
