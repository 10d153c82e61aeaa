"""`promptreg review` in a terminal: one case after the other, decided by single keys."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import click

from promptreg.cli.console import console
from promptreg.cli.review.text import applied_lines, case_lines, counts_line
from promptreg.cli.review.words import KEYS, WORDS
from promptreg.errors import OutputError
from promptreg.review.decisions import decisions_json
from promptreg.review.session import Session
from promptreg.text.preview import preview
from promptreg.verdict.approvals import told_lacks
from promptreg.workflow.review.apply import apply_decisions
from promptreg.workflow.review.case import CaseBook
from promptreg.workflow.review.standing import utc_today
from promptreg.workflow.review.waiting import decided_now

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.config import Config
    from promptreg.review.decisions import Decisions, Verb
    from promptreg.store.store import Store
    from promptreg.text.sentence import Language
    from promptreg.workflow.review.case import CaseSides
    from promptreg.workflow.review.waiting import ReviewedRun

WAIVED_FOR: Final = timedelta(days=30)
"""How long a waiver runs unless the reviewer says otherwise."""

_VERBS: Final[dict[str, Verb]] = {"a": "approve", "r": "reject", "w": "waive", "s": "defer"}
"""The keys that decide; capital letters decide on all remaining cases."""


def review_by_keys(config: Config, store: Store, run: ReviewedRun, reviewer: str, language: Language) -> int:
    """Show the waiting cases one by one, take decisions by keys, and apply them in the end.

    Returns:
        The exit code: 0, or 1 when decisions were refused.

    Raises:
        KeyboardInterrupt: after Ctrl-C, with a sentence; nothing was changed.
    """
    try:
        return _reviewed(config, store, run, reviewer, language)
    except (KeyboardInterrupt, click.Abort) as interrupt:
        raise KeyboardInterrupt(WORDS[language]["dropped"]) from interrupt


def _reviewed(config: Config, store: Store, run: ReviewedRun, reviewer: str, language: Language) -> int:
    out, words = console(), WORDS[language]
    out.print(counts_line(run, language))
    session, book = Session([case.shown for case in run.waiting]), CaseBook(config, store, run)
    by_key = {case.shown.key: case for case in run.waiting}
    while (case := session.current) is not None:
        out.print()
        out.print(f"{session.number}/{len(session.cases)}")
        sides = book.sides(by_key[case.key])
        for line in case_lines(sides, language):
            out.print(line)
        key = _key(KEYS[language])
        if key in {"q", "\x03", "\x04"}:
            break
        if key == "u":
            if not session.undo():
                out.print(words["nothing_to_undo"])
        elif key == "v":
            for line in case_lines(sides, language, everything=True):
                out.print(line)
            click.pause(words["pause"])
        elif (verb := _VERBS.get(key.lower())) is not None:
            _tell_replaced(sides, verb, language, all_remaining=key.isupper())
            _choose(session, verb, language, all_remaining=key.isupper())
    if not session.choices:
        return 0
    chosen = [(choice.case, choice.verb, choice.reason, choice.expires_on) for choice in session.choices]
    return _apply(config, store, decided_now(run, reviewer, chosen), language)


def _tell_replaced(sides: CaseSides, verb: Verb, language: Language, *, all_remaining: bool) -> None:
    """Say what an approval takes away, and what stands in its place."""
    if verb != "approve":
        return
    golden, candidate = (
        sum(len(group.passes) for group in side) for side in (sides.groups.golden, sides.groups.candidate)
    )
    told = WORDS[language]["all_replaces" if all_remaining else "replaces"]
    console().print(told.format(golden=golden, candidate=candidate))


def _choose(session: Session, verb: Verb, language: Language, *, all_remaining: bool) -> None:
    """Ask what the decision needs, then make it; an empty answer where one is needed takes the key back."""
    words, number = WORDS[language], len(session.remaining)
    if all_remaining and not click.confirm(words["all"].format(verb=verb, count=number), default=False):
        return
    lacking = [case for case in (session.remaining if all_remaining else session.remaining[:1]) if case.lacks]
    asked = "approve_lacking" if verb == "approve" and lacking else verb
    reason, day = "", None
    if asked == "approve_lacking":
        for case in lacking:
            console().print(f"{preview(case.key, 80)}: {told_lacks(case.lacks).text(language)}", style="yellow")
    if asked in {"reject", "waive", "approve_lacking"}:
        reason = click.prompt(words[f"reason_{asked}"], default="", show_default=False).strip()
    if asked in {"waive", "approve_lacking"} and not reason:
        console().print(words[f"no_reason_{asked}"])
        return
    if verb == "waive":
        day = _day(language)
    session.choose(verb, reason, day, all_remaining=all_remaining)


def _day(language: Language) -> date:
    usual = utc_today() + WAIVED_FOR
    while True:
        text = click.prompt(WORDS[language]["until"], default=usual.isoformat()).strip()
        try:
            return date.fromisoformat(text)
        except ValueError:
            console().print(WORDS[language]["no_day"])


def _apply(config: Config, store: Store, decisions: Decisions, language: Language) -> int:
    out, words = console(), WORDS[language]
    out.print()
    dry = apply_decisions(config, store, decisions, write=False)
    for line in applied_lines(dry, language, quiet=False):
        out.print(line)
    key = _key(words["end"] if not dry.review.refused else words["end_refused"])
    if key.lower() == "y":
        refused = {held.decision for held in dry.review.refused}
        holding = tuple(each for each in decisions.decisions if each not in refused)
        decisions = replace(decisions, decisions=holding)
        applied = apply_decisions(config, store, decisions, write=True)
        for line in applied_lines(applied, language, quiet=True):
            out.print(line)
        return 1 if refused else 0
    if key.lower() == "f":
        path = config.root / config.paths.reports / f"{decisions.run_id}.decisions.json"
        save_decisions(path, decisions)
        out.print(words["saved"].format(path=path))
    else:
        out.print(words["dropped"])
    return 1 if dry.review.refused else 0


def save_decisions(path: Path, decisions: Decisions) -> None:
    """Write a decisions file.

    Raises:
        OutputError: it cannot be written.
    """
    text = json.dumps(decisions_json(decisions), ensure_ascii=False, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from error


def _key(prompt: str) -> str:
    click.echo(prompt, nl=False)
    key = click.getchar()
    click.echo(f" {key if key.isprintable() else ''}")
    return key
