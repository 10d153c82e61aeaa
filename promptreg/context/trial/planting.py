"""Facts planted into conversations, to see which of them a strategy leaves.

Each depth gets a fact of each kind; the roles that say them and where in their messages they stand take turns. System
messages get facts of their own. Values come from a seed, and none occurs in the conversation before.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import content_text, texts_of
from promptreg.context.groups import is_result, is_system
from promptreg.context.trial.calls import sent_at_last
from promptreg.context.trial.known import Inside, Kind, KnownFact
from promptreg.context.trial.planting_texts import (
    COLOURS,
    FAMILY,
    GIVEN,
    HAN_FAMILY,
    HAN_GIVEN,
    HAN_SYLLABLES,
    MONTHS,
    SYLLABLES,
    THINGS,
    WORDINGS,
)
from promptreg.errors import UsageError
from promptreg.text.segment import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.canonical import Json
    from promptreg.context.conversations import Recording
    from promptreg.context.count.counting import Message
    from promptreg.context.trial.corpus_texts import Script

DEPTHS: Final = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""How far into the conversation facts are planted: 0 is the first turn, 1 the newest."""

_SPOKEN: Final = ("user", "assistant", "tool")
_HAN: Final = re.compile("[\u3400-\u9fff]")
_OF_SYSTEM: Final = (Kind.NUMBER, Kind.DATE, Kind.NAME, Kind.IDENTIFIER, Kind.PREFERENCE, Kind.NEGATION)
_MOST_DRAWS: Final = 1000
_LETTERS: Final = "ABCDEFGHJKLMNPQRTUVWXYZ"


