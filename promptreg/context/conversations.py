"""Recorded conversations from files: JSON Lines, JSON, or folders of them. Every wrong line is one problem."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.hints import did_you_mean, listing
from promptreg.config.json_input import JsonInputError, refuse_constant, unique_keys
from promptreg.context.trial.known import Kind, KnownFact
from promptreg.errors import Place, Problem, ProjectError
from promptreg.suite.files import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Message

SUFFIXES: Final = (".jsonl", ".ndjson", ".json")
MOST_CONVERSATIONS: Final = 20_000
"""Of all files together; more is a mistake."""
MOST_MESSAGES: Final = 100_000
"""Of one conversation."""
_MOST_PROBLEMS: Final = 200
DEEPEST: Final = 100
"""Levels of lists and objects in one value."""

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
"""Of messages."""
_NAMES: Final = listing([f"*{suffix}" for suffix in SUFFIXES])
_FACT_KEYS: Final = ("id", "value", "kind", "outdated", "subject", "question", "message")
_ADVICE: Final = (
    'A line is a conversation, `{"id": "…", "messages": [{"role": "user", "content": "…"}, …]}`, or one message, '
    '`{"conversation": "…", "role": "user", "content": "…"}`.'
)


@dataclass(frozen=True, slots=True)
class Recording:
    """A conversation as it was recorded, or made."""

    conversation_id: str
    messages: tuple[Message, ...]
    """May be empty."""
    tools: tuple[JsonObject, ...] = ()
    """The tools of its requests."""
    facts: tuple[KnownFact, ...] = ()
    """What it is known to say."""
    place: Place | None = None
    """Where it was read; None when it was made."""

    @property
    def named(self) -> str:
        """How a message about it begins: where it was read, else its id."""
        return f"Conversation `{self.conversation_id}`" if self.place is None else str(self.place)


class _WrongError(ValueError):
    """A part of a line is wrong. The message is a sentence."""


def read_recordings(paths: Sequence[Path], root: Path | None = None) -> tuple[Recording, ...]:
    """Every conversation in these files and folders, folders with all their subfolders, sorted by name.

    A file of JSON Lines has a conversation on each line, or one message on each line, which belong together by their
    `conversation`, all of the file where there is none. A `.json` file is one conversation or a list of messages.

    Args:
        paths: Files and folders.
        root: Paths in messages are shown from here; None: as they are given.

    Raises:
        ProjectError: with every line that is wrong, and when nothing is found.
    """
    problems: list[Problem] = []
    recordings: dict[str, Recording] = {}
    for path in _files(paths, problems, root):
        for item in _read_file(path, _shown(path, root)):
            if isinstance(item, Problem):
                problems.append(item)
            elif (other := recordings.get(item.conversation_id)) is not None:
                text = f"The conversation id `{item.conversation_id}` stands at {other.place} already."
                problems.append(Problem(f"{text} Give each its own.", item.place))
            else:
                recordings[item.conversation_id] = item
            if len(problems) >= _MOST_PROBLEMS:
                raise ProjectError(
                    [*problems, Problem("So much is wrong that the rest was not read.", problems[-1].place)]
                )
            if len(recordings) > MOST_CONVERSATIONS:
                raise ProjectError(f"There are more than {MOST_CONVERSATIONS} conversations. Read them in parts.")
    if problems:
        raise ProjectError(problems)
    return tuple(recordings.values())


def _files(paths: Sequence[Path], problems: list[Problem], root: Path | None) -> list[Path]:
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            files = files_below(path, SUFFIXES)
            if not files:
                problems.append(Problem(f"The folder {_shown(path, root)} has no file {_NAMES}."))
        else:
            files = [path]
        for file in files:
            found.setdefault(os.path.realpath(file), file)
    if not found and not problems:
        problems.append(Problem("No conversations were named. Name a file or a folder."))
    return list(found.values())


def _shown(path: Path, root: Path | None) -> str:
    if root is not None and path.absolute().is_relative_to(root.absolute()):
        path = path.absolute().relative_to(root.absolute())
    return path.as_posix()


def _read_file(path: Path, shown: str) -> Iterator[Recording | Problem]:
    if path.suffix.lower() not in SUFFIXES:
        yield Problem(
            f"A file of conversations is one of {listing([f'*{suffix}' for suffix in SUFFIXES])}.", Place(shown)
        )
        return
    try:
        text = decode(read_limited(path))
    except UnreadableTextError as error:
        yield Problem(f"{error}{' Save it as UTF-8.' if error.line is not None else ''}", Place(shown, error.line))
        return
    if not text.strip():
        yield Problem(f"The file is empty. {_ADVICE}", Place(shown))
    elif path.suffix.lower() == ".json":
        yield from _whole_file(text, path, shown)
    else:
        yield from _lines(text, path, shown)


def _whole_file(text: str, path: Path, shown: str) -> Iterator[Recording | Problem]:
    place = Place(shown, 1)
    value = _parse(text, place)
    if isinstance(value, Problem):
        yield value
    elif isinstance(value, list) and value and all(isinstance(item, dict) and "messages" in item for item in value):
        for number, item in enumerate(value, 1):
            yield _conversation(item, f"{path.stem}-{number}", place, f"Conversation {number}: ")
    else:
        yield _conversation({"messages": value} if isinstance(value, list) else value, path.stem, place)


def _lines(text: str, path: Path, shown: str) -> Iterator[Recording | Problem]:
    loose: dict[str, list[JsonObject]] = {}
    begins: dict[str, Place] = {}
    broken: set[str] = set()
    # JSON escapes line ends inside texts, so only the real ones end a line (splitlines would split at others, too).
    for number, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        place = Place(shown, number)
        value = _parse(written, place)
        if isinstance(value, Problem):
            yield value
        elif isinstance(value, dict) and "role" in value and "messages" not in value:
            name = value.pop("conversation", value.pop("conversation_id", path.stem))
            if not isinstance(name, (str, int)) or isinstance(name, bool):
                yield Problem("`conversation` is the id of a conversation, a text or a whole number.", place)
                continue
            begins.setdefault(str(name), place)
            try:
                loose.setdefault(str(name), []).append(_message(value))
            except _WrongError as error:
                broken.add(str(name))
                said = str(error)
                yield Problem(said[:1].upper() + said[1:], place)
        else:
            yield _conversation(value, f"{path.stem}-{number}", place)
    for name, messages in loose.items():
        if len(messages) > MOST_MESSAGES:
            yield Problem(_too_many(len(messages)), begins[name])
        elif name not in broken:
            yield Recording(name, tuple(messages), place=begins[name])


def _parse(text: str, place: Place) -> Any:
    """The JSON value of a text, or the problem with it."""
    deep = Problem(f"This JSON is nested too deeply: at most {DEEPEST} levels are read.", place)
    try:
        value = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        line = None if place.line is None else place.line + error.lineno - 1
        return Problem(
            f"This is not valid JSON: {error.msg} (column {error.colno}). {_ADVICE}", Place(place.path, line)
        )
    except JsonInputError as error:
        return Problem(f"This cannot be read as JSON: {error}.", place)
    except ValueError:  # Python reads no whole number of more than 4300 digits
        return Problem("A number is too long to be read. Write it as a text, in quotes.", place)
    except RecursionError:
        return deep
    return deep if isinstance(value, (list, dict)) and _is_too_deep(value) else value


def _is_too_deep(value: list[Any] | dict[str, Any]) -> bool:
    """Whether it has levels that copying and writing it would not survive."""
    level = [value]
    for _ in range(DEEPEST):
        children = (each.values() if isinstance(each, dict) else each for each in level)
        level = [child for inside in children for child in inside if isinstance(child, (list, dict))]
        if not level:
            return False
    return True


def _conversation(value: Any, default_id: str, place: Place, where: str = "") -> Recording | Problem:
    try:
        return _recording(value, default_id, place)
    except _WrongError as error:
        return Problem(where + str(error), place)


def _recording(value: Any, default_id: str, place: Place) -> Recording:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise _WrongError(f"There is no list `messages` here. {_ADVICE}")
    name = value.get("id", value.get("conversation_id", default_id))
    if not isinstance(name, (str, int)) or isinstance(name, bool) or name == "":
        raise _WrongError("`id` must be a text or a whole number.")
    messages = _each(value["messages"])
    if len(messages) > MOST_MESSAGES:
        raise _WrongError(_too_many(len(messages)))
    tools = _or_none(value.get("tools"))
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise _WrongError("`tools` must be a list of tool definitions, each a JSON object.")
    form = value.get("response_format")
    if form is not None and not isinstance(form, dict):
        raise _WrongError('`response_format` must be a JSON object, such as `{"type": "json_object"}`.')
    facts = _or_none(value.get("facts"))
    if not isinstance(facts, list):
        raise _WrongError('`facts` must be a list, such as `[{"value": "KX-4821", "kind": "identifier"}]`.')
    # A conversation without messages is a good record of nothing: whoever asks leaves it out and says so.
    known = [_fact(fact, number, messages) for number, fact in enumerate(facts, 1)] if messages else []
    return Recording(str(name), tuple(messages), tuple(tools), tuple(known), place)


def _or_none(value: Any) -> Any:
    return [] if value is None else value


def _each(values: list[Any]) -> list[JsonObject]:
    """Every message; all that is wrong in one sentence, of the first five."""
    wrong: list[str] = []
    messages: list[JsonObject] = []
    for number, value in enumerate(values):
        try:
            messages.append(_message(value))
        except _WrongError as error:
            wrong.append(f"Message {number}: {error}")
    if wrong:
        more = f" And {len(wrong) - 5} more." if len(wrong) > 5 else ""
        raise _WrongError(" ".join(wrong[:5]) + more)
    return messages


def _too_many(count: int) -> str:
    return f"The conversation has {count} messages; at most {MOST_MESSAGES} are read."


def _message(value: Any) -> JsonObject:
    """A message of a log: keys that nothing here knows stay, since they are the server's own."""
    if not isinstance(value, dict):
        raise _WrongError("it is no JSON object with `role` and `content`.")
    role = value.get("role")
    if role not in ROLES:
        hint = did_you_mean(role, ROLES) if isinstance(role, str) else ""
        raise _WrongError(f"there is no role {json.dumps(role)}.{hint} Roles are {listing(ROLES)}.")
    content = value.get("content")
    if isinstance(content, list):
        if not all(isinstance(part, (str, dict)) for part in content):
            raise _WrongError("each part of a list `content` is a text or a JSON object with `type`.")
    elif content is not None and not isinstance(content, str):
        raise _WrongError("`content` must be a text, a list of parts or null.")
    calls = value.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(_is_call, calls))):
        raise _WrongError('`tool_calls` is a list of `{"id": "…", "function": {"name": "…", "arguments": "{…}"}}`.')
    if content is None and not calls and role in ("system", "developer", "user"):
        raise _WrongError(
            f"`content` is missing or null: a message of the role `{role}` needs a text, even an empty one."
        )
    return value


