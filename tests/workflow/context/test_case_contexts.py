"""What a deployment is sent of cases under a context, before anything is sent."""

import json

import pytest

from promptreg.config import load_config
from promptreg.errors import ConfigError, SuiteError
from promptreg.workflow.context.case_contexts import CaseFitter
from promptreg.workflow.context.contexts import summary_of
from promptreg.workflow.project import project_suites

ZH = "退货期限是七天，超过之后不再受理，运费由买家承担。"
EN = "Returns are accepted within seven days, the buyer pays for shipping."


def talk(turns, text=ZH, last="退货期限是几天？", system="你是客服。"):
    """A conversation: system, so many turns, and the newest question."""
    said = [{"role": role, "content": f"{turn} {text}"} for turn in range(turns) for role in ("user", "assistant")]
    return [{"role": "system", "content": system}, *said, {"role": "user", "content": last}]


def agent(rounds):
    """A conversation with two parallel calls and their long results in each round."""
    messages = [{"role": "system", "content": "You run tools."}, {"role": "user", "content": "Begin."}]
    for number in range(rounds):
        ids = [f"c{number}a", f"c{number}b"]
        calls = [{"id": one, "type": "function", "function": {"name": "order", "arguments": "{}"}} for one in ids]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": one, "content": EN * 12} for one in ids]
        messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": f"Next {number}?"}]
    return messages


class Here:
    """A project in a folder with one deployment for each window."""

    def __init__(self, folder):
        self.folder = folder

    def fit(self, cases, *, window=2048, defaults=None, **deployment):
        """The cases of `cases` (id to its keys), fitted: (contexts, suite)."""
        fields = {"base_url": "http://127.0.0.1:9/v1", "model": "deepseek-v3.1", **deployment}
        fields |= {"window": window} if window else {}
        text = "\n".join(["[deployments.ascend]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items())])
        (self.folder / "promptreg.toml").write_text(text, encoding="utf-8")
        suite = {
            "suite": "s",
            "defaults": {"request": {"max_tokens": 100}, "context": "hysteresis", **(defaults or {})},
            "cases": [{"id": case_id, **keys} for case_id, keys in cases.items()],
        }
        (self.folder / "suites").mkdir(exist_ok=True)
        (self.folder / "suites" / "s.yaml").write_text(json.dumps(suite, indent=1), encoding="utf-8")
        config = load_config(None, self.folder)
        (loaded,) = project_suites(config, (), None)
        return CaseFitter(config).fit(config.deployment("ascend"), [loaded]), loaded

    def one(self, messages, *, window=2048, keys=None, **options):
        """One case, fitted."""
        contexts, suite = self.fit({"a": {"messages": messages, **(keys or {})}}, window=window, **options)
        return contexts.of(suite.cases[0])


@pytest.fixture
def here(tmp_path):
    return Here(tmp_path)


@pytest.mark.parametrize("text", [ZH, EN])
def test_a_conversation_that_fits_is_the_very_request(here, text):
    fitted = here.one(talk(3, text))
    assert not fitted.shortened
    assert list(fitted.case.request.messages) == talk(3, text)
    whole = here.one(talk(3, text), window=32768)
    assert whole.case.request.sha256 == fitted.case.request.sha256


@pytest.mark.parametrize("text", [ZH, EN])
def test_a_conversation_that_does_not_fit_is_within_the_budget_and_every_loss_is_told(here, text):
    messages = talk(80, text)
    fitted = here.one(messages)
    assert fitted.shortened
    assert fitted.fitted.total <= fitted.budget.tokens == 2048 - 100 - 21
    sent = list(fitted.case.request.messages)
    assert sent[0] == messages[0]
    assert sent[-1] == messages[-1]
    assert len(sent) == len(messages) - len(fitted.dropped)
    assert sent == [message for place, message in enumerate(messages) if place not in fitted.dropped]
    assert fitted.to_json()["dropped"] == list(fitted.dropped)
    assert [entry["index"] for entry in fitted.stored()["ledger"]["entries"]] == list(fitted.dropped)


def test_tool_calls_keep_all_their_results(here):
    fitted = here.one(agent(12), keys={"context": "sliding-window"})
    assert fitted.shortened
    waiting = set()
    for message in fitted.case.request.messages:
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
    assert not waiting


def test_results_that_are_replaced_are_changed_not_dropped(here):
    fitted = here.one(agent(6), keys={"context": "prune-results:keep=1+sliding-window"})
    assert fitted.changed
    assert not fitted.dropped
    assert len(fitted.case.request.messages) == len(agent(6))


def test_the_tools_of_the_request_are_counted(here):
    tool = {"type": "function", "function": {"name": "order", "description": EN * 30, "parameters": {}}}
    plain = here.one(talk(60))
    with_tools = here.one(talk(60), keys={"request": {"tools": [tool]}})
    assert len(with_tools.dropped) > len(plain.dropped)
    assert with_tools.fitted.total <= with_tools.budget.tokens


def test_room_is_kept_for_a_response_format(here):
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"description": EN * 10}}}
    plain = here.one(talk(60))
    with_format = here.one(talk(60), keys={"request": {"response_format": schema}})
    assert with_format.budget.tokens < plain.budget.tokens
    assert len(with_format.dropped) > len(plain.dropped)


