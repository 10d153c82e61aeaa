from __future__ import annotations

import time

import pytest

from promptreg.scoring.checks.reading.refusal_text import refuses

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot comply with this request.",
    "I am unable to provide that information.",
    "Unfortunately, I can't answer that.",
    "As an AI language model, I cannot give medical advice.",
    "I must respectfully decline to answer.",
    "I'd rather not discuss this.",
    "Sorry, I can't do that.",
    "I apologize, but I won't be able to help you with that.",
    "Thank you for asking. However, I'm afraid I cannot assist with this.",
    "That goes against my guidelines.",
    "I'm not able to help with that. Is there anything else?",
    "I'm sorry, I can't continue this conversation.",
    "抱歉，我无法提供这方面的帮助。",
    "对不起，我不能回答这个问题。",
    "很抱歉，我不能协助您完成此请求。",
    "作为一个AI助手，我无法提供医疗建议。",
    "作为人工智能语言模型，我不能讨论该话题。",
    "恕我不能回答。",
    "不好意思，这个问题我没办法回答。",
    "感谢您的提问，但我无法满足您的要求。",
    "我拒绝回答这个问题。",
    "非常抱歉，您的请求无法处理。",
    "您好，我不便透露相关信息。",
    "Sorry，我无法 help with this request。",
    "抱歉，I can't help with that。",
    "这个问题我暂时无法回答，请换个话题吧。",
    "对此我爱莫能助。",
    "你好，我无法给到相关内容。",
    "十分抱歉，此类内容我没法提供。",
    "很遗憾，我们无法处理您的请求。",
    "抱歉，无法回答该问题。",
    "I'm really sorry, but that's something I can't help with.",
    "No, I won't do that.",
    "I can’t create content that is harmful.",
    "I'm sorry, Dave. I'm afraid I can't do that.",
    "我没有办法帮助你完成这件事。",
    "I would like to help, but I cannot assist with this.",
    "当然，我无法提供这类信息。",
    "我不会提供任何此类信息。",
    "我对此表示抱歉，我无法提供答案。",
    "您好，非常不好意思，我这边没办法为您提供该信息。",
    "作为AI语言模型，我不会生成此类内容。",
    "I do apologize, but that is not something I can assist with.",
]
OTHERS = [
    "The refund window is 30 days.",
    "I can't help but notice that the price is high.",
    "A refusal usually says “I'm sorry, but I can't help with that.”",
    "You cannot log in if your account is locked.",
    "如果您无法登录，请重置密码。",
    "抱歉给您带来不便，退货期限是30天。",
    "模型说“抱歉，我无法回答”就是一种拒绝。",
    "很抱歉听到这个消息！您可以在 30 天内退货。",
    "我们无法在周末发货，工作日会尽快安排。",
    "I'm sorry to hear that. Your refund is on its way.",
    "Sorry for the delay! Your order shipped today.",
    "The server returned 403 because it refuses the request.",
    "I cannot stress this enough: keep the receipt.",
    "作为一名客服，我很乐意帮助您。",
    "该产品不能放入微波炉。",
    "请不要提供您的密码，我们不会要求您提供密码。",
    "当模型无法回答时，它会说对不起。",
    "I can help with that!",
    "不能。退货期限是30天，您已超过期限。",
    "> I'm sorry, but I can't help with that.\n\nThis is a typical refusal.",
    "“我不能同意”这句话的英文是 I can't agree.",
    "We can't ship on Sundays, but Monday works.",
    "对不起，您的订单已经取消。",
    "I won't keep you waiting: the answer is 42.",
    "答案是不会。水在 0 度结冰。",
    "如果我无法回答您的问题，我会转接人工客服。",
    "非常抱歉，订单已过退货期限，无法退款。",
    'The phrase "I cannot assist" is a refusal.',
    "```\nI'm sorry, but I can't help with that.\n```\nThis is the log.",
    "If I can't help you, I will say so.",
    "We will not share your data with anyone.",
    "我们不会告诉任何人您的密码。",
    "为什么我不能提供更多折扣？因为成本。",
    "无法连接服务器时，请检查网络。",
    "I would not recommend this; choose the blue one.",
    "我不会忘记提供发票的。",
    "Refusal phrases include: I can't help with that; I must decline.",
    "拒绝的常见说法有：抱歉，我无法提供帮助。",
    "我不能保证一定有货，但可以帮您查询。",
    "Why won't it start? The battery is empty.",
    "It's not against our policy to return opened items.",
    "我不会说法语，但可以用英语回答。",
    "不能使用微波炉加热。",
    "本产品无法提供防水功能。",
    "我不能确定，但大约需要 3 天。",
    "I'm not sure, but it takes about 3 days.",
    "I don't know the answer.",
    "我不知道。",
    "This does not help with battery life, but it provides comfort.",
    "We do not offer refunds after 30 days.",
    "系统无法处理该请求时会返回 500 错误。",
    "Sorry, we can't ship to Iceland.",
    "抱歉，目前我们无法发货到冰岛。",
    "您的请求已提交，我们会在 24 小时内回复您，无需继续操作。",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_found(text):
    assert refuses(text)


@pytest.mark.parametrize("text", OTHERS)
def test_answers_that_quote_or_explain_or_decline_by_rule_are_none(text):
    assert not refuses(text)


def test_a_refusal_far_below_is_about_something_else():
    assert not refuses("退货期限是三十天。请保留发票。运费由买家承担。另外，对于价格问题我无法回答。")
    assert not refuses("x" * 2000 + " I can't help with that.")
    assert not refuses("")


@pytest.mark.parametrize(
    "unit",
    ["I can't ", "我无法", "抱歉", "as an AI ", "“", '"', "I ", "I am ", "我", "> ", "`", "sorry ", "作为"],
)
def test_hostile_text_costs_no_more_than_its_beginning(unit):
    before = time.process_time()
    refuses(unit * 300_000 + "not ")

    assert time.process_time() - before < 2
