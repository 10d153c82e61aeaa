"""Scripts in YAML: what they mean, and what is said about wrong ones."""

from __future__ import annotations

import pytest

from promptreg.deployment.simulated.loading import load_script
from promptreg.deployment.simulated.script import Match, Script
from promptreg.errors import ConfigError


def write(folder, text, name="script.yaml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(path):
    with pytest.raises(ConfigError) as caught:
        load_script(path)
    return [str(problem) for problem in caught.value.problems]


def test_short_forms_and_long_forms_mean_the_same(tmp_path):
    short = write(tmp_path, "rules:\n  - match: 退货\n    answers: [七天]\n    faults: ['think_tags:0.2']\n")
    long = write(
        tmp_path,
        "rules:\n  - match: {contains: 退货}\n    answers: [{content: 七天}]\n"
        "    faults: [{name: think_tags, probability: 0.2}]\n",
        "long.yaml",
    )
    assert load_script(short) == load_script(long)


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n", "\ufeffkind: openai\n", "kind: openai\r\n"])
def test_nearly_empty_scripts_are_fine(tmp_path, text):
    assert load_script(write(tmp_path, text)) == Script()


def test_all_problems_are_told_with_their_lines(tmp_path):
    path = write(
        tmp_path,
        "kind: vllm\nwindow: -1\nnois: {wording: 1}\nrules:\n  - match: {regexp: a}\n"
        "  - match: {regex: '('}\n    faults: [thnk_tags]\n",
    )
    found = problems(path)
    assert len(found) == 5
    assert f"{path}:2: `window`" in found[0] + found[1] + found[2] + found[3] + found[4]
    text = "\n".join(found)
    assert ":3: `nois`: there is no key `nois` here. Did you mean `noise`?" in text
    assert ":5: " in text
    assert "Did you mean `regex`?" in text
    assert ":6: " in text
    assert "no regular expression" in text
    assert "Did you mean `think_tags`?" in text


def test_a_known_key_in_the_wrong_place_is_not_named_again(tmp_path):
    (found,) = problems(write(tmp_path, "rules:\n  - match: a\n    reasoning: b\n    answers: [c]\n"))
    assert "`rules.0.reasoning`: there is no key `reasoning` here. Allowed are `answers`, `faults`" in found


def test_broken_yaml_is_told_with_its_line(tmp_path):
    (found,) = problems(write(tmp_path, "kind: vllm\nrules: [\n"))
    assert "script.yaml:3" in found


@pytest.mark.parametrize("text", ["- a\n", "just text\n", "42\n"])
def test_a_script_is_a_mapping(tmp_path, text):
    (found,) = problems(write(tmp_path, text))
    assert "A script is a mapping" in found


def test_missing_and_foreign_files(tmp_path):
    (found,) = problems(tmp_path / "没有.yaml")
    assert "cannot be read" in found
    path = tmp_path / "gbk.yaml"
    path.write_bytes("kind: vllm\n# 退货\n".encode("gb18030"))
    (found,) = problems(path)
    assert f"{path}:2: The script cannot be read: The file is not UTF-8" in found
    assert found.endswith("Save it as UTF-8.")


def test_include_appends_rules(tmp_path):
    write(
        tmp_path, "rules:\n  - {match: a, answers: [A]}\n  - {match: b, answers: [B]}\nanswers: [rest]\n", "base.yaml"
    )
    path = write(tmp_path, "include: base.yaml\nkind: mindie\nrules:\n  - {match: a, faults: [empty]}\n")
    script = load_script(path)
    assert script.kind == "mindie"
    assert [rule.match.contains for rule in script.rules] == ["a", "a", "b"]
    assert script.answers[0].content == "rest"


def test_include_problems(tmp_path):
    path = write(tmp_path, "kind: vllm\ninclude: script.yaml\n")
    assert "leads back" in problems(path)[0]
    write(tmp_path, "include: b.yaml\n", "a.yaml")
    assert "leads back" in problems(write(tmp_path, "include: a.yaml\n", "b.yaml"))[0]
    assert "cannot be read" in problems(write(tmp_path, "include: none.yaml\n", "c.yaml"))[0]
    assert "name of one file" in problems(write(tmp_path, "include: [x]\n", "d.yaml"))[0]


def test_overrides_replace_keys_and_add_faults(tmp_path):
    path = write(tmp_path, "kind: vllm\nwindow: 100\nfaults: [empty]\n")
    script = load_script(path, {"window": 200, "faults": ["loop:0.5"]})
    assert (script.kind, script.window) == ("vllm", 200)
    assert [(plant.name, plant.probability) for plant in script.faults] == [("empty", 1.0), ("loop", 0.5)]


@pytest.mark.parametrize(
    ("match", "holds"),
    [
        (Match(), True),
        (Match(contains="退货"), True),
        (Match(contains="换货"), False),
        (Match(equals=" 怎么退货？ "), True),
        (Match(equals="怎么退货"), False),
        (Match(regex="^怎么.货"), True),
        (Match(anywhere="客服"), True),
        (Match(contains="客服"), False),
        (Match(contains="退货", anywhere="nobody"), False),
    ],
)
def test_matches(match, holds):
    assert match.holds("怎么退货？", "你是客服\n怎么退货？") is holds


def test_scripts_are_frozen_and_strict():
    script = Script()
    with pytest.raises(ValueError, match="frozen"):
        script.seed = 3
    with pytest.raises(ValueError, match="twice"):
        Script(models=("a", "a"))
    with pytest.raises(ValueError, match="at least 1"):
        Script(models=())
