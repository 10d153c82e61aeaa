"""Checks `markdown`, `table`, `code_fence` and `list`: which blocks the content is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted, too_long
from promptreg.scoring.checks.options import Band, band, fields, listed, text, texts, truth
from promptreg.scoring.checks.reading.blocks import LONGEST, Blocks, blocks_of
from promptreg.scoring.checks.reading.code_text import fences, language_name, misspelt_language
from promptreg.scoring.checks.reading.list_items import lists_of
from promptreg.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_PARTS: Final = ("heading", "list", "table", "code", "quote")
_NAMES: Final = {
    "heading": ("heading", "headings", "标题"),
    "list": ("list", "lists", "列表"),
    "table": ("table", "tables", "表格"),
    "code": ("code fence", "code fences", "代码围栏"),
    "quote": ("quotation", "quotations", "引用"),
    "rows": ("row", "rows", "行"),
}


@dataclass(frozen=True, slots=True)
class HasMarkdown:
    """The parts asked for are there, and the headings in the order in which they are written."""

    parts: tuple[tuple[str, Band], ...]
    headings: tuple[str, ...]

    @property
    def rules(self) -> Rules:
        """The content must have the parts, or must not."""
        if not self.parts and not self.headings:
            return must("be structured with Markdown", "使用 Markdown 结构")
        en = [f"{each.en} {_plural(part, each)}" for part, each in self.parts]
        zh = [f"{each.zh} 个{_NAMES[part][2]}" for part, each in self.parts]
        if self.headings:
            en.append(f"the headings {listed(self.headings, 'and')} in this order")
            zh.append(f"依次出现的标题{listed(self.headings, '和')}")
        return must(f"have {' and '.join(en)}", f"有{'，以及'.join(zh)}")

    def find(self, answer: Answer) -> Finding:
        """What is there, or what is not."""
        longer = too_long(answer.content, LONGEST)
        if longer is not None:
            return longer
        blocks = blocks_of(answer.content)
        if not self.parts and not self.headings:
            if any(blocks.count(part) for part in _PARTS):
                return found(True, "is structured with Markdown", "使用了 Markdown 结构")
            return found(
                False,
                "has no heading, list, table, code fence or quotation",
                "没有标题、列表、表格、代码围栏或引用",
            )
        for part, wanted in self.parts:
            count = blocks.count(part)
            if not wanted.holds(count):
                return found(
                    False,
                    f"has {count} {_NAMES[part][0 if count == 1 else 1]}, not {wanted.en}",
                    f"有 {count} 个{_NAMES[part][2]}，而不是{wanted.zh} 个",
                )
        return self._missing_heading(blocks) or found(True, "has the structure asked for", "具有所要求的结构")

    def _missing_heading(self, blocks: Blocks) -> Finding | None:
        given = [heading.casefold() for heading in blocks.headings]
        rest = iter(given)
        for heading in self.headings:
            if heading.casefold() in rest:  # goes on behind the one before
                continue
            name_en, name_zh = listed([heading], "and"), listed([heading], "和")
            if heading.casefold() in given:
                return found(False, f"has the heading {name_en} out of order", f"的标题{name_zh}顺序不符")
            return found(False, f"has no heading {name_en}", f"没有标题{name_zh}")
        return None


@dataclass(frozen=True, slots=True)
class HasTable:
    """One of the Markdown tables of the content has these columns, in this order, and so many rows."""

    columns: tuple[str, ...]
    rows: Band | None

    @property
    def rules(self) -> Rules:
        """The content must have such a table, or must not."""
        en, zh = "have a table", "有表格"
        if self.columns:
            en, zh = f"{en} with the columns {listed(self.columns, 'and')}", f"{zh}，列为{listed(self.columns, '和')}"
        if self.rows is not None:
            en = f"{en}{' and' if self.columns else ' with'} {self.rows.en} {_plural('rows', self.rows)}"
            zh = f"{zh}，行数为{self.rows.zh}"
        return must(en, zh)

    def find(self, answer: Answer) -> Finding:
        """Whether there is one, or what the first table has instead."""
        longer = too_long(answer.content, LONGEST)
        if longer is not None:
            return longer
        tables = blocks_of(answer.content).tables
        if not tables:
            return found(False, "has no table", "没有表格")
        for table in tables:
            if (not self.columns or table.columns == self.columns) and (
                self.rows is None or self.rows.holds(table.rows)
            ):
                return found(True, "has the table asked for", "有所要求的表格")
        first = tables[0]
        names = [name or " " for name in first.columns]
        return found(
            False,
            f"has a table with the columns {listed(names, 'and')} and {counted(first.rows, 'row')}",
            f"的表格列为{listed(names, '和')}，共 {first.rows} 行",
        )


@dataclass(frozen=True, slots=True)
class HasCodeFence:
    """There is a closed code fence, in the language asked for, with nothing around it where that is asked for.

    A language is itself under each of its names: `py` is `python`.
    """

    language: str | None
    only: bool

    @property
    def rules(self) -> Rules:
        """The content must have such a fence, or must not."""
        kind_en, kind_zh = (f" marked {self.language}", f"标为 {self.language} 的") if self.language else ("", "")
        if self.only:
            return must(f"be one code fence{kind_en} and nothing else", f"只是一个{kind_zh}代码围栏")
        return must(f"have a code fence{kind_en}", f"有{kind_zh}代码围栏")

    def find(self, answer: Answer) -> Finding:
        """Whether there is one, or what is there instead."""
        content = answer.content.strip()
        longer = too_long(content, LONGEST)
        if longer is not None:
            return longer
        given = fences(content)
        if not given:
            return found(False, "has no code fence", "没有代码围栏")
        if not all(fence.closed for fence in given):
            return found(False, "has a code fence that is never closed", "有未闭合的代码围栏")
        languages = list(dict.fromkeys(fence.language for fence in given))
        if self.language is not None and language_name(self.language) not in map(language_name, languages):
            named = [language or "-" for language in languages]
            return found(
                False,
                f"has code fences marked {listed(named, 'and')}, none marked {self.language}",
                f"的代码围栏标为{listed(named, '和')}，没有标为 {self.language} 的",
            )
        lines = content.splitlines()
        whole = len(given) == 1 and _is_mark(lines[0]) and _is_mark(lines[-1])
        if self.only and not whole:
            return found(False, "has more than one code fence, or text around it", "代码围栏不止一个，或其外还有文字")
        return found(True, "has the code fence asked for", "有所要求的代码围栏")


@dataclass(frozen=True, slots=True)
class HasList:
    """Lines outside code that begin like items, in Markdown's ways and in Chinese ones; nested items count too."""

    items: Band
    ordered: bool | None

    @property
    def rules(self) -> Rules:
        """The content must have so many items, or must not."""
        kind_en = {None: "", True: "numbered ", False: "bulleted "}[self.ordered]
        kind_zh = {None: "", True: "编号", False: "项目符号"}[self.ordered]
        return must(
            f"have a list of {self.items.en} {kind_en}{_plural('items', self.items)}",
            f"有{kind_zh}列表，共{self.items.zh} 项",
        )

    def find(self, answer: Answer) -> Finding:
        """How many items there are."""
        longer = too_long(answer.content, LONGEST)
        if longer is not None:
            return longer
        lists = lists_of(answer.content)
        count = {None: lists.items, True: lists.numbers, False: lists.bullets}[self.ordered]
        kind_en = {None: "", True: "numbered ", False: "bulleted "}[self.ordered]
        kind_zh = {None: "", True: "编号", False: "项目符号"}[self.ordered]
        return found(
            self.items.holds(count),
            f"has {count} {kind_en}list {'item' if count == 1 else 'items'}",
            f"有 {count} 个{kind_zh}列表项",
        )


