"""A change is named as a reader of both texts would name it: minimal pairs, and what is no change of that kind."""

from __future__ import annotations

import pytest

from promptreg.answer.model import Answer
from promptreg.scoring.channels.edit import EditChannel
from promptreg.scoring.channels.facts import FactChannel, FactOrderChannel, FactReader
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.shared import breaches
from promptreg.scoring.traits import traits_of
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.claims import LONGEST, claims_of, kinds_of, put_before
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.signs import signs_of
from promptreg.verdict.causes.words import words_of
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.model import CaseJudgement, CheckOutcome, Sign
from promptreg.verdict.verdicts import CaseVerdict

FACTS = FactReader()
CHANNELS = (
    EditChannel(),
    *(FactChannel(group, FACTS) for group in ("numbers", "negation", "entities")),
    FactOrderChannel(FACTS),
)


def evidence(source, target):
    answers = [answer if isinstance(answer, Answer) else Answer(answer, finish_reason="stop") for answer in source]
    answers += [answer if isinstance(answer, Answer) else Answer(answer, finish_reason="stop") for answer in target]
    distances = {channel.name: channel.distances(answers) for channel in CHANNELS if channel.applies(answers)}
    return CaseEvidence("c", len(source), len(target), distances, traits_of(answers), contract=contract_of(answers))


def signs(source, target):
    case = evidence(source, target)
    return [sign.cause for sign in signs_of(case, breaches(case.contract, case.source_passes))]


def title(source, target, language="en"):
    """What a cluster of this one case is called."""
    case = evidence(source, target)
    found = signs_of(case, breaches(case.contract, case.source_passes))
    judged = CaseJudgement("c", CaseVerdict.DRIFT, 0.001, Sentence("Said.", "说了。"), signs=found)
    (cluster,) = clusters_of([judged])
    return getattr(cluster.title, language)


