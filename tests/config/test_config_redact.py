from __future__ import annotations

import pytest

from promptreg.config import load_config
from promptreg.errors import ConfigError
from promptreg.workflow.private import redaction_of


def load(tmp_path, text):
    (tmp_path / "promptreg.toml").write_text(text, encoding="utf-8")
    return load_config(None, tmp_path)


def test_nothing_is_taken_out_unless_it_is_asked_for(tmp_path):
    assert redaction_of(load(tmp_path, "")).text("a@b.example.com sk-made0up1made0up2") == (
        "a@b.example.com sk-made0up1made0up2"
    )


def test_kinds_and_patterns(tmp_path):
    config = load(tmp_path, "[redact]\nkinds = ['email', 'keys']\npatterns = ['工号\\d{6}']\n")
    assert redaction_of(config).text("a@b.example.com 工号123456 13800138000") == "[redacted] [redacted] 13800138000"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("kinds = ['e-mail']", "promptreg.toml:2: "),
        ("kinds = ['e-mail']", "Did you mean `email`"),
        ("\npatterns = ['a', '(']", "promptreg.toml:3: `(` is no regular expression: missing )"),
        ("patterns = ['x*']", "promptreg.toml:2: `x*` matches where nothing is"),
        ("patterns = ['']", "promptreg.toml:2: "),
        ("patterns = 'x'", "promptreg.toml:2: `patterns` must be a list"),
        ("pattern = ['x']", "promptreg.toml:2: Unknown key `pattern`"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, lines, words):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, f"[redact]\n{lines}\n")
    assert words in str(caught.value)
