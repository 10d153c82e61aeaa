"""What the rules see of a call, and what they say about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from promptreg.answer.model import Answer
from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.exchange import ENVELOPE_MADE
from promptreg.scoring.faults.reading.frames import Frames
from promptreg.scoring.faults.reading.prompt import Prompt, prompt_of
from promptreg.scoring.faults.reading.views import text_of_content, text_view

if TYPE_CHECKING:
    from promptreg.answer.model import ToolCall, Usage
    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.exchange import FailureKind
    from promptreg.deployment.reading import ReadProblem
    from promptreg.scoring.faults.reading.frames import Frame
    from promptreg.scoring.faults.reading.golden import Golden
    from promptreg.scoring.faults.reading.views import Text
    from promptreg.text.sentence import Sentence


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "E"
    """A client breaks, or the answer is wrong."""
    WARNING = "W"
    """The contract differs: a client may break."""
    INFO = "I"
    """Worth a note."""


class Probe(StrEnum):
    """What a rule needs to see a fault at all (design page serving.md, section 1.0)."""

    ONE = "1"
    """One response is enough."""
    GOLDEN = "G"
    """A recorded answer of the source."""
    REPEATS = "R"
    """Several calls with the same request."""
    CONCURRENCY = "C"
    """Calls that ran beside others."""
    LENGTHS = "L"
    """The same task at several prompt lengths."""
    PAIR = "P"
    """The same call to two configurations or deployments."""
    SPECIAL = "probe"
    """A request made for this kind."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault that was found."""

    kind: str
    """`F01` to `F55`, a key of the catalogue."""
    severity: Severity
    where: str
    """Field, frame and offset, in the manner of code: `content[120]`, `frames[4]`, `usage.total_tokens`. With several
    calls the label of the call stands first: `warm: content[12]`."""
    evidence: Sentence
    """What was seen, at most 120 columns, without control characters; a quote is the same in both languages."""
    suspects: tuple[str, ...] = ()
    """Likely causes, keys of the catalogue's suspects, the likeliest first."""

    def to_json(self) -> JsonObject:
        """The form in JSON output."""
        return {
            "kind": self.kind,
            "severity": self.severity.value,
            "where": self.where,
            "evidence": self.evidence.en,
            "suspects": list(self.suspects),
        }


