"""What of an answer is code: all of it, or what stands in its code fences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rapidfuzz import fuzz

from promptreg.config.hints import closest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# Also inside items of lists, which are indented.
_OPENING: Final = re.compile(r"([ \t]{0,16})(`{3,}|~{3,})[ \t]*([^\s`]{0,40})([^`]*)$")

# What code fences call one and the same language.
_ALIASES: Final = (
    ("python", "py", "python3", "py3"),
    ("javascript", "js", "node", "mjs", "ecmascript"),
    ("typescript", "ts"),
    ("bash", "sh", "shell", "zsh", "shell-session", "shellscript"),
    ("console", "shellsession", "terminal"),
    ("yaml", "yml"),
    ("c++", "cpp", "cxx", "cc"),
    ("c#", "csharp", "cs"),
    ("go", "golang"),
    ("rust", "rs"),
    ("ruby", "rb"),
    ("kotlin", "kt"),
    ("markdown", "md"),
    ("html", "htm"),
    ("powershell", "ps1", "pwsh"),
    ("dockerfile", "docker"),
    ("makefile", "make"),
    ("postgresql", "postgres", "pgsql"),
    ("text", "txt", "plaintext", "plain"),
    ("latex", "tex"),
    ("objective-c", "objc", "objectivec"),
    ("visual-basic", "vb", "vbnet"),
    ("perl", "pl"),
    ("haskell", "hs"),
)
_OTHERS: Final = (
    "abap ada agda apex apl applescript arduino asciidoc asm assembly astro awk bat batch bazel bibtex c "
    "cassandra clojure cmake cmd cobol coffeescript conf config coq crystal css csv cucumber cuda curl cypher "
    "cython d dart dax delphi dhall diff dot dotenv ejs elixir elm env erb erlang f# fish fortran fsharp gdscript "
    "gherkin glsl gradle graphql graphviz groovy haml handlebars hcl heex hlsl hocon http ical idris ini ipython "
    "j java jinja jinja2 jq json json5 jsonc jsonld jsonl jsonnet jsp jsx julia kql kusto lean less liquid lisp log "
    "lua m4 mathematica math matlab mdx mermaid mojo mustache mysql nasm ndjson nginx nim ninja nix objective-c++ "
    "ocaml octave opencl org output pascal patch php plantuml plsql postcss prolog promql properties proto "
    "protobuf pug puppet pycon qml r racket raku reasonml regex rego rescript rst restructuredtext robot sas sass "
    "scala scheme scss sed smalltalk solidity sparql spl sql sqlite starlark stata stylus svelte svg swift "
    "systemverilog tcl terraform tex thrift tikz toml tsql tsv tsx turtle twig typst vala vba verilog vhdl vim "
    "viml vimscript vue wasm wat wgsl wolfram xml xquery xslt zig"
)
_KNOWN: Final = frozenset({*(name for names in _ALIASES for name in names), *_OTHERS.split()})
_A_SLIP: Final = 85.0
"""Likeness in percent from which an unknown name is a known one misspelt: `pythn`, `javscript`; `jsonld` is not."""

_END_OF_NAME: Final = re.compile(r"[:,{}(\[]")
_CANONICAL: Final = MappingProxyType({name: names[0] for names in _ALIASES for name in names})


def language_name(written: str) -> str:
    """One name for a language of code fences, whichever of its names is written: `py` is `python`."""
    name = written.strip().lower().lstrip("{.").removeprefix("language-")
    # What follows is for the renderer: `python:main.py`, `js{1,3}`, `rust,ignore`.
    name = _END_OF_NAME.split(name, maxsplit=1)[0] or name
    return _CANONICAL.get(name, name)


def misspelt_language(written: str) -> str | None:
    """The language that a name stands for which no language has; None where it is known, or like none that is."""
    name = language_name(written)
    if name in _KNOWN or len(name) < 3:
        return None
    meant = closest(name, _KNOWN)
    return meant if meant is not None and fuzz.ratio(name, meant) >= _A_SLIP else None


@dataclass(frozen=True, slots=True)
class Fence:
    """One code fence."""

    language: str
    """In lower case; "" where none is named."""
    code: str
    closed: bool


def fences(text: str) -> list[Fence]:
    """The code fences of a text in order. One that is never closed takes the rest. Linear in the text."""
    if "```" not in text and "~~~" not in text:
        return []
    made: list[Fence] = []
    mark = language = indent = ""
    inside: list[str] = []
    for line in text.splitlines():
        if mark:
            stripped = line.strip()
            if stripped.startswith(mark) and not stripped.strip(mark[0]):
                made.append(Fence(language, "\n".join(inside), closed=True))
                mark, inside = "", []
            else:
                inside.append(line.removeprefix(indent))
            continue
        opening = _OPENING.match(line) if "```" in line or "~~~" in line else None
        if opening:
            indent, mark, language = opening[1], opening[2], opening[3].lower()
    if mark:
        made.append(Fence(language, "\n".join(inside), closed=False))
    return made


def lines_outside_code(text: str) -> Iterator[str]:
    """The lines of a text that stand in no code fence. One that is never closed takes the rest. Linear in the text.

    Unlike `str.splitlines` it does not cut at characters such as U+2028, which stand inside texts.
    """
    mark = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if mark:
            stripped = line.strip()
            if stripped.startswith(mark) and not stripped.strip(mark[0]):
                mark = ""
            continue
        opening = _OPENING.match(line) if "```" in line or "~~~" in line else None
        if opening:
            mark = opening[2]
        else:
            yield line


def fenced_code(text: str, languages: Collection[str]) -> list[str]:
    """The code in the closed fences of these languages; where none names one of them, in those without a language."""
    closed = [fence for fence in fences(text) if fence.closed]
    wanted = {language_name(language) for language in languages}
    named = [fence.code for fence in closed if language_name(fence.language) in wanted]
    return named or [fence.code for fence in closed if not fence.language]
