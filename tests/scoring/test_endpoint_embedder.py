"""The embedder behind an embeddings endpoint, asked over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket

import numpy as np
import pytest

from promptreg.answer.model import Answer
from promptreg.config import Config, EmbeddingEndpoint
from promptreg.deployment.embeddings import EmbeddingsClient
from promptreg.errors import ConfigError, EndpointError
from promptreg.scoring.channels.embedding import EmbeddingChannel
from promptreg.scoring.embedders.endpoint import EndpointEmbedder
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.store.store import Store
from promptreg.testing import SimulatedServer

TEXTS = ["退货期限是三十天。", "The refund window is 30 days.", "👍", "a\r\nb", "a\ud800b", "长" * 400]


@pytest.fixture
def served():
    """A function that starts a server and gives it with its embedder."""
    servers = []

    def start(embeddings=None, **keys):
        server = SimulatedServer(models=["bge-m3"], embeddings=embeddings or {}, api_key=keys.pop("key", None)).start()
        servers.append(server)
        endpoint = EmbeddingEndpoint(name="bge", base_url=server.base_url, model="bge-m3", **keys)
        return server, EndpointEmbedder(endpoint)

    yield start
    for server in servers:
        server.stop()


def sent(server):
    return [received.json for received in server.requests if received.path == "/v1/embeddings"]


def test_vectors_come_back_in_order_and_of_length_one(served):
    _, embedder = served(batch_size=2)
    vectors = embedder.encode(TEXTS)

    assert vectors.shape == (6, 128)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-6)
    # The server answers in reverse order and says so with `index`.
    for index in range(6):
        assert vectors[index] == pytest.approx(embedder.encode([TEXTS[index]])[0])
    assert embedder.encode([]).shape[0] == 0


def test_texts_are_sent_in_batches_and_each_distinct_one_once(served):
    server, embedder = served(batch_size=3)
    vectors = embedder.encode(["一", "二", "一", "三", "四", "二", "五"])

    assert sorted(len(body["input"]) for body in sent(server)) == [2, 3]
    assert sorted(text for body in sent(server) for text in body["input"]) == sorted("一二三四五")
    assert {body["model"] for body in sent(server)} == {"bge-m3"}
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])


def test_alike_texts_lie_nearer_and_vectors_are_kept_in_the_store(served, tmp_path):
    server, embedder = served()
    answers = [Answer("退货期限是三十天。"), Answer("退货期限是七天。"), Answer("今天北京晴，最高气温二十五度。")]
    with Store.open(tmp_path / "store.db") as store:
        for _ in range(2):
            channel = EmbeddingChannel(embedder, store)
            channel.prepare([answers])
            distances = channel.distances(answers)
            assert 0 < distances[0, 1] < distances[0, 2]

        assert len(sent(server)) == 1
        assert embedder.name == f"bge-m3 at {server.base_url}"


def test_the_length_can_be_asked_for_and_is_checked(served):
    server, embedder = served(dimensions=32)
    assert embedder.encode(["x"]).shape == (1, 32)
    assert sent(server)[0]["dimensions"] == 32
    assert "/32 at" in embedder.name


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("one_short", "2 texts were sent and 1 vectors came back"),
        ("one_long", "2 texts were sent and 3 vectors came back"),
        ("wrong_length", "vector 1 has 127 numbers where the first one has 128"),
        ("text", "vector 1 holds '0.5', which is no finite number"),
        ("not_finite", "vector 1 holds nan, which is no finite number"),
        ("zero", "vector 1 is zero and has no direction"),
    ],
)
def test_vectors_that_cannot_be_used_are_an_error_and_are_not_asked_for_again(served, fault, said):
    server, embedder = served({"fault": fault})
    with pytest.raises(EndpointError) as caught:
        embedder.encode(["一", "二"])

    assert said in str(caught.value)
    assert f"`bge` (model bge-m3 at {server.base_url}/embeddings)" in str(caught.value)
    assert len(sent(server)) == 1


def asked_with_retries(server, **keys):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    async def ask():
        endpoint = EmbeddingEndpoint(name="bge", base_url=server.base_url, model="bge-m3", **keys)
        async with EmbeddingsClient(endpoint, {}, sleep=sleep) as client:
            return await client.vectors(["一"])

    return asyncio.run(ask()), waits


def test_a_server_that_is_busy_is_asked_again(served):
    server, _ = served({"fault": "unavailable", "at_most": 2})
    vectors, waits = asked_with_retries(server)

    assert len(vectors) == 1
    assert len(waits) == 2
    assert waits[0] < waits[1]


def test_a_server_that_stays_busy_is_told_with_the_tries(served):
    server, _ = served({"fault": "unavailable"})
    with pytest.raises(EndpointError, match=r"HTTP 503: The model is loading.*\(2 tries\)"):
        asked_with_retries(server, max_retries=1)


def test_nothing_listening_is_told():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    endpoint = EmbeddingEndpoint(name="bge", base_url=f"http://127.0.0.1:{port}/v1", model="m", max_retries=0)
    with pytest.raises(EndpointError, match=r"`bge`.*nothing listens there.*\[embedders.bge\]"):
        EndpointEmbedder(endpoint).encode(["x"])


def test_an_unknown_model_is_the_server_s_own_words(served):
    server, _ = served()
    endpoint = EmbeddingEndpoint(name="bge", base_url=server.base_url, model="other")
    with pytest.raises(EndpointError, match="HTTP 404: The model `other` does not exist"):
        EndpointEmbedder(endpoint).encode(["x"])


def test_the_key_comes_from_the_environment_and_is_never_told(served, monkeypatch):
    monkeypatch.setenv("BGE_KEY", "sk-fake-0123456789")
    server, embedder = served(key="sk-fake-0123456789", api_key_env="BGE_KEY")
    embedder.encode(["x"])
    assert server.requests[0].headers["authorization"] == "Bearer sk-fake-0123456789"

    monkeypatch.setenv("BGE_KEY", "sk-fake-9876543210")
    _, wrong = served(key="sk-fake-0123456789", api_key_env="BGE_KEY")
    with pytest.raises(EndpointError, match="HTTP 401") as caught:
        wrong.encode(["x"])
    assert "sk-fake" not in str(caught.value)


def test_a_key_that_is_not_set_is_an_error_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("BGE_KEY", raising=False)
    endpoint = EmbeddingEndpoint(name="bge", base_url="http://127.0.0.1:1/v1", model="m", api_key_env="BGE_KEY")
    with pytest.raises(ConfigError, match=r"BGE_KEY \(embedder `bge`, api_key_env\) is not set"):
        load_embedder("bge", Config(embedders={"bge": endpoint}))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html><title>Login</title></html>", "an HTML page titled"),
        (b"[]", "no list called `data`"),
        (b'{"error": {"message": "no such model"}}', "it says: no such model"),
        (b'{"data": [{"index": 3, "embedding": [1]}]}', "not 0 to 0, each once"),
        (b'{"data": [{"index": 0}]}', "no list of numbers"),
        (b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}', "perhaps base64"),
        (b'{"data": [{"index": 0, "embedding": [true]}]}', "no finite number"),
        (b'{"data": [null]}', "no list of numbers"),
    ],
)
def test_a_body_of_another_kind_is_told(body, said, answering):
    endpoint = EmbeddingEndpoint(name="bge", base_url=answering(body), model="m", max_retries=0)
    with pytest.raises(EndpointError) as caught:
        EndpointEmbedder(endpoint).encode(["x"])
    assert said in str(caught.value)


def test_vectors_without_an_index_are_taken_in_order(answering):
    body = json.dumps({"data": [{"embedding": [3, 4]}, {"embedding": [1e-300, 0]}]}).encode()
    endpoint = EmbeddingEndpoint(name="bge", base_url=answering(body), model="m")
    assert EndpointEmbedder(endpoint).encode(["x", "y"]) == pytest.approx(np.array([[0.6, 0.8], [1, 0]]))


def test_different_lengths_in_different_requests_are_an_error(answering):
    bodies = [b'{"data": [{"embedding": [1, 2]}]}', b'{"data": [{"embedding": [1, 2, 3]}]}']
    endpoint = EmbeddingEndpoint(name="bge", base_url=answering(*bodies), model="m", batch_size=1, concurrency=1)
    with pytest.raises(EndpointError, match="different lengths in different requests: 2, 3 numbers"):
        EndpointEmbedder(endpoint).encode(["x", "y"])


@pytest.fixture
def answering():
    """A function that serves these bodies in turn, the last one for ever, and gives the base URL."""
    from starlette.responses import Response

    servers = []

    def start(*bodies):
        left = list(bodies)

        async def app(scope, receive, send):
            body = left.pop(0) if len(left) > 1 else left[0]
            await Response(body, media_type="application/json")(scope, receive, send)

        server = _Serving(app)
        servers.append(server.start())
        return server.base_url

    yield start
    for server in servers:
        server.stop()


class _Serving(SimulatedServer):
    """Serves an application of the test's own."""

    def __init__(self, app):
        super().__init__()
        self._app = app

    def start(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("promptreg.deployment.simulated.app.create_app", lambda *_: self._app)
            return super().start()


def test_vectors_of_another_length_than_the_cached_ones_replace_them(served, tmp_path):
    """The server was given another model under the old name: its vectors are not mixed with those of before."""
    server, embedder = served()
    now = [Answer("一二三"), Answer("四五六")]
    with Store.open(tmp_path / "store.db") as store:
        known = hashlib.sha256("一二三".encode()).hexdigest()
        store.add_embeddings(embedder.name, {known: embedder.encode(["一二三"])[0]})
        server.stop()
        server.script = server.script.model_copy(
            update={"embeddings": server.script.embeddings.model_copy(update={"dimensions": 16})}
        )
        server.start()
        channel = EmbeddingChannel(embedder, store)
        channel.prepare([now])

        assert channel.distances(now)[0, 1] > 0
        assert {len(body["input"]) for body in sent(server)} == {1}
        assert len(sent(server)) == 3