@pytest.mark.parametrize(
    ("golden", "candidate", "told"),
    [
        ("退货期限是收到商品后3天，请保留包装。", "退货期限是收到商品后30天，请保留包装。", "Number changed"),
        ("支持3天无理由退货。", "支持30天无理由退货。", "Number changed"),
        (
            "请在7天内申请退货。我们会尽快处理。",
            "请在7天内申请退货。请在7天内申请退货。我们会尽快处理。",
            "Text added",
        ),
        (
            "请在7天内申请退货。我们会尽快处理。谢谢您的理解与支持。",
            "请在7天内申请退货。请在7天内申请退货。我们会尽快处理。谢谢您的理解与支持。",
            "Text added",
        ),
        ('{"ticket": 77, "priority": "high"}', '{"ticket": 77, "priority": "low"}', "Value in the JSON changed"),
        ('["微信支付", "银行卡"]', '["微信支付", "银联", "货到付款"]', "Value in the JSON changed"),
        ("每个订单最多使用2张优惠券。", "每个订单最多使用5张优惠券。", "Number changed"),
        (
            "You can return the item within 7 days of delivery.",
            "You can return the item within 30 days of delivery.",
            "Number changed",
        ),
        ("The limit is 20 requests per minute.", "The limit is 200 requests per minute.", "Number changed"),
        ("第三步是重启服务。", "第二步是重启服务。", "Number changed"),
        ("Delivery takes 3 to 5 days.", "Delivery takes 5 to 7 days.", "Number changed"),
        ("包裹重5公斤，请用小推车。", "包裹重5克，请用小推车。", "Unit changed"),
        ("The parcel weighs 5 kg.", "The parcel weighs 5 g.", "Unit changed"),
        ("保修期为2年。", "保修期为2个月。", "Unit changed"),
        ("The warranty lasts 24 months.", "The warranty lasts 24 weeks.", "Unit changed"),
        ("活动截止到3月5日。", "活动截止到3月15日。", "Date changed"),
        ("The offer ends on March 5, 2026.", "The offer ends on April 5, 2026.", "Date changed"),
        ("客服周一到周五在线。", "客服周一到周日在线。", "Date changed"),
        ("门店上午9点开门。", "门店上午10点开门。", "Time of day changed"),
        ("The store opens at 9:00.", "The store opens at 10:30.", "Time of day changed"),
        ("退货运费为12元，从退款中扣除。", "退货运费为25元，从退款中扣除。", "Amount changed"),
        ("The fee is $12.50 per return.", "The fee is $15.50 per return.", "Amount changed"),
        ("手续费为15元。", "手续费为15美元。", "Unit changed"),
        ("折扣为10%，可叠加。", "折扣为20%，可叠加。", "Percentage changed"),
        ("About 15% of the orders are late.", "About 51% of the orders are late.", "Percentage changed"),
        ("退款会自动到账，请留意短信。", "退款不会自动到账，请留意短信。", "Denied where it was affirmed"),
        ("优惠券可以叠加使用。", "优惠券不可以叠加使用。", "Denied where it was affirmed"),
        ("您的订单不能取消。", "您的订单能取消。", "No longer denied"),
        ("Opened items can be returned.", "Opened items cannot be returned.", "Denied where it was affirmed"),
        ("Refunds are not paid in cash.", "Refunds are paid in cash.", "No longer denied"),
        ("You need to sign the form.", "You do not need to sign the form.", "Denied where it was affirmed"),
        ("请联系北京仓库办理。", "请联系上海仓库办理。", "Name changed"),
        ("Please contact John Smith about it.", "Please contact Mary Jones about it.", "Name changed"),
        ("请阅读《退货政策》。", "请阅读《会员手册》。", "Quoted words changed"),
        ("Write to help@shop.example for help.", "Write to sales@shop.example for help.", "Address changed"),
        ("订单号是 A1024，请核对。", "订单号是 A1042，请核对。", "Identifier changed"),
        ("Run version v1.2.3 of the tool.", "Run version v1.3.2 of the tool.", "Identifier changed"),
        ("先停止服务，再备份数据，最后升级。", "先备份数据，再停止服务，最后升级。", "Same words in another order"),
        ("Version 9.9 is newer than 9.11 here.", "Version 9.11 is newer than 9.9 here.", "Same facts in another order"),
        ("先备份、停止、升级。", "先停止、备份、升级。", "Same words in another order"),
        ("退货请先申请。包装要完整。运费由买家承担。", "退货请先申请。运费由买家承担。", "Text left out"),
        (
            "Ask for a label first. Keep the box. Then drop it at a shop.",
            "Ask for a label first. Then drop it at a shop.",
            "Text left out",
        ),
        (
            "退货请先申请。运费由买家承担。",
            "退货请先申请。运费由买家承担。祝您购物愉快，欢迎再次光临。",
            "Text added at the end",
        ),
        (
            "Keep the box. Drop it at a shop.",
            "Keep the box. Drop it at a shop. Let me know if there is anything else I can do.",
            "Text added at the end",
        ),
        ("包装要完整，运费由买家承担。", "包装要完整，标签不要撕掉，运费由买家承担。", "Text added"),
        (
            "退货期限是签收后七天，请在订单页面提交申请，我们会安排快递员上门取件。",
            "退货期限是签收后七天，请在订单页面提交申请，我们会安排",
            "Cut off in the middle of a sentence",
        ),
        (
            "Please submit the request on the order page and keep the original box for the courier.",
            "Please submit the request on the order page and keep the",
            "Cut off in the middle of a sentence",
        ),
        (
            "退货请先申请，运费由买家承担。",
            "好的，以下是您要的回答：退货请先申请，运费由买家承担。",
            "Text put before the answer",
        ),
        (
            "Keep the box and the label.",
            "Sure! Here is the answer you asked for: Keep the box and the label.",
            "Text put before the answer",
        ),
        ("请在门店办理。", "请在柜台办理。", "A few characters replaced"),
        ("请联系张伟处理。", "请联系李娜处理。", "A few characters replaced"),
        ("退货期限是收到商品后7天，请保留包装。", "抱歉，我无法回答这个问题。", "Refuses now"),
        (
            "You can return the item within 7 days of delivery.",
            "I'm sorry, but I can't help with that request.",
            "Refuses now",
        ),
        (
            "退货期限是收到商品后七天，请在订单页面提交申请。",
            "You can return the item within seven days; apply on the order page.",
            "Now in English",
        ),
        (
            "You can return the item within seven days; apply on the page.",
            "收到商品后七天之内可以退货，请在订单页面提交申请。",
            "Now in Chinese",
        ),
        (
            '{"answer": "7天内可退。", "days": 7}',
            '```json\n{"answer": "7天内可退。", "days": 7}\n```',
            "JSON now in a code block",
        ),
        ('{"answer": "7天内可退。", "days": 7}', '{"answer": "7天内可退。", "days": 30}', "Number changed"),
        ('{"answer": "可退。", "ok": true}', '{"answer": "可退。", "ok": false}', "Value in the JSON changed"),
        ('{"answer": "可退。", "ok": true}', '{"reply": "可退。", "ok": true}', "JSON with other keys or types"),
        ("- 申请退货\n- 打印面单\n- 等待取件", "申请退货、打印面单、等待取件。", "List gone or of another kind"),
        ("Use `apt`.\n\n```sh\napt update\n```", "Use `apt`.\n\napt update", "No longer in a code block"),
    ],
)
def test_one_change_has_the_name_that_a_reader_would_give_it(golden, candidate, told):
    assert title([golden] * 10, [candidate] * 5) == told


