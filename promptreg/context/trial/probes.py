"""Questions that show whether a model still knows what a conversation said, and exact checks of what it answers.

A fact that was said is asked for, and so are some that never were, of which a model has to say that it does not know
them. An answer is right when the value stands in it as it was said or as it reads (`retention`), and no other value
beside it that was asked for elsewhere: who repeats the whole conversation has found nothing.
"""

from __future__ import annotations

import random
import re
from collections import Counter as Tally
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.context.groups import is_result
from promptreg.context.strategies.summary import ACKNOWLEDGEMENT
from promptreg.context.trial.known import Kind
from promptreg.context.trial.planting import decoys
from promptreg.context.trial.retention import FactReader, Fate
from promptreg.text.facts.model import GROUP_OF
from promptreg.text.facts.read import read_facts
from promptreg.text.segment import words
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.context.conversations import Recording
    from promptreg.context.count.counting import Message
    from promptreg.context.trial.known import KnownFact

UNSAID_SHARE: Final = 5
"""For so many questions there is one about something that was never said."""

_ASKS: Final = {
    "en": "{question} Answer with the value alone, as it was said in this conversation. If it was not said, answer: "
    "not known.",
    "zh": "{question}只回答对话中说过的那个值，照原样写。如果对话中没有说过，请回答：未知。",
}
_ABOUT: Final = {"en": "What was said about {subject}?", "zh": "关于{subject}，说的是什么？"}
_HAN: Final = re.compile("[\u3400-\u9fff]")
_VERBS: Final = "know|known|said|say|mention|mentioned|state|stated|specify|specified|provide|provided|give|given"
_ABSTAINS: Final = re.compile(
    rf"\bunknown\b|\bno (?:information|mention|record|data)\b|(?:\bnot|n['\u2019]t) (?:been )?(?:{_VERBS}|available)\b"
    r"|\b(?:can ?not|can['\u2019]t|could not|unable to) (?:find|tell|determine|answer)\b"
    r"|未知|不知道|不清楚|未曾?(?:提及|提到|说明|说过|给出|提供|找到)|没有(?:提及|提到|说明|说过|给出|提供|找到|相关)"
    r"|无法(?:确定|得知|回答|找到)",
    re.IGNORECASE,
)


class Grade(StrEnum):
    """What an answer is worth."""

    CORRECT = "correct"
    STALE = "stale"
    """A value that was corrected or rejected."""
    ABSTAINED = "abstained"
    """It says that this was not said. Right where it never was."""
    WRONG = "wrong"
    UNSCORED = "unscored"
    """There is no answer that could be judged: the question could not be asked, or the answer was cut off."""

    @property
    def label(self) -> Sentence:
        """How reports call it."""
        return _LABELS[self]


