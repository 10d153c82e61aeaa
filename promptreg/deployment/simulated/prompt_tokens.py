"""Tokens of the prompts that a simulated deployment is sent, counted as `promptreg` counts for the same deployment.

A conversation that was shortened for a window must be taken by a simulated server of that window. So a model whose
name, or whose `tokenizer` in the script, says which of DeepSeek's formats it has is counted to the token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptreg.canonical import canonical_json
from promptreg.context.count.counters import choose_counter
from promptreg.deployment.simulated import tokens
from promptreg.deployment.tokenize import counter_of_model, switches_in, with_switches
from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.context.count.counters import Chosen
    from promptreg.deployment.simulated.script import Script
    from promptreg.deployment.tokenize import Switches


class PromptTokens:
    """Counts prompts; each counter is made when it is first needed.

    Args:
        script: of the deployment.

    Raises:
        UsageError: its `tokenizer` names nothing that exists.
    """

    def __init__(self, script: Script) -> None:
        self._model = script.models[0]
        self._tokenizer = script.tokenizer
        if script.tokenizer is not None:
            choose_counter(tokenizer=script.tokenizer)
        self._by_name: dict[tuple[str, str], Chosen] = {}

    def count(self, body: Mapping[str, Any]) -> int:
        """Tokens of the prompt of a request; an estimate for messages that the model's format has no place for."""
        messages, tools = body["messages"], body.get("tools")
        model = body.get("model")
        chosen = self._chosen(model if isinstance(model, str) else self._model, switches_in(body))
        try:
            return chosen.counter.prompt(messages, tools=tools if isinstance(tools, list) else ())
        except (EncodingError, AttributeError, TypeError):  # what is no message is refused, or taken, elsewhere
            return tokens.count_prompt(messages)

    def _chosen(self, model: str, switches: Switches) -> Chosen:
        key = (model, canonical_json(switches.options))
        if key not in self._by_name:
            self._by_name[key] = self._counter(model, switches)
        return self._by_name[key]

    def _counter(self, model: str, switches: Switches) -> Chosen:
        named = self._tokenizer
        if named is None:
            return counter_of_model(model, switches)
        return with_switches(choose_counter(tokenizer=named, options=switches.options), switches, named)
