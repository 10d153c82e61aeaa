from __future__ import annotations

import json
import os

import pytest

from promptreg.errors import Place, SuiteError
from promptreg.suite.load import load_suites
from promptreg.suite.model import Request

CHECKS = frozenset({"contains", "not_contains", "regex", "json", "json_schema", "language", "not_refusal", "max_chars"})
PARAMS = frozenset(
    {"temperature", "max_tokens", "stop", "seed", "tools", "top_p", "n", "model", "messages", "stream", "user"}
)

EXAMPLE = """\
suite: support
defaults:
  request: {temperature: 0.7, max_tokens: 256}
  checks: [{language: zh}, not_refusal]
prompts:
  reply:
    - system: "你是{{ company }}的客服，只用 JSON 回答。"
    - user: "{{ question }}"
cases:
  - id: refund-window
    prompt: reply
    vars: {company: 长河, question: "退货期限是几天？"}
    tags: [policy]
    checks:
      - json_schema: schemas/answer.json
      - contains: "7天"
  - cases_from: questions.csv        # columns become vars; id column required or derived from content hash
    prompt: reply
"""


def write(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


def load(folder, *names):
    paths = [folder / name for name in names] or [folder]
    return load_suites(paths, folder, check_names=CHECKS, param_names=PARAMS)


def one(folder, text, **files):
    write(folder, a__yaml=text, **files)
    (suite,) = load(folder, "a.yaml")
    return suite


def problems_of(folder, text, **files):
    write(folder, a__yaml=text, **files)
    with pytest.raises(SuiteError) as caught:
        load(folder, "a.yaml")
    assert caught.value.exit_code == 2
    return [str(problem) for problem in caught.value.problems]


def contents(case):
    return [message["content"] for message in case.request.messages]


def test_the_example_of_the_architecture(tmp_path):
    suite = one(tmp_path, EXAMPLE, questions__csv="company,question\n长河,多久？\n")
    refund, row = suite.cases
    assert (suite.name, suite.path, refund.case_id, refund.tags) == ("support", "a.yaml", "refund-window", ("policy",))
    assert refund.request.messages == (
        {"role": "system", "content": "你是长河的客服，只用 JSON 回答。"},
        {"role": "user", "content": "退货期限是几天？"},
    )
    assert refund.request.params == {"temperature": 0.7, "max_tokens": 256}
    assert [(check.name, check.argument, check.place.line) for check in refund.checks] == [
        ("language", "zh", 4),
        ("not_refusal", None, 4),
        ("json_schema", "schemas/answer.json", 15),
        ("contains", "7天", 16),
    ]
    assert refund.place == Place("a.yaml", 10)
    assert contents(row) == ["你是长河的客服，只用 JSON 回答。", "多久？"]
    assert row.place == Place("questions.csv", 2)
    assert len(row.case_id) == 12


def test_the_hash_depends_on_messages_and_parameters_only(tmp_path):
    first = one(tmp_path, EXAMPLE, questions__csv="company,question\n长河,多久？\n").cases[0]
    other = EXAMPLE.replace("support", "other").replace("refund-window", "x").replace("[policy]", "[a, b]")
    other = "# moved\n" + other.replace("{language: zh}, ", "")
    moved = one(tmp_path, other, questions__csv="company,question\n长河,多久？\n").cases[0]
    assert moved.request.sha256 == first.request.sha256
    # Written down: goldens of earlier versions must still be found.
    assert first.request.sha256 == "8f95b3f9aed24e692c51be63d4d3c0caabac522ebb888621787d2da1428e4f1a"
    assert one(tmp_path, EXAMPLE.replace("0.7", "0.70"), questions__csv="company,question\na,b\n").cases[0].request == (
        first.request
    )
    hotter = one(tmp_path, EXAMPLE.replace("0.7", "0.8"), questions__csv="company,question\na,b\n").cases[0]
    assert hotter.request.sha256 != first.request.sha256


def test_a_windows_checkout_gives_the_same_requests(tmp_path):
    text = """suite: a
cases:
  - id: x
    messages:
      - user: |
          one
          two {{ v }}
    vars: {v: 1}
"""
    unix = one(tmp_path, text).cases[0]
    windows = one(tmp_path, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()).cases[0]
    assert windows.request.sha256 == unix.request.sha256
    assert contents(unix) == ["one\ntwo 1\n"]


@pytest.mark.parametrize(
    "written",
    [
        "007",
        "no",
        "off",
        "1e3",
        "2024-01-02",
        "12345678901234567890",
        "0x1F",
        "1_000",
        "1.10",
        "3",
        "0.5",
        "12:30:45",
    ],
)
def test_values_stay_what_was_written(tmp_path, written):
    case = one(
        tmp_path,
        f"suite: a\nprompts: {{p: [user: '{{{{ v }}}}']}}\ncases:\n"
        f"  - {{id: {written}, prompt: p, tags: [{written}], vars: {{v: {written}}}, checks: [contains: {written}]}}\n",
    ).cases[0]
    assert (case.case_id, case.tags, contents(case)) == (written, (written,), [written])
    assert str(case.checks[0].argument) == written or written == "0x1F"


def test_variables_have_truth_and_lists(tmp_path):
    text = """suite: a
prompts:
  p:
    - user: "{% if yes %}A{% endif %}{% if no_ %}B{% endif %}{{ yes }}{{ items | join('、') }}{{ t.k }}{{ t | tojson }}"
cases:
  - {id: x, prompt: p, vars: {yes: true, no_: false, items: [007, 长河], t: {k: <&'1>}}}
"""
    assert contents(one(tmp_path, text).cases[0]) == ['Atrue007、长河<&\'1>{"k": "<&\'1>"}']


def test_request_parameters_have_yaml_1_2_types(tmp_path):
    text = """suite: a
cases:
  - id: x
    messages: [user: hi]
    request:
      {temperature: 1e-1, seed: 0x10, stop: [no, 007], user: 2024-01-02, extra_body: {top_k: 5, on: true, f: null}}
"""
    assert one(tmp_path, text).cases[0].request.params == {
        "temperature": 0.1, "seed": 16, "stop": ["no", "007"], "user": "2024-01-02",
        "extra_body": {"top_k": 5, "on": True, "f": None},
    }  # fmt: skip


def test_case_settings_over_file_settings_over_defaults(tmp_path):
    text = """suite: a
defaults:
  request: {temperature: 0.7, max_tokens: 9, extra_body: {a: 1, b: 1}}
  checks: [not_refusal, max_chars: 5]
  tags: [all]
prompts: {p: [user: "{{ q }}"]}
cases:
  - id: x
    prompt: p
    vars: {q: a}
    request: {temperature: 0, max_tokens: null, extra_body: {b: 2}}
    checks: [not_refusal, max_chars: 6]
    tags: [all, one]
  - {cases_from: rows.jsonl, prompt: p, request: {top_p: 1}, tags: [file]}
"""
    rows = '{"id": "j", "vars": {"q": "b"}, "request": {"top_p": 0.5}, "tags": ["row"], "checks": ["json"]}\n'
    first, second = one(tmp_path, text, rows__jsonl=rows).cases
    assert first.request.params == {"temperature": 0, "extra_body": {"a": 1, "b": 2}}
    assert [check.label for check in first.checks] == ["not_refusal", "max_chars: 5", "max_chars: 6"]
    assert first.tags == ("all", "one")
    assert second.request.params == {"temperature": 0.7, "max_tokens": 9, "extra_body": {"a": 1, "b": 1}, "top_p": 0.5}
    assert second.tags == ("all", "file", "row")
    assert [(check.name, check.place.path) for check in second.checks][-1] == ("json", "rows.jsonl")


def test_whole_messages_with_tools_and_results(tmp_path):
    text = """suite: a
cases:
  - id: tools
    vars: {city: 北京}
    messages:
      - {role: user, content: "{{ city }}天气？"}
      - role: assistant
        content: null
        tool_calls:
          - {id: call_1, type: function, function: {name: weather, arguments: '{"city": "{{ city }}"}'}}
      - {role: tool, tool_call_id: call_1, content: 12}
      - role: user
        content: [{type: text, text: "{{ city }}"}, {type: image_url, image_url: {url: "data:,x"}}]
    request: {tools: [{type: function, function: {name: weather, parameters: {type: object}}}]}
"""
    user, assistant, tool, parts = one(tmp_path, text).cases[0].request.messages
    assert user["content"] == "北京天气？"
    assert assistant["content"] is None
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == {"city": "北京"}
    assert tool == {"role": "tool", "content": "12", "tool_call_id": "call_1"}
    assert parts["content"] == [
        {"type": "text", "text": "北京"},
        {"type": "image_url", "image_url": {"url": "data:,x"}},
    ]


def test_recorded_turns_are_sent_as_written(tmp_path):
    text = "suite: a\ncases: [{id: x, messages: [user: 你好, assistant: 您好, user: 再见]}]\n"
    assert [message["role"] for message in one(tmp_path, text).cases[0].request.messages] == [
        "user",
        "assistant",
        "user",
    ]
    (problem,) = problems_of(tmp_path, "suite: a\ncases: [{id: x, messages: [user: 你好, assistant: 您好]}]\n")
    assert "prefix: true" in problem
    text = "suite: a\ncases: [{id: x, messages: [user: a, {role: assistant, content: b, prefix: true}]}]\n"
    assert one(tmp_path, text).cases[0].request.messages[-1]["prefix"] is True


def test_anchors_and_merges(tmp_path):
    text = """suite: a
prompts: {p: [user: "{{ a }}{{ b }}"]}
cases:
  - {id: x, prompt: p, vars: &v {a: 1, b: 2}}
  - {id: y, prompt: p, vars: {<<: *v, b: 3}}
"""
    assert [contents(case) for case in one(tmp_path, text).cases] == [["12"], ["13"]]


def test_a_case_without_checks_is_fine(tmp_path):
    assert one(tmp_path, "suite: a\ncases: [{id: x, messages: [user: hi]}]").cases[0].checks == ()


def test_every_problem_of_the_file_at_once(tmp_path):
    found = problems_of(
        tmp_path,
        """suite: a/b
defaults:
  request: {temprature: 0.7, extra_body: [1], model: m}
  checks: [langage: zh, not_refusl, {contains: a, regex: b}]
prompts:
  reply:
    - sytem: "x"
    - user: [a]
cases:
  - id: a
    prompt: rply
    asertions: []
    context: {strategy: x, windw: 1}
    history: live
  - {}
  - cases_from: x.csv
    prompts: x
  - hello
  - id: ""
    messages: []
""",
    )
    places = [problem.split(": ", 1)[0] for problem in found]
    assert places == [f"a.yaml:{line}" for line in (1, 3, 3, 4, 4, 4, 7, 8, 11, 12, 13, 14, 15, 17, 18, 19, 20)]
    text = "\n".join(found)
    for hint in (
        "Did you mean `temperature`?", "extra_body: {temprature: …}", "named by the deployment",
        "Did you mean `language`?",
        "Did you mean `not_refusal`?", "One check per entry", "Did you mean `system`?",
        "`user` must be a text, not a list",
        "no prompt `rply`. Did you mean `reply`?", "Unknown key `asertions`", "`context` has no key `windw`",
        "`history` is not supported yet", "The key `id` is missing", "Did you mean `prompt`?", "must not be empty",
    ):  # fmt: skip
        assert hint in text


def test_a_text_where_the_name_of_a_prompt_is_wanted_is_told_where_it_goes(tmp_path):
    found = problems_of(tmp_path, "suite: a\ncases:\n  - {id: a, prompt: 退款要几天？🧾}\n")
    assert found == [
        (
            "a.yaml:3: There is no prompt `退款要几天？🧾`. The file has no `prompts`. "
            "A text that is no such name goes under `messages`: `[{user: …}]`."
        )
    ]


def test_broken_cases_do_not_hide_the_problems_of_others(tmp_path):
    found = problems_of(
        tmp_path,
        """suite: a
prompts: {p: [user: "{{ q }}"]}
cases:
  - {id: a, prompt: p, vras: {}}
  - {id: b, prompt: p}
  - {id: b, prompt: p, vars: {q: 1}}
  - {id: c, prompt: q}
  - {id: d}
  - {id: e, prompt: p, messages: [user: x]}
""",
    )
    assert [problem.split(": ", 1)[0] for problem in found] == [f"a.yaml:{line}" for line in (4, 5, 6, 7, 8, 9)]
    assert "Did you mean `vars`?" in found[0]
    assert (
        found[1]
        == "a.yaml:5: Case `b`: The variable `q` is not defined; the case has no variables. (prompt `p`, a.yaml:2)"
    )
    assert found[2] == "a.yaml:6: The case id `b` stands twice, here and at a.yaml:5. Give each case its own."


def test_undefined_variables_name_the_line_inside_a_block(tmp_path):
    text = """suite: a
prompts:
  p:
    - user: |
        one
        {{ question }}
cases:
  - {id: x, prompt: p, vars: {questoin: 1}}
"""
    assert problems_of(tmp_path, text) == [
        (
            "a.yaml:8: Case `x`: The variable `question` is not defined; the case has `questoin`. "
            "Did you mean `questoin`? (prompt `p`, a.yaml:6)"
        )
    ]


def test_the_same_gap_in_every_row_is_told_once(tmp_path):
    text = "suite: a\nprompts: {p: [user: '{{ q }}']}\ncases: [{cases_from: r.csv, prompt: p}]\n"
    found = problems_of(tmp_path, text, r__csv="id,x\n" + "".join(f"r{number},1\n" for number in range(500)))
    assert len(found) == 1
    assert found[0].startswith("r.csv:2: Case `r0`: The variable `q` is not defined; the case has `id`, `x`.")
    assert found[0].endswith("The same holds for 499 more cases of this file.")


def test_a_wrong_template_is_told_once_with_its_line(tmp_path):
    text = """suite: a
prompts:
  p:
    - system: |
        ok
        {% if x %}
cases: [{id: a, prompt: p}, {id: b, prompt: p}]
"""
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith("a.yaml:6: Prompt `p`: This is not a valid template")


def test_ten_thousand_rows_compile_each_template_once(tmp_path, monkeypatch):
    compiled = []
    from promptreg.suite import templates

    compile_ = templates.PromptTemplate._compile
    monkeypatch.setattr(
        templates.PromptTemplate, "_compile", lambda self, source: compiled.append(source) or compile_(self, source)
    )
    text = "suite: a\nprompts: {p: [system: '{{ a }}', user: '{{ b }}']}\ncases: [{cases_from: r.csv, prompt: p}]\n"
    rows = "id,a,b\n" + "".join(f"r{number},长河,问题 {number}\n" for number in range(10_000))
    suite = one(tmp_path, text, r__csv=rows)
    assert len(suite.cases) == 10_000
    assert compiled == ["{{ a }}", "{{ b }}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "The file is empty"),
        ("# nothing\n", "The file is empty"),
        ("- a\n", "no table of keys"),
        ("suite: a\n", "`cases` is missing"),
        ("suite: a\ncases: []\n", "The suite is empty"),
        ("suite: a\ncases:\n", "`cases` must be a list, not"),
        ("suite: a\ncases: {id: x}\n", "`cases` must be a list, not a table"),
        ("suite:\ncases: [{id: x, messages: [user: x]}]\n", "not empty"),
        ("suite: con\ncases: [{id: x, messages: [user: x]}]\n", "device name"),
        ('suite: a\ncases: [{id: "a\\nb", messages: [user: x]}]\n', "control characters"),
        (f"suite: a\ncases: [{{id: {'x' * 301}, messages: [user: x]}}]\n", "at most 300"),
        ("suite: a\ncases: [{id: x, messages: [user: ]}]\n", 'write "" for an empty one'),
        ('suite: a\ncases: [{id: x, messages: [user: "\\ud83d"]}]\n', "half a character"),
        ("suite: a\ncases: [{id: x, messages: [user: x], request: {n: 2}}]\n", "`n` must be 1"),
        ("suite: a\ncases: [{id: x, messages: [user: x], request: {stream: true}}]\n", "set by the deployment"),
        ("suite: a\ncases: [{id: x, messages: [user: x], request: {seed: .inf}}]\n", "no JSON form"),
        ("suite: a\ncases: [{id: x, messages: [user: x], vars: {v: True}}]\n", "the word or the truth value"),
        ("suite: a\ncases: [{id: x, messages: [user: '{{ v }}'], vars: {v: null}}]\n", "null, which has no text"),
        ("suite: a\ncases: [{id: x, messages: [user: '{{ v }}'], vars: {v: [1]}}]\n", "list or a table"),
        ("suite: a\ncases: [{cases_from: none.csv, prompt: p}]\n", "does not exist"),
        ("suite: a\ncases: [{cases_from: /etc/passwd, prompt: p}]\n", "absolute path"),
        ("suite: a\ncases: [{cases_from: ../x.csv, prompt: p}]\n", "outside the project folder"),
    ],
)
def test_one_clear_sentence(tmp_path, text, expected):
    found = problems_of(tmp_path, text)
    assert expected in found[0]
    assert found[0].startswith("a.yaml")