def test_max_tokens_of_the_case_is_the_reserve_and_the_context_can_say_another(here):
    assert here.one(talk(3), keys={"request": {"max_tokens": 500}}).budget.reserve == 500
    own = {"strategy": "hysteresis", "reserve": 7, "window": 1024}
    fitted = here.one(talk(3), keys={"request": {"max_tokens": 500}, "context": own})
    assert (fitted.budget.reserve, fitted.budget.window) == (7, 1024)


def test_pinned_messages_stay(here):
    keys = {"context": {"strategy": "sliding-window", "pinned": [1, 2]}}
    fitted = here.one(talk(80), keys=keys)
    assert fitted.shortened
    assert not {1, 2} & set(fitted.dropped)


def test_pinned_counts_from_the_end_too(here):
    fitted = here.one(talk(80), keys={"context": {"strategy": "sliding-window", "pinned": [3 - len(talk(80))]}})
    assert 3 not in fitted.dropped
    assert {2, 4} <= set(fitted.dropped)


def test_what_cannot_be_shortened_enough_has_no_messages_to_send_and_all_the_numbers(here):
    contexts, suite = here.fit({"long": {"messages": talk(2, last=ZH * 300)}, "short": {"messages": talk(2)}})
    long, short = map(contexts.of, suite.cases)
    assert long.case.request.messages == ()
    assert long.fitted is None
    for language in ("en", "zh"):
        said = long.problem.text(language)
        assert str(long.budget.tokens) in said
        assert str(long.budget.kept_free) in said
        assert long.counter in said
    assert long.to_json()["total"] is None
    assert short.problem is None
    assert short.case.request.messages


def test_a_reserve_that_fills_the_window_leaves_nothing_to_send(here):
    with pytest.raises(SuiteError) as raised:
        here.one(talk(1), keys={"request": {"max_tokens": 4096}})
    (problem,) = raised.value.problems
    assert problem.place.line
    assert "4096 (`max_tokens` of the request) are kept free for the answer" in problem.message
    assert "write a smaller `reserve` in the `context`, or raise the window." in problem.message


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"reserve": 99999}, "99999 (`reserve`) are kept free"),
        ({"reserve": 512, "window": 512}, "Lower `reserve`, or raise `window` in the `context`."),
        ({"reserve": 0, "window": 1}, "0 (`reserve`) are kept free for the answer and 8 as a margin"),
    ],
)
def test_a_reserve_of_the_context_that_fills_the_window_is_told_once_for_all_its_cases(here, context, said):
    cases = {name: {"messages": talk(1), "context": {"strategy": "hysteresis", **context}} for name in ("a", "b")}
    with pytest.raises(SuiteError) as raised:
        here.fit(cases)
    assert all(problem.place.line for problem in raised.value.problems)
    assert said in str(raised.value)


