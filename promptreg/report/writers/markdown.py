"""The summary for a merge request: verdict, what differs, causes, the worst cases. Always short enough for a comment.

Ids, names, changes and sentences may come from a model: each stands on one line, its Markdown and HTML escaped, and
what forges turn into mentions, references or links is broken by an invisible joiner.
"""

from __future__ import annotations

import re
from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from promptreg.report.catalogue import catalogues, filled
from promptreg.report.earlier import utc_time
from promptreg.report.index import worst_first
from promptreg.report.new_file import new_file
from promptreg.report.output import NOTHING, Written, approval_in_words, changes_of, plain, sign_of
from promptreg.report.static import VERDICTS, differing
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.report.payload import ApprovalView, CaseView, Payload
    from promptreg.text.sentence import Language, Sentence

MOST_CHARACTERS: Final = 60_000
"""Longest summary: GitHub refuses comments of more than 65 536 characters."""

WORST: Final = 20
"""Cases that are listed."""

MARKER: Final = "<!-- promptreg-summary"
"""What the first line begins with, so that a script finds the comment that it wrote before and replaces it."""

_QUIET: Final = frozenset({"pass", "changed"})
_MOST_CHANGES: Final = 3
_MOST_BREACHES: Final = 2
_MOST_APPROVED: Final = 50
"""Approved goldens that are kept to be listed, more than there is room for."""

# Longest texts, in columns before escaping.
_NAME_COLUMNS: Final = 80
_VALUE_COLUMNS: Final = 120
_SENTENCE_COLUMNS: Final = 320
_CHANGE_COLUMNS: Final = 24

# Rooms of the sections, in characters after escaping. With the rest, which is bounded too, they stay below the limit.
_ROOM_SENTENCE: Final = 3_000
_ROOM_NEXT: Final = 2_000
_ROOM_SUITES: Final = 7_000
_ROOM_WARNINGS: Final = 5_000
_ROOM_SETTINGS: Final = 8_000
_ROOM_CAUSES: Final = 9_000
_ROOM_CASES: Final = 17_000
_ROOM_APPROVED: Final = 4_000
_ROOM_FOOTER: Final = 300
_SINCE_NOTES: Final = 2
_ROOM_TEXT: Final = 1_500

_MEANT: Final = {
    **{char: f"\\{char}" for char in "\\`*_[]~$"},
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
}
"""How characters are written that Markdown, HTML or the mathematics of a forge would read."""

_COMMANDS: Final = re.compile(r"\\`([^`]+)\\`")
_JOINER: Final = "\u2060"
_ADDRESSES: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
# Of GitHub, GitLab, Gitea and Azure DevOps: people, issues, requests, labels, milestones, epics, snippets, emoji.
_REFERENCES: Final = re.compile(r'(?<=[@#!%~&$^])(?=[\w"])|(?<=\bGH)(?=-\d)|(?<=:)(?=[\w+-]{1,40}:)', re.IGNORECASE)


def write_markdown(payload: Payload, path: Path, language: Language) -> Written:
    """Writes the summary to `path`, all or nothing.

    Args:
        payload: what to show. Its cases are read once, one at a time.
        path: the file to write; its folder is made when it is missing.
        language: of the summary.

    Raises:
        OutputError: the file cannot be written.
    """
    counts: Counter[str] = Counter()
    approved = _Approved()
    worst = nsmallest(WORST, _counted(payload.cases, counts, approved), key=worst_first)
    with new_file(path) as out:
        out.write(_summary(payload, worst, counts, approved, language))
    left_out = sum(counts.values()) - len(worst)
    return Written(path, path.stat().st_size, sum(counts.values()), left_out)


class _Approved:
    """The cases whose golden a reviewer approved: all are counted, the first ones kept."""

    def __init__(self) -> None:
        self.number = 0
        self.first: list[tuple[str, str, ApprovalView]] = []

    def see(self, case: CaseView) -> None:
        if case.approval is not None:
            self.number += 1
            if len(self.first) < _MOST_APPROVED:
                self.first.append((case.suite, case.case_id, case.approval))


def _counted(cases: Iterable[CaseView], counts: Counter[str], approved: _Approved) -> Iterator[CaseView]:
    """The cases that a reader should look at; all are counted."""
    for case in cases:
        counts[case.verdict] += 1
        approved.see(case)
        if case.verdict not in _QUIET:
            yield case


