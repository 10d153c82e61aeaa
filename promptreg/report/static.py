"""What a reader sees without JavaScript: the verdict, the counts, both deployments, and the worst 50 cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from promptreg.report.catalogue import catalogues, filled
from promptreg.report.earlier import earlier_of, utc_time
from promptreg.report.static_texts import label, texts_html

if TYPE_CHECKING:
    from promptreg.canonical import Json
    from promptreg.report.earlier import EarlierRunView
    from promptreg.report.index import Entry
    from promptreg.report.payload import DeploymentView, Payload, SettingView
    from promptreg.text.sentence import Sentence

WORST = 50
"""Cases, and causes, that are listed."""

_COMMAND: Final = re.compile("`([^`<>]+)`")

BRIEF_CHARACTERS = 300
"""Longer ids and sentences are cut in the list."""

VERDICTS = ("fail", "drift", "error", "missing", "new", "changed", "waived", "pass")
"""Case verdicts in the order in which they are counted out."""


def static_summary(payload: Payload, entries: Sequence[Entry]) -> str:
    """HTML without scripts, in the report's language (English for `auto`): every text is escaped."""
    language = "zh" if payload.language == "zh" else "en"
    return "".join(_lines(payload, entries, language, catalogues()[language]))


def _lines(payload: Payload, entries: Sequence[Entry], language: str, words: Mapping[str, str]) -> Iterator[str]:
    yield f"<h1>{label(words['suite.' + payload.verdict])}</h1>\n"
    yield f"<p>{_prose(_said(payload.headline or payload.sentence, language))}</p>\n"
    for warning in payload.warnings:
        yield f'<p class="warning">{_prose(_said(warning, language))}</p>\n'
    counts = Counter(str(entry.case["verdict"]) for entry in entries)
    yield "<ul>\n"
    for verdict in VERDICTS:
        if counts[verdict]:
            yield f"<li>{label(words['verdict.' + verdict])}: {counts[verdict]}</li>\n"
    yield "</ul>\n"
    if payload.against is not None and payload.since is not None:
        yield from (f'<p class="warning">{_prose(_said(note, language))}</p>\n' for note in payload.since_notes)
        yield f"<p>{label(_since(payload.against, _said(payload.since, language), words))}</p>\n"
    yield from _causes(payload, language, words)
    if payload.next_steps:
        yield f"<h2>{label(words['next.title'])}</h2>\n<ul>\n"
        yield from (f"<li>{_prose(_said(step, language))}</li>\n" for step in payload.next_steps)
        yield "</ul>\n"
    yield from _deployments(payload, words)
    yield f"<h2>{label(filled(words['static.worst'], count=min(WORST, len(entries))))}</h2>\n<ol>\n"
    for entry in entries[:WORST]:
        yield _row(entry, language, words, len(payload.history))
    yield "</ol>\n"
    yield from _history(payload, counts, words)
    yield f"<h2>{label(words['suites.title'])}</h2>\n"
    for suite in payload.suites:
        said = " ".join(_said(sentence, language) for sentence in (suite.sentence, *suite.notes))
        yield f"<p><b>{label(suite.name)}</b> {_prose(said)}</p>\n"
    yield f"<p>{label(words['static.script'])}</p>\n"


def _causes(payload: Payload, language: str, words: Mapping[str, str]) -> Iterator[str]:
    if not payload.causes:
        return
    yield f"<h2>{label(words['causes.title'])}</h2>\n<ul>\n"
    for cause in payload.causes[:WORST]:
        count = filled(words["causes.cases"], count=cause.cases)
        told = [count, _brief(_said(cause.title, language)), _brief(_said(cause.next_step, language))]
        if len(payload.suites) > 1:
            told.insert(1, _brief(cause.suite))
        yield f"<li>{_prose(' · '.join(told))}</li>\n"
    yield "</ul>\n"


