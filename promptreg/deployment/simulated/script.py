"""The script of a simulated deployment: what it is, what it answers, how noisy it is, what it gets wrong.

A script is written in YAML (see `loading`) or built in code. Strings stand in for the short cases: a match
`"refund"` means `{contains: "refund"}`, an answer `"7 days"` means `{content: "7 days"}`, and a fault
`"think_tags:0.2"` means `{name: think_tags, probability: 0.2}`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from promptreg.config.hints import did_you_mean
from promptreg.deployment.simulated.faults.registry import FAULTS

Kind = Literal["vllm", "vllm-ascend", "sglang", "mindie", "deepseek", "openai"]
"""Server kinds that can be simulated: their error shapes, stream shapes and side endpoints differ."""

Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class _Model(BaseModel):
    """Frozen, and a key that is not known is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Embeddings(_Model):
    """What /v1/embeddings gives: vectors that depend on the text alone, near for texts that share letter pairs."""

    dimensions: Annotated[int, Field(ge=2, le=4096)] = 128
    fault: Literal["one_short", "one_long", "wrong_length", "text", "not_finite", "zero", "unavailable"] | None = None
    """A vector too few or too many, one of another length, one of words, with NaN, or of zeros; or HTTP 503."""
    at_most: Annotated[int, Field(ge=1)] | None = None
    """Strikes only the first so many requests."""


class Match(_Model):
    """Which requests a rule answers. Every condition that is given must hold; without any, all requests match."""

    contains: str | None = None
    """Part of the last user message."""
    equals: str | None = None
    """The last user message, outer blanks aside."""
    regex: str | None = None
    """A regular expression found anywhere in the last user message."""
    anywhere: str | None = None
    """Part of any message, the system message included."""

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(value)
            except re.error as problem:
                message = f"This is no regular expression: {problem}."
                raise ValueError(message) from problem
        return value

    def holds(self, last_user: str, everything: str) -> bool:
        """Whether a request with this last user message, and this text of all messages, is meant."""
        return (
            (self.contains is None or self.contains in last_user)
            and (self.equals is None or self.equals.strip() == last_user.strip())
            and (self.regex is None or re.search(self.regex, last_user) is not None)
            and (self.anywhere is None or self.anywhere in everything)
        )


class ScriptedCall(_Model):
    """A tool call in an answer. `arguments` is an object, or text to be sent exactly as it stands."""

    name: str
    arguments: str | dict[str, Any] = Field(default_factory=dict)


class Variant(_Model):
    """One of the answers that a rule can give."""

    content: str | None = ""
    reasoning: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    finish_reason: str | None = None
    """None: `tool_calls` when there are calls, else `stop`, or `length` when the cap cut the answer."""
    weight: Annotated[float, Field(gt=0.0)] = 1.0


class Noise(_Model):
    """How much the answers of one request differ from each other."""

    variant: Probability = 1.0
    """Chance that the variant is drawn by weight; otherwise the first one is given."""
    wording: Probability = 0.0
    """Chance that the wording changes (another opening phrase, a synonym, another layout of JSON)."""
    number: Probability = 0.0
    """Chance that one number of the answer changes."""
    when_greedy: bool = False
    """Whether there is noise at temperature 0 too."""


class Latency(_Model):
    """Milliseconds before the first byte (`first_ms` ± up to `jitter_ms`) and between stream frames."""

    first_ms: Annotated[float, Field(ge=0.0)] = 0.0
    jitter_ms: Annotated[float, Field(ge=0.0)] = 0.0
    frame_ms: Annotated[float, Field(ge=0.0)] = 0.0


class Plant(_Model):
    """A planted fault, how often it strikes, and on how many answers of one request at most."""

    name: str
    probability: Probability = 1.0
    at_most: Annotated[int, Field(ge=1)] | None = None
    """Strikes only the first so many attempts of each distinct request: 1 lets the first retry succeed."""

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in FAULTS:
            hint = did_you_mean(value, FAULTS)
            message = f"No fault is called `{value}`.{hint} `promptreg simulate --faults` lists all."
            raise ValueError(message)
        return value


def _plant(value: object) -> object:
    if isinstance(value, str):
        name, colon, probability = value.partition(":")
        return {"name": name.strip(), **({"probability": probability.strip()} if colon else {})}
    return value


def _variant(value: object) -> object:
    return {"content": value} if isinstance(value, str) else value


def _match(value: object) -> object:
    return {"contains": value} if isinstance(value, str) else value


AnyPlant = Annotated[Plant, BeforeValidator(_plant)]
AnyVariant = Annotated[Variant, BeforeValidator(_variant)]
AnyMatch = Annotated[Match, BeforeValidator(_match)]


class Rule(_Model):
    """Answers for the requests that match. The first matching rule that has answers is used.

    A rule without answers plants its faults (and sets noise or latency) on whatever a later rule answers.
    """

    match: AnyMatch = Match()
    answers: tuple[AnyVariant, ...] = ()
    noise: Noise | None = None
    """None: that of the next matching rule, in the end the script's."""
    latency: Latency | None = None
    """None: that of the next matching rule, in the end the script's."""
    faults: tuple[AnyPlant, ...] = ()
    """Come on top of the script's faults and those of earlier matching rules."""


class Script(_Model):
    """Everything a simulated deployment does."""

    kind: Kind = "openai"
    models: Annotated[tuple[str, ...], Field(min_length=1)] = ("simulated",)
    window: Annotated[int, Field(gt=0)] = 32768
    """Context window in tokens, as /v1/models declares it; longer requests are refused."""
    tokenizer: str | None = None
    """What counts prompts, as the `tokenizer` of a deployment names it. None: by the name of the model."""
    overflow: Literal["error", "cut"] = "error"
    """What happens to a request over the window: the kind's own error, or its start is cut away without a word."""
    seed: int = 0
    cycle: Annotated[int, Field(ge=1)] = 10
    """After so many answers to the same request the sequence of its answers starts again."""
    api_key: str | None = None
    """When set, requests need `Authorization: Bearer` with this key. For made-up keys only."""
    check_model: bool = True
    version: str | None = None
    """None: a plausible version of the kind."""
    system_fingerprint: str | None = None
    latency: Latency = Latency()
    embeddings: Embeddings = Embeddings()
    chunk_tokens: Annotated[int, Field(ge=1)] = 3
    """Tokens in one stream frame."""
    max_output: Annotated[int, Field(ge=1)] | None = None
    """The server's own cap on completion tokens (MindIE's `maxIterTimes` is 512 unless configured)."""
    noise: Noise = Noise()
    faults: tuple[AnyPlant, ...] = ()
    """Faults that can strike any request."""
    answers: tuple[AnyVariant, ...] = ()
    """Given when no rule matches. Empty: a short answer that repeats the start of the question."""
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="after")
    def _has_distinct_models(self) -> Script:
        if len(set(self.models)) != len(self.models):
            message = f"`models` lists a name twice: {', '.join(self.models)}."
            raise ValueError(message)
        return self
