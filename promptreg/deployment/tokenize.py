"""A server's own count of a prompt, and the ladder of counters that it stands on top of.

What the endpoints take differs: vLLM and SGLang render messages themselves (vLLM has no `reasoning_effort` there, it
goes through the template's options), MindIE and llama.cpp count a text, which is rendered here. None of them has a
limit on the length, so they tell how far a prompt is beyond the window, which the error of a chat request does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from promptreg.canonical import sha256_of
from promptreg.context.count.counters import Chosen, choose_counter, is_template
from promptreg.context.count.counting import EstimateCounter
from promptreg.context.encoders.jinja import read_template
from promptreg.deployment.blocking import BlockingLoop
from promptreg.deployment.client import wiring_of
from promptreg.deployment.envelope import describe_body, error_message
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.profiles.load import load_profile
from promptreg.deployment.redact import Redactor, known_secrets
from promptreg.deployment.targets.target import target_of
from promptreg.errors import EndpointError, UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Deployment
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.encoders.model import Encoder
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.transports.base import Transport

SERVER: Final = "server"
"""The `tokenizer` of a deployment whose own endpoint is to count; after a colon, what renders its prompts."""


@dataclass(frozen=True, slots=True)
class Switches:
    """What a deployment's requests say about thinking; it changes how long a prompt is."""

    template: JsonObject = field(default_factory=dict)
    """The options of the chat template, `chat_template_kwargs`."""
    effort: str | None = None
    """`reasoning_effort`, as it is sent."""

    @property
    def options(self) -> JsonObject:
        """What a chat template is given: its options, and the effort under the name that templates have for it."""
        return self.template if self.effort is None else {"reasoning_effort": self.effort, **self.template}

    @property
    def thinking(self) -> bool | None:
        """Whether the model is asked to think; None when the requests leave it to the server."""
        if self.effort == "none":
            return False
        asked = [self.template[key] for key in ("thinking", "enable_thinking") if key in self.template]
        return any(map(bool, asked)) if asked else None


def switches_of(deployment: Deployment) -> Switches:
    """The switches that every request of a deployment carries."""
    return switches_in(deployment.request, deployment.request.get("extra_body"), deployment.extra_body)


def switches_in(*parts: Json) -> Switches:
    """The switches in parameters of a request; what comes later wins."""
    template: dict[str, Json] = {}
    effort: Json = None
    for params in parts:
        if not isinstance(params, Mapping):
            continue
        options, thinking = params.get("chat_template_kwargs"), params.get("thinking")
        if isinstance(options, Mapping):
            template.update(options)
        if isinstance(thinking, Mapping):  # DeepSeek's own API
            template["thinking"] = thinking.get("type") == "enabled"
        effort = params.get("reasoning_effort", effort)
    told = template.get("reasoning_effort", effort)
    return Switches(template, told if isinstance(told, str) else None)