def _deployments(payload: Payload, words: Mapping[str, str]) -> Iterator[str]:
    yield f"<h2>{label(words['deployments.title'])}</h2>\n<table>\n<thead><tr><th></th>"
    for deployment in (payload.source, payload.target):
        yield f'<th scope="col">{label(deployment.name)}</th>'
    yield "</tr></thead>\n<tbody>\n"
    source, target = _settings(payload.source), _settings(payload.target)
    for key in dict.fromkeys((*source, *target)):
        left, right = source.get(key), target.get(key)
        cells = "".join(f"<td>{label('—' if each is None else each.value)}</td>" for each in (left, right))
        differs = left != right and all(each is None or each.compared for each in (left, right))
        mark = " ≠" if differs else ""
        yield f'<tr><th scope="row">{label(words.get("setting." + key[1], key[1]))}{mark}</th>{cells}</tr>\n'
    yield "</tbody></table>\n"


def differing(payload: Payload) -> Iterator[tuple[str, str | None, str | None]]:
    """The settings that differ: name, value on the source, on the target; None where a side does not have it."""
    source, target = _settings(payload.source), _settings(payload.target)
    for key in dict.fromkeys((*source, *target)):
        left, right = source.get(key), target.get(key)
        if left != right and all(each is None or each.compared for each in (left, right)):
            yield key[1], None if left is None else left.value, None if right is None else right.value


def _settings(deployment: DeploymentView) -> dict[tuple[str, str], SettingView]:
    return {(setting.group, setting.name): setting for setting in deployment.settings}


def _since(against: EarlierRunView, since: str, words: Mapping[str, str]) -> str:
    values = {"date": utc_time(against.started_at), "deployment": _brief(against.deployment), "since": since}
    return words["since.line"].format_map(values)


def _history(payload: Payload, counts: Mapping[str, int], words: Mapping[str, str]) -> Iterator[str]:
    """The counts by verdict of earlier runs, oldest first, and of this one."""
    if not payload.history:
        return
    rows: list[tuple[str, Mapping[str, int]]] = [
        (utc_time(run.started_at), {each.verdict: each.cases for each in run.counts}) for run in payload.history
    ]
    rows.append((words["history.this"], counts))
    shown = [verdict for verdict in VERDICTS if any(found.get(verdict) for _, found in rows)]
    yield f"<h2>{label(words['history.title'])}</h2>\n<table>\n<thead><tr><th>{label(words['history.run'])}</th>"
    yield from (f'<th scope="col">{label(words["verdict." + verdict])}</th>' for verdict in shown)
    yield "</tr></thead>\n<tbody>\n"
    for name, found in rows:
        cells = "".join(f"<td>{found.get(verdict, 0)}</td>" for verdict in shown)
        yield f'<tr><th scope="row">{label(name)}</th>{cells}</tr>\n'
    yield "</tbody></table>\n"


def _row(entry: Entry, language: str, words: Mapping[str, str], runs: int) -> str:
    case = entry.case
    sentence = case.get("sentence")
    said = _text(sentence, language) if sentence is not None else words["case.pass"]
    verdict = words[f"verdict.{case['verdict']}"]
    texts = "" if entry.texts is None else "\n" + "".join(texts_html(entry.texts, words))
    told = f"{label(_brief(str(case['case_id'])))} · {_prose(_brief(said))}"
    earlier = earlier_of(str(case.get("trend", "")), str(case["verdict"]), runs)
    names = ", ".join(words["was.none" if each == "none" else "verdict." + each] for each in earlier)
    before = f'\n<p class="who">{label(filled(words["trend.label"], verdicts=names))}</p>' if earlier else ""
    return f"<li><b>{label(verdict)}</b> {told}{before}{texts}</li>\n"


def _prose(text: str) -> str:
    """A sentence as HTML: what stands between two backticks is a command."""
    return _COMMAND.sub(r"<code>\1</code>", label(text))


def _brief(text: str) -> str:
    if len(text) <= BRIEF_CHARACTERS:
        return text
    cut = text[:BRIEF_CHARACTERS]
    # A command that is cut in two stays one: its second backtick is put behind what is left of it.
    return f"{cut}…`" if cut.count("`") % 2 else f"{cut}…"


def _said(sentence: Sentence, language: str) -> str:
    return sentence.zh if language == "zh" else sentence.en


def _text(sentence: Json, language: str) -> str:
    return str(sentence[language]) if isinstance(sentence, Mapping) else ""
