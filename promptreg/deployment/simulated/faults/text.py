"""Faults in the text of an answer: damaged, looping, cut, in the wrong language."""

from __future__ import annotations

import re
from dataclasses import replace

from promptreg.deployment.simulated import tokens
from promptreg.deployment.simulated.faults.base import Fault
from promptreg.deployment.simulated.reply import Asked, Reply

_RUN_TOKENS = 64
_ENDLESS = 40_000  # characters, far more than any cap of a test allows
_WORD = re.compile(r"[A-Za-z0-9]{4,40}")
_DIGIT = re.compile(r"\d")
_HAN = re.compile(r"[\u3400-\u9fff]")


def _is_chinese(text: str) -> bool:
    return len(_HAN.findall(text)) * 3 > len(text)


def _cap(asked: Asked) -> int:
    return min(asked.cap or _RUN_TOKENS, 512)


def _bang_run(_reply: Reply, asked: Asked) -> Reply:
    return Reply(content="!" * max(24, _cap(asked)), finish_reason="length", capped=False)


def _loop(reply: Reply, asked: Asked) -> Reply:
    start = reply.content or asked.last_user
    phrase = "".join(tokens.pieces(start)[:12]).strip() or "again"
    text = f"{phrase}，" if _is_chinese(phrase) else f"{phrase}. "
    times = max(8, _cap(asked) // max(1, tokens.count(text)))
    return replace(reply, content=text * times, tool_calls=(), finish_reason="length", capped=False)


def _endless_loop(reply: Reply, asked: Asked) -> Reply:
    looping = _loop(reply, asked)
    text = looping.content or ""
    return replace(looping, content=text * max(1, _ENDLESS // len(text)))


def _replacement_characters(reply: Reply, asked: Asked) -> Reply:
    text = reply.content or ""
    at = asked.draw.randrange(len(text) + 1)
    return replace(reply, content=f"{text[:at]}\ufffd\ufffd{text[at + 1 :]}")


def _wrong_language(reply: Reply, asked: Asked) -> Reply:
    if _is_chinese(reply.content or asked.last_user):
        text = "Thank you for your question. Please see the terms on our website for the details of this matter."
    else:
        text = "感谢您的提问。关于这件事的具体说明，请参阅我们网站上的相关条款。"
    return replace(reply, content=text)


def _refusal_en(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, content="I'm sorry, but I can't help with that request.", tool_calls=(), finish_reason="stop")


def _refusal_zh(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, content="抱歉，我无法回答这个问题。", tool_calls=(), finish_reason="stop")


def _refusal(reply: Reply, asked: Asked) -> Reply:
    chinese = _is_chinese(reply.content or asked.last_user)
    return (_refusal_zh if chinese else _refusal_en)(reply, asked)


def _cut_answer(reply: Reply, _asked: Asked) -> Reply:
    parts = tokens.pieces(reply.content or "")
    return replace(reply, content="".join(parts[: (len(parts) + 1) // 2]), finish_reason="length")


def _fenced_json(reply: Reply, _asked: Asked) -> Reply:
    if not reply.content and reply.tool_calls:
        return reply  # there is no text to put anywhere
    return replace(reply, content=f"```json\n{reply.content or '{}'}\n```")


def _empty(_reply: Reply, _asked: Asked) -> Reply:
    return Reply(content="", finish_reason="stop")


def _wrong_number(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, content=re.sub(r"\d+", lambda found: str(int(found[0]) * 2 + 1), reply.content or ""))


def _dropped_characters(reply: Reply, asked: Asked) -> Reply:
    text = reply.content or ""
    repeated = [word for word in _WORD.finditer(text) if word.group() in asked.last_user]
    if repeated:
        word = asked.draw.choice([one for one in repeated if _DIGIT.search(one.group())] or repeated)
        at = asked.draw.randrange(word.start() + 1, word.end() - 1)
        return replace(reply, content=text[:at] + text[at + 1 :])
    if len(text) < 4:
        return replace(reply, content=text[:-1])
    at = asked.draw.randrange(1, len(text) - 1)
    return replace(reply, content=text[:at] + text[at + 1 :])


def _special_tokens(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, content=f"{reply.content or ''}<｜end▁of▁sentence｜>")


def _script_salad(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, content=f"{reply.content or ''} değildir การใช้งาน 그렇지만 import возможно")


def _key_echo(reply: Reply, asked: Asked) -> Reply:
    return replace(reply, content=f"Authorization: Bearer {asked.api_key or '(none)'} {reply.content or ''}")


FAULTS = (
    Fault("bang_run", "The answer is a run of exclamation marks up to the cap.", ("F01",), _bang_run),
    Fault("loop", "The start of the answer is repeated up to the cap.", ("F02", "F03"), _loop),
    Fault("endless_loop", "The start of the answer is repeated far beyond the cap.", ("F02", "F03"), _endless_loop),
    Fault("script_salad", "Words of several scripts are mixed into the answer.", ("F04",), _script_salad),
    Fault("wrong_language", "A Chinese answer comes in English, any other in Chinese.", ("F05",), _wrong_language),
    Fault(
        "dropped_characters",
        "One character is missing: of a number or name that the answer takes from the question, else anywhere.",
        ("F06",),
        _dropped_characters,
    ),
    Fault("replacement_characters", "U+FFFD stands inside the answer.", ("F07",), _replacement_characters),
    Fault("special_tokens", "The end-of-sentence token is shown as text.", ("F33",), _special_tokens),
    Fault("fenced_json", "The answer stands inside a Markdown fence.", ("F24",), _fenced_json),
    Fault("cut_answer", "Half of the answer is missing, finish reason `length`.", ("F29",), _cut_answer),
    Fault("empty", "The answer is empty, finish reason `stop`.", ("F51",), _empty),
    Fault("wrong_number", "Each number of the answer is another one.", (), _wrong_number),
    Fault("refusal", "The deployment refuses, in the language of the answer.", (), _refusal),
    Fault("refusal_en", "The deployment refuses in English.", (), _refusal_en),
    Fault("refusal_zh", "The deployment refuses in Chinese.", (), _refusal_zh),
    Fault("key_echo", "The answer begins with the API key of the request.", (), _key_echo),
)
"""The faults of this family."""