@pytest.mark.parametrize(
    ("golden", "candidate", "told"),
    [
        ("退货期限是收到商品后3天。", "退货期限是收到商品后30天。", "数字变了"),
        ("退款会自动到账。", "退款不会自动到账。", "由肯定变为否定"),
        ("退货运费为12元。", "退货运费为25元。", "金额变了"),
        ("活动截止到3月5日。", "活动截止到3月15日。", "日期变了"),
        ("包装要完整。运费由买家承担。", "包装要完整。", "末尾内容缺失"),
        ("先备份、停止、升级。", "先停止、备份、升级。", "先后顺序变了"),
    ],
)
def test_names_are_chinese_for_chinese_readers(golden, candidate, told):
    assert title([golden] * 10, [candidate] * 5, "zh") == told


NOISY = [
    "您好，退货期限是{days}天，请在订单页面提交申请，我们会安排快递员上门取件。",
    "您好，退货的期限为{days}天，请到订单页面提交申请，之后我们会安排快递员取件。",
    "退货期限是{days}天。请在订单页面提交申请，快递员会上门取件。",
]


def test_a_change_is_found_among_wordings_that_vary():
    source = [NOISY[index % 3].format(days=7) for index in range(10)]
    assert signs(source, [NOISY[index % 3].format(days=30) for index in range(5)]) == [("fact", "number", "changed")]


def test_what_the_source_varies_in_is_no_change():
    source = [NOISY[index % 3].format(days=7) + ("祝您购物愉快，再见。" if index % 2 else "") for index in range(10)]
    assert signs(source, [f"{NOISY[0].format(days=7)}祝您购物愉快，再见了。"] * 2 + source[:3]) == []
    numbers = [f"大约需要{days}天送达。" for days in (3, 4, 5, 6, 7, 3, 4, 5, 6, 7)]
    assert signs(numbers, [f"大约需要{days}天送达。" for days in (5, 6, 7, 4, 3)]) == []


def test_beginnings_that_only_hold_a_changed_fact_are_no_text_put_before():
    cases = [
        ["支持3天无理由退货，请提交申请。", "支持30天无理由退货，请提交申请。"],
        ["支持3天无理由退货，运费自理。", "支持30天无理由退货，运费自理。"],
    ]
    judged = []
    for number, (golden, candidate) in enumerate(cases):
        case = evidence([golden] * 10, [candidate] * 5)
        found = signs_of(case, breaches(case.contract, 10))
        judged.append(CaseJudgement(str(number), CaseVerdict.DRIFT, 0.001, Sentence("", ""), signs=found))
    assert [(cluster.title.zh, cluster.case_ids) for cluster in clusters_of(judged)] == [("数字变了", ("0", "1"))]


def test_one_text_put_before_several_cases_is_told_as_that():
    judged = []
    for golden in ("支持3天无理由退货，请提交申请。", "运费12元，由买家承担。", "Keep the box and the label."):
        case = evidence([golden] * 10, [f"好的，下面是回答：{golden}"] * 5)
        found = signs_of(case, breaches(case.contract, 10))
        judged.append(CaseJudgement(golden, CaseVerdict.DRIFT, 0.001, Sentence("", ""), signs=found))
    (cluster,) = clusters_of(judged)
    assert cluster.title.zh == "回答以“好的，下面是回答：”开头"
    assert len(cluster.case_ids) == 3


def test_one_note_in_place_of_the_answers_of_several_cases_is_no_beginning():
    note = "This request could not be served; see the status page of the gateway for the time of the next window."
    judged = []
    for golden in ("支持3天无理由退货，请提交申请。", "运费12元，由买家承担。"):
        case = evidence([golden] * 10, [note] * 5)
        found = signs_of(case, breaches(case.contract, 10))
        judged.append(CaseJudgement(golden, CaseVerdict.DRIFT, 0.001, Sentence("", ""), signs=found))
    assert [cluster.title.en for cluster in clusters_of(judged)] == ["Now in English"]


def test_a_changed_fact_explains_the_check_that_it_breaks():
    judged = CaseJudgement(
        "c",
        CaseVerdict.FAIL,
        0.001,
        Sentence("", ""),
        checks=(CheckOutcome("contains: 12元", 10, 10, 0, 5, 0.001, worse=True),),
        signs=(Sign(("fact", "amount", "changed"), 5),),
    )
    (cluster,) = clusters_of([judged])
    assert cluster.title.en == "Amount changed"
    assert [also.en for also in cluster.also] == ["Check contains: 12元 fails"]


