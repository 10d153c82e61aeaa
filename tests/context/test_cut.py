from __future__ import annotations

import pytest

from promptreg.context.cut import ESTIMATE_TOLERANCE, silent_cut


@pytest.mark.parametrize(("counted", "served"), [(100, 100), (100, 105), (100, None), (0, 0), (100, 0), (0, None)])
def test_a_server_that_saw_everything_or_does_not_tell(counted, served):
    assert silent_cut(counted, served, counter="exact") is None


def test_a_prompt_of_which_a_part_was_cut_away():
    cut = silent_cut(9001, 8185, counter="deepseek_v4 + V4 encoder, chat")

    assert (cut.counted, cut.served, cut.lost) == (9001, 8185, 816)
    for text in (cut.sentence.en, cut.sentence.zh):
        assert "9,001" in text
        assert "8,185" in text
        assert "deepseek_v4" in text
    assert cut.to_json()["lost"] == 816


def test_an_estimate_has_to_be_far_above_before_it_means_anything():
    assert silent_cut(100, 76, counter="estimate", tolerance=ESTIMATE_TOLERANCE) is None
    assert silent_cut(100, 70, counter="estimate", tolerance=ESTIMATE_TOLERANCE).lost == 30


def test_one_token_of_slack_forgives_a_beginning_that_is_not_counted():
    assert silent_cut(100, 99, counter="exact", slack=1) is None
    assert silent_cut(100, 98, counter="exact", slack=1).lost == 2
