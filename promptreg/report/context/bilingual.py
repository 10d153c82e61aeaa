"""What pages without a payload share: every text stands in them in both languages, and a click shows the other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg import __version__
from promptreg.errors import OutputError
from promptreg.report.embed import escaped
from promptreg.report.page import asset, policy, replaced, template
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Shown: TypeAlias = Literal["auto", "en", "zh"]
"""The language that is shown first; `auto` is the browser's."""

_LONGEST_NAME: Final = 80

_CONTROLS: Final = (
    '<div class="controls" hidden><div class="switch" role="group" aria-label="language · 语言">'
    '<button type="button" data-for="language" value="en">English</button>'
    '<button type="button" data-for="language" value="zh">中文</button></div>'
    '<div class="switch" role="group" aria-label="theme · 主题">'
    '<button type="button" data-for="theme" value="auto">{auto}</button>'
    '<button type="button" data-for="theme" value="light">{light}</button>'
    '<button type="button" data-for="theme" value="dark">{dark}</button></div></div>'
)


def page(title: Sentence, body: Iterable[str], language: Shown, *styles: str) -> str:
    """A whole page.

    Args:
        title: stands above the body and in the browser's tab.
        body: HTML, below the title.
        language: which language is shown first.
        styles: names of assets with style, on top of those that all such pages have.
    """
    style = "".join(asset(name) for name in ("app.css", "bilingual.css", *styles))
    script = asset("bilingual.js")
    words = {"auto": Sentence("Auto", "自动"), "light": Sentence("Light", "浅色"), "dark": Sentence("Dark", "深色")}
    controls = _CONTROLS.format(**{name: both(sentence) for name, sentence in words.items()})
    top = f'<div class="bar-top"><p class="eyebrow">{both(title)}</p>{controls}</div>\n'
    values = {
        "lang": "zh-CN" if language == "zh" else "en",
        "language": language,
        "title_en": escaped(title.en),
        "title_zh": escaped(title.zh),
        "title": escaped(title.text("zh" if language == "zh" else "en")),
        "policy": escaped(policy(script, style)),
        "style": style,
        "body": f"{top}{''.join(body)}<footer>promptreg {escaped(__version__)}</footer>",
        "script": script,
    }
    return "".join(values[part] if named else part for part, named in template("bilingual.html"))


def write(text: str, path: Path) -> None:
    """Write a page, all or nothing.

    Args:
        text: the page.
        path: the file; its folder is made when it is missing.

    Raises:
        OutputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as out:
            out.write(text)
    except OSError as error:
        raise OutputError(f"The page cannot be written to {path}: {error.strerror or error}.") from error


def both(sentence: Sentence, tag: str = "span", attributes: str = "") -> str:
    """An element for each language; the page shows one of them."""
    return "".join(
        f'<{tag} lang="{code}" data-lang="{name}"{attributes}>{escaped(text)}</{tag}>'
        for code, name, text in (("en", "en", sentence.en), ("zh-CN", "zh", sentence.zh))
    )


def label(sentence: Sentence) -> str:
    """Both languages as the value of an attribute, such as the name of a picture."""
    return escaped(f"{sentence.en} · {sentence.zh}")


def warnings(sentences: Iterable[Sentence]) -> str:
    """What has to be read first, each once; nothing where nothing has."""
    items = "".join(f"<li>{both(sentence)}</li>\n" for sentence in dict.fromkeys(sentences))
    return f'<ul class="warnings">\n{items}</ul>\n' if items else ""


def name(text: str) -> str:
    """A name on one line, not too long, without invisible characters such as those that turn a text around."""
    return preview(text, _LONGEST_NAME)


def table(
    columns: Sequence[Sentence], rows: Sequence[Sequence[str]], numbers: Sequence[int], *, wide: int | None = None
) -> str:
    """A table of finished cells; the first of each row is its header."""

    def mark(place: int) -> str:
        return ' class="number"' if place in numbers else ' class="wide"' if place == wide else ""

    head = "".join(f'<th scope="col"{mark(place)}>{both(column)}</th>' for place, column in enumerate(columns))
    lines = []
    for row in rows:
        cells = "".join(f"<td{mark(place)}>{cell}</td>" for place, cell in enumerate(row) if place)
        lines.append(f'<tr><th scope="row">{row[0]}</th>{cells}</tr>\n')
    inside = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{inside}</div>\n'
