"""The estimate beside the exact count, script by script."""

from __future__ import annotations

import pytest

from promptreg.context.count.estimate import estimated_tokens
from promptreg.context.count.tokens import DeepseekTokenizer

TEXTS = {
    "Chinese": "退货期限是收货后七天，商品须保持完好；定制商品不支持无理由退货。",
    "English": "The return period is seven days after delivery, and goods must be in their original condition. ",
    "Japanese": "退職金の計算方法について教えてください。カタカナとひらがなが混ざっています。",
    "Korean": "환불 기간은 며칠인가요? 상품을 받은 후 칠일 이내에 가능합니다. ",
    "Russian": "Сколько дней длится срок возврата товара после получения заказа? ",
    "Thai": "ระยะเวลาการคืนสินค้ากี่วัน ",
    "Hindi": "वापसी की अवधि कितने दिन की है? ",
    "Python": "    if value is None:\n        return [item.name for item in rows]\n",
    "JSON": '{"id": 17, "name": "张三", "qty": 119, "ok": true}, ',
    "digits": "8412907734",
    "emoji": "😀👩\u200d🚀🇨🇳☃\ufe0f🎉",
    "UUID": "550e8400-e29b-41d4-a716-446655440000\n",
}


@pytest.mark.parametrize("script", TEXTS)
def test_an_estimate_is_within_a_sixth_below_and_two_fifths_above(script):
    text = TEXTS[script] * 50

    assert 0.83 < estimated_tokens(text) / DeepseekTokenizer().count(text) < 1.4


def test_a_quarter_of_the_characters_is_less_than_half_of_the_tokens_of_chinese():
    text = TEXTS["Chinese"] * 50

    assert len(text) / 4 < 0.45 * DeepseekTokenizer().count(text)
