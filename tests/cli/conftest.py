"""What tests of the commands share: a project between two simulated deployments, and one embedder for all of them."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import re
import shutil
import signal
import subprocess
import threading
import zlib

import numpy as np
import pytest

from promptreg.deployment.simulated import app as app_module
from promptreg.deployment.simulated import server as server_module
from promptreg.deployment.simulated.app import create_app
from promptreg.deployment.simulated.script import Script
from promptreg.deployment.simulated.server import uvicorn_server
from promptreg.store.store import Store
from promptreg.testing import Project, SimulatedServer

QUESTIONS = {
    "refund": "How many days do I have to return a book?",
    "shipping": "订单多久能送到？",
    "invoice": "Where is my invoice?",
    "gift": "礼品卡的有效期是多久？",
    "hours": "When is your hotline open?",
    "points": "What are points for?",
}
"""Six cases, Chinese and English; the simulated server has a noisy answer to each."""

NOISE = {"wording": 0.5}


@pytest.fixture(autouse=True)
def quick_embedder(request, monkeypatch):
    """The real embedder takes seconds to load and to plant faults with: tests that do not ask for it have another."""
    if "real_embedder" not in request.fixturenames:
        for module in ("compare", "baselines.recording_check"):
            monkeypatch.setattr(f"promptreg.workflow.{module}.load_embedder", lambda *_: Letters())


@pytest.fixture
def interruptible():
    """Children inherit an ignored SIGINT, which is what a shell gives to jobs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def real_embedder():
    """Asked for by tests that compare with the default embedder."""


class Letters:
    """Pairs of letters, counted: near for texts that share words, far for others."""

    name = "letters"

    def encode(self, texts):
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for pair in zip(f" {text}", f"{text} ", strict=True):
                vector[zlib.crc32("".join(pair).encode("utf-8", "replace")) % 512] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


class Requests(list):
    """The requests that a server saw; a test can wait until there are so many, or change the server then."""

    def __init__(self):
        self._grown = threading.Condition()
        self.then = {}

    def append(self, received):
        with self._grown:
            super().append(received)
            chats = self.chats()
            if received.path.endswith("/chat/completions") and chats in self.then:
                self.then.pop(chats)()
            self._grown.notify_all()

    def chats(self):
        return sum(received.path.endswith("/chat/completions") for received in self)

    def wait_for_chats(self, number, timeout_s=60):
        with self._grown:
            assert self._grown.wait_for(lambda: self.chats() >= number, timeout_s), f"only {self.chats()} chats came"


class Server(SimulatedServer):
    """A simulated deployment whose script can be exchanged while it runs."""

    def __init__(self, *, certificate=None, **fields):
        super().__init__(**fields)
        self.requests = Requests()
        self._certificate = certificate

    @property
    def base_url(self):
        return super().base_url.replace("http:", "http:" if self._certificate is None else "https:")

    def start(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app_module, "create_app", self._create_app)
            patch.setattr(server_module, "uvicorn_server", self._uvicorn_server)
            return super().start()

    def _uvicorn_server(self, app):
        server = uvicorn_server(app)
        if self._certificate is not None:
            server.config.ssl_certfile, server.config.ssl_keyfile = map(str, self._certificate)
        return server

    def becomes(self, after_chats, **fields):
        """After so many chats the server is another one."""
        other = create_app(Script.model_validate({**self.script.model_dump(), **fields}), self.requests.append)
        self.requests.then[after_chats] = functools.partial(setattr, self, "app", other)

    def _create_app(self, script, on_request):
        self.app = create_app(script, on_request)

        async def app(scope, receive, send):
            await self.app(scope, receive, send)

        return app


class Pair:
    """A project with a source and a target, both simulated."""

    def __init__(self, folder, source, target):
        self.source, self.target = source, target
        self.project = Project(folder)
        self.folder = folder
        self.questions = QUESTIONS
        self.project.section("plan", record_passes=10, compare_passes=5)
        self.project.deployment("gpu", source.base_url, role="source")
        self.project.deployment("ascend", target.base_url, role="target")
        self.project.suite("support", QUESTIONS, request={"temperature": 0.7})
        self.run = self.project.run
        self.decoded = decoded_report

    @property
    def baseline(self):
        return self.folder / "baselines" / "support" / "gpu.jsonl"

    def case_lines(self):
        return self.baseline.read_bytes().split(b"\n", 1)[1]

    def header(self):
        return json.loads(self.baseline.read_text(encoding="utf-8").splitlines()[0])

    def lines(self):
        """The objects of the baseline, the header first."""
        return [json.loads(line) for line in self.baseline.read_text(encoding="utf-8").splitlines()]

    def rewrite(self, objects):
        self.baseline.write_text("".join(f"{json.dumps(one)}\n" for one in objects), encoding="utf-8")

    def recorded_elsewhere(self):
        """As in a fresh clone: the store does not have the calls that the baseline came from."""
        header, *cases = self.lines()
        self.rewrite([{**header, "run_id": "20261201-000000-gpu-0000"}, *cases])

    def forget_calls(self):
        """The baseline as it was before baselines told of calls, and the calls are elsewhere too."""
        self.recorded_elsewhere()
        told = {"fault_rules", "calls", "together"}
        self.rewrite([{key: value for key, value in one.items() if key not in told} for one in self.lines()])

    def record(self, *arguments):
        done = self.run("record", *arguments)
        assert done.exit_code == 0, done.stderr
        return done

    def compare(self, *arguments):
        """`compare --json`, as (exit code, object)."""
        done = self.run("compare", "--json", *arguments)
        assert done.stdout, done.stderr
        return done.exit_code, done.json

    def answered(self, command):
        """How many answers the store has of the newest run, if it is one of this command.

        A process that stores tells nobody; a test asks until there are enough.
        """
        run = self.run("runs", "--json").json["runs"][0]
        return run["answered"] if run["kind"] == command else 0

    def store(self):
        return Store.open(self.folder / ".promptreg" / "store.db", create=False)

    def report_payload(self, run_id):
        """Index and case chunks of the HTML report, decoded."""
        return decoded_report((self.folder / "reports" / f"{run_id}.html").read_text(encoding="utf-8"))


def decoded_report(html):
    """Every text that the report embeds, its compressed chunks decoded."""
    chunks = re.findall(r'<script type="text/plain" id="chunk-\d+">([^<]*)</script>', html)
    signs = str.maketrans(".:,", "&<>")
    return [html, *(gzip.decompress(base64.b85decode(chunk.translate(signs))).decode("utf-8") for chunk in chunks)]


@pytest.fixture
def pair_of(tmp_path):
    """A function that starts both deployments, each from the fields of its script, and gives a `Pair`."""
    servers = []

    def start(source=None, target=None, folder=tmp_path):
        both = [Server(**{"seed": 1, "noise": NOISE, **(fields or {})}).start() for fields in (source, target)]
        servers.extend(both)
        folder.mkdir(parents=True, exist_ok=True)
        return Pair(folder, *both)

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def pair(pair_of):
    """Two deployments that answer alike (another seed, the same noise)."""
    return pair_of(target={"seed": 2})


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Certificate and key for 127.0.0.1 that nobody signed but themselves."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is not installed")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=promptreg test"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return certificate, key