def test_open_tool_calls_are_told_and_not_sent(here):
    call = {"id": "c", "type": "function", "function": {"name": "order", "arguments": "{}"}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    fitted = here.one([*messages, {"role": "user", "content": "还在吗？"}])
    assert fitted.problem is None
    assert 1 in fitted.dropped


def test_a_case_without_a_context_is_left_alone(here):
    contexts, suite = here.fit({"a": {"messages": talk(90), "context": "none"}})
    assert contexts.of(suite.cases[0]) is None
    assert contexts.sent(suite.cases[0]) is suite.cases[0]
    assert summary_of(contexts, suite.cases) == ()


def test_no_window_is_an_error_that_says_what_to_write(here):
    with pytest.raises(ConfigError) as caught:
        here.fit({"a": {"messages": talk(1)}, "b": {"messages": talk(1)}}, window=None, server="openai", model="m")
    said = str(caught.value)
    assert said.startswith("suites/s.yaml:")
    assert "Case `a` and 1 more has a `context`, and the window of deployment `ascend` is not known." in said
    assert "`window = 8192` under [deployments.ascend]" in said


def test_a_window_in_every_context_needs_none_of_the_deployment(here):
    keys = {"context": {"strategy": "hysteresis", "window": 4096}}
    assert here.one(talk(1), window=None, server="openai", keys=keys).budget.window == 4096


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ("hysterese", "There is no strategy `hysterese`. Allowed:"),
        ("hysteresis:targt=1", "Did you mean `target`?"),
        ("hysteresis+slidingwindow", "Did you mean `sliding-window`?"),
        ("langchain:trim_messages", "is not taken in a suite"),
        ("function:app:shorten", "is not taken in a suite"),
        ("hysteresis+", "lacks a strategy beside a `+`"),
        ("hysteresis:target=0.5,target=0.6", "is written twice"),
        ("none+hysteresis", "`none` stands alone"),
        ("hysteresis + none", "`none` stands alone"),
        ("none:keep=1", "`none` stands alone"),
    ],
)
def test_a_wrong_strategy_is_told_with_its_line(here, strategy, told):
    with pytest.raises(SuiteError) as caught:
        here.fit({"a": {"messages": talk(1)}, "b": {"messages": talk(1)}}, defaults={"context": strategy})
    assert told in str(caught.value)
    assert str(caught.value).startswith("suites/s.yaml:7: `context`: ")
    assert "llama-index" not in str(caught.value)
    assert len(caught.value.problems) == 1


def test_a_tokenizer_that_must_be_asked_is_an_error_of_the_configuration(here):
    with pytest.raises(ConfigError, match=r"promptreg\.toml:4: The `tokenizer` of `ascend` is the server"):
        here.fit({"a": {"messages": talk(1)}}, tokenizer="server", server="vllm")


def test_thinking_of_a_case_changes_how_it_is_counted(here):
    off = {"request": {"extra_body": {"chat_template_kwargs": {"thinking": False}}}}
    on = {"request": {"extra_body": {"chat_template_kwargs": {"thinking": True}}}}
    contexts, suite = here.fit({"off": {"messages": talk(2), **off}, "on": {"messages": talk(2), **on}})
    counters = [contexts.of(case).counter for case in suite.cases]
    assert len(set(counters)) == 2


@pytest.mark.parametrize("strategy", ["retrieve:top=2", "summary-on-cut", "middle-out", "first-and-last"])
def test_a_strategy_gives_the_same_prompt_again(here, strategy, monkeypatch):
    import numpy as np

    class Letters:
        def encode(self, texts):
            return np.array([[text.count(letter) + 1.0 for letter in "0123456789"] for text in texts])

    monkeypatch.setattr("promptreg.scoring.embedders.registry.load_embedder", lambda *_: Letters())
    first = here.one(talk(80), keys={"context": strategy})
    again = here.one(talk(80), keys={"context": strategy})
    assert first.shortened
    assert first.case.request.sha256 == again.case.request.sha256


def test_an_embedder_that_fails_sends_nothing_rather_than_another_prompt(here, monkeypatch):
    def broken(*_):
        raise OSError("no model")

    monkeypatch.setattr("promptreg.scoring.embedders.registry.load_embedder", broken)
    fitted = here.one(talk(80), keys={"context": "retrieve:top=2"})
    assert fitted.problem is not None
    assert fitted.case.request.messages == ()


def test_the_summary_counts_cases_and_messages(here):
    contexts, suite = here.fit(
        {
            "long": {"messages": talk(80)},
            "short": {"messages": talk(1)},
            "huge": {"messages": talk(1, last=ZH * 300)},
            "plain": {"messages": talk(1), "context": "none"},
        }
    )
    dropped = len(contexts.of(suite.cases[0]).dropped)
    first, second = summary_of(contexts, suite.cases)
    assert first.en == f"1 of 4 cases was shortened for `ascend`: {dropped} of 162 messages dropped."
    assert first.zh == f"4 个用例中有 1 个为“ascend”缩短：162 条消息中移除 {dropped} 条。"
    assert second.en == "1 of 4 cases cannot be shortened enough for `ascend` and was not sent."
