"""A user's own function that shortens conversations, by its name `module:callable`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from promptreg.deployment.transports.function import load_function
from promptreg.errors import ConfigError, UsageError
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LONGEST = 300
"""Columns of why it cannot be used: an error of its module may have any length, and line ends."""


def user_function(name: str, root: Path | None) -> Callable[..., Any]:
    """The function, imported.

    Args:
        name: `module:callable`.
        root: where its module is looked for; None: the current folder.

    Raises:
        UsageError: it is no name of one, cannot be imported, or takes other arguments.
    """
    module, _, called = name.partition(":")
    if not module or not called:
        raise UsageError(f"A function is named `module:callable`, such as `my_context:shorten`; `{name}` is none.")
    try:
        function = load_function(name, root)
    except ConfigError as error:
        reason = str(error).removeprefix(f'call = "{name}": ')
        raise UsageError(f"The function `{name}` cannot be used: {preview(reason, _LONGEST)}.") from None
    except SystemExit:
        raise UsageError(f"The function `{name}` cannot be used: importing `{module}` ends the program.") from None
    try:
        inspect.signature(function).bind([], 1)
    except TypeError:
        raise UsageError(
            f"The function `{name}` must take two arguments, a list of messages and the tokens that the prompt may "
            "have, and return the messages to send."
        ) from None
    except ValueError:  # a built-in without a signature: its first call will tell
        pass
    return function
