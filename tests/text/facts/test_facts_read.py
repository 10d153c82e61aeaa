from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.text.facts.model import GROUP_OF, FactKind
from promptreg.text.facts.read import LONGEST, read_facts

HOSTILE = json.loads((Path(__file__).parents[2] / "corpus" / "hostile.json").read_text(encoding="utf-8"))


def normals(text, group="numbers"):
    return [fact.normal for fact in read_facts(text) if GROUP_OF[fact.kind] == group]


@pytest.mark.parametrize(
    "text",
    [
        "每天9:00-21:00营业",
        "9:00‑21:00",
        "9:00–21:00",
        "9:00～21:00",
        "9:00 to 21:00",
        "9am-9pm",
        "9 am-9 pm",
        "上午9:00-21:00",
        "上午9点-晚上9点",
    ],
)
def test_opening_hours_are_two_times(text):
    assert [fact.normal for fact in read_facts(text)] == ["09:00", "21:00"]


def test_a_hyphen_between_other_things_begins_no_time():
    assert normals("exam-5pm, 10:15-2") == ["10:15", "2"]


@pytest.mark.parametrize("text", ["稀释比例为1:10。", "配比1:10", "at a ratio of 1:10"])
def test_a_proportion_is_no_time_of_day(text):
    assert normals(text) == ["1", "10"]
    assert normals("比平时早，部分9:30开始") == ["09:30"]


def test_an_identifier_is_the_same_with_any_hyphen():
    assert {fact.normal for text in ("ABC-123", "ABC‑123", "ABC‐123") for fact in read_facts(text)} == {"ABC-123"}


@pytest.mark.parametrize(
    ("texts", "normal"),
    [
        (["1,234.5 points", "1 234.5 points", "1_234.50 points", "１２３４.５ points"], "1234.5"),
        (["三十天", "30天", "30 days", "thirty days", "30-day", "三十日", "30 個月".replace("個月", "天")], "30 day"),
        (
            ["一百二十元", "120元", "¥120", "￥１２０", "RMB 120", "120 yuan", "CNY 120", "120块钱", "人民币120元"],
            "120 CNY",
        ),
        (["1.5万", "15000", "15,000", "一万五千", "fifteen thousand", "15k"], "15000"),
        (["$4.2 million", "$4.2M", "4,200,000 dollars", "420万美元", "US$4.2 million"], "4200000 USD"),
        (["5%", "5 percent", "５％", "百分之五", "5 per cent", "five percent"], "5 %"),
        (["两倍", "2倍", "2x", "二倍"], "2 x"),
        (["two thirds", "two-thirds", "2/3", "三分之二"], "2/3"),
        (["half of it", "a half", "一半", "50%", "二分之一", "1/2"], "50 %"),
        (["half an hour", "半小时", "30分钟", "30 minutes", "半个小时", "thirty minutes", "0.5 h"], "30 min"),
        (["一个半小时", "1.5小时", "1.5 hours", "90 minutes", "one and a half hours"], "90 min"),
        (["a dozen eggs", "twelve eggs", "12 eggs", "十二个鸡蛋"], "12"),
        (["twenty-three cats", "23 cats", "二十三只猫"], "23"),
        (["3-5天", "3至5天", "三到五天", "3 to 5 days", "3–5 days", "between 3 and 5 days", "3~5 days"], "3~5 day"),
        (
            [
                "-5℃",
                "零下5摄氏度",
                "−5 °C",
                "minus 5 °C",
                "零下5度",
                "零下五度",
                "零下 5 ℃",
                "5 °C below zero",
                "minus 5 degrees Celsius",
            ],
            "-5 °C",
        ),
        (["零上5度", "5 degrees Celsius", "5 °C above freezing"], "5 °C"),
        (["5度", "5 degrees"], "5 °"),
        (["41 degrees Fahrenheit", "41 °F"], "41 °F"),
        (["零下5度到3度", "-5~3 °C"], "-5~3 °C"),
        (["20 to 25 degrees", "20到25度"], "20~25 °"),
        (["第三章", "the third chapter", "the 3rd chapter"], "#3"),
        (["24 hours", "24小时", "one day", "一天", "1 day"], "1 day"),
        (["2000 g", "2 kg", "两公斤", "2千克", "2 kilograms"], "2 kg"),
        (["5个工作日", "5 business days", "五个工作日", "5 working days"], "5 workday"),
        (["8 GB", "8GB", "8 gigabytes", "8G B".replace(" ", "")], "8 GB"),
        (["3个百分点", "3 percentage points"], "3 pp"),
        (["每天两次", "twice a day", "2 times a day"], "2 time"),
        (["75平方米", "75 square metres", "75㎡".replace("㎡", "m²")], "75 m²"),
        (["一个月", "1个月", "one month", "1 month"], "1 month"),
    ],
)
def test_one_number_in_many_forms(texts, normal):
    assert {text: normals(text) for text in texts} == {text: [normal] for text in texts}