@pytest.mark.parametrize(
    ("golden", "candidate"),
    [
        ("退货期限是7天。", "The parcel is on its way to the shop, and nobody knows when it will be there."),
        ("好" * (LONGEST + 1), "好" * LONGEST + "坏"),
        ("", "有内容了，现在有内容了。"),
        ("有内容。", ""),
        ("一样。", "一样。"),
    ],
)
def test_texts_without_a_common_ground_claim_nothing(golden, candidate):
    assert claims_of(evidence([golden] * 10, [candidate] * 5), range(10, 15)) == {}


LEAVE = [
    "员工入职满一年后享有5天年假，满十年享有10天年假。",
    "入职满1年可休年假5天，满10年可休10天。",
    "按规定，工作满一年不满十年的年假为5天，满十年的为10天。",
]


@pytest.mark.parametrize(
    "told",
    [
        "根据公司制度，年假天数与工龄挂钩：满一年为8天，满十年为10天，请提前在系统中提交申请并由直属主管审批。",
        "年假与工龄有关，一年以上8天，十年以上10天，具体以人事部门的最终解释为准，感谢您的理解与配合，祝您工作愉快。",
        "年假：满一年8天，满十年10天。",
    ],
)
def test_a_changed_number_is_told_however_the_words_moved(told):
    source = [LEAVE[number % 3] for number in range(10)]
    assert ("fact", "number", "changed") in signs(source, [told] * 5)


def test_a_number_that_only_moved_with_its_sentence_is_no_changed_one():
    source = ["您好，年假共5天。请提前三个工作日在系统中提交申请。"] * 10
    moved = "您好，请提前三个工作日在系统中提交申请。年假共5天。"
    assert ("fact", "number", "changed") not in signs(source, [moved] * 5)
    assert ("fact", "number", "changed") in signs(source, [moved.replace("共5", "合计为8")] * 5)


def test_the_same_amounts_in_other_words_are_no_changed_ones():
    source = [LEAVE[number % 3] for number in range(10)]
    other = "年假与工龄挂钩：入职达到12个月的同事每年五天，达到120个月的同事每年十天，具体请咨询人事部门，感谢配合。"
    assert not [cause for cause in signs(source, [other] * 5) if cause[0] == "fact"]


def test_values_that_changed_places_are_facts_in_another_order():
    source = ["满一年5天，满十年10天。"] * 10
    assert signs(source, ["满一年10天，满十年5天。"] * 5) == [("order", "facts")]


def test_long_texts_are_read_for_changed_amounts_too():
    filler = "请在系统中提交申请并等待审批。" * (LONGEST // 10)
    assert ("fact", "number", "changed") in signs([f"{filler}年假5天。"] * 10, [f"{filler}年假8天。"] * 5)


@pytest.mark.parametrize("odd", ["👍🏽👍🏽", "\r\n\r\n", "\u200b", "\ud83d\ude00", "𠮷"])
def test_odd_characters_are_no_words(odd):
    claims = claims_of(evidence(["退货期限是7天。"] * 10, [f"退货期限是7天。{odd}"] * 5), range(10, 15))
    assert set(claims) <= {("word",)}


def test_what_is_put_before_is_measured():
    case = evidence(["退货期限是7天。"] * 10, ["好的，以下是回答：退货期限是7天。", "退货期限是30天。", "Another.", ""])
    assert [put_before(case, index) for index in range(10, 14)] == [9, 0, 8, 0]


@pytest.mark.parametrize("what", ["number", "unit", "amount", "share", "date", "time", "name", "quote", "address"])
@pytest.mark.parametrize("became", ["changed", "missing", "new"])
def test_every_claim_has_words(what, became):
    words = words_of(("fact", what, became))
    assert words.title.en != words.title.zh
    assert "{" not in words.title.en


@pytest.mark.parametrize(
    ("cause", "kinds"),
    [
        (("fact", "amount", "changed"), ["money"]),
        (("fact", "number", "missing"), ["number", "quantity", "ordinal", "range"]),
        (("fact", "unit", "changed"), []),
        (("fact", "several"), []),
        (("negation", "now"), ["negation"]),
        (("fault", "F01"), []),
        (("cut_off",), []),
    ],
)
def test_a_cause_names_the_kinds_of_facts_that_it_is_about(cause, kinds):
    assert [kind.value for kind in kinds_of(cause)] == kinds