_LABELS: Final[Mapping[Grade, Sentence]] = MappingProxyType(
    {
        Grade.CORRECT: Sentence("correct", "正确"),
        Grade.STALE: Sentence("old value", "旧值"),
        Grade.ABSTAINED: Sentence("“not known”", "“未知”"),
        Grade.WRONG: Sentence("wrong", "错误"),
        Grade.UNSCORED: Sentence("not scored", "未计分"),
    }
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One question about one conversation."""

    conversation: str
    fact: KnownFact
    said: bool
    """Whether the conversation says it; else the right answer is that it is not known."""
    others: tuple[str, ...] = ()
    """Values that are asked for elsewhere and of the same kind: none of them may stand beside the right one."""

    @property
    def question(self) -> str:
        """What the model is asked, in the language of the fact."""
        asked = self.fact.question.strip() or _ABOUT[_language(self.fact.subject)].format(subject=self.fact.subject)
        return _ASKS[_language(asked)].format(question=asked)


def probes_of(recordings: Sequence[Recording], most: int, seed: int) -> tuple[Probe, ...]:
    """Questions about conversations, drawn evenly over conversations and depths; the same ones for the same seed.

    Args:
        recordings: With their facts. Facts with neither a question nor a subject cannot be asked for.
        most: Questions about facts; beside them there is one about something never said for each five.
        seed: Of the drawing.
    """
    source = random.Random(f"probes/{seed}")  # noqa: S311 - no secret
    queues: dict[tuple[str, float | None], list[Probe]] = {}
    for recording in recordings:
        for fact in recording.facts:
            if fact.question.strip() or fact.subject.strip():
                probe = Probe(recording.conversation_id, fact, said=True, others=_others(fact, recording.facts))
                depth = None if fact.depth is None else round(fact.depth, 1)
                queues.setdefault((recording.conversation_id, depth), []).append(probe)
    drawn = list(queues.values())
    source.shuffle(drawn)
    for queue in drawn:
        source.shuffle(queue)
    said: list[Probe] = []
    while len(said) < most and any(drawn):
        said += [queue.pop() for queue in drawn if queue]
    said = said[:most]
    asked = {probe.conversation for probe in said}
    unsaid = _unsaid([recording for recording in recordings if recording.conversation_id in asked], len(said), seed)
    return (*said, *unsaid)


def _unsaid(recordings: Sequence[Recording], said: int, seed: int) -> list[Probe]:
    """Questions about what no conversation says, in turn of each."""
    wanted = -(-said // UNSAID_SHARE)
    found: list[Probe] = []
    drawn = 0
    while len(found) < wanted and recordings:
        for recording in recordings:
            for fact in decoys(recording, seed + drawn, [list(Kind)[drawn % len(Kind)]]):
                named = replace(fact, fact_id=f"never-said-{drawn + 1}-{fact.kind}")
                found.append(Probe(recording.conversation_id, named, said=False))
        drawn += 1
    return found[:wanted]


def _others(fact: KnownFact, facts: Sequence[KnownFact]) -> tuple[str, ...]:
    own = (fact.value, *fact.outdated)
    values = (other.value for other in facts if other.kind is fact.kind and other is not fact)
    return tuple(value for value in values if not any(value in mine or mine in value for mine in own))


def whole_prompt(recording: Recording) -> tuple[Message, ...]:
    """The conversation so that a question can follow: an answer at its end, and no call that waits for a result."""
    messages = recording.messages
    waiting = [place for place, message in enumerate(messages) if not is_result(message)]
    last = waiting[-1] if waiting else -1
    calls = messages[last].get("tool_calls") if last >= 0 else None
    if isinstance(calls, list) and len(messages) - 1 - last < len(calls):
        messages = messages[:last]
    if messages and messages[-1].get("role") == "assistant":
        return messages
    return (*messages, {"role": "assistant", "content": ACKNOWLEDGEMENT}) if messages else ()


def grade(probe: Probe, answer: str, reader: FactReader) -> Grade:
    """What an answer is worth.

    Args:
        probe: What was asked.
        answer: The whole text of the answer, without reasoning.
        reader: Remembers texts.
    """
    said = [{"role": "assistant", "content": answer}]
    # What must not be done is asked for without the word that denies.
    kind = Kind.IDENTIFIER if probe.fact.kind is Kind.NEGATION else probe.fact.kind
    looked_for = replace(probe.fact, kind=kind)
    beside = [replace(looked_for, value=value, outdated=()) for value in probe.others]
    fate, *others = reader.fates([looked_for, *beside], said)
    if fate.kept and probe.said and not any(other.kept for other in others):
        return Grade.CORRECT
    if fate is Fate.LOST and _ABSTAINS.search(answer):
        return Grade.ABSTAINED
    return Grade.STALE if fate is Fate.STALE and probe.said else Grade.WRONG


def token_f1(first: str, second: str) -> float:
    """How alike two answers are, 0 to 1: the F1 of their words and Chinese characters, counted; 1 for two empty ones.

    The measure of SQuAD (Rajpurkar et al. 2016), on our own segmentation.
    """
    one, other = Tally(words(first.casefold())), Tally(words(second.casefold()))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def number_difference(first: str, second: str) -> float | None:
    """Share of the numbers, dates and amounts of two answers that only one has, 0 to 1; None where neither has any."""
    one, other = _numbers(first), _numbers(second)
    return len(one ^ other) / len(one | other) if one or other else None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(fact.normal for fact in read_facts(text) if GROUP_OF[fact.kind] == "numbers")


def _language(text: str) -> str:
    return "zh" if _HAN.search(text) else "en"
