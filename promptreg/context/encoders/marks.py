"""The marks of DeepSeek's prompt formats. Each is one token; their bars are U+FF5C, their low lines U+2581."""

from __future__ import annotations

from typing import Final

BEGIN: Final = "<｜begin▁of▁sentence｜>"
END: Final = "<｜end▁of▁sentence｜>"
USER: Final = "<｜User｜>"
ASSISTANT: Final = "<｜Assistant｜>"
THINK: Final = "<think>"
THOUGHT: Final = "</think>"
CALLS: Final = "<｜tool▁calls▁begin｜>"
CALLS_END: Final = "<｜tool▁calls▁end｜>"
CALL: Final = "<｜tool▁call▁begin｜>"
CALL_END: Final = "<｜tool▁call▁end｜>"
CALL_SEPARATOR: Final = "<｜tool▁sep｜>"
OUTPUTS: Final = "<｜tool▁outputs▁begin｜>"
OUTPUTS_END: Final = "<｜tool▁outputs▁end｜>"
OUTPUT: Final = "<｜tool▁output▁begin｜>"
OUTPUT_END: Final = "<｜tool▁output▁end｜>"
DSML: Final = "｜DSML｜"

ALL: Final = (
    BEGIN,
    END,
    USER,
    ASSISTANT,
    THINK,
    THOUGHT,
    CALLS,
    CALLS_END,
    CALL,
    CALL_END,
    CALL_SEPARATOR,
    OUTPUTS,
    OUTPUTS_END,
    OUTPUT,
    OUTPUT_END,
    DSML,
)
"""Every mark that the encoders write."""
