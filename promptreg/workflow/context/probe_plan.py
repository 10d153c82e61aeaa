"""Which questions go to a deployment, behind which prompts: each is made before the first one is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from promptreg.canonical import sha256_of
from promptreg.context.shape import unsendable
from promptreg.context.trial.calls import calls_of_conversation
from promptreg.context.trial.probe_tallies import AGAIN, FULL, NONE, Arm
from promptreg.context.trial.probes import probes_of, whole_prompt
from promptreg.deployment.request import request_body
from promptreg.errors import CannotFit, EncodingError, EndpointError, Place
from promptreg.suite.model import Case, Request
from promptreg.text.counted import counted, grouped
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Deployment
    from promptreg.context.budget import Budget
    from promptreg.context.conversations import Recording
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.trial.grid import Contestant
    from promptreg.context.trial.probes import Probe

_SENT: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content", "reasoning")
"""Keys of a message that go out; a log may have others, which servers refuse."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_GUESSES: Final = ("words", "messages", "characters")
"""Counters whose numbers say nothing about tokens."""

Key: TypeAlias = tuple[str, int]
"""Hash of a request, and how often the same one went out before."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question in one arm."""

    key: Key | None
    """None where nothing can be sent."""
    counted: int | None = None
    """Tokens of its prompt at least: without tools, which some servers leave out where none may be called. None when
    they are not known."""
    why: Sentence | None = None
    """Why nothing can be sent."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every question, and every request once: arms with the same prompt share the answer."""

    deployment: Deployment
    probes: tuple[Probe, ...]
    """Those about what was said first."""
    said: int
    """So many of them are about what was said."""
    arms: Mapping[Arm, tuple[Question, ...]]
    """In the order of `probes`; `again` and `none` only of those about what was said."""
    requests: Mapping[Key, Case]
    counter: str
    """What counts for the deployment."""
    prompt_tokens: int
    """Of all requests, where they are known."""
    shortened_by: str | None = None
    """What the strategies counted by, where that is another counter."""
    tokens: Mapping[Key, int] = field(default_factory=lambda: MappingProxyType({}))
    """Of each request, tools included; 0 where they are not known."""

    @property
    def sentence(self) -> Sentence:
        """What is about to be sent."""
        strategies = sum(arm.name == "strategy" for arm in self.arms)
        arms = counted(strategies, "arm")
        unsaid, calls, name = len(self.probes) - self.said, len(self.requests), self.deployment.name
        return Sentence(
            f"{grouped(calls, 'call')} on {name}: {counted(self.said, 'question')} about what was said and {unsaid} "
            "about what was not, "
            f"after the whole conversation (twice), after nothing, and after what strategies leave ({arms}). Equal "
            f"prompts are sent once. About {self.prompt_tokens:,} prompt tokens, counted by {self.counter}.",
            f"将对 {name} 发出 {calls:,} 次调用：{self.said} 个问题问说过的内容，{unsaid} 个问没说过的内容；"
            f"分别置于完整对话（两次）、空上下文和策略保留的内容（{strategies} 组）之后。相同的提示词只发一次。"
            f"提示词共约 {self.prompt_tokens:,} token（计数器：{self.counter}）。",
        )

    def to_json(self) -> dict[str, Json]:
        """The one object that `--dry-run --json` prints."""
        return {
            "schema": "promptreg.context-probes/1",
            "deployment": self.deployment.name,
            "questions": self.said,
            "never_said": len(self.probes) - self.said,
            "strategies": sorted({arm.strategy for arm in self.arms if arm.strategy}),
            "windows": sorted({arm.window for arm in self.arms if arm.window}),
            "calls": len(self.requests),
            "counter": self.counter,
            "estimated_prompt_tokens": self.prompt_tokens,
        }


