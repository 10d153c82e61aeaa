"""On which line each table and key of a TOML text stands.

`tomllib` gives values without places. This scans a text that tomllib has accepted, so it need not judge anything:
it only finds table headers and keys at the start of statements, and skips values with their strings and brackets.
Keys inside inline tables and arrays count as standing where their statement starts.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys from the top down; the position in an array of tables is a number."""

_KEY = re.compile(r"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*(\.)?""")
_SKIPPED = re.compile(r'"""|\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[{]|[\]}]|\n|[^"\'#\[\]{}\n]+')
_BASIC_END = re.compile(r'(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL)
_LITERAL_END = re.compile(r"(?:[^']|'(?!''))*'{3,5}", re.DOTALL)
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)+")


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """The line (from 1) where each table and each key of a valid TOML text first stands."""
    return _Scanner(text).scan()


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of `path`, or of the nearest table or key around it; None when nothing of it is in the text."""
    for end in range(len(path), 0, -1):
        line = lines.get(path[:end])
        if line is not None:
            return line
    return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: dict[KeyPath, int] = {}
        self._arrays: dict[KeyPath, int] = {}
        """How many tables each array of tables has so far, less one."""

    def scan(self) -> Mapping[KeyPath, int]:
        table: KeyPath = ()
        while self._skip(_BLANK) or self._at < len(self._text):
            if self._at >= len(self._text):
                break
            line = self._line()
            if self._text.startswith("[[", self._at):
                self._at += 2
                table = self._enter_array(self._keys(), line)
                self._skip_value()
            elif self._text[self._at] == "[":
                self._at += 1
                table = self._resolved(self._keys())
                self._note(table, line)
                self._skip_value()
            else:
                start = self._at
                self._note(table + tuple(self._keys()), line)
                self._skip_value()
                self._at = max(self._at, start + 1)
        return self._lines

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found is not None

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while found := _KEY.match(self._text, self._at):
            self._at = found.end()
            written = found[1]
            # A quoted key has TOML's own escapes; its own parser reads them.
            keys.append(next(iter(tomllib.loads(f"{written} = 0"))) if written[0] in "\"'" else written)
            if not found[2]:
                break
        return keys

    def _resolved(self, keys: list[str]) -> KeyPath:
        """Header keys with the position of the last table wherever an array of tables is passed."""
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self._arrays:
                path = (*path, self._arrays[path])
        return path

    def _enter_array(self, keys: list[str], line: int) -> KeyPath:
        array = (*self._resolved(keys[:-1]), keys[-1])
        self._arrays[array] = self._arrays.get(array, -1) + 1
        table = (*array, self._arrays[array])
        self._note(table, line)
        return table

    def _note(self, path: KeyPath, line: int) -> None:
        for end in range(1, len(path) + 1):
            self._lines.setdefault(path[:end], line)

    def _skip_value(self) -> None:
        """To the end of the statement: the first line end outside strings and brackets."""
        depth = 0
        # A header's own closing bracket takes the depth below zero, which ends nothing.
        while found := _SKIPPED.match(self._text, self._at):
            piece = found[0]
            self._at = found.end()
            if piece in {'"""', "'''"}:
                self._skip_multiline(piece)
            elif piece in {"[", "{"}:
                depth += 1
            elif piece in {"]", "}"}:
                depth -= 1
            elif piece == "\n" and depth <= 0:
                return

    def _skip_multiline(self, quote: str) -> None:
        if not self._skip(_BASIC_END if quote == '"""' else _LITERAL_END):
            self._at = len(self._text)
