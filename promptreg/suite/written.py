"""What a suite file may say, key by key, before templates are filled and defaults merged."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)

from promptreg.config.hints import did_you_mean, listing, no_such_check
from promptreg.config.model import problem
from promptreg.config.names import name_problem
from promptreg.config.problems import named_kind
from promptreg.errors import Place
from promptreg.suite.context import Context  # noqa: TC001 - pydantic reads it
from promptreg.suite.message import JSON_SCHEMA as MESSAGE_SCHEMA
from promptreg.suite.message import MessageError, read_message
from promptreg.suite.model import CheckSpec, NoiseSource
from promptreg.suite.scalars import AmbiguousWordError, exact, typed, variable

MAX_ID = 300
"""Characters of a case id."""
MOST_ENTRIES = 100_000
"""Messages, tags or checks of one case: validation remembers everything that is wrong, a kilobyte each."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names that other parts of promptreg define; handed to validation as its context."""

    checks: frozenset[str]
    params: frozenset[str]
    wrong_check: Callable[[CheckSpec], str | None] | None = None
    """What is wrong with a check of a known name, as a sentence; None when nothing is."""
    path: str = ""
    """The file that is read, from the project's root."""


class WrittenCheck(NamedTuple):
    """A check as written: its name, and its argument (None for a name alone)."""

    name: str
    argument: Any


def id_problem(case_id: str) -> str | None:
    """Why a text cannot be a case id, as a sentence; None when it can."""
    if not case_id.strip():
        return "A case id must not be empty."
    if len(case_id) > MAX_ID:
        return f"A case id has at most {MAX_ID} characters, this one has {len(case_id)}."
    bad = next((char for char in case_id if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}), None)
    if bad is not None:
        return f"A case id must not contain control characters or line ends; this one has U+{ord(bad):04X}."
    return None


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise problem(f"Here belongs a text, not {named_kind(value)}.")
    return str(value)


def _filled(value: str) -> str:
    if not value.strip():
        raise problem("Here belongs a text that is not empty.")
    return value


def _case_id(value: str) -> str:
    wrong = id_problem(value)
    if wrong is not None:
        raise problem(wrong)
    return value


def _check(value: object, info: ValidationInfo) -> WrittenCheck:
    if isinstance(value, str):
        check = WrittenCheck(str(value), None)
    elif isinstance(value, Mapping) and len(value) == 1:
        ((name, argument),) = value.items()
        check = WrittenCheck(str(name), _decided(exact, argument))
    elif isinstance(value, Mapping) and len(value) > 1:
        keys = listing([str(key) for key in value])
        raise problem(f"One check per entry; this one has {keys}. Begin each with its own `- `.")
    else:
        raise problem(f"A check is a name, or `name: argument`, not {named_kind(value)}.")
    known = info.context
    if isinstance(known, KnownNames) and check.name not in known.checks:
        raise problem(no_such_check(check.name, known.checks))
    if isinstance(known, KnownNames) and known.wrong_check is not None:
        wrong = known.wrong_check(CheckSpec(check.name, check.argument, Place(known.path)))
        if wrong is not None:
            raise problem(wrong)
    return check


_FIXED_PARAMS = {
    "model": "The model is named by the deployment, so that every deployment gets the same request; remove it here.",
    "messages": "Messages stand in the case (`messages`) or under `prompts`, not in `request`.",
    "stream": "Whether answers are streamed is set by the deployment (`stream`); remove it here.",
    "stream_options": "Streaming is set by the deployment; remove it here.",
}


def _param_name(name: object, info: ValidationInfo) -> object:
    if not isinstance(name, str):
        return name
    if name in _FIXED_PARAMS:
        raise problem(_FIXED_PARAMS[name])
    known = info.context
    if isinstance(known, KnownNames) and name != "extra_body" and name not in known.params:
        hint = did_you_mean(name, known.params - _FIXED_PARAMS.keys())
        raise problem(
            f"`{name}` is no request parameter of the OpenAI interface.{hint} "
            f"An extension of the server belongs under `extra_body: {{{name}: …}}`."
        )
    return str(name)


def _param_value(value: object) -> object:
    return _decided(typed, value)


def _params(params: dict[str, Any]) -> dict[str, Any]:
    extra = params.get("extra_body")
    if extra is not None and not isinstance(extra, Mapping):
        raise problem(f"`extra_body` is a table of keys and values, not {named_kind(extra)}.")
    if params.get("n") not in {None, 1}:
        raise problem("`n` must be 1: several answers are asked for in passes (`record_passes`, `compare_passes`).")
    return params


def _decided(rule: Any, value: object) -> Any:
    try:
        return rule(value)
    except AmbiguousWordError as error:
        raise problem(str(error)) from None


def _variable(value: object) -> object:
    return _decided(variable, value)


def _message(value: object) -> dict[str, Any]:
    try:
        return read_message(value)
    except MessageError as error:
        raise problem(str(error)) from None


def _some_messages(values: list[Any]) -> list[Any]:
    if not values:
        raise problem("The list of messages is empty; it needs at least one.")
    return values


def _some_cases(values: list[Any]) -> list[Any]:
    if not values:
        raise problem("The suite is empty: `cases` needs at least one case.")
    return values


def _suite_name(name: str) -> str:
    why = name_problem(name)
    if why is not None:
        raise problem(f"The suite name `{name}` {why}.")
    return name