def plan_probes(
    deployment: Deployment,
    recordings: Sequence[Recording],
    contestants: Sequence[Contestant],
    budgets: Sequence[Budget],
    counter: Counter,
    *,
    shortened_by: str | None = None,
    most: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Plan:
    """The questions and their prompts: strategies see each conversation call by call, then with a question at its end.

    Args:
        deployment: Who is asked.
        recordings: With their facts.
        contestants: What leaves a part of the conversation.
        budgets: The windows.
        counter: Counts prompts as the deployment does.
        shortened_by: What the contestants count by, where that is another counter.
        most: Questions about facts.
        seed: Of which facts are asked for.
        progress: Told how many prompts are made, of how many.
    """
    probes = probes_of(recordings, most, seed)
    said = sum(probe.said for probe in probes)
    sheet = _Sheet(deployment, counter, min((budget.reserve for budget in budgets), default=0))
    by_id = {recording.conversation_id: recording for recording in recordings}
    whole = {name: whole_prompt(recording) for name, recording in by_id.items()}
    arms: dict[Arm, tuple[Question, ...]] = {
        arm: tuple(
            sheet.question((*whole[probe.conversation], _asked(probe)), by_id[probe.conversation].tools, repeat)
            for probe in asked
        )
        for arm, repeat, asked in ((FULL, 0, probes), (AGAIN, 1, probes[:said]))
    }
    arms[NONE] = tuple(sheet.question((_asked(probe),), (), 0) for probe in probes[:said])
    done, total = 0, len(contestants) * len(budgets) * len(probes)
    for contestant in contestants:
        for budget in budgets:
            shortened = _Shortened(contestant, budget)
            questions: list[Question] = []
            for probe in probes:
                left = shortened(by_id[probe.conversation], (*whole[probe.conversation], _asked(probe)))
                if isinstance(left, Sentence):
                    questions.append(Question(None, why=left))
                else:
                    questions.append(sheet.question(left, by_id[probe.conversation].tools, 0))
                done += 1
                progress(done, total)
            arms[Arm("strategy", contestant.name, budget.window)] = tuple(questions)
    return Plan(
        deployment,
        probes,
        said,
        MappingProxyType(arms),
        MappingProxyType(sheet.requests),
        counter.name,
        sum(sheet.tokens.values()),
        shortened_by,
        MappingProxyType(sheet.tokens),
    )


def _asked(probe: Probe) -> Message:
    return {"role": "user", "content": probe.question}


class _Shortened:
    """What a contestant leaves of conversations with a question at their end."""

    def __init__(self, contestant: Contestant, budget: Budget) -> None:
        self._contestant = contestant
        self._budget = budget.tokens
        self._states: dict[str, Any] = {}

    def __call__(self, recording: Recording, messages: Sequence[Message]) -> Sequence[Message] | Sentence:
        """The messages that are sent, or why none are."""
        name = recording.conversation_id
        if name not in self._states:
            self._states[name] = self._state(recording)
        try:
            sent = self._contestant.send(messages, self._budget, recording.tools, self._states[name])
        except EndpointError:  # the server that counts
            raise
        except CannotFit:
            return Sentence("nothing fits the window", "窗口放不下任何内容")
        except Exception as error:  # noqa: BLE001 - a user's own function
            kind = type(error).__name__
            return Sentence(f"the strategy raised {kind}", f"策略出错（{kind}）")
        left = sent.outcome.messages
        if not left:
            return Sentence("the strategy left nothing", "策略未留下任何消息")
        if sent.outcome.origins is None and unsendable(left, messages) is not None:
            return Sentence("what the strategy returned could not be rendered", "策略返回的消息无法渲染")
        return left

    def _state(self, recording: Recording) -> Any:
        """What it remembers at the end of a conversation that was sent call by call."""
        state: Any = None
        for place in calls_of_conversation(recording.messages):
            try:
                state = self._contestant.send(recording.messages[:place], self._budget, recording.tools, state).state
            except EndpointError:
                raise
            except Exception:  # noqa: BLE001 - a user's own function; the grid has told what it raises
                state = None
        return state


class _Sheet:
    """Collects requests, each once."""

    def __init__(self, deployment: Deployment, counter: Counter, reserve: int) -> None:
        self._deployment = deployment
        self._counter = counter
        sets = request_body(Request((), {}), deployment)
        self._params: dict[str, Json] = {} if "temperature" in sets else {"temperature": 0}
        if reserve and not any(name in sets for name in _LIMITS):
            self._params["max_tokens"] = reserve
        self.requests: dict[Key, Case] = {}
        self.tokens: dict[Key, int] = {}
        self._least: dict[Key, int | None] = {}

    def question(self, messages: Sequence[Message], tools: Sequence[JsonObject], repeat: int) -> Question:
        sent = tuple({name: message[name] for name in _SENT if name in message} for message in messages)
        params = dict(self._params)
        if tools:
            params |= {"tools": list(tools), "tool_choice": "none"}
        request = Request(sent, params)
        key = (sha256_of({"messages": list(sent), "params": params}), repeat)
        if key not in self.requests:
            place = Place(f"deployments.{self._deployment.name}")
            self.requests[key] = Case(self._deployment.name, f"{key[0]}/{repeat}", request, place)
            self.tokens[key] = self._count(messages, tools) or 0
            self._least[key] = self._count(messages, ()) if tools else self.tokens[key]
        return Question(key, self._least[key] or None)

    def _count(self, messages: Sequence[Message], tools: Sequence[JsonObject]) -> int | None:
        if self._counter.name in _GUESSES:
            return None
        try:
            return self._counter.prompt(messages, tools=tools)
        except EncodingError:
            return None
