"""Fingerprints, and the one sentence when a deployment cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from promptreg.config import Deployment
from promptreg.deployment.client import Client
from promptreg.deployment.fingerprint import Fingerprint, differences, take_fingerprint
from promptreg.errors import EndpointError

KEY = "sk-fake-0123456789"


async def take(deployment: Deployment, secrets: dict[str, str] | None = None) -> Fingerprint:
    async with Client(deployment, secrets or {}) as client:
        return await take_fingerprint(client)


async def test_models_window_and_version(serve: Any, script: Any, deployment: Any) -> None:
    models = {"data": [{"id": "ds", "max_model_len": 8192}, {"id": "a", "max_model_len": 1}, {"id": 7}, "x"]}
    server = await serve(script.json(models), script.json({"version": "0.18.0"}))

    found = await take(deployment(server.base_url, server="vllm-ascend"))

    assert found == Fingerprint(("a", "ds"), "0.18.0", 8192)
    assert [request.split(b" ")[1] for request in server.requests] == [b"/v1/models", b"/version"]


async def test_the_window_of_mindie_stands_in_its_information(serve: Any, script: Any, deployment: Any) -> None:
    server = await serve(script.json({"data": []}), script.json({"max_total_tokens": 2560}))

    assert await take(deployment(server.base_url, server="mindie")) == Fingerprint(max_model_len=2560)


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed", "500 Internal Server Error"])
async def test_a_server_without_a_model_list_is_no_error(serve: Any, script: Any, deployment: Any, status: str) -> None:
    server = await serve(script.json({"detail": "Not Found"}, status))

    assert await take(deployment(server.base_url, server="vllm")) == Fingerprint()


@pytest.mark.parametrize("value", [[], "x", {"data": "x"}, {"data": [{"id": None}]}])
async def test_odd_model_lists_are_empty(serve: Any, script: Any, deployment: Any, value: Any) -> None:
    server = await serve(script.json(value))

    assert await take(deployment(server.base_url)) == Fingerprint()


async def test_a_function_has_no_fingerprint() -> None:
    assert await take(Deployment(name="app", call="json:dumps")) == Fingerprint()


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
async def test_a_refused_key_names_the_variable_never_the_value(
    serve: Any, script: Any, deployment: Any, status: str
) -> None:
    server = await serve(script.json({"error": {"message": f"Incorrect API key: {KEY}"}}, status))

    with pytest.raises(EndpointError) as caught:
        await take(deployment(server.base_url, api_key_env="GPU_KEY"), {"GPU_KEY": KEY})

    message = str(caught.value)
    assert "check the value of the environment variable GPU_KEY" in message
    assert KEY not in message
    assert message.startswith(f"Deployment `ascend` ({server.base_url}) refused access (HTTP {status[:3]}: ")


async def test_a_missing_key_says_where_to_name_it(serve: Any, script: Any, deployment: Any) -> None:
    server = await serve(script.json({}, "401 Unauthorized"))

    with pytest.raises(EndpointError, match="with api_key_env"):
        await take(deployment(server.base_url))


async def test_a_page_is_no_api(serve: Any, script: Any, deployment: Any) -> None:
    server = await serve([script.head("200 OK", "text/html"), "<html><title>登录</title></html>".encode()])

    with pytest.raises(EndpointError, match="HTML page titled “登录”"):
        await take(deployment(server.base_url))


async def test_a_redirect_names_the_place(serve: Any, script: Any, deployment: Any) -> None:
    server = await serve([script.head("301 Moved", "text/html", "Location: https://new.invalid/v1")])

    with pytest.raises(EndpointError, match=r"redirects to https://new\.invalid/v1; put"):
        await take(deployment(server.base_url))


async def test_nobody_there(deployment: Any, free_port: int) -> None:
    with pytest.raises(EndpointError) as caught:
        await take(deployment(f"http://127.0.0.1:{free_port}/v1"))

    address = f"127.0.0.1:{free_port}"
    assert str(caught.value) == (
        f"Deployment `ascend` (http://{address}/v1) cannot be reached: {address} refused the connection: "
        "nothing listens there; check that the server runs and that base_url has the right port."
    )


async def test_an_unknown_name(deployment: Any) -> None:
    with pytest.raises(EndpointError, match=r"the name gpu\.invalid cannot be resolved; check base_url"):
        await take(deployment("http://gpu.invalid/v1"))


async def test_an_unknown_certificate_says_both_ways_out(
    serve: Any, script: Any, deployment: Any, self_signed: Any
) -> None:
    server = await serve(script.json({"data": []}), tls=self_signed.context)

    with pytest.raises(EndpointError, match=r"certificate.*ca_file.*verify = false"):
        await take(deployment(server.base_url))

    assert await take(deployment(server.base_url, ca_file=str(self_signed.ca_file))) == Fingerprint()


async def test_a_server_that_says_nothing(serve: Any, script: Any, deployment: Any) -> None:
    server = await serve([script.STALL])

    with pytest.raises(EndpointError, match=r"no byte of the answer within 0\.2 s; the server takes the connection"):
        await take(deployment(server.base_url, timeout_s={"first_byte": 0.2}))


FULL = Fingerprint(("a", "b"), "1.0", 8192, "ds", ("fp_1",))


def test_the_stored_form_comes_back() -> None:
    assert Fingerprint.from_json(FULL.to_json()) == FULL
    assert Fingerprint.from_json({}) == Fingerprint()
    assert Fingerprint.from_json({"models": 7, "version": 3, "max_model_len": True}) == Fingerprint()
    assert Fingerprint().to_json() == {}


def test_echoes_of_a_run_are_added() -> None:
    echoed = Fingerprint().with_echoes(["ds", None, "ds"], ["fp_2", "fp_1", None])

    assert echoed == Fingerprint(echoed_model="ds", system_fingerprints=("fp_1", "fp_2"))
    assert FULL.with_echoes([None], []) == FULL


def test_differences_are_sentences_and_the_unknown_is_none() -> None:
    after = Fingerprint(("b", "c"), "1.1", 2048, "ds-npu", ("fp_1", "fp_2"))

    assert differences(FULL, FULL) == ()
    assert differences(Fingerprint(), FULL) == differences(FULL, Fingerprint()) == ()
    assert [said.zh for said in differences(FULL, after)] == [
        "版本原为 1.0，现为 1.1。",
        "模型的窗口原为 8192，现为 2048。",
        "回答中的模型名原为 ds，现为 ds-npu。",
        "模型列表变了：不再有 a，新增 c。",
        "系统指纹（system_fingerprint）原为 fp_1，现在还出现了 fp_2。",
    ]
    assert tuple(said.en for said in differences(FULL, after)) == (
        "The version was 1.0 and is now 1.1.",
        "The window of the model was 8192 and is now 2048.",
        "The model name in the answers was ds and is now ds-npu.",
        "The list of models changed: a is gone and c is new.",
        "The system fingerprint was fp_1; now fp_2 was seen too.",
    )
