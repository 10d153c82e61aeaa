"""Counters and prompt formats by name, as the command line and `tokenizer` of a deployment write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from promptreg.config.hints import did_you_mean, listing
from promptreg.context.count.counting import CharsCounter, EstimateCounter, MessageCounter, WordCounter
from promptreg.context.count.vocabulary import NAME
from promptreg.context.encoders.model import Effort
from promptreg.errors import UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.canonical import Json
    from promptreg.context.count.counting import Counter
    from promptreg.context.encoders.model import Encoder
    from promptreg.context.lint import Format

DEEPSEEK: Final = "deepseek"
"""The exact counter: DeepSeek's vocabulary on the prompt as its format renders it."""

_SIMPLE: Final[Mapping[str, Callable[[], Counter]]] = MappingProxyType(
    {"estimate": EstimateCounter, "characters": CharsCounter, "words": WordCounter, "messages": MessageCounter}
)
COUNTERS: Final = (DEEPSEEK, *_SIMPLE)
"""Names of counters."""

FORMATS: Final = ("v3", "r1", "v3.1", "v3.2", "v4")
"""Names of DeepSeek's prompt formats; `deepseek-` may stand before each."""

_NEWEST: Final = "v4"
_TEMPLATES: Final = (".jinja", ".jinja2", ".j2", ".json", ".txt")
_MODEL: Final = re.compile(r"deepseek.{0,40}?(?P<format>r1|v3[._-]?[12]|v4|v3)(?![0-9])", re.IGNORECASE)
_PRINTED: Final = re.compile(
    rf"{re.escape(NAME)}(?: \+ V(?P<format>[0-9](?:\.[0-9])?) encoder(?P<thinking>, thinking|, chat)?"
    r"(?:, effort (?P<effort>[a-z]{1,8}))?)?"
)
"""The exact counter as outputs name it: its vocabulary, and the format with its switches."""
_SERVER: Final = "server"
"""Of `promptreg.deployment.tokenize`, which is above this."""
_TRUTH: Final = MappingProxyType({"yes": True, "true": True, "no": False, "false": False})


@dataclass(frozen=True, slots=True)
class Chosen:
    """What counts for a deployment."""

    counter: Counter
    form: Format | None = None
    """The prompt format, where it is one of DeepSeek's."""
    encoder: Encoder | None = None
    """What renders the prompt, where the counter knows it."""
    guessed: Sentence | None = None
    """Why this one, where nothing named it."""


def choose_counter(
    counter: str | None = None,
    encoder: str | None = None,
    *,
    tokenizer: str | None = None,
    model: str | None = None,
    root: Path | None = None,
    options: Mapping[str, Json] | None = None,
) -> Chosen:
    """The counter for a deployment. What is named first here wins.

    Args:
        counter: one of `COUNTERS`, or `deepseek-` and a format.
        encoder: a format with its options (`v4:thinking=no`, `v4:effort=low`), or the path of a chat template.
        tokenizer: what the configuration says of the deployment: a counter, a format or a template.
        model: name of the deployment's model, from which the format is guessed.
        root: folder in which the file of a template is found; None: the current one.
        options: `chat_template_kwargs` of the requests, for a template; a format has its own behind a colon.

    Raises:
        UsageError: an unknown name or option, a template that cannot be read, a missing vocabulary.
    """
    for option, text in (("--counter", counter), ("--encoder", encoder), ("`tokenizer`", tokenizer)):
        if text is not None and not text.strip():
            raise UsageError(f"{option} is empty. Leave it out, or name one. Allowed: {_allowed(option)}.")
    if counter is None and encoder is None:
        if tokenizer is None:
            return _guessed(model)
        tokenizer = _typed(tokenizer)
        known = (*COUNTERS, *FORMATS, _SERVER)
        if tokenizer.partition(":")[0] not in known and _format_name(tokenizer) is None and not is_template(tokenizer):
            raise UsageError(
                f"There is no tokenizer `{tokenizer}`.{_hint(tokenizer, known)} Allowed: {_allowed('`tokenizer`')}."
            )
        counter, encoder = (tokenizer, None) if tokenizer.partition(":")[0] in COUNTERS else (DEEPSEEK, tokenizer)
    if counter is not None and counter.partition(":")[0] == _SERVER:
        raise UsageError(_of_a_deployment("counter", counter))
    counter = None if counter is None else _typed(counter)
    if counter is not None and _format_name(counter) is not None:
        counter, encoder = DEEPSEEK, encoder or counter
    if counter is not None and counter not in COUNTERS:
        names = (*COUNTERS, *(f"deepseek-{name}" for name in FORMATS))
        raise UsageError(
            f"There is no counter `{counter}`.{did_you_mean(counter, names)} Allowed: {listing(names)}. A server that "
            "counts, and a chat template, are the `tokenizer` of a deployment, which --deployment names; a template "
            "can also stand behind --encoder."
        )
    if counter in (None, DEEPSEEK):
        return _rendered(encoder or _NEWEST, root, options)
    form = None if encoder is None else _encoder(encoder, root, options)[1]
    return Chosen(_SIMPLE[str(counter)](), form)


def _typed(text: str) -> str:
    """What has to be typed for a counter, given that or the name that outputs have for it."""
    for name, make in _SIMPLE.items():
        if text == make().name:
            return name
    if (printed := _PRINTED.fullmatch(text.strip())) is None:
        return text
    if printed["format"] is None:
        return DEEPSEEK
    name, thinking, effort = f"v{printed['format']}", printed["thinking"], printed["effort"]
    if name not in FORMATS:
        return text
    options = [] if thinking is None else [f"thinking={'yes' if thinking == ', thinking' else 'no'}"]
    options += [] if effort is None else [f"effort={effort}"]
    return f"{name}:{','.join(options)}" if options else name


