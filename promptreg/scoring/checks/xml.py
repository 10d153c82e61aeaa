"""Check `xml`: the content is one XML document, read by expat without entities or anything from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, quoted, too_long
from promptreg.scoring.checks.options import fields, listed, text, texts
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

LONGEST: Final = 2_000_000
"""Characters; a longer answer is unscored. expat is linear and does not recurse."""

DEEPEST: Final = 1_000
"""Elements inside each other; a deeper answer is unscored, as applications' readers cannot read it either."""


class _RefusedError(Exception):
    """The document is not read to its end."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.en = en
        self.zh = zh


@dataclass(frozen=True, slots=True)
class IsXml:
    """Well-formed, with the root and the elements asked for. A code fence around it fails."""

    root: str | None
    elements: tuple[str, ...]

    @property
    def rules(self) -> Rules:
        """The content must be XML, or must not."""
        en, zh = "be XML", "是 XML"
        if self.root is not None:
            en, zh = f"{en} with the root {quoted(self.root)}", f"{zh}，根元素为{quoted(self.root)}"
        if self.elements:
            joint = " and" if self.root is not None else ""
            what = "elements" if len(self.elements) > 1 else "an element"
            en = f"{en}{joint} with {what} {listed(self.elements, 'and')}"
            zh = f"{zh}，包含元素{listed(self.elements, '和')}"
        return must(en, zh)

    def find(self, answer: Answer) -> Finding:
        """Whether it is, and where it stops to be."""
        content = answer.content.strip()
        longer = too_long(content, LONGEST)
        if longer is not None:
            return longer
        if not content:
            return found(False, "is no XML: it is empty", "不是 XML：内容为空")
        names: list[str] = []
        return _problem(content, names) or self._judged(names)

    def _judged(self, names: list[str]) -> Finding:
        if self.root is not None and names[0] != self.root:
            return found(
                False,
                f"is XML with the root {quoted(names[0])}, not {quoted(self.root)}",
                f"是 XML，但根元素是{quoted(names[0])}，而不是{quoted(self.root)}",
            )
        missing = [name for name in self.elements if name not in set(names)]
        if missing:
            return found(False, f"is XML without {listed(missing, 'or')}", f"是 XML，但没有{listed(missing, '或')}")
        return found(True, "is XML", "是 XML")


def _problem(content: str, names: list[str]) -> Finding | None:
    """What is wrong with a document, or why it was not read; None after its elements' names were collected."""
    try:
        _read(content, names)
    except expat.ExpatError as error:
        reason = preview(expat.errors.messages.get(error.code, "") or expat.ErrorString(error.code), 80)
        return found(
            False,
            f"is no XML (line {error.lineno}, column {error.offset + 1}: {reason})",
            f"不是 XML（第 {error.lineno} 行第 {error.offset + 1} 列：{reason}）",
        )
    except _RefusedError as refused:
        return found(None, f"was not read as XML: {refused.en}", f"未按 XML 读取：{refused.zh}")
    except (ValueError, UnicodeError) as error:
        reason = preview(str(error), 80)
        return found(False, f"is no XML ({reason})", f"不是 XML（{reason}）")
    return None


def build(argument: Json, setting: Setting) -> IsXml:
    """`xml`, or `xml: {root: NAME, elements: [NAME, …]}`."""
    if argument is None or argument is True:
        return IsXml(None, ())
    table = fields(argument, setting, ("root", "elements"), "{root: order, elements: [id, total]}")
    root = text(table["root"], setting, "root") if "root" in table else None
    return IsXml(root, texts(table["elements"], setting, "elements") if "elements" in table else ())


def _read(content: str, names: list[str]) -> None:
    """Read a document and collect the names of its elements, the root first."""
    depth = 0

    def start(name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise _RefusedError(f"it is nested deeper than {DEEPEST} elements", f"嵌套超过 {DEEPEST} 层")
        names.append(name)

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(*_declaration: object) -> None:
        raise _RefusedError("it declares entities", "其中声明了实体")

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    parser.Parse(content.encode("utf-8", "surrogatepass"), True)
