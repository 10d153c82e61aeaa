"""Rules of the page's code that a browser would not tell us about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from promptreg.report import html

ASSETS = Path(html.__file__).parent / "assets"
SCRIPTS = sorted((ASSETS / "js").glob("*.js"))

FORBIDDEN = {
    "HTML from text": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc|setHTML",
    "markup from text": r"DOMParser|\.parseFromString",
    "code from text": r"\beval\b|new Function|setTimeout\(\s*[\"'`]|setInterval|import\(",
    "network": r"\bfetch\b|XMLHttpRequest|sendBeacon|WebSocket|EventSource|https?://(?!www\.w3\.org/2000/svg)",
    "style attributes": r"[\"']style[\"']|style:|cssText",
    "links out of the page": r"window\.open|target: ?[\"`]_|\bsrc\b|xlink",
    "inline handlers": r"setAttribute\([\"'`]on",
}


@pytest.mark.parametrize("script", [*SCRIPTS, ASSETS / "bilingual.js"], ids=lambda path: path.name)
@pytest.mark.parametrize("rule", FORBIDDEN)
def test_forbidden_ways(script, rule):
    if (script.name, rule) == (html.SERVED_SCRIPT, "network"):
        return  # it is in served pages only, whose policy lets it speak with their own server
    assert not re.search(FORBIDDEN[rule], script.read_text(encoding="utf-8"))


def test_every_script_is_joined_once():
    assert sorted((*html.SCRIPTS, html.SERVED_SCRIPT)) == [script.name for script in SCRIPTS]


@pytest.mark.parametrize("asset", sorted(ASSETS.rglob("*.*")), ids=lambda path: path.name)
def test_assets_have_unix_line_ends_and_small_files(asset):
    text = asset.read_bytes().decode("utf-8")
    assert "\r" not in text
    assert "</script" not in text or asset.suffix == ".html"
    if asset.suffix == ".js":
        assert len(text.splitlines()) < 400


def test_links_only_lead_inside_the_page():
    code = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    assert sorted(re.findall(r"href: ([^,}]+)", code)) == ['"#main"', "addressOf(entry)"]


def _luminance(colour: str) -> float:
    channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio of two `#rrggbb` colours."""
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _palettes() -> list[dict[str, str]]:
    css = (ASSETS / "app.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root[^{}]*\{([^{}]*)\}", css)
    light = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", blocks[0]))
    return [light, *({**light, **dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))} for block in blocks[1:])]


TONES = ("fail", "drift", "error", "new", "calm", "pass")

PAIRS = [
    *((text, ground) for text in ("ink", "soft", "accent") for ground in ("paper", "surface", "sunk")),
    *((tone, ground) for tone in TONES for ground in ("paper", "surface", f"{tone}-soft")),
    ("del", "del-back"),
    ("ins", "ins-back"),
    ("mark", "mark-back"),
    ("hit", "hit-back"),
    ("warn", "warn-back"),
    ("ink", "accent-soft"),
    ("soft", "accent-soft"),
    ("accent", "accent-soft"),
    ("soft", "calm-soft"),
    ("ink", "error-soft"),
    ("error", "error-soft"),
    ("surface", "accent"),
    ("ink", "drift-soft"),
    ("ink", "calm-soft"),
    ("soft", "drift-soft"),
]  # fmt: skip


def test_both_dark_palettes_are_the_same():
    light, system_dark, _, chosen_dark = _palettes()[:4]
    assert system_dark == chosen_dark
    assert system_dark != light


@pytest.mark.parametrize("pair", PAIRS, ids="-on-".join)
def test_text_has_contrast_of_at_least_4_5(pair):
    for palette in _palettes():
        assert contrast(palette[pair[0]], palette[pair[1]]) >= 4.5