def test_suites_in_folders_and_by_name(tmp_path):
    case = "cases: [{id: x, messages: [user: x]}]\n"
    inner = tmp_path / "测试集"
    inner.mkdir()
    (tmp_path / ".hidden").mkdir()
    write(tmp_path / ".hidden", x__yaml="broken: [")
    write(tmp_path, b__yml=f"suite: b\n{case}")
    write(inner, a__yaml=f"suite: 客服\n{case}", note__txt="no suite")
    suites = load(tmp_path, ".", "b.yml")
    assert [(suite.name, suite.path) for suite in suites] == [("b", "b.yml"), ("客服", "测试集/a.yaml")]


def test_two_suites_of_one_name(tmp_path):
    case = "cases: [{id: x, messages: [user: x]}]\n"
    write(tmp_path, a__yaml=f"suite: Support\n{case}", b__yaml=f"suite: support\n{case}")
    with pytest.raises(SuiteError, match=r"b\.yaml: The suite name `support` is taken by a\.yaml"):
        load(tmp_path)


def test_problems_of_all_files_at_once(tmp_path):
    write(tmp_path, a__yaml="suite: a\n", b__yaml="suite: [\n")
    with pytest.raises(SuiteError) as caught:
        load(tmp_path)
    assert [problem.place.path for problem in caught.value.problems] == ["a.yaml", "b.yaml"]


