"""Check `sql`: the content is SQL, as sqlglot reads it. It is parsed, never run."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.config.hints import did_you_mean
from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, too_long
from promptreg.scoring.checks.options import fields, text, truth
from promptreg.scoring.checks.reading.code_text import fenced_code
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

LONGEST: Final = 20_000
"""Characters; a longer answer is unscored. The parser takes some 0.1 s for so many."""

_LANGUAGES: Final = frozenset({"sql", "mysql", "postgresql", "postgres", "sqlite", "tsql", "plsql", "hive", "spark"})
# What sqlglot does not take apart and keeps as a command, where it goes on as such a statement does: "Explain why" and
# "Execute the plan" are prose.
_COMMANDS: Final = re.compile(
    r"(?:explain|analyze)\s+(?:analyze\s+|verbose\s+|\([^()]{0,99}\)\s*)?(?:select|insert|update|delete|with|merge|create|table)\b"
    r"|call\s+[\w.`\"\[\]]{1,200}\s*\("
    r"|exec(?:ute)?\s+[\w.`\"\[\]]{1,200}\s*(?:$|\(|@|'|[0-9])"
    r"|(?:grant|revoke)\s[\w\s,()*]{1,500}\s(?:on\s.{1,500}\s)?(?:to|from)\s+\S"
    r"|show\s+(?:tables|databases|schemas|columns|create|index|indexes|variables|status|processlist)\b"
    r"|(?:vacuum|optimize|lock)\s+tables?\b|vacuum(?:\s+full)?\s*$",
    re.IGNORECASE | re.DOTALL,
)

_MODE: Final = re.compile(r"(?:read|isolation|deferr|not\s|immediate|exclusive|work|serializable)", re.IGNORECASE)
_FROM: Final = re.compile(r"\s*from\b", re.IGNORECASE)
_FROM_FIRST: Final = frozenset({"duckdb", "hive", "spark", "spark2", "databricks"})


@dataclass(frozen=True, slots=True)
class IsSql:
    """One or more whole statements. Names of tables and columns are not looked up anywhere."""

    dialect: str | None
    in_fence: bool

    @property
    def rules(self) -> Rules:
        """The content, or the code in its fences, must be SQL or must not."""
        name_en, name_zh = f"SQL ({self.dialect})" if self.dialect else "SQL", "SQL"
        if self.dialect:
            name_zh = f"SQL（{self.dialect}）"
        if self.in_fence:
            return must(f"have {name_en} in a code fence", f"在代码围栏中给出 {name_zh}")
        return must(f"be {name_en}", f"是 {name_zh}")

    def find(self, answer: Answer) -> Finding:
        """Whether it parses, and where it stops to."""
        content = answer.content.strip()
        longer = too_long(content, LONGEST)
        if longer is not None:
            return longer
        if not content:
            return found(False, "is no SQL: it is empty", "不是 SQL：内容为空")
        codes = fenced_code(content, _LANGUAGES) if self.in_fence else [content]
        if not any(code.strip() for code in codes):
            return found(False, "has no code fence with SQL", "没有包含 SQL 的代码围栏")
        for code in codes:
            finding = self._parsed(code)
            if finding is not None:
                return finding
        return found(True, "is SQL", "是 SQL")

    def _parsed(self, code: str) -> Finding | None:
        """What is wrong with the code, or why that cannot be found out; None when it is SQL."""
        import sqlglot  # noqa: PLC0415 - half a second, for suites with this check only
        from sqlglot.errors import SqlglotError  # noqa: PLC0415 - see above

        # It warns about every statement that it keeps as a command.
        logging.getLogger("sqlglot").setLevel(logging.ERROR)
        try:
            statements = [each for each in sqlglot.parse(code, dialect=self.dialect) if each is not None]
        except SqlglotError as error:
            errors = getattr(error, "errors", None)
            line = errors[0].get("line") if errors else None
            reason = preview(str(errors[0].get("description") if errors else error), 80).rstrip(".")
            if line is None:
                return found(False, f"is no SQL ({reason})", f"不是 SQL（{reason}）")
            return found(False, f"is no SQL (line {line}: {reason})", f"不是 SQL（第 {line} 行：{reason}）")
        except RecursionError:
            return found(None, "is nested too deeply to be read as SQL", "嵌套过深，无法按 SQL 解析")
        except (ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
            reason = type(error).__name__
            return found(None, f"could not be read as SQL ({reason})", f"无法按 SQL 解析（{reason}）")
        # "FROM t" alone selects everything in these dialects; elsewhere it is prose.
        from_first = self.dialect not in _FROM_FIRST and _FROM.match(code)
        if from_first or not statements or not all(_is_statement(each) for each in statements):
            return found(False, "is no SQL: it has no statement", "不是 SQL：其中没有语句")
        return None


def build(argument: Json, setting: Setting) -> IsSql:
    """`sql`, or `sql: {dialect: NAME, in_fence: true}`."""
    if argument is None or argument is True:
        return IsSql(None, in_fence=False)
    if isinstance(argument, str):
        argument = {"dialect": argument}
    table = fields(argument, setting, ("dialect", "in_fence"), "{dialect: mysql}")
    dialect = None
    if "dialect" in table:
        from sqlglot.dialects.dialect import Dialects  # noqa: PLC0415 - half a second, for suites that name one only

        dialect = text(table["dialect"], setting, "dialect").lower()
        known = sorted(each.value for each in Dialects if each.value)
        if dialect not in known:
            raise BadArgument(
                f"`{setting.name}` knows no dialect `{dialect}`.{did_you_mean(dialect, known)} Known are "
                f"{', '.join(known)}.",
            )
    return IsSql(dialect, in_fence=truth(table.get("in_fence", False), setting, "in_fence"))


def _is_statement(parsed: object) -> bool:
    """Whether this is a whole statement. sqlglot is lenient: a bare word, a sum and much short prose parse too."""
    from sqlglot import exp  # noqa: PLC0415 - see above

    if isinstance(parsed, exp.Command):
        rest = parsed.args.get("expression")
        written = rest.name if isinstance(rest, exp.Expression) else str(rest or "")
        return _COMMANDS.match(f"{parsed.this} {written.strip()}") is not None
    if isinstance(parsed, exp.Update):
        return bool(parsed.expressions)  # what stands after SET
    if isinstance(parsed, exp.Delete):
        return bool(parsed.this) or bool(parsed.args.get("using"))  # what stands after FROM
    if isinstance(parsed, exp.Transaction):
        return all(_MODE.match(str(mode)) for mode in parsed.args.get("modes") or ())
    if isinstance(parsed, exp.Insert):
        return parsed.expression is not None or bool(parsed.args.get("default"))
    statements = (
        *(exp.Query, exp.DDL, exp.Drop, exp.Alter, exp.TruncateTable, exp.Describe, exp.Use, exp.Set, exp.Show),
        *(exp.Transaction, exp.Commit, exp.Rollback, exp.Pragma, exp.Merge, exp.Comment, exp.Analyze, exp.Values),
        *(exp.Grant, exp.Revoke),
    )
    return isinstance(parsed, statements)
