"""Cases of one conversation or document are marked by a tag they share."""

from __future__ import annotations

import pytest

from promptreg.errors import Place
from promptreg.suite.model import Case, Request
from promptreg.workflow.judging.judge import share_cluster


@pytest.mark.parametrize(
    ("tags", "shared"),
    [
        ([], False),
        ([("policy",), ("policy",)], False),
        ([("cluster:合同-7",), ("cluster:other",)], False),
        ([("cluster:a", "cluster:a")], False),
        ([("cluster:合同-7", "policy"), ("x",), ("cluster:合同-7",)], True),
    ],
)
def test_a_cluster_is_a_tag_that_two_cases_share(tags, shared):
    cases = [Case("s", f"c{i}", Request((), {}), Place("s.yaml"), (), each) for i, each in enumerate(tags)]
    assert share_cluster(cases) is shared
