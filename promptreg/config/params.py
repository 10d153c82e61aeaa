"""Request parameters that a suite or a deployment may set, checked against the openai package's typed ones."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject

EXTRA_BODY = "extra_body"
"""The parameter that carries what only some servers know, as in the official client."""

_OWN = {
    "messages": "the case's messages are sent",
    "model": "the deployment's model is sent",
    "stream": "each deployment says so itself: stream = true or false in promptreg.toml",
}
"""Parameters that are not the suite's to set, and why."""

_EXTENSIONS = frozenset(
    [
        "add_generation_prompt",
        "best_of",
        "bad_words",
        "cache_salt",
        "chat_template",
        "chat_template_kwargs",
        "do_sample",
        "enable_thinking",
        "ebnf",
        "guided_choice",
        "guided_grammar",
        "guided_json",
        "guided_regex",
        "ignore_eos",
        "include_reasoning",
        "include_stop_str_in_output",
        "length_penalty",
        "min_p",
        "min_tokens",
        "no_stop_trim",
        "priority",
        "prompt_logprobs",
        "regex",
        "repetition_detection",
        "repetition_penalty",
        "return_token_ids",
        "separate_reasoning",
        "skip_special_tokens",
        "spaces_between_special_tokens",
        "stop_token_ids",
        "stream_reasoning",
        "structured_outputs",
        "thinking",
        "thinking_budget",
        "top_k",
        "truncate_prompt_tokens",
        "use_beam_search",
    ]
)
"""Known extensions of vLLM, SGLang, MindIE and the DeepSeek API."""

ONE_SAMPLE = (
    "n must be 1: samples of one batch share their numeric state, so they are no independent samples; "
    "leave n out and take more passes (record --passes 10)"
)


@cache
def param_names() -> frozenset[str]:
    """Names that a suite or a deployment may set in `request`: the official client's, and `extra_body`.

    They are read from the source of the package's typed dictionary, which takes milliseconds; importing the package
    takes most of a second and is the fallback.
    """
    names = _names_in_source() or _names_by_import()
    return (names | {EXTRA_BODY}) - _OWN.keys()


def validate_params(params: JsonObject, names: frozenset[str] | None = None) -> tuple[str, ...]:
    """What is wrong with request parameters: one sentence each, without a place; empty when all is well.

    Args:
        params: as a suite, a case or a deployment's `request` has them.
        names: the allowed names; `param_names()` when None.
    """
    allowed = param_names() if names is None else names
    problems = []
    for name, value in params.items():
        if name in _OWN:
            problems.append(f"`{name}` cannot be set here: {_OWN[name]}")
        elif name not in allowed:
            problems.append(_unknown(name, allowed))
        elif name == EXTRA_BODY and not isinstance(value, Mapping):
            problems.append("extra_body must be a mapping of names to values")
    extra = params.get(EXTRA_BODY)
    if isinstance(extra, Mapping):
        problems += [f"`{name}` cannot be set in extra_body: {_OWN[name]}" for name in extra if name in _OWN]
    if asks_for_several(params):
        problems.append(ONE_SAMPLE)
    return tuple(problems)


def asks_for_several(params: JsonObject) -> bool:
    """Whether one call would ask for several answers (`n`, `best_of`), also by way of `extra_body`."""
    extra = params.get(EXTRA_BODY)
    several = [
        source.get(name) for source in (params, extra) if isinstance(source, Mapping) for name in ("n", "best_of")
    ]
    return any(value is not None and value != 1 for value in several)


def _unknown(name: str, allowed: frozenset[str]) -> str:
    from rapidfuzz import fuzz, process  # noqa: PLC0415  only needed for an error

    if name in _EXTENSIONS:
        return f"`{name}` is an extension of some servers: write it as extra_body: {{{name}: …}}"
    close = process.extractOne(name, sorted(allowed), scorer=fuzz.ratio, score_cutoff=70)
    hint = f"did you mean `{close[0]}`? " if close is not None else ""
    return (
        f"`{name}` is no request parameter of the chat completions API; {hint}"
        f"a server's own extension goes into extra_body: {{{name}: …}}"
    )


def _names_in_source() -> frozenset[str]:
    package = importlib.util.find_spec("openai")
    if package is None or package.origin is None:
        return frozenset()
    path = Path(package.origin).parent / "types" / "chat" / "completion_create_params.py"
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return frozenset()
    return frozenset(
        statement.target.id
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "CompletionCreateParamsBase"
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    )


def _names_by_import() -> frozenset[str]:
    module = importlib.import_module("openai.types.chat.completion_create_params")
    return frozenset(module.CompletionCreateParamsBase.__annotations__)