_SCALAR_SCHEMA = {"type": ["string", "number", "boolean"]}
Text = Annotated[
    str, BeforeValidator(_text), AfterValidator(_filled), WithJsonSchema({"type": "string", "minLength": 1})
]
CaseId = Annotated[
    str,
    BeforeValidator(_text),
    AfterValidator(_case_id),
    WithJsonSchema({"type": ["string", "number", "boolean"], "maxLength": MAX_ID, "minLength": 1}),
]
Word = Annotated[str, BeforeValidator(_text), AfterValidator(_filled), WithJsonSchema(_SCALAR_SCHEMA)]
Check = Annotated[
    WrittenCheck,
    BeforeValidator(_check),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]},
    ),
]


def _truth(value: object) -> bool:
    decided = _decided(typed, value)
    if not isinstance(decided, bool):
        raise problem("Here belongs true or false.")
    return decided


Params = Annotated[
    dict[Annotated[str, BeforeValidator(_param_name)], Annotated[Any, BeforeValidator(_param_value)]],
    AfterValidator(_params),
    WithJsonSchema({"type": "object", "properties": {"extra_body": {"type": "object"}}}),
]
Variables = dict[Word, Annotated[Any, BeforeValidator(_variable)]]
Message = Annotated[dict[str, Any], BeforeValidator(_message), WithJsonSchema(MESSAGE_SCHEMA)]
Noise = Annotated[
    NoiseSource,
    Field(
        description="Where noise comes from beside the deployment: `none`, or `null-perturbation`, where each pass of "
        "both sides sends the last user message as written, with a trailing space, a final newline or a full stop, "
        "drawn at random."
    ),
]
Infer = Annotated[
    bool,
    BeforeValidator(_truth),
    Field(description="Whether the target is held to what all recorded answers share: their format and their facts."),
]
Messages = Annotated[list[Message], Field(max_length=MOST_ENTRIES), AfterValidator(_some_messages)]
Tags = Annotated[list[Word], Field(max_length=MOST_ENTRIES)]
Checks = Annotated[list[Check], Field(max_length=MOST_ENTRIES)]


class Written(BaseModel):
    """A table of a suite: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WrittenDefaults(Written):
    """What every case of the suite begins with."""

    request: Params = Field(default_factory=dict, description="Request parameters; a case's own win.")
    checks: Checks = Field(default_factory=list, description="Checks of every case; a case's own are added.")
    tags: Tags = Field(default_factory=list, description="Tags of every case; a case's own are added.")
    noise: Noise | None = None
    infer: Infer | None = None
    context: Context = None


class WrittenCase(Written):
    """One case."""

    id: CaseId = Field(description="Names the case for ever; unique within the suite.")
    prompt: Word | None = Field(None, description="A name under `prompts`.")
    messages: Messages | None = Field(None, description="The messages themselves, instead of a prompt.")
    vars: Variables = Field(default_factory=dict, description="What the templates are filled with; taken as written.")
    tags: Tags = Field(default_factory=list)
    checks: Checks = Field(default_factory=list)
    request: Params = Field(default_factory=dict)
    noise: Noise | None = None
    infer: Infer | None = None
    context: Context = None


class WrittenLine(Written):
    """One case of a JSON Lines file. Its id may be missing; its prompt then comes from the suite."""

    id: CaseId | None = None
    prompt: Word | None = None
    messages: Messages | None = None
    vars: Variables = Field(default_factory=dict)
    tags: Tags = Field(default_factory=list)
    checks: Checks = Field(default_factory=list)
    request: Params = Field(default_factory=dict)
    noise: Noise | None = None
    infer: Infer | None = None
    context: Context = None


class WrittenRows(Written):
    """Cases from a CSV or JSON Lines file."""

    cases_from: Text = Field(description="The file, relative to this one.")
    prompt: Word | None = Field(None, description="A name under `prompts`; columns become its variables.")
    id: Word | None = Field(None, description="The column that holds the ids; `id` without this.")
    encoding: Text | None = Field(None, description="The file's encoding when it is not UTF-8, such as gb18030.")
    tags: Tags = Field(default_factory=list)
    checks: Checks = Field(default_factory=list)
    request: Params = Field(default_factory=dict)
    noise: Noise | None = None
    infer: Infer | None = None
    context: Context = None


WrittenSettings = WrittenDefaults | WrittenCase | WrittenLine | WrittenRows
"""Everything that says with what a case begins."""

# Labels that pydantic puts into the paths of problems; no key is called so.
_CASE = "[case]"
_ROWS = "[rows]"


def _kind_of_entry(value: object) -> str:
    return _ROWS if isinstance(value, (Mapping, WrittenRows)) and "cases_from" in dict(value) else _CASE


Entry = Annotated[
    Annotated[WrittenCase, Tag(_CASE)] | Annotated[WrittenRows, Tag(_ROWS)], Discriminator(_kind_of_entry)
]


class WrittenSuite(Written):
    """A suite file."""

    suite: Annotated[Text, AfterValidator(_suite_name)] = Field(description="The suite's name.")
    defaults: WrittenDefaults = Field(default_factory=WrittenDefaults)
    prompts: dict[Word, Messages] = Field(default_factory=dict, description="Lists of messages by name; templates.")
    cases: Annotated[list[Entry], AfterValidator(_some_cases)] = Field(description="Cases, and files of cases.")


ADVICE = {
    "history": (
        "`history` is not supported yet: a conversation is always sent with its recorded turns as written. "
        "Remove it for now."
    ),
    **dict.fromkeys(
        ("assert", "asserts", "assertions", "expected", "expect"), "What is checked stands under `checks`."
    ),
    "variables": "Variables stand under `vars`.",
}
"""Keys of a later version, and of other tools."""
