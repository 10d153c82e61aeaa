"""Writes tests/data/llama_cpp/answers.jsonl: what a real llama.cpp server sends, byte for byte, and what was asked.

python benchmarks/record_llama_answers.py

Each line is what `promptreg diagnose` reads: the request, the status, and the body or the stream as text. The server is
the demo's (extra `local`), with a window of 512 tokens so that the context overflow is cheap. The times and ids in the
file change with each recording; nothing of this machine is in it.
"""

from __future__ import annotations

import json
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from promptreg.demo.llama import LlamaServer
from promptreg.demo.llama_child import MODEL_NAME

PAGE = Path(__file__).parents[1] / "tests" / "data" / "llama_cpp" / "answers.jsonl"
WINDOW = 512

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def user(text: str, **fields: Any) -> dict[str, Any]:
    """A request of one message, at temperature 0 so that recording again gives the same texts."""
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 48, **fields}


REQUESTS: dict[str, dict[str, Any]] = {
    "plain": user("What is the capital of France? Answer in one short sentence."),
    "chinese": user("用中文写一句问候语。"),
    "emoji": user("Repeat exactly: 👍🏽 你好 — done"),
    "cut": user("Tell a long story about the sea.", max_tokens=12),
    "stop": user("Count: 1, 2, 3, 4, 5, 6, 7, 8, 9", stop=["5"]),
    "json_schema": user(
        "I stay in Berlin for three days. Give city and days as JSON.",
        response_format={"type": "json_schema", "json_schema": {"name": "stay", "strict": True, "schema": CITY}},
    ),
    "json_object": user(
        "Give a JSON object with one key, city, for Paris.", response_format={"type": "json_object"}, max_tokens=64
    ),
    "tool": user("What is the weather in Paris? Use the tool.", tools=[WEATHER]),
    "tool_required": user(
        "Is it warm in Paris? Answer in five words.", tools=[WEATHER], tool_choice="required", max_tokens=160
    ),
    "overflow": user("The invoice is due. " * 200),
    "bad_role": {"messages": [{"role": "user"}], "max_tokens": 4},
    "bad_schema": user("Hi", response_format={"type": "json_schema", "json_schema": {"schema": {"type": "colour"}}}),
}
"""What is asked, by name; each once with and once without a stream."""


def send(base_url: str, request: dict[str, Any]) -> dict[str, Any]:
    """One call, as a line of the file without its id."""
    body = {"model": MODEL_NAME, **request}
    call = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(call, timeout=300) as response:
            status, kind, text = response.status, response.headers["Content-Type"], response.read().decode()
    except urllib.error.HTTPError as refused:
        status, kind, text = refused.code, refused.headers["Content-Type"], refused.read().decode()
    sent_as = "raw_stream" if kind.startswith("text/event-stream") else "raw"
    return {"request": body, "status": status, "headers": {"content-type": kind}, sent_as: text}


def main() -> None:
    """Record everything."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    with (
        tempfile.TemporaryDirectory() as folder,
        LlamaServer(cache="f16", window=WINDOW, slots=1, log=Path(folder) / "server.log", threads=1) as server,
    ):
        for name, request in REQUESTS.items():
            lines.append({"id": name, **send(server.base_url, request)})
            streamed = {**request, "stream": True, "stream_options": {"include_usage": True}}
            lines.append({"id": f"{name}-stream", **send(server.base_url, streamed)})
            print(name, [line["status"] for line in lines[-2:]])
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    PAGE.write_text(text, encoding="utf-8", newline="")
    print(PAGE.relative_to(Path(__file__).parents[1]))


if __name__ == "__main__":
    main()