@pytest.mark.parametrize(
    ("texts", "normal"),
    [
        (
            [
                "2026年12月1日", "2026-12-01", "Dec 1, 2026", "1 December 2026", "December 1st, 2026", "2026/12/1",
                "2026.12.1",
                "二〇二六年十二月一日", "the 1st of December 2026", "12/1/2026", "01.12.2026", "２０２６年１２月１日",
            ],
            "2026-12-01",
        ),
        (["12月1日", "十二月一号", "December 1", "1 Dec", "Dec. 1st"], "--12-01"),
        (["2026年12月", "December 2026", "2026-12"], "2026-12"),
        (["2026年", "in 2026"], "2026"),
        (["周一", "星期一", "礼拜一", "Monday", "Mondays"], "Mon"),
        (["明天", "tomorrow", "Tomorrow"], "tomorrow"),
        (["下午3点", "15:00", "3 pm", "3 p.m.", "下午三点", "3:00 PM", "15：00", "下午3:00"], "15:00"),
        (["下午三点半", "15:30", "3:30 pm", "下午3点30分"], "15:30"),
        (["上午九点", "9 am", "09:00", "nine o'clock", "9:00 a.m.", "早上9点"], "09:00"),
        (["中午12点", "noon", "12 pm", "12:00"], "12:00"),
        (["午夜12点", "midnight", "12 a.m.", "0:00", "24:00"], "00:00"),
        (["第三季度", "Q3", "the third quarter", "三季度"], "Q3"),
    ],
)  # fmt: skip
def test_one_date_or_time_in_many_forms(texts, normal):
    assert {text: normals(text) for text in texts} == {text: [normal] for text in texts}


@pytest.mark.parametrize(
    "text",
    [
        "一下", "看一下一些资料", "一定要一起来", "统一处理", "千万别忘", "万一下雨", "三心二意", "一个问题",
        "一种方法", "唯一的办法", "第三方",
        "十分抱歉", "百姓", "星巴克", "进一步", "之一", "一般来说", "一直以来", "四川和三亚".replace("四川和",
        ""), "再三确认",
        "one of the reasons", "no one knows", "someone", "one can see that", "the one you want", "another one",
        "one-way street",
        "once you are done", "two-factor login", "zero tolerance", "at first", "first, open it", "third-party code",
        "may I",
        "half-hearted", "twosome", "I may go", "march on", "",
    ],
)  # fmt: skip
def test_figures_of_speech_are_no_numbers(text):
    assert normals(text) == []


@pytest.mark.parametrize(
    ("texts", "normal"),
    [
        (["有效期半年", "有效期6个月", "六个月", "half a year", "six months", "0.5年", "半年内"], "6 month"),
        (["保修一年", "12个月", "十二个月", "one year", "12 months", "for a year", "1-year warranty"], "1 year"),
        (["一年半", "1年半", "1.5年", "18个月", "18 months", "a year and a half"], "18 month"),
        (["两年", "24个月", "two years", "24 months"], "2 year"),
        (["两周", "14天", "十四天", "两个星期", "two weeks", "14 days", "within a fortnight"], "2 week"),
        (["一周内", "7天", "七天内", "within a week", "in a week", "7 days", "within a week’s time"], "1 week"),
        (["24小时内", "一天内", "1天内", "within a day", "within 24 hours", "less than a day"], "1 day"),
        (["半小时", "30分钟", "half an hour", "30 minutes", "0.5小时"], "30 min"),
        (["90分钟", "一个半小时", "an hour and a half", "90 minutes"], "90 min"),
        (["半年到一年", "6到12个月", "6-12 months", "0.5~1年"], "6~12 month"),
        (["24-48小时", "1-2天", "一到两天", "24 to 48 hours", "1–2 days"], "1~2 day"),
        (["1-2周", "7-14天", "1 to 2 weeks", "between 7 and 14 days"], "1~2 week"),
        (["0-6个月", "0~6 months"], "0~6 month"),
        (["1年6个月", "一年零六个月", "一年半", "18个月", "1 year and 6 months", "1 year 6 months"], "18 month"),
        (["1小时30分钟", "一个半小时", "90分钟", "1 hour and 30 minutes", "1 h 30 min", "1小时30分钟内"], "90 min"),
        (["2周3天", "17天", "2 weeks and 3 days"], "17 day"),
        (["1小时1分钟1秒", "3661秒", "1 hour 1 minute 1 second"], "3661 s"),
        (["1公里200米", "1200米", "1.2 km"], "1200 m"),
    ],
)
def test_lengths_of_time_that_are_exactly_the_same(texts, normal):
    assert {text: normals(text) for text in texts} == {text: [normal] for text in texts}


