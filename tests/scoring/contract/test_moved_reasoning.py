from __future__ import annotations

import pytest

from promptreg.answer.model import Answer
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.moved import moved_reasoning
from promptreg.scoring.traits import likeness_of

FIELD, OTHER, TAG = (Answer("七天", "先算", field) for field in ("reasoning_content", "reasoning", "think_tag"))


def test_reasoning_in_another_field_is_said_and_is_no_change_of_text():
    answers = [FIELD] * 3 + [OTHER, OTHER, FIELD]
    sentence = moved_reasoning(answers, 3)
    assert sentence is not None
    assert sentence.en == (
        "The recorded answers had their reasoning in `reasoning_content`; 2 of 3 here have it in `reasoning`."
    )
    assert sentence.zh == "录制的回答的推理内容在 `reasoning_content` 中；这里 3 条中有 2 条在 `reasoning` 中。"
    assert set(likeness_of(answers, answers, 3).exact) == {0}
    assert contract_of(answers).present.all()


def test_reasoning_in_tags_is_said():
    sentence = moved_reasoning([FIELD, TAG], 1)
    assert sentence is not None
    assert "1 of 1 here has it in <think> tags in the content" in sentence.en
    assert "正文的 <think> 标签" in sentence.zh


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ([FIELD], [FIELD]),
        ([FIELD, TAG], [TAG]),
        ([Answer("a")], [FIELD]),
        ([FIELD], [Answer("a")]),
        ([Answer("a")], []),
    ],
)
def test_nothing_moved(source, target):
    assert moved_reasoning([*source, *target], len(source)) is None
