from __future__ import annotations

import pytest

from promptreg.context.budget import Budget
from promptreg.errors import UsageError


@pytest.mark.parametrize(
    ("budget", "tokens"),
    [
        (Budget(8192), 8192 - 82),
        (Budget(8192, 1024), 8192 - 1024 - 82),
        (Budget(100), 92),
        (Budget(100, 10, 0), 90),
        (Budget(100, 200), -108),
        (Budget.exactly(7), 7),
    ],
)
def test_a_budget_is_the_window_less_reserve_and_margin(budget, tokens):
    assert budget.tokens == tokens
    assert budget.window == tokens + budget.kept_free


@pytest.mark.parametrize("values", [(0,), (-5,), (100, -1), (100, 0, -1)])
def test_a_budget_that_is_none_is_refused(values):
    with pytest.raises(UsageError, match="window of at least 1 token"):
        Budget(*values)