_COUNTED = st.integers(min_value=1, max_value=99)


@given(_COUNTED)
def test_what_is_exactly_so_many_of_a_smaller_unit_reads_the_same(count):
    for larger, smaller, factor in (("年", "个月", 12), ("周", "天", 7), ("天", "小时", 24), ("小时", "分钟", 60)):
        assert normals(f"保修{count}{larger}") == normals(f"保修{count * factor}{smaller}")
    for larger, smaller, factor in (("years", "months", 12), ("weeks", "days", 7), ("days", "hours", 24)):
        assert normals(f"It takes {count} {larger}.") == normals(f"It takes {count * factor} {smaller}.")
        assert normals(f"It takes {count} to {count + 1} {larger}.") == normals(
            f"It takes {count * factor} to {(count + 1) * factor} {smaller}."
        )


@given(_COUNTED, _COUNTED)
def test_a_month_is_no_number_of_days(months, days):
    assert normals(f"{months}个月") != normals(f"{days * 30}天")
    assert normals(f"{months}年") != normals(f"{days * 365}天")
    assert normals(f"{months}年") != normals(f"{days * 52}周")


@given(_COUNTED, _COUNTED)
def test_another_length_of_time_reads_otherwise(count, other):
    for unit in ("年", "个月", "周", "天", "小时"):
        assert (normals(f"{count}{unit}") == normals(f"{other}{unit}")) == (count == other)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("上半年营收增长", []),
        ("下半年开始", []),
        ("前半年和后半年", []),
        ("半年报已披露", []),
        ("半年度报告", []),
        ("半月板损伤", []),
        ("一年级学生", ["1"]),
        ("三年级", ["3"]),
        ("2年级", ["2"]),
        ("12月发货", ["--12"]),
        ("6月", ["--06"]),
        ("2024年", ["2024"]),
        ("12个月大", ["1 year"]),
        ("5个工作日", ["5 workday"]),
        ("$5 a month", ["5 USD"]),
        ("twice a year", ["2 time"]),
        ("an apple a day", []),
        ("a week ago", []),
        ("a day or two", ["2"]),
        ("for a day trip", []),
        ("a year-end report", []),
        ("once in a year", []),
        ("7×24小时", ["7", "1 day"]),
        ("7天24小时在线", ["1 week", "1 day"]),
        ("1个月15天", ["1 month", "15 day"]),
        ("30分钟1小时", ["30 min", "1 h"]),
        ("1天，8小时", ["1 day", "8 h"]),
        ("5 kg and 3 days", ["5 kg", "3 day"]),
        ("3天 2天", ["3 day", "2 day"]),
        ("7 x 24小时", ["7", "1 day"]),
    ],
)
def test_periods_grades_and_rates_are_no_lengths_of_time(text, facts):
    assert normals(text) == facts


def test_numbering_is_no_fact_but_a_skipping_one_is():
    assert normals("1. Unplug it.\n2. Wait.\n3) Done.") == []
    assert normals("一、概述\n二、安装\n（1）下载\n（2）运行") == []
    assert normals("第一，下载；第二，运行。") == []
    assert normals("首先 (1) this, (2) that, ① then [3]") == []
    assert normals("2. Unplug it.") == ["2"]
    assert normals("1. Wait 10 seconds.\n2. Press 3 times.") == ["10 s", "3 time"]