def build_markdown(argument: Json, setting: Setting) -> HasMarkdown:
    """`markdown`, `markdown: [heading, list]`, or `markdown: {headings: [TEXT, …], list: {min: 2}}`."""
    if argument is None or argument is True:
        return HasMarkdown((), ())
    if isinstance(argument, (str, list, tuple)):
        argument = {part: {"min": 1} for part in texts(argument, setting)}
    table = fields(argument, setting, ("headings", *_PARTS), "{headings: [概述, 结论], list: {min: 2}}")
    parts = tuple((part, band(table[part], setting, part, bare="exact")) for part in _PARTS if part in table)
    return HasMarkdown(parts, texts(table["headings"], setting, "headings") if "headings" in table else ())


def build_table(argument: Json, setting: Setting) -> HasTable:
    """`table`, `table: [COLUMN, …]`, or `table: {columns: […], rows: {min: 1}}`."""
    if argument is None or argument is True:
        return HasTable((), None)
    if isinstance(argument, (list, tuple)):
        argument = {"columns": argument}
    table = fields(argument, setting, ("columns", "rows"), "{columns: [名称, 价格], rows: {min: 1}}")
    columns = texts(table["columns"], setting, "columns") if "columns" in table else ()
    return HasTable(columns, band(table["rows"], setting, "rows", bare="exact") if "rows" in table else None)