class TokenEndpoint:
    """Asks a server how many tokens something has. Used as a context manager; answers are remembered.

    A thread of its own does the waiting, so it works inside and outside of asynchronous code; it blocks its caller.
    """

    def __init__(
        self,
        deployment: Deployment,
        secrets: Mapping[str, str],
        *,
        root: Path | None = None,
        transport: Transport | None = None,
    ) -> None:
        """Prepares the endpoint; nothing is sent before it is asked.

        Args:
            deployment: whose server counts.
            secrets: values of the environment variables it names, by name (`secrets_of`).
            root: folder of the project, where `ca_file` is found.
            transport: instead of one of its own, in tests.

        Raises:
            UsageError: the deployment's kind of server has no such endpoint.
            ConfigError: for a CA file or a proxy that cannot be used.
        """
        # Imported late: aiohttp is needed by nobody who counts without a server.
        from promptreg.deployment.transports.wire import WireTransport  # noqa: PLC0415 - see above

        profile, path = load_profile(deployment.server), target_of(deployment).tokenize_path
        if deployment.call is not None or path is None or profile.context.tokenize is None:
            raise UsageError(
                f"Deployment `{deployment.name}` has no endpoint that counts tokens ({profile.title}). Leave "
                "`tokenizer` out, or name a prompt format or a chat template there."
            )
        self.deployment = deployment
        self.path = path
        self._redactor = Redactor(known_secrets(secrets, deployment.base_url, deployment.proxy), deployment.headers_env)
        wiring = replace(wiring_of(deployment, profile, secrets, root), path=path)
        self._transport: Transport = WireTransport(wiring) if transport is None else transport
        self._loop = BlockingLoop("promptreg-tokenize")
        self._known: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._loop.__enter__()
        self._loop.run(self._transport.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._loop.run(self._transport.__aexit__(kind, error, traceback))
        self._loop.__exit__(kind, error, traceback)

    def count(self, body: JsonObject) -> int:
        """The count that the server answers to one request body.

        Raises:
            EndpointError: it cannot be reached, refuses, or answers without a count.
        """
        key = sha256_of(body)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._count_of(
                self._redactor.exchange(self._loop.run(self._transport.send(body)))
            )
        return known

    def _count_of(self, exchange: Exchange) -> int:
        if exchange.failure is not None:
            raise self._error(exchange.failure.message)
        try:
            document = parse_json(exchange.body)
        except ValueError:
            document = None
        if not 200 <= (exchange.status or 0) < 300:
            said = error_message(document) or describe_body(exchange.body)
            raise self._error(f"HTTP {exchange.status}, {said}")
        count = count_in(document)
        if count is None:
            raise self._error(f"the answer has no count: {describe_body(exchange.body)}")
        return count

    def _error(self, what: str) -> EndpointError:
        deployment = self.deployment
        return EndpointError(
            f"Deployment `{deployment.name}` does not count tokens at {self.path}: {what.rstrip('.')}. Check the "
            "address, or name a prompt format or a chat template as its `tokenizer`."
        )


def count_in(document: Json) -> int | None:
    """The count in an answer: `count` (vLLM, SGLang), `token_number` (MindIE) or the length of `tokens` (llama.cpp)."""
    if not isinstance(document, Mapping):
        return None
    for key in ("count", "token_number"):
        value = document.get(key)
        if type(value) is int and value >= 0:
            return value
    tokens = document.get("tokens")
    return len(tokens) if isinstance(tokens, list) else None


class ServerCounter:
    """Counts whole prompts on the server, one request each; single messages are counted here, as a guide.

    Args:
        endpoint: of the server, entered.
        guide: counts single messages.
        encoder: renders prompts for servers that count texts.
        switches: what the requests say about thinking.

    Raises:
        UsageError: a server that counts texts, and no prompt format to render them.
    """

    def __init__(
        self, endpoint: TokenEndpoint, guide: Counter, encoder: Encoder | None = None, switches: Switches | None = None
    ) -> None:
        deployment = endpoint.deployment
        profile = load_profile(deployment.server)
        self._texts = profile.context.tokenize == "text"
        self._effort = profile.context.tokenize_effort
        if self._texts and encoder is None:
            raise UsageError(
                f"{profile.title} counts texts, not messages, and the prompt format of `{deployment.model}` is not "
                f"known. Name it with the `tokenizer` of `{deployment.name}`, such as "
                '`tokenizer = "server:chat_template.jinja"`.'
            )
        rendered = f", {encoder.name}" if self._texts and encoder is not None else ""
        self.name = f"{profile.title} {endpoint.path}{rendered}"
        self._endpoint = endpoint
        self._guide = guide
        self._encoder = encoder
        self._switches = switches_of(deployment) if switches is None else switches

    def prompt(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> int:
        """The server's count of the prompt that it would build.

        Raises:
            EndpointError: the server does not count.
            EncodingError: a prompt that has to be rendered here cannot be.
        """
        if self._texts and self._encoder is not None:
            return self._endpoint.count(self._text_body(self._encoder.render(messages, tools=tools)))
        return self._endpoint.count(self._messages_body(messages, tools))

    def message(self, message: Message) -> int:
        """A guide, counted here."""
        return self._guide.message(message)

    def _text_body(self, text: str) -> JsonObject:
        if self._endpoint.deployment.server == "mindie":
            return {"inputs": text}
        return {"content": text, "add_special": False, "parse_special": True}

    def _messages_body(self, messages: Sequence[Message], tools: Sequence[JsonObject]) -> JsonObject:
        body: dict[str, Json] = {
            "model": self._endpoint.deployment.model,
            "messages": list(messages),
            "add_generation_prompt": True,
        }
        if tools:
            body["tools"] = list(tools)
        options, effort = dict(self._switches.template), self._switches.effort
        if effort is not None and self._effort:
            body["reasoning_effort"] = effort
        elif effort is not None:
            options["reasoning_effort"] = effort
        if options:
            body["chat_template_kwargs"] = options
        return body


def counts_on_server(deployment: Deployment) -> bool:
    """Whether the `tokenizer` of a deployment is its server: `server`, or `server:` and a format or template."""
    return (deployment.tokenizer or "").partition(":")[0] == SERVER


def counter_for(deployment: Deployment, endpoint: TokenEndpoint | None = None, *, root: Path | None = None) -> Chosen:
    """What counts for a deployment: the best rung of the ladder that is at hand.

    1. what `tokenizer` names, a format without options of its own with the switches of the requests; a chat template's
       texts are counted by a server that counts texts and can be asked
    2. the server's own endpoint, with an `endpoint`
    3. DeepSeek's prompt format and vocabulary, by the model's name and the thinking switches of its requests
    4. the estimate by script

    Args:
        deployment: from the configuration.
        endpoint: of its server, entered; None when nothing may be sent.
        root: folder of the project, where the file of a template is found; None: the current one.

    Raises:
        UsageError: `tokenizer` names nothing that exists, or the server and there is no endpoint.
    """
    named, switches = deployment.tokenizer, switches_of(deployment)
    if named is not None and not counts_on_server(deployment):
        chosen = choose_counter(tokenizer=named, model=deployment.model, root=root, options=switches.options)
        chosen = with_switches(chosen, switches, named)
        template = chosen.form is None and chosen.encoder is not None
        if endpoint is None or not template or load_profile(deployment.server).context.tokenize != "text":
            return chosen
        # another model's template: its vocabulary is the server's
        return replace(chosen, counter=ServerCounter(endpoint, EstimateCounter(), chosen.encoder))
    _, colon, form = (named or "").partition(":")
    if colon and not form.strip():
        raise UsageError(
            f"Nothing stands behind `{named}`. Write `{SERVER}` where the server counts messages, or behind the colon "
            "the prompt format or the chat template that renders what it counts."
        )
    if endpoint is not None and is_template(form) and load_profile(deployment.server).context.tokenize == "messages":
        return _without_template(deployment, endpoint, switches, form, root)
    if form:
        local = choose_counter(encoder=form, root=root, options=switches.options)
        local = with_switches(local, switches, form)
    else:
        local = counter_of_model(deployment.model or None, switches)
    if endpoint is None:
        if named is not None:
            raise UsageError(
                f"The `tokenizer` of `{deployment.name}` is the server, which cannot be asked here. Name a prompt "
                "format or a chat template instead."
            )
        return local
    return replace(local, counter=ServerCounter(endpoint, local.counter, local.encoder, switches), guessed=None)


def _without_template(
    deployment: Deployment, endpoint: TokenEndpoint, switches: Switches, template: str, root: Path | None
) -> Chosen:
    """A server that renders messages itself, and the template that was named for it all the same."""
    read_template(Path(template) if root is None else root / template, shown=template, used=False)
    local = counter_of_model(deployment.model or None, switches)
    title = load_profile(deployment.server).title
    unused = Sentence(
        f"{title} renders prompts itself, so the chat template {template} is not used. `tokenizer = "
        f'"{SERVER}"` is enough.',
        f'{title} 自行渲染提示词，因此没有使用对话模板 {template}。写 `tokenizer = "{SERVER}"` 即可。',
    )
    counter = ServerCounter(endpoint, local.counter, local.encoder, switches)
    return replace(local, counter=counter, guessed=unused)


def counter_of_model(model: str | None, switches: Switches) -> Chosen:
    """What counts where nothing names it: by the model's name, with thinking and effort as the requests ask for.

    Args:
        model: its name; None where there is none.
        switches: of the requests.
    """
    return with_switches(choose_counter(model=model), switches)


def with_switches(chosen: Chosen, switches: Switches, named: str = "") -> Chosen:
    """The same format, with thinking and effort as the requests ask for.

    Args:
        chosen: what counts.
        switches: of the requests.
        named: how it was named; where that says the options itself, they stay.
    """
    if (
        ":" in named
        or "," in named
        or chosen.form is None
        or chosen.encoder is None
        or (switches.thinking is None and switches.effort is None)
    ):
        return chosen
    options = [] if switches.thinking is None else [f"thinking={'yes' if switches.thinking else 'no'}"]
    if chosen.form == "v4" and switches.effort not in (None, "none"):
        # vLLM reads any other effort as one of V4's three
        low = switches.effort in ("low", "minimal", "medium")
        options.append(f"effort={'max' if switches.effort == 'max' else 'low' if low else 'high'}")
    again = choose_counter(encoder=f"{chosen.form}:{','.join(options)}")
    return replace(again, guessed=chosen.guessed)
