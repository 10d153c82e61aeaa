import pytest

from promptreg.errors import SuiteError
from promptreg.suite.load import load_suites

HEAD = "suite: s\ndefaults:\n  context: sliding-window\ncases:\n"


def load(folder, text):
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    (suite,) = load_suites([folder / "s.yaml"], folder, check_names=frozenset(), param_names=frozenset())
    return suite.cases


def one(folder, written, messages="[{system: 你是客服}, {user: 退货期限？}]"):
    """The context of a case that says so, under `defaults` that say `sliding-window`."""
    (case,) = load(folder, f"{HEAD}  - id: a\n    context: {written}\n    messages: {messages}\n")
    return case.context


def test_a_case_has_the_context_of_the_defaults_and_the_place_where_that_is_written(tmp_path):
    (case,) = load(tmp_path, HEAD + "  - id: a\n    messages: [{user: hi}]\n")
    assert case.context.strategy == "sliding-window"
    assert (case.context.place.path, case.context.place.line) == ("s.yaml", 3)


def test_a_case_has_its_own_context_instead_and_its_place(tmp_path):
    context = one(tmp_path, '"prune-results:keep=1+sliding-window"')
    assert context.strategy == "prune-results:keep=1+sliding-window"
    assert context.place.line == 6


@pytest.mark.parametrize("written", ["none", "", "null", "~", '"none"', "{strategy: none}", "{strategy: }"])
def test_a_case_can_take_the_default_away(tmp_path, written):
    assert one(tmp_path, written) is None


def test_a_table_says_window_reserve_and_what_is_pinned(tmp_path):
    context = one(tmp_path, "{strategy: hysteresis, window: 4096, reserve: 0, pinned: [1, -1, 1]}")
    assert (context.window, context.reserve, context.pinned) == (4096, 0, (1, -1))


def test_empty_keys_of_a_table_are_left_to_the_deployment(tmp_path):
    context = one(tmp_path, "{strategy: hysteresis, window: , reserve: null, pinned: ~}")
    assert (context.window, context.reserve, context.pinned) == (None, None, ())


def test_the_hash_of_the_request_is_that_of_the_whole_conversation(tmp_path):
    (with_context, without) = load(
        tmp_path, HEAD + "  - {id: a, messages: [{user: hi}]}\n  - {id: b, context: none, messages: [{user: hi}]}\n"
    )
    assert with_context.request.sha256 == without.request.sha256


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("7", "not the number 7"),
        ("[hysteresis]", "not a list"),
        ("{window: 4096}", "needs `strategy`"),
        ("{strategy: hysteresis, windw: 1}", "Did you mean `window`?"),
        ("{strategy: [a]}", "`strategy` under `context` is a text"),
        ('""', "`context` is empty"),
        ("{strategy: a, window: 0}", "`window` under `context` is a number of tokens, at least 1"),
        ("{strategy: a, window: 8K}", "`window` under `context` is a number of tokens, at least 1"),
        ("{strategy: a, window: yes}", "`window` under `context` is a number of tokens, at least 1"),
        ("{strategy: a, reserve: -1}", "`reserve` under `context` is a number of tokens, at least 0"),
        ("{strategy: a, pinned: 1}", "a list of message numbers"),
        ("{strategy: a, pinned: [first]}", "a list of message numbers"),
        ("{strategy: a, pinned: [2]}", "names message 2, and this case has 2: they are numbered from 0 to 1"),
        ("{strategy: a, pinned: [-3]}", "names message -3"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, written, told):
    with pytest.raises(SuiteError) as caught:
        one(tmp_path, written)
    assert told in str(caught.value)
    assert str(caught.value).startswith(("s.yaml:5: ", "s.yaml:6: "))


def test_cases_of_a_file_have_the_context_beside_cases_from(tmp_path):
    (tmp_path / "rows.csv").write_text("id,question\na,hi\n", encoding="utf-8")
    (case,) = load(
        tmp_path,
        "suite: s\nprompts: {ask: [{user: '{{ question }}'}]}\n"
        "cases:\n  - cases_from: rows.csv\n    prompt: ask\n    context: hysteresis\n",
    )
    assert (case.context.strategy, str(case.context.place)) == ("hysteresis", "s.yaml:6")


def test_a_line_of_a_file_has_its_own_context(tmp_path):
    (tmp_path / "rows.jsonl").write_text(
        '{"id": "a", "messages": [{"role": "user", "content": "hi"}], "context": {"strategy": "x", "window": 99}}\n'
        '{"id": "b", "messages": [{"role": "user", "content": "hi"}], "context": null}\n',
        encoding="utf-8",
    )
    first, second = load(tmp_path, HEAD + "  - cases_from: rows.jsonl\n")
    assert (first.context.strategy, first.context.window, str(first.context.place)) == ("x", 99, "rows.jsonl:1")
    assert second.context is None


def test_a_column_called_context_is_a_variable(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "context": "合同第七条"}\n', encoding="utf-8")
    (case,) = load(
        tmp_path,
        "suite: s\nprompts: {ask: [{user: '{{ context }}'}]}\ncases: [{cases_from: rows.jsonl, prompt: ask}]\n",
    )
    assert case.context is None
    assert case.request.messages[0]["content"] == "合同第七条"
