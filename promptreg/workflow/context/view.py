"""What the report shows of a conversation that was shortened: on each side what is gone, cut or replaced, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from promptreg.report.context_views import ContextChangeView, ContextSideView, ContextView, InsertedView
from promptreg.workflow.context.fit import stretches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.canonical import Json
    from promptreg.context.fit import Fitted
    from promptreg.context.ledger import Entry
    from promptreg.suite.model import Case
    from promptreg.text.redaction import Redaction
    from promptreg.text.sentence import Sentence
    from promptreg.workflow.context.contexts import FittedCase
    from promptreg.workflow.context.fit import Stretch
    from promptreg.workflow.pairing import Pairing


def context_view(pairing: Pairing, case: Case, redaction: Redaction) -> ContextView | None:
    """Both sides of a case, without what is never kept; None for one without a `context`."""
    source, target = pairing.source.of(case), pairing.target.of(case)
    if source is None or target is None:
        return None
    return ContextView(target.strategy, _side(source, redaction), _side(target, redaction))


def _side(side: FittedCase, redaction: Redaction) -> ContextSideView:
    fitted, budget = side.fitted, side.budget
    return ContextSideView(
        counter=side.counter,
        window=budget.window,
        reserve=budget.reserve,
        budget=budget.tokens,
        messages=len(side.written),
        total=None if fitted is None else fitted.total,
        whole=None if fitted is None else fitted.ledger.before,
        problem=side.problem,
        provable=side.provable,
        changes=() if fitted is None else tuple(_changes(fitted, redaction)),
        inserted=() if fitted is None else tuple(_inserted(fitted, redaction)),
        dropped=side.dropped,
        notes=tuple(_notes(side)),
    )


def _notes(side: FittedCase) -> Iterator[Sentence]:
    if side.refused is not None:
        yield side.refused.sentence
    if side.fitted is not None:
        yield from (note.sentence for note in side.fitted.ledger.notes)


def _changes(fitted: Fitted, redaction: Redaction) -> Iterator[ContextChangeView]:
    """Dropped neighbours as one line; messages in whose place the same words are sent as one line, with those words."""
    words = {
        origin: redaction.text(_text(message))
        for message, origin in zip(fitted.messages, fitted.origins, strict=True)
        if origin is not None
    }
    entries = fitted.ledger.entries
    alike: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        if entry.index in words:
            alike.setdefault((entry.action, entry.reason, words[entry.index]), []).append(entry)
    for stretch in stretches([entry for entry in entries if entry.index not in words]):
        yield _change((stretch,), "")
    for (_, _, text), same in alike.items():
        yield _change(stretches(same), text)


def _change(parts: Sequence[Stretch], text: str) -> ContextChangeView:
    first = parts[0].entries[0]
    return ContextChangeView(
        places=", ".join(part.places for part in parts),
        roles=tuple(dict.fromkeys(role for part in parts for role in part.roles)),
        action=first.action.value,
        reason=first.sentence,
        tokens=sum(part.tokens for part in parts),
        kept=sum(part.kept for part in parts),
        text=text,
    )


def _inserted(fitted: Fitted, redaction: Redaction) -> Iterator[InsertedView]:
    for message, origin in zip(fitted.messages, fitted.origins, strict=True):
        if origin is None:
            yield InsertedView(str(message.get("role") or ""), redaction.text(_text(message)))


def _text(message: Mapping[str, Json]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(dict(message), ensure_ascii=False, indent=2)
