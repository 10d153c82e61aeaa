"""Whether what went out is what was returned, for cases under a context; and what a server made of it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.canonical import canonical_json
from promptreg.context.cut import ESTIMATE_TOLERANCE, TEMPLATE_SLACK, silent_cut
from promptreg.deployment.exchange import Exchange, Failure, FailureKind
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.reader import read_exchange
from promptreg.replay.sample import Sample
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.refused import refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.deployment.reading import Reading
    from promptreg.replay.sample import Call
    from promptreg.workflow.context.contexts import Contexts

NEVER_ASKED: Final = frozenset({FailureKind.NOT_FITTED, FailureKind.SENT_OTHERWISE})
"""Failures of a call for which the deployment is not to blame: it was not asked, or not what it should have been."""

_EXACT_TOLERANCE: Final = 0.02


def unsent_sample(call: Call, problem: Sentence) -> Sample:
    """A failed sample of a case that cannot be shortened enough; nothing was sent for it."""
    attempt = Exchange(time.time(), 0.0, failure=Failure(FailureKind.NOT_FITTED, problem.en))
    return Sample(call, (attempt,), read_exchange(attempt), 0)


def is_unsent(exchange: Exchange) -> bool:
    """Whether an attempt stands for a call of a case that cannot be shortened enough."""
    return exchange.failure is not None and exchange.failure.kind is FailureKind.NOT_FITTED


def never_asked(exchange: Exchange) -> bool:
    """Whether an attempt says nothing of the deployment."""
    return exchange.failure is not None and exchange.failure.kind in NEVER_ASKED


def proved(sample: Sample) -> Sample:
    """The sample without the bodies that went out; a failed one where those held other messages than they should.

    An answer to another prompt is no answer of the case, so it is not kept. A transport that cannot tell what went
    out (a function of the user's own) proves nothing, and that is said elsewhere.
    """
    expected = sample.call.request.messages
    bodies = [attempt.sent for attempt in sample.attempts]
    wrong = next((told for body in bodies if body is not None and (told := difference(body, expected))), None)
    attempts = tuple(attempt if attempt.sent is None else replace(attempt, sent=None) for attempt in sample.attempts)
    if wrong is None:
        return replace(sample, attempts=attempts)
    last = attempts[-1]
    failure = Failure(FailureKind.SENT_OTHERWISE, f"What went out is not what the context returned: {wrong}.")
    last = Exchange(last.sent_at, last.duration_s, failure=failure)
    return replace(sample, attempts=(*attempts[:-1], last), reading=read_exchange(last))


def difference(body: bytes, expected: Sequence[JsonObject]) -> str | None:
    """In what a body differs from the messages that it should hold, by the first one that does; None in nothing."""
    try:
        document = parse_json(body)
    except ValueError:
        return "the body is no JSON"
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(messages, list):
        return "the body has no messages"
    for place, (message, should) in enumerate(zip(messages, expected, strict=False)):
        if canonical_json(message) != canonical_json(should):
            role = should.get("role")
            return f"message {place} ({role}) is another one"
    if len(messages) != len(expected):
        return f"{counted(len(messages), 'message')} went out, not {len(expected)}"
    return None


class Cuts:
    """Answers for which the server counted clearly fewer tokens than were sent, and prompts that it refused for length.

    Args:
        contexts: of the cases that are asked.
        server: kind of the server, where it is known.
    """

    def __init__(self, contexts: Contexts, server: str | None = None) -> None:
        self._contexts = contexts
        self._server = server
        self._found: dict[tuple[str, str], Sentence] = {}
        self._refused: dict[tuple[str, str], Sentence] = {}

    def see(self, key: tuple[str, str], reading: Reading, exchange: Exchange | None = None) -> None:
        """Look at one answer.

        Args:
            key: suite and case id.
            reading: of the call.
            exchange: its last attempt.
        """
        case = self._contexts.cases.get(key)
        if case is None or case.fitted is None:
            return
        if exchange is not None and key not in self._refused:
            said = refused(case, self._contexts.deployment, exchange, self._server)
            if said is not None:
                self._refused[key] = said.sentence
        if reading.usage is None or key in self._found:
            return
        found = silent_cut(
            case.fitted.total,
            reading.usage.prompt_tokens,
            counter=case.counter,
            tolerance=_EXACT_TOLERANCE if case.exact else ESTIMATE_TOLERANCE,
            slack=TEMPLATE_SLACK,
        )
        if found is not None:
            self._found[key] = found.sentence

    def warnings(self) -> list[Sentence]:
        """A sentence of each kind, with the first case as the example; none where every prompt arrived whole."""
        return [_of_all(found) for found in (self._found, self._refused) if found]


def _of_all(found: Mapping[tuple[str, str], Sentence]) -> Sentence:
    (suite, case_id), said = next(iter(sorted(found.items(), key=lambda item: item[0])))
    more = len(found) - 1
    more_en = f" The same holds for {counted(more, 'more case')}." if more else ""
    more_zh = f"另有 {more} 个用例也是如此。" if more else ""
    return Sentence(f"{suite}/{case_id}: {said.en}{more_en}", f"{suite}/{case_id}：{said.zh}{more_zh}")


def context_warnings(contexts: Contexts, told_window: int | None) -> list[Sentence]:
    """What whoever reads a run must know about how its conversations were shortened.

    Args:
        contexts: of the cases that were asked.
        told_window: the window that the server tells; None where it does not.
    """
    cases = contexts.cases.values()
    found = list(dict.fromkeys(case.guessed for case in cases if case.guessed is not None))
    too_large = [case for case in cases if told_window is not None and case.budget.window > told_window]
    if too_large:
        largest = max(case.budget.window for case in too_large)
        found.append(
            Sentence(
                f"Conversations were shortened for a window of {counted(largest, 'token')}, but "
                f"`{contexts.deployment}` says that its window has {told_window}. Correct `window`.",
                f"对话按 {largest} 个 token 的窗口缩短，但 `{contexts.deployment}` 说它的窗口是 {told_window}。"
                "请更正 `window`。",
            )
        )
    blind = sum(not case.provable for case in cases)
    if blind:
        found.append(
            Sentence(
                f"Whether `{contexts.deployment}` sends the shortened conversations on as they are is not provable: it "
                f"is a function of your own (`call`), which got them for {counted(blind, 'case')}.",
                f"`{contexts.deployment}` 是否原样转发缩短后的对话无法证明：它是您自己的函数（`call`），"
                f"有 {blind} 个用例的对话交给了它。",
            )
        )
    return found
