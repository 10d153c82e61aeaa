"""The pytest11 entry point `promptreg_migrate`: hooks only. What is heavy is imported when --promptreg is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from promptreg.pytest_plugin.options import add_options, is_on, refuse_alone

if TYPE_CHECKING:
    from promptreg.pytest_plugin.fixture import PromptregFixture


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


@pytest.fixture
def promptreg(request: pytest.FixtureRequest) -> PromptregFixture:
    """Compares answers of your own application with the baseline: `promptreg.compare("support/refund", answer)`."""
    hooks = request.config.pluginmanager.get_plugin("promptreg_hooks")
    if hooks is None:
        pytest.skip("needs --promptreg")
    fixture: PromptregFixture = hooks.fixture(request.node)
    return fixture


@pytest.fixture
def promptreg_case(request: pytest.FixtureRequest) -> Any:
    """Each case of the project's suites in turn, to be asked with `promptreg_case.request.messages`."""
    if not is_on(request.config):
        pytest.skip("needs --promptreg")
    return request.param
