"""Writes the report: one HTML file that needs no network and no server.

The file's order is its loading order: style, a summary without scripts, the list of cases, the page's code, and last
the details in packed chunks, so that the first screen stands while the rest still arrives.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from promptreg.canonical import Json, sha256_of
from promptreg.errors import OutputError
from promptreg.report import embed
from promptreg.report.catalogue import catalogues
from promptreg.report.chunks import CHUNK_CASES, Chunks, check_size
from promptreg.report.examples import examples
from promptreg.report.index import Entry, columns_of, entry_of
from promptreg.report.output import Written
from promptreg.report.pack import packed_case
from promptreg.report.page import POLICY_OF_FILES, asset, policy, replaced, template
from promptreg.report.payload import SCHEMA, Payload, to_json
from promptreg.report.static import static_summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from promptreg.canonical import JsonObject

WARN_BYTES = 20_000_000
"""Above this size a report is slow to open; the command says so."""

LIMIT_BYTES = 100_000_000
"""Above this size a report is not written unless asked for."""

ALL_DETAILS_CASES = 500
"""Up to this many cases `details="auto"` keeps the details of passing cases too."""

SCRIPTS = (
    "dom.js", "words.js", "text.js", "diff.js", "picture.js", "data.js", "history.js", "state.js", "keys.js",
    "decisions.js", "deciding.js", "dialogs.js", "query.js", "filter.js", "search.js", "sort.js", "facets.js",
    "finder.js", "hits.js", "overview.js", "causes.js", "list.js", "case.js", "evidence.js", "context.js", "app.js",
)  # fmt: skip
"""The page's code, in the order in which it is joined."""

STYLES = ("app.css", "history.css")
"""The page's style, in the order in which it is joined."""

SERVED_SCRIPT = "served.js"
"""What a served page has besides, before the code that starts it."""

Details: TypeAlias = Literal["auto", "all", "changed", "none"]

Assets: TypeAlias = Literal["inline", "files"]
"""Where the page's code and style are: in the page, or in two files beside it."""


class _Look(NamedTuple):
    """The elements that bring style and code into the page, and the policy that lets just them in."""

    style: str
    script: str
    policy: str
    more: JsonObject
    """What the page's data holds besides the report."""


