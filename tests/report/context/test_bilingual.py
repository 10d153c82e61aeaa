"""What pages without a payload share: their policy, and that nothing in them is filled or run."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape

from promptreg.report.context.bilingual import both, page
from promptreg.report.page import asset
from promptreg.text.sentence import Sentence


def test_the_policy_allows_just_its_own_script_and_style():
    text = page(Sentence("Window", "窗口"), ["<p>x</p>"], "auto", "recall.css")
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])

    def digest(pattern):
        return base64.b64encode(hashlib.sha256(re.search(pattern, text, re.DOTALL)[1].encode()).digest()).decode()

    assert dict(part.split(" ", 1) for part in policy.split("; ")) == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest('<script>(.*?)</script>')}'",
        "style-src": f"'sha256-{digest('<style>(.*?)</style>')}'",
        "img-src": "data:",
        "connect-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r"<[^>]+ style=|<[^>]+ on[a-z]+=", text)


def test_placeholders_inside_data_stay_what_they_are():
    names = " ".join(re.findall(r"\{\{\w+\}\}", asset("bilingual.html")))
    title = Sentence(names, f"中文 {names}")
    text = page(title, [f"<p>{both(title)}</p>"], "zh")
    assert text.count(names) == 2 + 2 * 2 + 1  # attributes of the page, above the body and in it, the tab
    assert text.count("<script>") == 1


def test_hostile_text_is_text(hostile_texts):
    for name, said in hostile_texts.items():
        if len(said) > 10_000:
            continue
        text = page(Sentence(said, said), [f"<p>{both(Sentence(said, said))}</p>"], "en")
        assert text.count("<script") == text.count("</script>") == 1, name
        assert "<img" not in text, name
        assert "<!--" not in text, name
        assert not set(text) & set("\x00\x1b\x85\ud800"), name