LEAKED = [
    (
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="id" string="false">20482'
        "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
    ),
    '<||DSML||function_calls><||DSML||invoke name="find">30天</||DSML||invoke></||DSML||function_calls>',
    (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{"id": 5}\n```'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>"
        '{"id": 5}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "<｜end▁of▁sentence｜>",
    "</｜DSML｜parameter>",
]
LEAKED_CUT = [
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="id" string="false">20482',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"id": 5',
    '[TOOL_CALLS][{"name": "find", "arguments": {"id": 5}}]',
    '<｜DSML｜invoke name="find_5',
]


@pytest.mark.parametrize("leak", LEAKED)
def test_a_leaked_tool_call_states_nothing(leak):
    assert normals(f"订单 20481 正在查询，需要3天。\n\n{leak}\n\n费用 12 元。") == ["20481", "3 day", "12 CNY"]


@pytest.mark.parametrize("leak", [*LEAKED, *LEAKED_CUT])
def test_a_leaked_tool_call_at_the_end_states_nothing(leak):
    assert normals(f"The order 20481 takes 3 days. {leak}") == ["20481", "3 day"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("<｜tool▁calls▁begin｜> 表示开始，共 3 种。", ["3"]),
        ("<｜DSML｜ 有 3 种标记", ["3"]),
        ("| 套餐 | 30 天 |\n|---|---|\n| A | 12 元 |", ["30 day", "12 CNY"]),
        ('<tool_call>{"days": 30}</tool_call>', ["days", "30"]),
    ],
)
def test_what_only_looks_like_a_leak_is_read(text, facts):
    assert [fact.normal for fact in read_facts(text)] == facts


def test_code_is_no_fact():
    assert read_facts("```python\nx = 5 # not 6\n```\nand `y = 7`") == ()
    assert read_facts("~~~\nopen fence 5 days") == ()
    assert normals("```\n1\n``` \nthen 5 days") == ["5 day"]
    assert normals("```\nx = 5\n```") == normals("```sql\nLIMIT 5\n```") == []
    assert normals('```json\n{"a": 5}\n```\n```json\n{"a": 6}\n```') == []


@pytest.mark.parametrize(
    "text",
    ['{"fare": 249, "currency": "NOK"}', "Lima, 30 days, not `x = 4`.", "518 路，30 公斤，不可退。", "[]", ""],
)
@pytest.mark.parametrize("marks", ["```json\n{}\n```", "~~~ text\r\n{}\r\n~~~\n", "\n````md\n{}\n````"])
def test_a_fence_around_json_or_prose_takes_no_fact_away(text, marks):
    fenced = marks.replace("{}", text)
    assert [(fact.kind, fact.normal) for fact in read_facts(fenced)] == [
        (fact.kind, fact.normal) for fact in read_facts(text)
    ]
    assert all(fenced[fact.start : fact.end] == fact.text for fact in read_facts(fenced))


def test_a_fence_without_a_language_holds_an_answer_where_that_is_json():
    assert normals('```\n{"fare": 249}\n```') == ["249"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("不能退货", 1), ("没有问题可以退", 1), ("无法访问", 1), ("禁止吸烟", 1), ("拒绝维修", 1), ("请勿拔下", 1),
        ("并非如此", 1), ("非处方药", 1),
        ("不错，不过要快", 0), ("无论如何", 0), ("非常好", 0), ("不仅便宜，而且好用", 0), ("不但如此", 0),
        ("不同的型号", 0), ("不断改进", 0),
        ("差不多", 0), ("对不起", 0), ("特别的", 0), ("别的东西", 0), ("未来", 0), ("没关系", 0),
        ("是不是能不能", 0), ("有没有", 0), ("不得不", 0),
        ("不同意", 1), ("区别和类别", 0), ("别担心", 1), ("不低于16GB", 0), ("否则", 0), ("是否", 0),
        ("未经同意", 1), ("不会不来", 0), ("没能修好", 1),
        ("You cannot", 1), ("it isn't", 1), ("it isn’t", 1), ("No, you can not.", 2), ("never without", 2),
        ("is unable to", 1),
        ("He refused to pay", 1), ("fails to start", 1), ("invalid", 1), ("non-refundable", 1),
        ("nonrefundable", 1), ("it lacks", 1),
        ("no problem", 0), ("nothing but", 0), ("not only cheap but good", 0), ("no doubt", 0), ("No. 5", 0),
        ("no later than 5 pm", 0),
        ("do not hesitate to ask", 0), ("don't hesitate", 0), ("nonetheless", 0), ("note", 0), ("another", 0),
        ("know", 0),
    ],
)  # fmt: skip
def test_negation_and_its_false_friends(text, count):
    assert normals(text, "negation") == ["not"] * count


@pytest.mark.parametrize(
    ("text", "kind", "normal"),
    [
        ("see https://a.example/b?c=1.", FactKind.URL, "https://a.example/b?c=1"),
        ("发到 A.B@Example.com。", FactKind.EMAIL, "a.b@example.com"),
        ("open /etc/nginx/nginx.conf now", FactKind.PATH, "/etc/nginx/nginx.conf"),
        ("edit src/app.py", FactKind.PATH, "src/app.py"),
        (r"open D:\data\x.txt", FactKind.PATH, r"D:\data\x.txt"),
        ("order ORD-2041", FactKind.IDENTIFIER, "ORD-2041"),
        ("version v1.2.3", FactKind.IDENTIFIER, "1.2.3"),
        ("host 192.168.0.1", FactKind.IDENTIFIER, "192.168.0.1"),
        ("id 6f1c2b3a-1111-2222-3333-444455556666", FactKind.IDENTIFIER, "6f1c2b3a-1111-2222-3333-444455556666"),
        ("call 400-820-8888", FactKind.IDENTIFIER, "4008208888"),
        ("读《红楼梦》", FactKind.TITLE, "红楼梦"),
        ('the novel "Middlemarch"', FactKind.TITLE, "middlemarch"),
        ("we met in Lisbon", FactKind.NAME, "lisbon"),
        ("the Bank of England said", FactKind.NAME, "bank of england"),
        ("with Dr. Keller", FactKind.NAME, "keller"),
        ("Paris.", FactKind.NAME, "paris"),
        ("长河公司的订单", FactKind.NAME, "长河公司"),
        ("他在清华大学工作", FactKind.NAME, "清华大学"),
        ("适用上海市的法规", FactKind.NAME, "上海"),
        ("联系孙女士", FactKind.NAME, "孙女士"),
        ("飞往奥斯陆的航班", FactKind.NAME, "奥斯陆"),
        ("使用PostgreSQL", FactKind.NAME, "postgresql"),
    ],
)
def test_entities(text, kind, normal):
    assert [(fact.kind, fact.normal) for fact in read_facts(text) if GROUP_OF[fact.kind] == "entities"] == [
        (kind, normal)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Please check it.",
        "The item is new.",
        "However, it works.",
        "请联系该公司",
        "这家银行",
        "这座大桥",
        "道路",
        "城市",
        "NOTE: ok",
        "I think so.",
        "# Return Policy",
    ],
)
def test_plain_words_are_no_entities(text):
    assert normals(text, "entities") == []