def _is_call(value: Any) -> bool:
    function = value.get("function") if isinstance(value, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _fact(value: Any, number: int, messages: Sequence[Message]) -> KnownFact:
    if not isinstance(value, Mapping):
        raise _WrongError(f"Fact {number} must be an object with at least `value`.")
    for key in value:
        if key not in _FACT_KEYS:
            hint = did_you_mean(str(key), _FACT_KEYS)
            raise _WrongError(f"Fact {number} has the unknown key `{key}`.{hint} Allowed are {listing(_FACT_KEYS)}.")
    kind = value.get("kind", Kind.IDENTIFIER.value)
    if kind not in list(Kind):
        raise _WrongError(
            f"Fact {number}: there is no kind {json.dumps(kind)}. Kinds are {listing(list(map(str, Kind)))}."
        )
    outdated = value.get("outdated", [])
    outdated = [outdated] if isinstance(outdated, str) else outdated
    texts = [value.get("value"), *(outdated if isinstance(outdated, list) else [None])]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise _WrongError(f"Fact {number}: `value` is a text, and `outdated` a text or a list of texts.")
    index = value.get("message")
    if index is not None and (type(index) is not int or index not in range(len(messages))):
        raise _WrongError(f"Fact {number}: `message` is the place of a message, from 0 to {len(messages) - 1}.")
    return KnownFact(
        str(value.get("id", f"fact-{number}")),
        Kind(kind),
        value["value"],
        tuple(outdated),
        str(value.get("subject", "")),
        str(value.get("question", "")),
        "" if index is None else str(messages[index].get("role", "")),
        index,
        None if index is None else index / max(1, len(messages) - 1),
    )