def _summary(
    payload: Payload, worst: Sequence[CaseView], counts: Counter[str], approved: _Approved, language: Language
) -> str:
    words = catalogues()[language]
    # Of several suites each tells its own in the table.
    said = [_prose(payload.headline.text(language))] if payload.headline is not None else []
    if payload.headline is None or len(payload.suites) == 1:
        said.append(_prose(payload.sentence.text(language), _ROOM_SENTENCE))
    head = [_marker(payload), _title(payload, words), *said]
    counted = " · ".join(f"**{counts[name]}** {words['verdict.' + name]}" for name in VERDICTS if counts[name])
    sections = [
        *head,
        counted,
        *_since(payload, language, words),
        *_suites(payload, language, words),
        *_list(words["warnings.title"], payload.warnings, language, _ROOM_WARNINGS, words),
        *_list(words["next.title"], payload.next_steps, language, _ROOM_NEXT, words),
        *_settings(payload, words),
        *_causes(payload, language, words),
        *_cases(payload, worst, counts, language, words),
        *_approvals(payload, approved, language, words),
        _footer(payload, words),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _marker(payload: Payload) -> str:
    # Quoted names hold no ">", so nothing in them ends the comment.
    source, target = (quote(plain(each.name)[:_NAME_COLUMNS], safe="") for each in (payload.source, payload.target))
    return f"{MARKER} source={source} target={target} -->"


def _title(payload: Payload, words: Mapping[str, str]) -> str:
    return f"## {words['suite.' + payload.verdict]} · {_name(payload.source.name)} → {_name(payload.target.name)}"


def _since(payload: Payload, language: Language, words: Mapping[str, str]) -> Iterator[str]:
    """What changed since the run that this one is held against; first what both were judged with otherwise."""
    if payload.against is not None and payload.since is not None:
        yield from (_prose(note.text(language)) for note in payload.since_notes[:_SINCE_NOTES])
        yield filled(
            words["since.line"],
            date=utc_time(payload.against.started_at),
            deployment=_name(payload.against.deployment),
            since=_prose(payload.since.text(language), _ROOM_SENTENCE),
        )


def _suites(payload: Payload, language: Language, words: Mapping[str, str]) -> Iterator[str]:
    if len(payload.suites) > 1:
        yield f"### {words['suites.title']}"
        rows = (
            (_name(suite.name), words["suite." + suite.verdict], _prose(suite.sentence.text(language)))
            for suite in payload.suites
        )
        head = (words["summary.suite"], words["summary.verdict"], words["summary.why"])
        yield _table(head, rows, len(payload.suites), _ROOM_SUITES, words)


def _list(
    title: str, sentences: Sequence[Sentence], language: Language, room: int, words: Mapping[str, str]
) -> Iterator[str]:
    if sentences:
        yield f"### {title}"
        listed = list(dict.fromkeys(sentences))
        rows = (f"- {_with_commands(_prose(sentence.text(language)))}" for sentence in listed)
        yield "\n".join(_fitting(rows, len(listed), room, f"- {words['summary.more']}"))


def _settings(payload: Payload, words: Mapping[str, str]) -> Iterator[str]:
    yield f"### {words['deployments.title']}"
    found = list(differing(payload))
    if not found:
        yield words["deployments.same"]
        return
    absent = words["deployments.absent"]
    rows = (
        (
            _prose(words.get(f"setting.{name}", name), _VALUE_COLUMNS * 4, _NAME_COLUMNS),
            *(absent if value is None else _name(value, _VALUE_COLUMNS) for value in (source, target)),
        )
        for name, source, target in found
    )
    head = (words["summary.setting"], _name(payload.source.name), _name(payload.target.name))
    yield _table(head, rows, len(found), _ROOM_SETTINGS, words)


def _causes(payload: Payload, language: Language, words: Mapping[str, str]) -> Iterator[str]:
    several = len(payload.suites) > 1
    if payload.causes:
        yield f"### {words['causes.title']}"
        rows = (
            (
                *([_name(cause.suite)] if several else []),
                _prose(cause.title.text(language)),
                words["verdict." + cause.verdict],
                str(cause.cases),
                _with_commands(_prose(cause.next_step.text(language))),
            )
            for cause in payload.causes
        )
        names = [*(["suite"] if several else []), "cause", "verdict", "cases"]
        head = (*(words[f"summary.{name}"] for name in names), words["next.title"])
        yield _table(head, rows, len(payload.causes), _ROOM_CAUSES, words)


def _cases(
    payload: Payload, worst: Sequence[CaseView], counts: Counter[str], language: Language, words: Mapping[str, str]
) -> Iterator[str]:
    if worst:
        yield f"### {words['list.title']}"
        rows = (
            (
                words["verdict." + case.verdict],
                _case_name(payload, case.suite, case.case_id),
                _why(case, language) + _changes(case),
            )
            for case in worst
        )
        head = (words["summary.verdict"], words["summary.case"], words["summary.why"])
        found = sum(number for verdict, number in counts.items() if verdict not in _QUIET)
        yield _table(head, rows, found, _ROOM_CASES, words)


def _approvals(payload: Payload, approved: _Approved, language: Language, words: Mapping[str, str]) -> Iterator[str]:
    """Whose answers stand as goldens: the reader of a merge request has to know, also where the cases pass."""
    if approved.number:
        yield f"### {words['approved.title']}"
        rows = (
            (_case_name(payload, suite, case_id), _prose(approval_in_words(approval, language)))
            for suite, case_id, approval in approved.first
        )
        head = (words["summary.case"], words["approved.who"])
        yield _table(head, rows, approved.number, _ROOM_APPROVED, words)


def _case_name(payload: Payload, suite: str, case_id: str) -> str:
    return f"{_name(suite)} / {_name(case_id)}" if len(payload.suites) > 1 else _name(case_id)


def _why(case: CaseView, language: Language) -> str:
    """What was lost says more about a drift than how far it went."""
    if case.verdict == "drift" and case.breaches:
        return _prose(" ".join(breach.text(language) for breach in case.breaches[:_MOST_BREACHES]))
    return _prose(case.sentence.text(language))


def _changes(case: CaseView) -> str:
    shown = [
        (f"{_name(change.where, _CHANGE_COLUMNS)}: " if change.where else "")
        + f" {sign_of(change)} ".join(_name(text, _CHANGE_COLUMNS) for text in (change.golden, change.candidate))
        for change in changes_of(case)[:_MOST_CHANGES]
    ]
    return f" ({'; '.join(shown)})" if shown else ""


def _footer(payload: Payload, words: Mapping[str, str]) -> str:
    run, version = (_prose(text, _ROOM_FOOTER, _NAME_COLUMNS) for text in (payload.run_id, payload.version))
    return "<sub>" + filled(words["overview.footer"], version=version, run=run) + "</sub>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], total: int, room: int, words: Mapping[str, str]) -> str:
    """A table of finished cells, as many rows as there is room for, and how many of the total are not in it."""
    lines = ("| " + " | ".join(cells) + " |" for cells in rows)
    fitting = _fitting(lines, total, room, "\n" + words["summary.more"])
    return "\n".join(["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |", *fitting])


def _fitting(rows: Iterable[str], total: int, room: int, more: str) -> Iterator[str]:
    """The first rows, while they fit, and a line that says how many are left out, where some are."""
    for row in rows:
        room -= len(row) + 1
        if room < 0:
            break
        total -= 1
        yield row
    if total:
        yield filled(more, count=total)


def _prose(text: str, room: int = _ROOM_TEXT, columns: int = _SENTENCE_COLUMNS) -> str:
    """A text that is shown and does nothing."""
    line = preview(plain(text), columns)
    return _written(_REFERENCES.sub(_JOINER, _ADDRESSES.sub(_JOINER, line)), room)


def _with_commands(prose: str) -> str:
    """What stood between two backticks before it was escaped, as code; one without its twin stays a character."""
    return _COMMANDS.sub(r"<code>\1</code>", prose)


def _name(text: str, columns: int = _NAME_COLUMNS) -> str:
    """A name or value as code, in which forges look for no mentions: it can be copied as it is."""
    line = preview(plain(text), columns)
    return f"<code>{_written(_ADDRESSES.sub(_JOINER, line), 8 * columns)}</code>" if line else NOTHING


def _written(line: str, room: int) -> str:
    pieces = []
    for char in line:
        piece = _MEANT.get(char, char)
        room -= len(piece)
        if room < 1:
            pieces.append("…")
            break
        pieces.append(piece)
    return "".join(pieces)