def write_html(
    payload: Payload,
    path: Path,
    *,
    details: Details = "auto",
    assets: Assets = "inline",
    limit_bytes: int | None = LIMIT_BYTES,
    served_to: str | None = None,
) -> Written:
    """Writes the report to `path`, all or nothing: an older file there is replaced only by a complete one.

    Args:
        payload: what to show. Its cases are read once, one at a time.
        path: the file to write; its folder is made when it is missing.
        details: whose answers go in: `all` cases, the `changed` (all verdicts but pass), `none`, or `auto`: all of a
            small report (up to `ALL_DETAILS_CASES` cases), the changed ones of a large one.
        assets: `files` puts code and style into two files beside the page, for hosts whose policy allows no others
            (`'self'`); their names hold a hash, so that reports of several versions can lie in one folder.
        limit_bytes: refuse to write a larger file; None for no limit.
        served_to: for a page that a server of ours serves and saves the decisions of: who decides on it.

    Raises:
        OutputError: the file cannot be written, or would be larger than `limit_bytes`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=path.parent) as chunks:
            entries = _write_chunks(payload, details, chunks, limit_bytes)
            chunks.seek(0)
            look = _inlined(served_to) if assets == "inline" else _beside(path.parent)
            _replace(path, payload, look, entries, chunks, limit_bytes)
    except OSError as error:
        raise OutputError(f"The report cannot be written to {path}: {error.strerror or error}.") from error
    left_out = sum(entry.chunk is None for entry in entries)
    return Written(path, path.stat().st_size, len(entries), left_out)


def _write_chunks(payload: Payload, details: Details, out: IO[str], limit_bytes: int | None) -> list[Entry]:
    """Packs the details into `out` and gives the list of cases, worst first."""
    entries: list[Entry] = []
    cases = iter(payload.cases)
    first = list(islice(cases, ALL_DETAILS_CASES + 1)) if details == "auto" else []
    if details == "auto":
        details = "all" if len(first) <= ALL_DETAILS_CASES else "changed"
    with Chunks(out, limit_bytes) as chunks:
        for case in chain(first, cases):
            if details == "all" or (details == "changed" and case.verdict != "pass"):
                entries.append(entry_of(case, *chunks.add(packed_case(case))))
            else:
                entries.append(entry_of(case, None, 0))
    entries.sort(key=lambda entry: entry.order)
    return entries


def _inlined(served_to: str | None = None) -> _Look:
    served = served_to is not None
    style, script = _style(), _script(served=served)
    more: JsonObject = {"served": {"reviewer": served_to}} if served else {}
    return _Look(f"<style>{style}</style>", f"<script>{script}</script>", policy(script, style, served=served), more)


def _beside(folder: Path) -> _Look:
    names = []
    for suffix, text in ((".css", _style()), (".js", _script())):
        name = f"promptreg-{sha256_of(text)[:12]}{suffix}"
        with replaced(folder / name) as out:
            out.write(text)
        names.append(name)
    style, script = names
    return _Look(f'<link rel="stylesheet" href="{style}">', f'<script src="{script}"></script>', POLICY_OF_FILES, {})


def _replace(
    path: Path, payload: Payload, look: _Look, entries: list[Entry], chunks: IO[str], limit_bytes: int | None
) -> None:
    with replaced(path) as out:
        for piece in _pieces(payload, look, entries):
            if piece is None:
                shutil.copyfileobj(chunks, out)
            else:
                out.write(piece)
        out.flush()
        check_size(os.fstat(out.fileno()).st_size, limit_bytes)


def _pieces(payload: Payload, look: _Look, entries: list[Entry]) -> Iterator[str | None]:
    """The file in order; None stands for the chunks."""
    values = {
        "language": "zh-CN" if payload.language == "zh" else "en",
        "title": embed.escaped(payload.title),
        "policy": embed.escaped(look.policy),
        "style": look.style,
        "static": static_summary(payload, entries),
        "report": embed.json_text({**_report(payload, entries), **look.more}),
        "catalogues": embed.json_text({name: dict(texts) for name, texts in catalogues().items()}),
        "script": look.script,
    }
    for part, named in template("report.html"):
        if named:
            yield None if part == "chunks" else values[part]
        else:
            yield part


def _report(payload: Payload, entries: list[Entry]) -> JsonObject:
    """The payload without the cases' details."""
    rows = [entry.to_json() for entry in entries]
    head: dict[str, Json] = {
        name: to_json(getattr(payload, name))
        for name in (
            "title", "run_id", "created_at", "verdict", "headline", "sentence", "source", "target", "suites", "causes",
            "warnings", "next_steps", "language", "version", "history", "against", "since", "since_notes",
        )
    }  # fmt: skip
    # Beside the causes, in their order: what the page shows of the worst case of each.
    head["examples"] = list(examples(payload.causes, entries))
    identity = payload.report_id or sha256_of([head["run_id"], head["created_at"], rows])[:16]
    return {"schema": SCHEMA, "report_id": identity, **head, "cases": columns_of(rows), "chunk_cases": CHUNK_CASES}


def _style() -> str:
    return "".join(map(asset, STYLES))


def _script(*, served: bool = False) -> str:
    """All of the page's code inside one function, so that nothing of it is global; `export` is for its tests only."""
    names = (*SCRIPTS[:-1], SERVED_SCRIPT, SCRIPTS[-1]) if served else SCRIPTS
    body = "\n".join(re.sub(r"^export ", "", asset(f"js/{name}"), flags=re.MULTILINE) for name in names)
    return f'\n(() => {{\n"use strict";\n{body}\n}})();\n'