def test_facts_come_in_order_with_their_spans():
    text = "９.9 > 9.11，长河公司不退款。\r\n"
    facts = read_facts(text)

    assert [fact.normal for fact in facts] == ["9.9", "9.11", "长河公司", "not"]
    assert all(text[fact.start : fact.end] == fact.text for fact in facts)


PIECES = st.sampled_from(
    ["一", "三十", "天", "5", ",", ".", " ", "-", "个", "不", "没", "May", " and ", "half", "two ", "《",
    "》", '"', "\n", "`", "1. ", "(", ")", "/", ":", "年", "月", "日", "点", "半", "公司", "v", "@", "$", "%", "A",
    "\0", "\ud800", "👍🏽", "é", "第", "分之", "周", "Q", "k", "e"]
)  # fmt: skip


@settings(max_examples=300)
@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=60)))
def test_any_text_is_read_without_overlap_inside_a_group(text):
    facts = read_facts(text)

    assert facts == read_facts(text)
    for group in ("numbers", "negation", "entities"):
        own = [fact for fact in facts if GROUP_OF[fact.kind] == group]
        assert all(before.end <= after.start for before, after in pairwise(own))
    assert all(text[fact.start : fact.end] == fact.text and fact.normal for fact in facts)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_read(name):
    for fact in read_facts(HOSTILE[name]):
        assert fact.end <= len(HOSTILE[name])


REPEATED = [
    "1 2 3 ", ",111", "1", "一", "一百", '"', "“", "```\n", "/a", "/", "a.", ".com", "a-", "A ", "Ab ",
    "and a half ", "two ", "hundred-", "not ", "不", "非字", "a@", "1:00 ", "(1)", "1. x\n", " ", "\n", "公司",
    "《", "<｜DSML｜a>x", "<｜tool▁call▁begin｜>", "[TOOL_CALLS]",
    "abcdef0", "v1.", "http://", "$1", "half ", "one-", "May 1 ", "周", "三分之", "三点", "第", "\0"]  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED)
def test_time_grows_linearly(piece):
    def seconds(size):
        text = (piece * size)[:size]
        return min(_timed(text) for _ in range(2))

    short, long = seconds(2_000), seconds(16_000)
    # Eight times as long; 8 is linear and 64 quadratic. The constant covers a busy machine.
    assert long < 24 * short + 0.2


def _timed(text):
    started = time.process_time()
    read_facts(text)
    return time.process_time() - started


def test_what_comes_late_in_a_runaway_answer_is_left_out():
    assert normals("x " * LONGEST + "5 days") == []
