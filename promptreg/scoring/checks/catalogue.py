"""What each check takes, for the reference: its argument, its fields with their types, and an example."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json

_TEXT: Final = "a text"
_TEXTS: Final = "a list of texts"
_TEXT_OR_TEXTS: Final = "a text, or a list of which one is enough"
_NOTHING: Final = "nothing"
_EXACTLY: Final = "a whole number, or `{min, max}`"
_MOST: Final = "the most allowed, or `{min, max}`"
_TRUTH: Final = "`true` or `false`"
_SHARE: Final = "a number from 0 to 1"


@dataclass(frozen=True, slots=True)
class Takes:
    """What a check takes."""

    argument: str
    """What may stand right behind its name; "" where it needs fields."""
    example: Json
    """A right argument; None for a check written by its name alone."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Names of its fields with what each is."""


_TO: Final = MappingProxyType({"to": _TEXT, "threshold": _SHARE})

TAKES: Final[Mapping[str, Takes]] = MappingProxyType(
    {
        "bleu": Takes(_TEXT, {"to": "七天内可以退货。", "threshold": 0.6}, _TO),
        "call": Takes(
            "`module:function` of the project",
            "my_checks:polite",
            {"function": "`module:function`", "options": "a table of values for its parameters"},
        ),
        "chrf": Takes(_TEXT, {"to": "七天内可以退货。", "threshold": 0.6}, _TO),
        "code_fence": Takes(
            "nothing, or a language under any of its names (`py` is `python`)",
            {"language": "json", "only": True},
            {"language": "a language", "only": f"{_TRUTH}: nothing stands around it"},
        ),
        "contains": Takes(_TEXT, "7天"),
        "contains_all": Takes(_TEXTS, ["7天", "退款"]),
        "contains_any": Takes(_TEXTS, ["7天", "一周"]),
        "ends_with": Takes(_TEXT_OR_TEXTS, ["。", "！"]),
        "equals": Takes(_TEXT, "是"),
        "facts": Takes(_TEXTS, ["30 days", "¥199"], {"must_keep": _TEXTS}),
        "finish_reason": Takes("`stop`, `length`, `tool_calls`, …, or a list of which one is enough", "stop"),
        "icontains": Takes(_TEXT, "refund"),
        "icontains_all": Takes(_TEXTS, ["refund", "days"]),
        "icontains_any": Takes(_TEXTS, ["refund", "return"]),
        "iequals": Takes(_TEXT, "yes"),
        "json": Takes(_NOTHING, None),
        "json_equals": Takes(
            "the JSON as a text in quotes",
            {"value": {"days": 30}, "tolerance": 0.01},
            {
                "value": "the value, written in YAML",
                "json": "the JSON as a text in quotes, instead of `value`",
                "tolerance": "a number from 0: how far numbers may be apart",
                "relative_tolerance": f"{_SHARE}: the same as a share of the larger one",
            },
        ),
        "json_fields": Takes(
            "",
            {"fields": {"days": 30, "items[0].name": "book"}},
            {
                "fields": "a table of paths and values",
                "tolerance": "a number from 0",
                "relative_tolerance": _SHARE,
            },
        ),
        "json_schema": Takes(
            "a schema file beside the suite, or the schema itself", {"type": "object", "required": ["days"]}
        ),
        "judge": Takes(
            "",
            {"by": "judge", "rubric": "Polite and complete."},
            {"by": "a deployment", "rubric": _TEXT, "to": "a text that the answer is compared with"},
        ),
        "language": Takes("a language code; regions are ignored", "zh"),
        "latency": Takes(
            "seconds",
            {"seconds": 5, "first_token_seconds": 1},
            {"seconds": "seconds", "first_token_seconds": "seconds"},
        ),
        "length": Takes(
            "", {"characters": {"min": 10, "max": 400}}, dict.fromkeys(("characters", "words", "tokens"), _MOST)
        ),
        "levenshtein": Takes(
            _TEXT,
            {"to": "七天内可以退货。", "edits": 5},
            {**_TO, "edits": "a whole number from 0, instead of `threshold`"},
        ),
        "list": Takes(
            f"nothing, or how many items: {_EXACTLY}",
            {"items": {"min": 2, "max": 5}, "ordered": True},
            {
                "items": _EXACTLY,
                "ordered": f"{_TRUTH}: numbered or bulleted",
                "min": "a whole number, instead of `items`",
                "max": "a whole number, instead of `items`",
            },
        ),
        "markdown": Takes(
            "nothing, or a list of blocks that must be there",
            {"headings": ["概述", "结论"], "list": 1},
            {
                "headings": "texts of headings, in this order",
                "heading": f"how many headings: {_EXACTLY}",
                "list": f"how many lists (not items): {_EXACTLY}",
                "table": f"how many tables: {_EXACTLY}",
                "code": f"how many code fences: {_EXACTLY}",
                "quote": f"how many quotations: {_EXACTLY}",
            },
        ),
        "max_chars": Takes("a whole number from 1", 400),
        "no_tool_call": Takes(_NOTHING, None),
        "one_of": Takes(_TEXTS, ["是", "否"]),
        "python": Takes(
            f"{_NOTHING}; words alone (`hello`) are no code",
            {"in_fence": True},
            {"in_fence": f"{_TRUTH}: only the code fences are read"},
        ),
        "refusal": Takes(_NOTHING, None),
        "regex": Takes("a regular expression", "[0-9]+ days"),
        "rouge": Takes(_TEXT, {"to": "七天内可以退货。", "variant": "l"}, {**_TO, "variant": "`l`, `1` or `2`"}),
        "similar": Takes(
            _TEXT, {"to": "七天内可以退货。", "threshold": 0.8}, {"to": _TEXT, "threshold": "a cosine, -1 to 1"}
        ),
        "sql": Takes(
            _NOTHING,
            {"dialect": "mysql", "in_fence": True},
            {"dialect": "a dialect of sqlglot", "in_fence": f"{_TRUTH}: only the code fences are read"},
        ),
        "starts_with": Takes(_TEXT_OR_TEXTS, "您好"),
        "table": Takes(
            "nothing, or a list of columns",
            {"columns": ["名称", "价格"], "rows": {"min": 1}},
            {"columns": "names of all columns, in order", "rows": f"how many rows: {_EXACTLY}"},
        ),
        "tool_call": Takes(
            "the name of a tool",
            {"name": "refund", "arguments": {"required": ["order_id"]}},
            {"name": "the name of a tool", "arguments": "a schema file, or the schema itself"},
        ),
        "usage": Takes(
            "",
            {"completion_tokens": 200, "prompt_tokens": {"max": 4000}},
            dict.fromkeys(
                ("prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "cached_tokens"), _MOST
            ),
        ),
        "xml": Takes(
            _NOTHING,
            {"root": "order", "elements": ["id", "total"]},
            {"root": "a name", "elements": "a list of names"},
        ),
    },
)
"""By name of the check, without `not_`."""
