"""What becomes of one request at the end of a window, in numbers and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.text.counted import grouped
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.deployment.targets.target import Target

Fate: TypeAlias = Literal["fits", "answer cut short", "no room for an answer", "refused", "cut", "unknown"]
"""What becomes of a request: `cut` means status 200 for a prompt that the server shortened without a word."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a server would do with one request."""

    fate: Fate
    sentence: Sentence
    status: int | None = None
    """The HTTP status; None where it is not known."""
    answer_room: int | None = None
    """Tokens that the answer can have; None where the request is refused or nothing is known."""
    lost: int = 0
    """Tokens of the prompt that the model would not see."""


_UNKNOWN: Final = Served(
    "unknown",
    Sentence("What the server does here is not known.", "无法判断服务端在此情况下的行为。"),
)
_NO_ROOM: Final = Served(
    "no room for an answer",
    Sentence(
        "The prompt fills the window: the answer is empty, with status 200.",
        "提示词占满了窗口：回答为空，状态码仍为 200。",
    ),
    status=200,
    answer_room=0,
)
_FITS: Final = Sentence("The request fits into the window.", "请求在窗口之内。")


def served(target: Target, prompt: int, max_tokens: int | None = None) -> Served:
    """What the server does with a prompt of so many tokens.

    Args:
        target: whose window it is.
        prompt: counted tokens of the whole rendered prompt.
        max_tokens: of the request; None when it asks for no limit.
    """
    window, longest = target.window, target.longest_prompt
    if window is None or longest is None:
        return _UNKNOWN
    if prompt > longest:
        return _too_long(target, prompt, longest, window)
    room = window - prompt
    if room > 0 and (max_tokens is None or max_tokens <= room):
        return Served("fits", _FITS, status=200, answer_room=room if max_tokens is None else max_tokens)
    return _NO_ROOM if max_tokens is None else _answer_too_long(target, prompt, max_tokens, window)


def _answer_too_long(target: Target, prompt: int, max_tokens: int, window: int) -> Served:
    if target.max_tokens == "unknown":
        return _UNKNOWN
    room = window - prompt
    if target.max_tokens == "refuse":
        status, total = target.over_length_status, prompt + max_tokens
        sentence = Sentence(
            f"Prompt and `max_tokens` have {grouped(total, 'token')}, the window {window:,}: the server answers "
            f"{status}.",
            f"提示词与 `max_tokens` 共 {total:,} 个 token，窗口为 {window:,}：服务端返回 {status}。",
        )
        return Served("refused", sentence, status=status)
    if not room:
        return _NO_ROOM
    sentence = Sentence(
        f"Only {room:,} of {grouped(max_tokens, 'token')} {'is' if room == 1 else 'are'} left for the answer: it ends "
        "early, with status 200.",
        f"只剩 {room:,} 个 token 可用于回答（请求了 {max_tokens:,} 个）：会提前结束，状态码仍为 200。",
    )
    return Served("answer cut short", sentence, status=200, answer_room=room)


def _too_long(target: Target, prompt: int, longest: int, window: int) -> Served:
    status = target.over_length_status
    if target.over_length == "refuse":
        sentence = Sentence(
            f"The prompt has {grouped(prompt, 'token')}, at most {longest:,} are taken: the server answers {status}.",
            f"提示词有 {prompt:,} 个 token，最多接受 {longest:,} 个：服务端返回 {status}。",
        )
        return Served("refused", sentence, status=status)
    head = target.over_length == "keep-head"
    en = "its end, with the newest question," if head else "its beginning, with the system text,"
    zh = "末尾（含最新的提问）" if head else "开头（含系统文本）"
    sentence = Sentence(
        f"The prompt has {grouped(prompt, 'token')}, {longest:,} are taken: {en} is cut away silently, with status "
        "200.",
        f"提示词有 {prompt:,} 个 token，只接受 {longest:,} 个：{zh}会被悄悄截掉，状态码仍为 200。",
    )
    return Served("cut", sentence, status=200, answer_room=window - longest, lost=prompt - longest)