def build_code_fence(argument: Json, setting: Setting) -> HasCodeFence:
    """`code_fence`, `code_fence: LANGUAGE`, or `code_fence: {language: LANGUAGE, only: true}`."""
    if argument is None or argument is True:
        return HasCodeFence(None, only=False)
    if isinstance(argument, str):
        argument = {"language": argument}
    table: Mapping[str, Json] = fields(argument, setting, ("language", "only"), "{language: json, only: true}")
    language = _known_language(table["language"], setting) if "language" in table else None
    return HasCodeFence(language, only=truth(table.get("only", False), setting, "only"))


def _known_language(value: Json, setting: Setting) -> str:
    """The language that a fence must name. A name of a project's own is right, a slip of the pen is not."""
    language = text(value, setting, "language").lower()
    meant = misspelt_language(language)
    if meant is not None or not any(char.isalpha() for char in language):
        known = f" Did you mean `{meant}`?" if meant else " A language is written as in `json` or `python`."
        raise BadArgument(f"`{setting.name}` knows no language {quoted(language)}.{known}")
    return language


def build_list(argument: Json, setting: Setting) -> HasList:
    """`list`, `list: 3`, `list: {min: 2, max: 5}`, or `list: {items: {min: 2}, ordered: true}`."""
    if argument is None or argument is True:
        return HasList(Band(least=1), None)
    if isinstance(argument, (int, str)):
        return HasList(band(argument, setting, "list", bare="exact"), None)
    table = fields(argument, setting, ("items", "ordered", "min", "max"), "{items: {min: 2, max: 5}, ordered: true}")
    ends = {end: table[end] for end in ("min", "max") if end in table}
    if ends and "items" in table:
        raise BadArgument(f"`{setting.name}` has `items` as well as `{next(iter(ends))}`; write the number once.")
    items = Band(least=1)
    if ends or "items" in table:
        items = band(ends or table["items"], setting, "items", bare="exact")
    if items.holds(0):
        raise BadArgument(f"`{setting.name}` with a `min` of 0 is kept by answers without a list; write `not_list`.")
    return HasList(items, truth(table["ordered"], setting, "ordered") if "ordered" in table else None)


def _is_mark(line: str) -> bool:
    return line.lstrip().startswith(("```", "~~~"))


def _plural(part: str, wanted: Band) -> str:
    if part == "items":
        return "item" if wanted in (Band(1, 1), Band(least=1), Band(most=1)) else "items"
    single, several, _ = _NAMES[part]
    return single if wanted in (Band(1, 1), Band(least=1), Band(most=1)) else several
