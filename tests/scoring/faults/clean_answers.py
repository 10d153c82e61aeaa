"""Clean answers: whole calls with nothing wrong, made from seeded templates, each with what the source answered.

`clean_answers()` gives dicts in the format of `promptreg diagnose`, the same ones on every machine. Two answers of one
template differ as two honest answers differ: in names, numbers, wording, order.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

COUNT = 3400


class Clean(NamedTuple):
    """A question, its answer, and what the source answered."""

    prompt: str
    answer: str
    golden: str | None = None
    """None where the source gave the same text."""
    request: Mapping[str, Any] = MappingProxyType({})
    message: Mapping[str, Any] = MappingProxyType({})
    finish: str = "stop"


Template = Callable[[random.Random], Clean]

EN_NAMES = ["Anna Keller", "Tom Reed", "Priya Nair", "Luis Ortega", "Mei Tan", "O'Brien", "J. Smith-Lee"]
ZH_NAMES = ["王小明", "李雪", "张伟", "陈思远", "欧阳静", "赵一鸣", "刘洋"]
EN_THINGS = ["the router", "the invoice", "your parcel", "the printer", "the account", "the heat pump", "the backup"]
ZH_THINGS = ["路由器", "发票", "包裹", "打印机", "账号", "热水器", "备份"]
PRODUCTS = ["CANN", "vLLM", "npu-smi info", "MindIE", "Docker", "Kubernetes", "PyTorch 2.5", "Redis"]
CITIES = [("Oslo", "奥斯陆"), ("Munich", "慕尼黑"), ("Suzhou", "苏州"), ("Lima", "利马"), ("Kyoto", "京都")]
WORDS = "amber birch cedar delta ember fjord grove harbor island juniper kelp lantern".split()  # noqa: SIM905 - one line
EN_OPENERS = ["Sure.", "Here is a short answer.", "In brief:", "Happy to help.", "Of course,", ""]
ZH_OPENERS = ["好的。", "您好，", "简单来说，", "当然可以。", "根据您的描述，", ""]
EN_SENTENCES = [
    "Switch {thing} off, wait {n} seconds and switch it on again.",
    "If the light stays red, hold the reset key for {m} seconds.",
    "{name} can confirm the change by e-mail (help{n}@example.com).",
    "The fee is {n}.50 EUR, about {m} % of the total.",
    "Please send the form by {m} March; we answer within {n} working days.",
    "That usually means the cable is loose, not that {thing} is broken.",
    "See https://example.com/guide/{n}?lang=en#step-{m} for pictures.",
    "Version {n}.{m}.1 fixes this; older ones don't.",
    "“It works now,” said {name} after the second try.",
    "Yes, yes: that is what the manual says, word for word.",
    "It had had that problem before, and that that was known did not help.",
]
ZH_SENTENCES = [
    "请先关闭{thing}，等待{n}秒后再重新打开。",
    "如果指示灯一直是红色，请按住复位键{m}秒。",
    "{name}可以通过邮件确认修改（help{n}@example.com）。",
    "费用为{n}.50元，约占总额的{m}%。",
    "请在{m}月{n}日之前提交表格，我们会在{m}个工作日内回复。",
    "这通常说明线没有插好，并不是{thing}坏了。",
    "运行 {product} 之后检查日志，版本号应为 {n}.{m}。",
    "慢慢来，常常看看说明书，刚刚遇到的问题往往能自己解决。",
    "“现在可以用了，”{name}试了第二次之后说。",
    "研究研究、讨论讨论，总会有办法的。",
]


def _fill(rng: random.Random, sentence: str) -> str:
    zh = any("一" <= character <= "鿿" for character in sentence)
    return sentence.format(
        thing=rng.choice(ZH_THINGS if zh else EN_THINGS),
        name=rng.choice(ZH_NAMES if zh else EN_NAMES),
        product=rng.choice(PRODUCTS),
        n=rng.randint(2, 60),
        m=rng.randint(2, 12),
    )


def _text(rng: random.Random, sentences: list[str], openers: list[str], least: int, most: int, glue: str) -> str:
    chosen = rng.sample(sentences, min(len(sentences), rng.randint(least, most)))
    return (rng.choice(openers) + glue).lstrip() + glue.join(_fill(rng, one) for one in chosen)


def english(rng: random.Random) -> Clean:
    thing = rng.choice(EN_THINGS)
    seed = rng.random()
    return Clean(
        f"How do I fix {thing}?",
        _text(random.Random(seed), EN_SENTENCES, EN_OPENERS, 1, 7, " "),
        _text(random.Random(seed + 1), EN_SENTENCES, EN_OPENERS, 1, 7, " "),
    )


def chinese(rng: random.Random) -> Clean:
    seed = rng.random()
    return Clean(
        f"{rng.choice(ZH_THINGS)}出了问题怎么办？",
        _text(random.Random(seed), ZH_SENTENCES, ZH_OPENERS, 1, 7, ""),
        _text(random.Random(seed + 1), ZH_SENTENCES, ZH_OPENERS, 1, 7, ""),
    )


def chinese_install(rng: random.Random) -> Clean:
    a, b, c = rng.sample(PRODUCTS, 3)
    return Clean(
        f"请用中文说明怎样安装 {a}。",
        f"请先下载 {a} 安装包，再运行 {b} 检查设备，最后重启 {c} 服务。\n\n```bash\npip install {a.lower()}\n```\n",
        f"先安装{a}，然后用 {b} 检查，最后重启 {c}。",
    )


def bilingual(rng: random.Random) -> Clean:
    en, zh, pinyin = rng.choice([("tea", "茶", "chá"), ("door", "门", "mén"), ("river", "河流", "hé liú")])
    return Clean(
        f"Give the Chinese word for '{en}' in an English sentence.",
        f"The Chinese word for '{en}' is {zh} ({pinyin}).",
        f"In Chinese, {en} is called {zh} ({pinyin}).",
    )


def translation(rng: random.Random) -> Clean:
    rows = [
        ("English", "Chinese", "The meeting is moved to Friday.", "会议改到星期五。"),
        ("Chinese", "English", "请把门关上。", "Please close the door."),
        ("English", "Japanese", "Thank you for waiting.", "お待たせいたしました。ありがとうございます。"),
        ("English", "Korean", "Where is the station?", "역이 어디에 있나요?"),
        ("English", "Russian", "I have two questions.", "У меня есть два вопроса."),
        ("English", "Arabic", "Welcome to our city.", "مرحبا بكم في مدينتنا."),
        ("English", "Thai", "The water is cold.", "น้ำเย็น"),
        ("English", "German", "Where is the train station?", "Wo ist der Bahnhof?"),
    ]
    source, target, text, translated = rng.choice(rows)
    return Clean(f"Translate from {source} to {target} ({rng.randint(1, 99)}): {text}", translated)


def greetings(rng: random.Random) -> Clean:
    rows = [
        "English: Hello",
        "Chinese: 你好",
        "Japanese: こんにちは",
        "Korean: 안녕하세요",
        "Russian: Привет",
        "Thai: สวัสดี",
    ]
    rng.shuffle(rows)
    chosen = rows[: rng.randint(4, 6)]
    languages = ", ".join(row.partition(":")[0] for row in chosen)
    return Clean(f"Say hello in {languages}.", "\n".join(chosen), "\n".join(reversed(chosen)))


def python_code(rng: random.Random) -> Clean:
    name, n = rng.choice(WORDS), rng.randint(2, 40)
    code = (
        f"def {name}(values: list[int], n: int = {n}) -> list[int]:\n"
        f'    """The n largest values."""\n    return sorted(values, reverse=True)[:n]\n'
    )
    return Clean(
        f"Write a Python function {name} that returns the n largest ints.",
        f"```python\n{code}```\n\nIt sorts once, so it takes O(n log n) time.",
        f"```python\nimport heapq\n\n\ndef {name}(values, n={n}):\n    return heapq.nlargest(n, values)\n```",
    )


def other_code(rng: random.Random) -> Clean:
    n = rng.randint(1, 9)
    rows = [
        ("Haskell parser", "haskell", f"value = number <|> text <|> list{n}\n  where number = read <$> some digit"),
        ("F# pipeline", "fsharp", f"let total = [1..{n}] |> List.map (fun x -> x * x) |> List.sum"),
        ("Bash loop", "bash", f'for i in $(seq 1 {n}); do\n  cmd "$i" 2>&1 | tee -a log{n}.txt\ndone'),
        (
            "SQL query",
            "sql",
            f"SELECT id, name FROM t{n} WHERE ts > now() - interval '{n} days' ORDER BY ts DESC LIMIT 10;",
        ),
        ("C struct", "c", "typedef struct {\n    int a[8];\n    char *name;\n} row_t;\n\n/* ================ */\n"),
        ("HTML page", "html", "<ul>\n" + "  <li>Item</li>\n" * (n + 3) + "</ul>"),
        ("CSS rule", "css", ".a { margin: 0; }\n" + ".b { margin: 0; padding: 0; }\n" * 3),
        ("XML file", "xml", f'<invoke name="x{n}"><parameter name="city">Oslo</parameter></invoke>'),
    ]
    what, language, code = rng.choice(rows)
    return Clean(
        f"Write a {what}, variant {n}.", f"Here it is:\n\n```{language}\n{code}\n```\n", f"```{language}\n{code}\n```"
    )


def chinese_code(rng: random.Random) -> Clean:
    n = rng.randint(2, 90)
    code = f"def 求和(n):\n    # 从一加到 n\n    return n * (n + 1) // 2\n\nprint(求和({n}))  # 结果"
    return Clean(
        f"用 Python 写一个求和函数，注释用中文，n={n}",
        f"代码如下：\n\n```python\n{code}\n```\n运行结果是 {n * (n + 1) // 2}。",
    )


SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "category": {"type": "string", "enum": ["billing", "delivery", "other"]},
        "priority": {"type": "integer"},
        "note": {"type": ["string", "null"]},
    },
    "required": ["category", "priority"],
}


def json_schema(rng: random.Random) -> Clean:
    value: dict[str, Any] = {"category": rng.choice(["billing", "delivery", "other"]), "priority": rng.randint(1, 5)}
    if rng.random() < 0.5:
        value["note"] = rng.choice([None, "晚到了", 'it said "no" {twice}', "a\nb", "5 < 6 & 7 > 2"])
    request = {"response_format": {"type": "json_schema", "json_schema": {"name": "ticket", "schema": SCHEMA}}}
    indent = rng.choice([None, None, 2, 4])
    text = json.dumps(value, ensure_ascii=rng.random() < 0.3, indent=indent)
    return Clean("Classify: my parcel is late.", text + rng.choice(["", "\n", "\n\n"]), json.dumps(value), request)


def json_object(rng: random.Random) -> Clean:
    items = [
        {"sku": f"{rng.choice(WORDS)}-{rng.randint(100, 999)}", "qty": rng.randint(0, 3)}
        for _ in range(rng.randint(1, 12))
    ]
    text = json.dumps({"items": items, "total": len(items), "empty": {}, "none": []}, indent=rng.choice([None, 2, 8]))
    return Clean(
        "Extract the items as JSON.",
        text,
        json.dumps({"items": [], "total": 0}),
        {"response_format": {"type": "json_object"}},
    )


def json_in_prose(rng: random.Random) -> Clean:
    value = json.dumps({"name": rng.choice(EN_NAMES), "age": rng.randint(18, 80)})
    return Clean(
        "Show me what the record looks like.",
        f"Like this:\n\n```json\n{value}\n```",
        f"The record:\n\n```json\n{value}\n```",
    )


def table(rng: random.Random) -> Clean:
    rows = rng.randint(2, 14)
    dashes = "-" * rng.choice([3, 24, 60])
    body = "\n".join("| 0 | 0 |" for _ in range(rows))
    return Clean(
        f"Make a {rows}-row Markdown table of zeros.",
        f"| a | b |\n|{dashes}|{dashes}|\n{body}",
        f"| a | b |\n|---|---|\n{body}",
    )


def chinese_table(rng: random.Random) -> Clean:
    rows = "\n".join(
        f"| {rng.choice(ZH_NAMES)} | {rng.randint(60, 100)} | 合格 | |DSML|x |" for _ in range(rng.randint(2, 10))
    )
    return Clean("列出成绩表。", f"| 姓名 | 分数 | 结果 | 备注 |\n| --- | --- | --- | --- |\n{rows}\n\n以上共若干人。")


def poem(rng: random.Random) -> Clean:
    word, times = rng.choice(WORDS), rng.randint(3, 8)
    line = f"Row the {word} boat to shore."
    return Clean(f"Write a round with one line sung {times} times.", "\n".join([line] * times) + "\n")


def song(rng: random.Random) -> Clean:
    refrain = f"Oh {rng.choice(WORDS)}, oh {rng.choice(WORDS)}, la la la la la,\nsing it again, again, again!"
    verses = [
        f"The {rng.choice(WORDS)} is blue, the {rng.choice(WORDS)} is new,\nand so, my dear, are you." for _ in range(3)
    ]
    return Clean("Write a song with a refrain.", "\n\n".join(f"{verse}\n\n{refrain}" for verse in verses))


def chinese_poem(rng: random.Random) -> Clean:
    line = rng.choice(
        [
            "行行重行行，与君生别离。",
            "寻寻觅觅，冷冷清清，凄凄惨惨戚戚。",
            "庭院深深深几许，杨柳堆烟。",
            "山一程，水一程，风一更，雪一更。",
        ]
    )
    return Clean(
        f"写一首古风小诗，第{rng.randint(1, 99)}首。",
        f"{line}\n{rng.choice(['明月照高楼，清风过小舟。', '落花随流水，春去又春秋。'])}",
    )


def asked_marks(rng: random.Random) -> Clean:
    mark, n = rng.choice(["!", "?", "*", "=", "哈", "～", "啊", "🎉", "0"]), rng.randint(16, 120)
    return Clean(f"Print exactly {n} times the character {mark}, nothing else.", mark * n)


def asked_words(rng: random.Random) -> Clean:
    word, n = rng.choice(["very", "Cheng", "tick", "我不再迟到。", "I will not be late. "]), rng.randint(10, 60)
    return Clean(f"Repeat “{word}” {n} times.", " ".join([word] * n))


def lines_and_art(rng: random.Random) -> Clean:
    n = rng.randint(20, 70)
    art = rng.choice(
        [
            "=" * n + "\n  REPORT\n" + "=" * n,
            "+" + "-" * n + "+\n|" + " " * n + "|\n+" + "-" * n + "+",
            "\n".join("*" * k for k in range(1, 12)),
        ]
    )
    return Clean("Draw a banner in ASCII art.", f"```\n{art}\n```")


def numbers(rng: random.Random) -> Clean:
    n = rng.randint(20, 200)
    return Clean(f"Count from 1 to {n}.", ", ".join(map(str, range(1, n + 1))))


def csv(rng: random.Random) -> Clean:
    rows = "\n".join(f"{k},{rng.choice(WORDS)},{rng.random():.3f},0,0,0" for k in range(rng.randint(5, 40)))
    return Clean("Give me test data as CSV.", f"id,name,value,a,b,c\n{rows}\n")


def logs(rng: random.Random) -> Clean:
    line = f"2026-03-{rng.randint(10, 28)} 12:00:00 INFO worker: heartbeat ok"
    return Clean(
        "What do the log lines of a healthy worker look like?",
        "They look like this:\n\n```\n" + f"{line}\n" * rng.randint(3, 12) + "```\n",
    )


def encoded(rng: random.Random) -> Clean:
    text = "".join(
        rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        for _ in range(rng.randint(40, 200))
    )
    return Clean("Encode it in base64.", text + "==", text + "==")


def mathematics(rng: random.Random) -> Clean:
    a, b = rng.randint(2, 30), rng.randint(2, 30)
    return Clean(
        f"What is {a}*{b}? Show the steps.",
        f"\\[ {a} \\times {b} = {a * b} \\]\n\nSo $|{a}| \\cdot |{b}| = |{a * b}|$ and the answer is **{a * b}**.",
        f"{a} times {b} is {a * b}.",
    )


def short(rng: random.Random) -> Clean:
    answer = rng.choice(
        ["Yes", "No.", "42", "是", "否。", "B", "👍🏽", "ok", "…", "Tür", "null", "2026-03-01", "3.5 %"]
    )
    return Clean(f"One word, question {rng.randint(1, 500)}: is it so?", answer)


def emoji(rng: random.Random) -> Clean:
    marks = ["😀", "👩‍👩‍👧‍👦", "👍🏽", "🇨🇳", "❤️", "𠮷野家", "㊗️"]
    return Clean(
        "写一句带表情的祝福语",
        f"祝你新的一年平安顺利{rng.choice(marks)}，万事如意{rng.choice(marks)}{rng.choice(marks)}",
    )


def about_think(rng: random.Random) -> Clean:
    quote = rng.choice(["`{}`", "“{}”", "{}"])
    opening, closing = quote.format("<think>"), quote.format("</think>")
    return Clean(
        f"What are think tags, in {rng.randint(1, 5)} sentences?",
        f"Reasoning models write {opening} before and {closing} after their thoughts; a parser takes both away.",
        f"The tags {opening} and {closing} mark the reasoning of a model.",
    )


def about_dsml(rng: random.Random) -> Clean:
    example = '<｜DSML｜invoke name="get_weather">'
    quote = rng.choice([f"`{example}`", f"\n\n```\n{example}\n```\n\n", f"“{example}”"])
    if rng.random() < 0.5:
        return Clean("请解释 DSML 标记语言。", f"DSML 是工具调用的标记，一次调用以 {quote} 开始，以闭合标签结束。")
    return Clean(
        "Explain DSML.", f"DSML is the markup of tool calls. A call begins with {quote} and ends with its tag."
    )


def about_tokens(rng: random.Random) -> Clean:
    token = rng.choice(["<｜end▁of▁sentence｜>", "<|im_end|>", "<｜User｜>", "<|endoftext|>", "<｜tool▁calls▁begin｜>"])
    quote = rng.choice(["`{}`", "“{}”", "{}"]).format(token)
    if rng.random() < 0.5:
        answer = f"模板在每一轮对话结束时写入 {quote}，分词器把它读成一个词元。"
        return Clean("这个模型的特殊标记有哪些？", answer, f"每轮以 {quote} 结束。")
    return Clean(
        "Which special tokens does the chat template use?",
        f"The template ends each turn with {quote}, which the tokenizer reads as one token.",
        f"Each turn ends with {quote}.",
    )


def about_errors(rng: random.Random) -> Clean:
    seconds = rng.randint(60, 600)
    return Clean(
        "What does this error mean: Engine callback timeout?",
        f'The server gave up after {seconds} s with `{{"error_type": "Incomplete Generation"}}`. Raise tokenTimeout.',
        "The engine did not answer in time.",
    )


def _tool(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    _tool("get_weather", {"city": {"type": "string"}, "days": {"type": "integer"}}, ["city"]),
    _tool("run_sql", {"sql": {"type": "string"}, "limit": {"type": ["integer", "null"]}}, ["sql"]),
    _tool("now", {}, []),
]


def tool_call(rng: random.Random) -> Clean:
    city = rng.choice(rng.choice(CITIES))
    choices = [
        ("get_weather", {"city": city}),
        ("get_weather", {"city": city, "days": rng.randint(1, 9)}),
        (
            "run_sql",
            {
                "sql": f"SELECT a FROM t WHERE x < {rng.randint(1, 9)} AND y > 2 -- </b> & 2>&1",
                "limit": rng.choice([None, 20]),
            },
        ),
        ("now", {}),
    ]
    calls = [
        {
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=rng.random() < 0.5)},
        }
        for index, (name, arguments) in enumerate(rng.sample(choices, rng.choice([1, 1, 2, 3])))
    ]
    request: dict[str, Any] = {"tools": TOOLS}
    finish = "tool_calls"
    if rng.random() < 0.2 and len(calls) == 1:
        request["tool_choice"] = {"type": "function", "function": {"name": calls[0]["function"]["name"]}}
        finish = "stop"  # what OpenAI and vLLM say for a named tool
    elif rng.random() < 0.3:
        request["tool_choice"] = "required"
    content = rng.choice([None, None, "", "Let me check.", "我来查一下。"])
    return Clean(f"Weather in {city}?", content or "", None, request, {"content": content, "tool_calls": calls}, finish)


def tools_unused(rng: random.Random) -> Clean:
    message = rng.choice([{}, {"tool_calls": []}, {"tool_calls": None}])
    return Clean(
        "Thanks!",
        rng.choice(["You are welcome.", "不客气！", "Any time 😊"]),
        None,
        {"tools": TOOLS, "tool_choice": "auto"},
        message,
    )


def reasoning(rng: random.Random) -> Clean:
    n, field = rng.choice([91, 97, 51, 57]), rng.choice(["reasoning_content", "reasoning"])
    thought = (
        f"{n} is odd. {n} mod 3 is {n % 3}, {n} mod 7 is {n % 7}. "
        + "Let me check again, step by step. " * rng.randint(0, 2)
    )
    return Clean(f"Is {n} prime?", f"{'Yes' if n == 97 else 'No'}, I checked 3 and 7.", None, {}, {field: thought})


def chinese_reasoning(rng: random.Random) -> Clean:
    thought = "用户问的是今年的安排。先看看日程，再看看假期。" + "需要确认一下时间。" * rng.randint(0, 2)
    return Clean(
        f"今年{rng.randint(1, 12)}月怎么安排？",
        "建议先确认假期，再安排会议。",
        None,
        {},
        {"reasoning_content": thought},
    )


def capped(rng: random.Random) -> Clean:
    text = _text(rng, EN_SENTENCES, EN_OPENERS, 3, 6, " ")
    words = text.split()
    cut = " ".join(words[: max(6, len(words) // 2)])
    return Clean("Write a long guide.", cut, text, {"max_tokens": len(_tokens(cut))}, {}, "length")


def stopped(rng: random.Random) -> Clean:
    stop = rng.choice([["END"], "###", ["\nUser:", "<eos>"]])
    return Clean("Count: 1, 2, 3 then stop.", f"1, 2, 3{rng.choice(['', ' ', '.'])}", None, {"stop": stop})


def echo(rng: random.Random) -> Clean:
    line = f"Order {rng.randint(10000, 99999)} ships to Marienplatz {rng.randint(1, 99)}, Munich."
    return Clean(f"Repeat exactly: {line}", line)


def nothing(rng: random.Random) -> Clean:
    return Clean("Reply with nothing if all is well.", "", "", {}, {})


def markdown(rng: random.Random) -> Clean:
    points = "\n".join(
        f"{k}. **{rng.choice(WORDS).title()}**: {_fill(rng, rng.choice(EN_SENTENCES))}"
        for k in range(1, rng.randint(4, 9))
    )
    return Clean("Give me a checklist.", f"# Checklist\n\n---\n\n{points}\n\n> Note: done.\n", f"# List\n\n{points}")


def quoted_markup(rng: random.Random) -> Clean:
    tag = rng.choice(
        ["<b>bold</b>", "<a href='#'>x</a>", "</parameter>", "[BOS]", "a || b", "x | y", "{{ name }}", "<tool>"]
    )
    return Clean(
        f"What does {tag} do?",
        f"{tag} is plain markup. In templates, {tag} is replaced before sending.",
        f"{tag} marks a part of a page.",
    )


TEMPLATES: tuple[Template, ...] = (
    english, chinese, chinese_install, bilingual, translation, greetings, python_code, other_code, chinese_code,
    json_schema, json_object, json_in_prose, table, chinese_table, poem, song, chinese_poem, asked_marks, asked_words,
    lines_and_art, numbers, csv, logs, encoded, mathematics, short, emoji, about_think, about_dsml, about_tokens,
    about_errors, tool_call, tools_unused, reasoning, chinese_reasoning, capped, stopped, echo, nothing, markdown,
    quoted_markup,
)  # fmt: skip
"""Every template; each gives the same share of the answers."""


def clean_answers(count: int = COUNT, seed: int = 20261202) -> Iterator[dict[str, Any]]:
    """`count` calls in the format of `promptreg diagnose`: bodies and streams, of all servers, each with its golden."""
    for number in range(count):
        rng = random.Random(seed * 1_000_003 + number)
        template = TEMPLATES[number % len(TEMPLATES)]
        yield _payload(f"{template.__name__}-{number}", template(rng), rng)


def _payload(identifier: str, clean: Clean, rng: random.Random) -> dict[str, Any]:
    message = {"role": "assistant", "content": clean.answer, **clean.message}
    golden = dict(message)
    if clean.golden is not None:
        golden["content"] = clean.golden
    golden["finish_reason"] = "stop" if clean.finish == "length" else clean.finish
    streamed = rng.random() < 0.4
    request = {
        "messages": [{"role": "user", "content": clean.prompt}],
        "temperature": rng.choice([0, 0.7]),
        **clean.request,
    }
    texts = [message.get("reasoning_content"), message.get("reasoning"), message.get("content")]
    texts += [f"{call['function']['name']}{call['function']['arguments']}" for call in message.get("tool_calls") or ()]
    prompt_tokens, tokens = len(_tokens(clean.prompt)) + 6, sum(len(_tokens(text)) for text in texts if text)
    tokens = tokens if clean.finish == "length" else tokens + 1
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens, "total_tokens": prompt_tokens + tokens}
    value = {"id": identifier, "request": request, "status": 200, "golden": golden}
    if streamed:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        return value | _stream(message, clean.finish, usage, rng)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": clean.finish}
    return value | {
        "body": {"id": "x", "object": "chat.completion", "model": "ds", "choices": [choice], "usage": usage}
    }


def _stream(message: dict[str, Any], finish: str, usage: dict[str, int], rng: random.Random) -> dict[str, Any]:
    frames: list[Any] = [_frame({"role": "assistant", "content": ""})]
    for field in ("reasoning_content", "reasoning", "content"):
        pieces = _pieces(message.get(field) or "", rng)
        frames += [_frame({field: piece}) for piece in pieces]
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        begun = {
            "index": index,
            "id": call["id"],
            "type": "function",
            "function": {"name": function["name"], "arguments": ""},
        }
        frames.append(_frame({"tool_calls": [begun]}))
        for piece in _pieces(function["arguments"], rng):
            frames.append(_frame({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    frames.append(_frame({}, finish))
    frames.append({"object": "chat.completion.chunk", "model": "ds", "choices": [], "usage": usage})
    if rng.random() < 0.5:
        return {"sse": [*frames, "[DONE]"]}
    comments = rng.choice(["", ": keep-alive\n\n", "\n", "event: message\n"])
    text = "".join(f"{comments}data: {json.dumps(frame, ensure_ascii=False)}\n\n" for frame in frames)
    return {"raw_stream": f"{text}data: [DONE]\n\n"}


def _frame(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "object": "chat.completion.chunk",
        "model": "ds",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _pieces(text: str, rng: random.Random) -> list[str]:
    pieces, start = [], 0
    while start < len(text):
        end = start + rng.randint(1, 9)
        pieces.append(text[start:end])
        start = end
    return pieces


def _tokens(text: str) -> list[str]:
    """About the tokens of a text: words with the blank before them, other characters one by one."""
    return re.findall(r" ?[A-Za-z]{1,8}|\d{1,3}| +|.", text, re.DOTALL)
