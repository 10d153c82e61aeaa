"""Checks `tool_call` and `no_tool_call`: which tools the answer calls, and with which arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, no_argument, quoted
from promptreg.scoring.checks.json_schema import FitsSchema, first_misfit, read_schema
from promptreg.scoring.checks.options import fields, listed, text
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class CallsTool:
    """One of the answer's calls is to this tool, with arguments that are JSON and fit the schema."""

    name: str
    arguments: FitsSchema | None

    @property
    def rules(self) -> Rules:
        """The answer must call the tool, or must not."""
        en, zh = f"call the tool {quoted(self.name)}", f"调用工具{quoted(self.name)}"
        if self.arguments is not None:
            source = self.arguments.source
            en, zh = f"{en} with arguments that fit {source.en}", f"{zh}，且参数符合{source.zh}"
        return must(en, zh)

    def find(self, answer: Answer) -> Finding:
        """Whether it calls it, or what it does instead."""
        if not answer.tool_calls:
            return found(False, "calls no tool", "没有调用工具")
        calls = [call for call in answer.tool_calls if call.name == self.name]
        if not calls:
            names = list(dict.fromkeys(call.name for call in answer.tool_calls))
            return found(
                False,
                f"calls {listed(names, 'and')}, not {quoted(self.name)}",
                f"调用的是{listed(names, '和')}，而不是{quoted(self.name)}",
            )
        finding = found(True, f"calls the tool {quoted(self.name)}", f"调用了工具{quoted(self.name)}")
        for call in calls:
            finding = self._judged(call.arguments)
            if finding.holds:
                break
        return finding

    def _judged(self, arguments: str) -> Finding:
        name = quoted(self.name)
        try:
            value = orjson.loads(arguments or "{}")
        except orjson.JSONDecodeError:
            return found(
                False, f"calls the tool {name} with arguments that are not JSON", f"调用了工具{name}，但参数不是 JSON"
            )
        if not isinstance(value, dict):
            return found(
                False,
                f"calls the tool {name} with arguments that are no JSON object",
                f"调用了工具{name}，但参数不是 JSON 对象",
            )
        if self.arguments is None:
            return found(True, f"calls the tool {name}", f"调用了工具{name}")
        misfit = first_misfit(self.arguments, value)
        if misfit is None:
            return found(True, f"calls the tool {name} with fitting arguments", f"调用了工具{name}，参数符合要求")
        why = misfit.sentence.en.removeprefix("The answer ").rstrip(".")
        return found(
            misfit.holds,
            f"calls the tool {name} with arguments that are wrong: it {why}",
            f"调用了工具{name}，但参数有问题：{misfit.sentence.zh.removeprefix('回答').rstrip('。')}",
        )


@dataclass(frozen=True, slots=True)
class CallsNoTool:
    """Tool calls as the server reports them; a call written into the content is content."""

    @property
    def rules(self) -> Rules:
        """The answer must call no tool, or at least one."""
        return Rules(
            Sentence("The answer must call no tool.", "回答不得调用工具。"),
            Sentence("The answer must call a tool.", "回答必须调用工具。"),
        )

    def find(self, answer: Answer) -> Finding:
        """Which tools it calls."""
        if not answer.tool_calls:
            return found(True, "calls no tool", "没有调用工具")
        names = list(dict.fromkeys(call.name for call in answer.tool_calls))
        return found(False, f"calls {listed(names, 'and')}", f"调用了{listed(names, '和')}")


def build_call(argument: Json, setting: Setting) -> CallsTool:
    """`tool_call: NAME`, or `tool_call: {name: NAME, arguments: SCHEMA}` with a schema file or the schema itself."""
    if isinstance(argument, str):
        argument = {"name": argument}
    table = fields(argument, setting, ("name", "arguments"), "{name: refund, arguments: {required: [order_id]}}")
    name = text(table.get("name"), setting, "name")
    return CallsTool(name, read_schema(table["arguments"], setting) if "arguments" in table else None)


def build_none(argument: Json, setting: Setting) -> CallsNoTool:
    """`no_tool_call`, without argument."""
    no_argument(argument, setting)
    return CallsNoTool()