def _of_a_deployment(option: str, text: str) -> str:
    return (
        f"`{text}` counts on the server of a deployment, and none is named. Name one beside --{option} {text} "
        "(`context fit` and `context test`: --deployment NAME, `context window`: --from NAME and --to NAME), or write "
        f'`tokenizer = "{text}"` under [deployments.NAME].'
    )


def _guessed(model: str | None) -> Chosen:
    if model is None:
        return _rendered(_NEWEST)
    distilled = "distill" in model.lower()  # its vocabulary and its format are another model's
    if not distilled and (found := _MODEL.search(model)):
        name = re.sub("[_-]", ".", found["format"].lower())
        return _rendered({"v31": "v3.1", "v32": "v3.2"}.get(name, name))
    if not distilled and "deepseek" in model.lower():
        chosen = _rendered(_NEWEST)
        why = Sentence(
            f"The model name {model} does not say which prompt format it has; V4's is taken. Set `tokenizer`, such as "
            '`tokenizer = "deepseek-v3.1"`.',
            f'从模型名 {model} 看不出提示词格式，按 V4 处理。请设置 `tokenizer`，例如 `tokenizer = "deepseek-v3.1"`。',
        )
        return Chosen(chosen.counter, chosen.form, chosen.encoder, why)
    why = Sentence(
        f"The tokenizer of {model} is not known, so tokens are estimated, which can be off by a fifth either way.",
        f"不了解 {model} 的分词器，token 数为估算值，上下误差可达五分之一。",
    )
    return Chosen(EstimateCounter(), guessed=why)


def _rendered(encoder: str, root: Path | None = None, options: Mapping[str, Json] | None = None) -> Chosen:
    from promptreg.context.count.exact import RenderedCounter  # noqa: PLC0415 - only who counts tokens pays for tiktoken
    from promptreg.context.count.tokens import DeepseekTokenizer  # noqa: PLC0415 - as above

    renderer, form = _encoder(encoder, root, options)
    return Chosen(RenderedCounter(renderer, DeepseekTokenizer()), form, renderer)


def _format_name(text: str) -> str | None:
    name = text.partition(":")[0].strip().lower().removeprefix("deepseek-").removeprefix("deepseek_")
    return name if name in FORMATS else None


def _encoder(text: str, root: Path | None, switches: Mapping[str, Json] | None) -> tuple[Encoder, Format | None]:
    from promptreg.context.encoders import v3, v4, v32  # noqa: PLC0415 - as above

    name, written = _format_name(text), text.partition(":")[2]
    if name is None:
        return _template(text, root, switches), None
    options = dict(_option(text, item) for item in written.split(",") if item.strip())
    effort = options.pop("effort", None)
    if effort is not None and name != "v4":
        raise UsageError(f"The format `{name}` has no option `effort`; only `v4` has one.")
    thinking = options.get("thinking", "yes" if name == "v4" else "no") == "yes"
    if name == "v4":
        return v4.DeepseekV4(thinking=thinking, effort=_effort(effort or "high")), "v4"
    if name == "v3.2":
        return v32.DeepseekV32(thinking=thinking), "v3.2"
    if name == "v3.1":
        return v3.DeepseekV31(thinking=thinking), "v3.1"
    return v3.DeepseekV3(thinking=thinking), "v3"


def _option(text: str, item: str) -> tuple[str, str]:
    option, _, value = (part.strip() for part in item.partition("="))
    if option not in ("thinking", "effort"):
        raise UsageError(
            f"The format `{text}` has no option `{option}`.{did_you_mean(option, ('thinking', 'effort'))} Allowed: "
            "`thinking=yes`, `thinking=no` and, of v4, `effort=low`, `effort=high`, `effort=max`."
        )
    if option == "thinking":
        if value.lower() not in _TRUTH:
            raise UsageError(f"`thinking` of the format `{text}` is yes or no, got {value!r}.")
        value = "yes" if _TRUTH[value.lower()] else "no"
    return option, value


def _effort(value: str) -> Effort:
    for effort in get_args(Effort):
        if value == effort:
            known: Effort = effort
            return known
    raise UsageError(f"`effort` of the format `v4` is one of {listing(get_args(Effort))}, got {value!r}.")


def is_template(text: str) -> bool:
    """Whether a name is that of a chat template's file."""
    return text.lower().endswith(_TEMPLATES)


def _template(text: str, root: Path | None, options: Mapping[str, Json] | None) -> Encoder:
    from promptreg.context.encoders.jinja import read_template  # noqa: PLC0415 - as above

    if not is_template(text):
        raise UsageError(f"There is no prompt format `{text}`.{_hint(text, FORMATS)} Allowed: {_allowed('--encoder')}.")
    return read_template(Path(text) if root is None else root / text, options, shown=text)


def _hint(text: str, names: tuple[str, ...]) -> str:
    """Also for a name of which only the case of its letters is wrong."""
    lowered = text.lower()
    return f" Did you mean `{lowered}`?" if lowered in names else did_you_mean(lowered, names)


def _allowed(option: str) -> str:
    """What an option, or `tokenizer`, takes."""
    if option == "--counter":
        return listing((*COUNTERS, *(f"deepseek-{name}" for name in FORMATS)))
    formats = (
        f"{listing(FORMATS)}, or the path of a chat template, a file {listing([f'*{suffix}' for suffix in _TEMPLATES])}"
    )
    if option == "--encoder":
        return formats
    return (
        f"`{_SERVER}` (its own endpoint counts; `{_SERVER}:FORMAT` or `{_SERVER}:FILE` where it counts texts), "
        f"{listing(COUNTERS)}, {formats}"
    )
