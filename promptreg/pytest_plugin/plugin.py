"""The pytest11 entry point `promptreg_migrate`: hooks only. What is heavy is imported when --promptreg is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.pytest_plugin.options import add_options, is_on, refuse_alone

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the help group."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the hooks that do the work, when they are asked for."""
    if not is_on(config):
        refuse_alone(config)
        return
    from promptreg.pytest_plugin.hooks import register  # noqa: PLC0415 - see above

    register(config)
