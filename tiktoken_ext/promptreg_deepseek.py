"""Registers DeepSeek's vocabulary with tiktoken: `tiktoken.get_encoding("deepseek_v4")`. Nothing is downloaded."""

from __future__ import annotations

from promptreg.context.count.vocabulary import deepseek_v4

ENCODING_CONSTRUCTORS = {"deepseek_v4": deepseek_v4}