def test_nowhere_to_look(tmp_path):
    with pytest.raises(SuiteError, match=r"There is no suite file or folder suites\. Run `promptreg init`"):
        load(tmp_path, "suites")
    (tmp_path / "suites").mkdir()
    with pytest.raises(SuiteError, match=r"No suite in the folder suites: it has no \*\.yaml"):
        load(tmp_path, "suites")
    write(tmp_path, x__csv="a\n")
    with pytest.raises(SuiteError, match=r"x\.csv: A suite is a \*\.yaml or \*\.yml file"):
        load(tmp_path, "x.csv")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read(tmp_path):
    write(tmp_path, a__yaml="suite: a\n")
    (tmp_path / "a.yaml").chmod(0)
    with pytest.raises(SuiteError, match="cannot be read"):
        load(tmp_path, "a.yaml")


def test_a_suite_in_another_encoding(tmp_path):
    (problem,) = problems_of(tmp_path, "suite: a\n# 这是中文注释，没有问题\n".encode("gbk"))
    assert problem.startswith("a.yaml:2: The file is not UTF-8")
    assert "GB18030. Save it as UTF-8." in problem


def test_a_long_list_of_problems_is_cut(tmp_path):
    rows = "id,q\n" + "x\n" * 1000
    found = problems_of(
        tmp_path, "suite: a\nprompts: {p: [user: '{{ q }}']}\ncases: [{cases_from: r.csv, prompt: p}]\n", r__csv=rows
    )
    assert len(found) == 201
    assert found[-1] == "a.yaml: 800 more problems of this suite are not listed."


def test_requests_are_equal_when_their_parts_are():
    assert (
        Request(({"role": "user", "content": "a"},), {"b": 1, "a": 2}).sha256
        == Request(({"content": "a", "role": "user"},), {"a": 2, "b": 1}).sha256
    )


def test_a_key_of_cases_beside_a_case_file(tmp_path):
    """The keys that are allowed there are named, and the key itself is not proposed as its own correction."""
    (problem,) = problems_of(
        tmp_path,
        "suite: a\nprompts: {p: [user: x]}\ncases: [{cases_from: r.csv, prompt: p, messages: []}]\n",
        r__csv="id\n1\n",
    )
    assert "Did you mean" not in problem
    assert (
        "Unknown key `messages`. Allowed are `cases_from`, `checks`, `context`, `encoding`, `id`, `infer`, `noise`, "
        "`prompt`" in problem
    )


def test_a_key_called_as_a_label_of_the_reader_is_an_unknown_key(tmp_path):
    found = problems_of(tmp_path, 'suite: a\ncases:\n  - {id: a, "[case]": [], messages: [null]}\n')
    assert all(problem.startswith("a.yaml:3: ") for problem in found)
    assert any("`[case]`" in problem for problem in found)
    assert len(found) == 2