def plant(
    recording: Recording, seed: int, *, depths: Sequence[float] = DEPTHS, kinds: Sequence[Kind] = tuple(Kind)
) -> Recording:
    """The conversation with facts in it; what it was known to say before stays known.

    A fact that is meant for a tool's result or an answer stands in the nearest one, at most a fortieth of the
    conversation away, else in the user's message. Facts of the first turn stand in that turn, those of the newest in
    that one, and none stands in an answer after the last call, which is in no prompt. The newest user message is in
    every prompt, so facts of depth 1 are lost only where a strategy shortens tool results of the newest turn. Where a
    value is corrected or one of two options is chosen, the user says the old one halfway between the beginning and the
    place of the new one.

    Args:
        recording: A conversation. It is not changed.
        seed: Of the values.
        depths: Each 0 to 1.
        kinds: The kinds of facts at each depth.
    """
    planter = _Planter(recording, random.Random(f"{seed}/{recording.conversation_id}"))  # noqa: S311 - no secret
    for row, depth in enumerate(depths):
        for column, kind in enumerate(kinds):
            place = list(Inside)[(row + column // 3) % 3]
            planter.spoken(kind, depth, _SPOKEN[(row + column) % 3], place)
    for column, kind in enumerate(kind for kind in kinds if kind in _OF_SYSTEM):
        planter.system(kind, list(Inside)[column % 3])
    return planter.planted()


def decoys(recording: Recording, seed: int, kinds: Sequence[Kind] = tuple(Kind)) -> tuple[KnownFact, ...]:
    """Facts that look like planted ones and stand nowhere in the conversation: all of them must read as lost."""
    planter = _Planter(recording, random.Random(f"decoy/{seed}/{recording.conversation_id}"))  # noqa: S311 - no secret
    return tuple(planter.decoy(kind) for kind in kinds)


class _Planter:
    """Puts facts into a conversation one after the other."""

    def __init__(self, recording: Recording, source: random.Random) -> None:
        self._recording = recording
        self._random = source
        self._messages: list[Message] = list(recording.messages)
        self._facts: list[KnownFact] = list(recording.facts)
        written = (text for message in recording.messages for text in texts_of(message))
        self._taken = "\n".join(written).casefold()
        self._turns = _turns(recording.messages)

    def planted(self) -> Recording:
        return replace(self._recording, messages=tuple(self._messages), facts=tuple(self._facts))

    def spoken(self, kind: Kind, depth: float, role: str, inside: Inside) -> None:
        """Plant a fact into a turn, where there is one."""
        if not self._turns:
            return
        turn = round(depth * (len(self._turns) - 1))
        trap = kind in (Kind.UPDATE, Kind.DECISION)
        if trap and turn == 0 and len(self._turns) > 1:
            turn = 1  # the old value has to be said before
        index = self._nearest(turn, role) if role != "user" else None
        if index is None:
            index = self._in_turn(turn, "user")
        earlier = self._in_turn(turn // 2, "user") if trap else None
        if index is None or (trap and (earlier is None or earlier >= index)):
            return
        script = _script(self._messages[index])
        fact = self._fact(kind, script)
        if earlier is not None:
            self._insert(earlier, _say(fact, script, before=True), inside)
        self._insert(index, _say(fact, script), inside)
        self._facts.append(
            replace(fact, role=str(self._messages[index].get("role")), index=index, depth=depth, inside=inside)
        )

    def system(self, kind: Kind, inside: Inside) -> None:
        """Plant a fact into the first system message, where there is one."""
        places = [index for index, message in enumerate(self._messages) if is_system(message) and _takes(message)]
        if not places:
            return
        script = _script(self._messages[places[0]])
        fact = self._fact(kind, script)
        self._insert(places[0], _say(fact, script), inside)
        self._facts.append(replace(fact, role="system", index=places[0], inside=inside))

    def decoy(self, kind: Kind) -> KnownFact:
        script = _script(self._messages[-1]) if self._messages else "en"
        return replace(self._fact(kind, script, name="decoy"), index=None)

    def _nearest(self, turn: int, role: str) -> int | None:
        """The message of this role in the nearest turn that has one, the later of two equally near."""
        reach = max(1, len(self._turns) // 40)
        last = len(self._turns) - 1
        # Only facts of the first turn stand in the first turn, and only those of the newest in the newest.
        within = range(turn, turn + 1) if turn in (0, last) else range(1, last)
        for distance in range(reach + 1):
            for there in (turn + distance, turn - distance):
                if there in within and (index := self._in_turn(there, role)) is not None:
                    return index
        return None

    def _in_turn(self, turn: int, role: str) -> int | None:
        for index in self._turns[turn]:
            message = self._messages[index]
            is_role = is_result(message) if role == "tool" else message.get("role") == role and not is_result(message)
            if is_role and _takes(message):
                return index
        return None

    def _fact(self, kind: Kind, script: Script, name: str = "planted") -> KnownFact:
        subject = self._new(lambda: self._subject(script))
        value = self._new(lambda: self._value(kind, script))
        trap = kind in (Kind.UPDATE, Kind.DECISION)
        outdated = (self._new(lambda: self._value(kind, script)),) if trap else ()
        asks = WORDINGS[script][kind].asks.format(subject=subject)
        return KnownFact(f"{name}-{len(self._facts) + 1}-{kind}", kind, value, outdated, subject, asks)

    def _new(self, draw: Callable[[], str]) -> str:
        """A value that neither the conversation nor another fact has.

        Raises:
            UsageError: there are no more.
        """
        for _ in range(_MOST_DRAWS):
            value = draw()
            if value.casefold() not in self._taken:
                self._taken += "\n" + value.casefold()
                return value
        raise UsageError(f"No new value is left after {len(self._facts)} facts. Plant fewer into one conversation.")

    def _subject(self, script: Script) -> str:
        if script == "zh":
            return "".join(self._random.sample(HAN_SYLLABLES, 3)) + "项目"
        return "project " + "".join(self._random.sample(SYLLABLES, 3)).capitalize()

    def _value(self, kind: Kind, script: Script) -> str:
        source = self._random
        match kind:
            case Kind.NUMBER:
                number = source.randint(10_000, 999_999)
                value = f"{number}元" if script == "zh" else f"{number:,} euros"
            case Kind.DATE:
                year, month, day = source.randint(2031, 2079), source.randint(1, 12), source.randint(1, 28)
                value = f"{year}年{month}月{day}日" if script == "zh" else f"{day} {MONTHS[month - 1]} {year}"
            case Kind.NAME if script == "zh":
                value = source.choice(HAN_FAMILY) + "".join(source.sample(HAN_GIVEN, 2))
            case Kind.NAME:
                value = f"{source.choice(GIVEN)} {source.choice(FAMILY)}"
            case Kind.PREFERENCE:
                colour, thing = source.choice(COLOURS[script]), source.choice(THINGS[script])
                maker = "".join(source.sample(SYLLABLES, 2)).capitalize()
                value = f"{maker}牌{colour}{thing}" if script == "zh" else f"{colour} {thing} by {maker}"
            case Kind.DECISION:
                value = "".join(source.sample(SYLLABLES, 2)).capitalize() + "wick"  # no subject ends like this
            case _:
                letters = "".join(source.choice(_LETTERS) for _ in range(3))
                value = f"{letters[:2]}{source.randint(1, 9)}-{source.randint(10_000, 99_999)}{letters[2]}"
        return value

    def _insert(self, index: int, text: str, inside: Inside) -> None:
        message = self._messages[index]
        content = message.get("content")
        changed: Json
        if isinstance(content, str):
            changed = _into(content, text, inside)
        else:
            parts = list(content) if isinstance(content, (list, tuple)) else []
            place = next(place for place, part in enumerate(parts) if content_text([part]))
            part = parts[place]
            written = _into(content_text([part]), text, inside)
            parts[place] = {**part, "text": written} if isinstance(part, dict) else written
            changed = parts
        self._messages[index] = {**message, "content": changed}


def _turns(messages: Sequence[Message]) -> list[list[int]]:
    """Places of the messages of each turn that are in a prompt; those before the first user message are in none."""
    turns: list[list[int]] = []
    for index, message in enumerate(messages[: sent_at_last(messages)]):
        if message.get("role") == "user" and not is_result(message):
            turns.append([])
        if turns and not is_system(message):
            turns[-1].append(index)
    return turns


def _takes(message: Message) -> bool:
    """Whether there is a text that a fact can be put into."""
    return bool(content_text(message.get("content")).strip())


def _script(message: Message) -> Script:
    return "zh" if _HAN.search(content_text(message.get("content"))) else "en"


def _say(fact: KnownFact, script: Script, *, before: bool = False) -> str:
    wording = WORDINGS[script][fact.kind]
    old = fact.outdated[0] if fact.outdated else ""
    return (wording.before if before else wording.says).format(subject=fact.subject, value=fact.value, old=old)


def _into(content: str, text: str, inside: Inside) -> str:
    """The content with a sentence put in; JSON stays JSON, code stays whole."""
    value = _json_object(content)
    if value is not None:
        items: list[tuple[str, Json]] = list(value.items())
        number = sum(key.startswith("remark") for key in value) + 1
        items.insert(_position(len(items), inside), (f"remark_{number}", text))
        return json.dumps(dict(items), ensure_ascii=False)
    pieces = sentences(content)
    place = _position(len(pieces), inside)
    while place < len(pieces) and "".join(pieces[:place]).count("```") % 2:
        place += 1
    before, after = "".join(pieces[:place]), "".join(pieces[place:])
    if before.count("```") % 2:  # an open fence: whatever follows would be code
        before, after = "", content
    return f"{before}{_gap(before)}{text}{_gap(text) if after else ''}{after}"


def _json_object(content: str) -> Mapping[str, Json] | None:
    if not content.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _position(count: int, inside: Inside) -> int:
    return {Inside.START: 0, Inside.MIDDLE: count // 2, Inside.END: count}[inside]


def _gap(text: str) -> str:
    """What separates a text from the next sentence."""
    if not text or text[-1].isspace():
        return ""
    if text.endswith("```"):
        return "\n"
    return "" if text[-1] in "。！？；" else " "