@dataclass(frozen=True)
class Observation:
    """One call as the rules see it. What several rules need is worked out once, on first use.

    Built by `observe.observe_exchange` (a live or stored exchange) and by `payload` (a line of a file).
    """

    label: str = ""
    """How a call of several is told from the others: "warm", "c32", "r1"."""
    request: JsonObject = field(default_factory=dict)
    """The request body; empty where it is not known."""
    status: int | None = None
    """HTTP status; None when no response head arrived."""
    headers: tuple[tuple[str, str], ...] = ()
    """Response headers, names in lower case."""
    body: str = ""
    """The body as text, of a stream all of it; bytes that are no UTF-8 are replaced."""
    document: Json = None
    """The body of a call without stream, read as JSON; None where it is none."""
    streamed: bool = False
    """Whether the body is an event stream."""
    frames: Frames = field(default_factory=Frames)
    """The events of a stream without the final [DONE]."""
    done: bool = False
    """Whether the stream said [DONE]."""
    failure: FailureKind | None = None
    """Why the connection ended before the response was complete; None when it did not, or when the end of the
    connection is how the server ended a stream."""
    failure_message: str = ""
    duration_s: float | None = None
    choice: JsonObject | None = None
    """The choice that is read, of a body; None where there is none or the answer was streamed."""
    message: JsonObject | None = None
    """The assistant's message, put together from the deltas of a stream; None when nothing of an answer arrived."""
    answer: Answer = field(default_factory=Answer)
    """The parts of the answer, also of one that was cut; empty when nothing arrived."""
    usage: Usage | None = None
    usage_json: JsonObject | None = None
    """The token counts as the server sent them."""
    system_fingerprint: str | None = None
    problem: ReadProblem | None = None
    """Why a client could not read the response."""
    notes: frozenset[str] = frozenset()
    """Oddities that the reader met, by the names in `deployment.reader`, `deployment.sse`, `deployment.assembly`."""
    server: str | None = None
    """Kind of the server (vllm, sglang, mindie, deepseek), where it is known."""
    golden: Golden | None = None
    """What the source answered; None where nothing was recorded."""
    expected: JsonObject = field(default_factory=dict)
    """What the sender knows about the right answer: `needle`, `client_token_estimate`, `canary`."""

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def answered(self) -> bool:
        """Whether any message of an assistant arrived, even an empty or a cut one."""
        return self.message is not None

    @property
    def made(self) -> bool:
        """Whether a user's own function gave the answer alone: what a server would say beside it is not missing."""
        return ENVELOPE_MADE in self.headers

    @property
    def broken_off(self) -> bool:
        """Whether a stream ended before its answer did: cut, lost, ended by an error or by promptreg itself.

        What such an answer lacks is no fault of its own.
        """
        return self.streamed and self.finish_reason is None and (not self.done or self.problem is not None)

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, as the server says."""
        return self.answer.finish_reason

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the answer."""
        return self.answer.tool_calls

    @cached_property
    def content(self) -> Text:
        """What the user sees, without reasoning that stood between think tags."""
        return text_view(self.answer.content)

    @cached_property
    def reasoning(self) -> Text:
        """The reasoning, from whichever field or from think tags."""
        return text_view(self.answer.reasoning)

    @cached_property
    def sent_content(self) -> str:
        """The content as sent, think tags and all."""
        return "" if self.message is None else text_of_content(self.message.get("content"))

    @cached_property
    def prompt(self) -> Prompt:
        """The text of all messages of the request, joined by line feeds, and what it asks for."""
        return prompt_of(self.request.get("messages"))

    @property
    def last_question(self) -> str:
        """The text of the last message of the user."""
        return self.prompt.last_question

    @property
    def notable_frames(self) -> tuple[tuple[int, Frame], ...]:
        """The frames of a stream that are not plain, which are few, each with its number."""
        return self.frames.notable

    @cached_property
    def message_keys(self) -> frozenset[str]:
        """The keys of the message, of a stream those of all its deltas, whatever their values."""
        if self.streamed:
            return self.frames.keys
        return frozenset(self.message or ())

    @cached_property
    def reasoning_fields(self) -> frozenset[str]:
        """The reasoning fields that held text."""
        message = self.message or {}
        return frozenset(name for name in REASONING_FIELDS if message.get(name))

    @cached_property
    def model_name(self) -> str | None:
        """The model that the response names; None where it names none."""
        for document in (self.document, *(frame.value for frame in self.frames[:1])):
            name = document.get("model") if isinstance(document, dict) else None
            if isinstance(name, str):
                return name
        return None

    @cached_property
    def token_cap(self) -> int | None:
        """The limit of answer tokens that the request asks for; None where it asks for none."""
        for name in ("max_completion_tokens", "max_tokens"):
            value = self.request.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    @cached_property
    def tools(self) -> dict[str, JsonObject]:
        """The functions that the request offers, by their names."""
        found: dict[str, JsonObject] = {}
        for key in ("functions", "tools"):  # the old field, and the one that took its place
            offered = self.request.get(key)
            for tool in offered if isinstance(offered, Sequence) and not isinstance(offered, str) else ():
                function = tool if key == "functions" else tool.get("function") if isinstance(tool, dict) else None
                name = function.get("name") if isinstance(function, dict) else None
                if isinstance(function, dict) and isinstance(name, str):
                    found[name] = function
        return found

    def told(self, **changed: Any) -> Observation:
        """The same call with another `label` or `golden`; what was worked out of the call itself is kept."""
        if not changed.keys() <= {"label", "golden"}:
            raise ValueError(f"only label and golden can be changed, not {', '.join(sorted(changed))}")
        same = copy(self)
        same.__dict__.update(changed)
        return same


CallRule: TypeAlias = Callable[[Observation], Iterable[Finding]]
"""Looks at one call."""

RunRule: TypeAlias = Callable[[Sequence[Observation]], Iterable[Finding]]
"""Looks at several calls of one request, in the order in which they were made."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a family: what it looks for, and how."""

    kind: str
    """The kind it finds; a rule that finds several (one pass, two outcomes) names the first."""
    probe: Probe
    find: CallRule | None = None
    find_in_run: RunRule | None = None
    """At least one of the two is set."""
