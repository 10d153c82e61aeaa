"""Prompt and context regression testing for LLM applications that change their serving stack.

```python
from pathlib import Path
from promptreg import CompareOptions, compare, load_config

config = load_config(None, Path.cwd())
result = compare(config, CompareOptions(passes=5))
print(result.comparison.verdict, result.report)
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptreg.config import Config, load_config
    from promptreg.errors import PromptregError
    from promptreg.workflow.compare import compare
    from promptreg.workflow.compare_options import CompareOptions
    from promptreg.workflow.compared import Compared
    from promptreg.workflow.comparison import Comparison
    from promptreg.workflow.record import RecordOptions, record
    from promptreg.workflow.recording import Recording

__version__ = "0.1.0"

__all__ = [
    "CompareOptions",
    "Compared",
    "Comparison",
    "Config",
    "PromptregError",
    "RecordOptions",
    "Recording",
    "compare",
    "load_config",
    "record",
]

_HOMES = {
    "CompareOptions": "promptreg.workflow.compare_options",
    "Compared": "promptreg.workflow.compared",
    "Comparison": "promptreg.workflow.comparison",
    "Config": "promptreg.config",
    "PromptregError": "promptreg.errors",
    "RecordOptions": "promptreg.workflow.record",
    "Recording": "promptreg.workflow.recording",
    "compare": "promptreg.workflow.compare",
    "load_config": "promptreg.config",
    "record": "promptreg.workflow.record",
}
"""Where each public name lives. Imported when it is first used, so that `promptreg --help` stays quick."""


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported already or not."""
    return sorted({*globals(), *__all__})
