"""`[embedders.NAME]`: record and compare with a simulated embeddings endpoint."""

from __future__ import annotations

import pytest

from promptreg.testing import SimulatedServer


@pytest.fixture
def embedding_server():
    with SimulatedServer(models=["bge-m3"]) as server:
        yield server


def use(pair, server, **keys):
    path = pair.folder / "promptreg.toml"
    lines = [f"{key} = {value!r}" for key, value in {"base_url": server.base_url, "model": "bge-m3", **keys}.items()]
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join([text, "[judging]", 'embedder = "bge"', "[embedders.bge]", *lines, ""]), encoding="utf-8")


def embedded(server):
    return [
        text for received in server.requests if received.path == "/v1/embeddings" for text in received.json["input"]
    ]


def test_each_answer_is_embedded_once_over_record_compare_and_rejudging(pair, real_embedder, embedding_server):
    use(pair, embedding_server, batch_size=7)
    pair.record()
    code, compared = pair.compare()
    assert code == 0, compared["suites"][0]["sentence"]
    texts = embedded(embedding_server)
    assert len(texts) == len(set(texts)) > len(pair.questions)

    run_id = compared["run_id"]
    again_code, again = pair.compare("--run", run_id)
    assert (again_code, again["suites"]) == (code, compared["suites"])
    assert embedded(embedding_server) == texts


def test_an_endpoint_that_is_gone_costs_neither_the_recording_nor_the_samples(pair, real_embedder, embedding_server):
    use(pair, embedding_server, max_retries=0)
    embedding_server.stop()
    done = pair.run("record")
    assert done.exit_code == 0
    assert "was not checked against itself: The embedder `bge`" in done.stderr.replace("\n", " ")
    assert pair.baseline.exists()

    done = pair.run("compare")
    assert done.exit_code == 4
    assert "The embedder `bge` (model bge-m3 at" in done.stderr
    assert "Traceback" not in done.stderr
    chats = len(pair.target.chats)

    embedding_server.start()
    done = pair.run("compare", "--resume")
    assert done.exit_code == 0, done.stderr
    assert len(pair.target.chats) == 5 * len(pair.questions)
    assert chats == 3 * len(pair.questions)


def test_an_unset_key_costs_no_call(pair, real_embedder, embedding_server, monkeypatch):
    pair.record("--passes", "1")
    monkeypatch.delenv("BGE_API_KEY", raising=False)
    use(pair, embedding_server, api_key_env="BGE_API_KEY")
    done = pair.run("compare")
    assert done.exit_code == 2
    assert "The environment variable BGE_API_KEY (embedder `bge`, api_key_env) is not set" in done.stderr
    assert pair.target.chats == []


def test_doctor_asks_it_unless_told_not_to(pair, real_embedder, embedding_server):
    use(pair, embedding_server)
    sentences = {found["about"]: found["sentence"] for found in pair.run("doctor", "--json").json["findings"]}
    assert sentences["embedder"] == "bge, 128 dimensions"
    before = embedded(embedding_server)
    found = pair.run("doctor", "--json", "--no-network").json["findings"]
    assert "not contacted" in {one["about"]: one["sentence"] for one in found}["embedder"]
    assert embedded(embedding_server) == before


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('base_url = "http://127.0.0.1:1/v1"', "The key `model` is missing"),
        ('base_url = "http://u:p@h/v1"\nmodel = "m"', "The address contains a user name or password"),
        ('base_url = "http://h/v1"\nmodel = "m"\napi_key = "sk-fake-1"', "Keys are never in this file"),
        ('base_url = "http://h/v1"\nmodel = "m"\nbatch_size = 0', "`batch_size` must be at least 1, not 0"),
        ('base_url = "http://h/v1"\nmodel = "m"\nbatchsize = 9', "Did you mean `batch_size`?"),
    ],
)
def test_a_wrong_table_is_told_with_its_line(pair, table, said):
    path = pair.folder / "promptreg.toml"
    path.write_text(path.read_text(encoding="utf-8") + f"\n[embedders.bge]\n{table}\n", encoding="utf-8")
    done = pair.run("compare")
    assert done.exit_code == 2
    assert said in done.stderr.replace("\n", " ")
    assert "promptreg.toml:" in done.stderr
    assert "sk-fake" not in done.stderr


@pytest.mark.parametrize("name", ["usem3", "a/b"])
def test_a_table_needs_a_name_of_its_own(pair, name):
    path = pair.folder / "promptreg.toml"
    table = f'\n[embedders."{name}"]\nbase_url = "http://h/v1"\nmodel = "m"\n'
    path.write_text(path.read_text(encoding="utf-8") + table, encoding="utf-8")
    done = pair.run("compare")
    assert done.exit_code == 2
    assert f"`{name}`" in done.stderr
