"""Against a real llama.cpp server: its refusal for length is read, and counted prompts are those that it bills."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from promptreg.config.model import Deployment
from promptreg.context.cut import silent_cut
from promptreg.demo import model
from promptreg.demo.llama import LlamaServer
from promptreg.deployment.overflow import read_overflow
from promptreg.deployment.targets.served import served
from promptreg.deployment.targets.target import target_of
from promptreg.deployment.tokenize import TokenEndpoint, counter_for
from promptreg.errors import UsageError

CHATS = (
    [{"role": "user", "content": "hi"}],
    [{"role": "system", "content": "你是客服。\r\n只用中文。"}, {"role": "user", "content": "退货期限是几天？ 😀 <b>"}],
    [
        {"role": "user", "content": "Write  two   words"},
        {"role": "assistant", "content": "one\n\ntwo"},
        {"role": "user", "content": "123456 again\n"},
    ],
)
WINDOW = 2048


def post(server, messages):
    body = {"model": "smollm2-135m", "max_tokens": 1, "messages": messages}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)["usage"]["prompt_tokens"]


@pytest.mark.model
def test_counts_and_refusals_of_a_real_server(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    try:
        model.find_model()
    except UsageError as missing:
        pytest.skip(str(missing))

    with LlamaServer(cache="f16", window=WINDOW, slots=1, log=tmp_path / "llama.log") as server:
        root = server.base_url.removesuffix("/v1")
        with urllib.request.urlopen(f"{root}/props", timeout=60) as response:
            template = tmp_path / "chat.jinja"
            template.write_text(json.load(response)["chat_template"], encoding="utf-8")
        target = Deployment(
            name="local", base_url=server.base_url, model="smollm2-135m", server="local", window=WINDOW,
            tokenizer=str(template),
        )  # fmt: skip

        with TokenEndpoint(target, {}) as endpoint:
            counter = counter_for(target, endpoint).counter
            for chat in CHATS:
                counted, billed = counter.prompt(chat), post(server, chat)
                assert counted == billed, (counter.name, chat)
                assert silent_cut(counted, billed, counter=counter.name) is None
            long = [{"role": "user", "content": "word " * 3000}]
            counted = counter.prompt(long)

        assert served(target_of(target), counted).fate == "refused"
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server, long)
        overflow = read_overflow(refused.value.code, refused.value.read(), "local")
        assert (overflow.what, overflow.window, overflow.prompt) == ("prompt", WINDOW, counted)
