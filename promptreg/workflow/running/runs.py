"""What there is to say about stored runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from promptreg.deployment.reader import read_exchange
from promptreg.text.counted import part_in_chinese
from promptreg.text.sentence import Sentence
from promptreg.workflow.running.staying import stays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.store.runs import RunCase, RunRecord
    from promptreg.store.store import Store


@dataclass(frozen=True, slots=True)
class TroubledCall:
    """A call that did not go well at once: it got no answer at all, or only at a later attempt."""

    suite: str
    case_id: str
    pass_index: int
    attempts: int
    message: str
    """Why there is no answer; of a call that was answered in the end, what its first attempt said."""
    stays: bool = False
    """True when the same call would fail again (see `staying.stays`)."""

    def to_json(self) -> JsonObject:
        """As `runs RUN --json` prints it."""
        return {
            "suite": self.suite,
            "case_id": self.case_id,
            "pass": self.pass_index,
            "attempts": self.attempts,
            "message": self.message,
        }


def failed_calls(store: Store, record: RunRecord) -> tuple[TroubledCall, ...]:
    """The failed calls of a run, by suite, case and pass. Reads nothing when the run has none."""
    if not record.failed:
        return ()
    found = []
    for sample in store.samples(record.run_id):
        problem = read_exchange(sample.attempts[-1]).problem
        if problem is not None:
            found.append(
                TroubledCall(
                    sample.suite,
                    sample.case_id,
                    sample.pass_index,
                    len(sample.attempts),
                    problem.message,
                    stays(sample.attempts[-1], problem),
                )
            )
    return tuple(found)


def planned_calls(record: RunRecord) -> int:
    """How many samples a run was to take.

    Cases times passes, except when it topped a baseline up, or when it was a comparison that is done: that may have
    stopped at an early look.
    """
    if record.kind == "compare" and record.state == "done":
        return record.answered + record.failed
    calls = record.options.get("calls")
    return calls if isinstance(calls, int) else record.cases * record.passes


def failure_summary(record: RunRecord, failures: Sequence[TroubledCall]) -> Sentence | None:
    """How many calls got no answer, and the most frequent reason. None when none failed."""
    if not failures:
        return None
    (reason, count), *_ = Counter(failure.message for failure in failures).most_common(1)
    example = next(failure for failure in failures if failure.message == reason)
    said_en = said_zh = ""
    if count < len(failures):
        said_en, said_zh = f"; {count} of them said what this one did", f"（其中 {count} 次都是如此）"
    failed_zh = part_in_chinese(len(failures), record.answered + record.failed, "次调用", "次").lstrip()
    total, place, why = record.answered + record.failed, f"{example.suite}/{example.case_id}", reason.rstrip(".")
    return Sentence(
        f"{len(failures)} of {total} calls got no answer. {place}, pass {example.pass_index + 1}: {why}{said_en}.",
        f"{failed_zh}没有得到回答。{place} 第 {example.pass_index + 1} 遍：{why}{said_zh}。",
    )


def retried_calls(store: Store, record: RunRecord) -> tuple[TroubledCall, ...]:
    """The calls of a run that needed more than one attempt for their answer, by suite, case and pass."""
    found = []
    for sample in store.samples(record.run_id):
        if len(sample.attempts) < 2 or read_exchange(sample.attempts[-1]).answer is None:
            continue
        problem = read_exchange(sample.attempts[0]).problem
        message = problem.message if problem is not None else "no reason is known"
        found.append(TroubledCall(sample.suite, sample.case_id, sample.pass_index, len(sample.attempts), message))
    return tuple(found)


def context_line(case: RunCase) -> str | None:
    """How a case of a run was shortened, in a line; None for one that was sent as it is written."""
    context = case.context or {}
    dropped, changed = context.get("dropped"), context.get("changed")
    name = f"{case.suite}/{case.case_id}"
    if context.get("problem"):
        return f"{name}: {context['problem']}"
    if not isinstance(dropped, list) or not isinstance(changed, list) or not (dropped or changed):
        return None
    more = f", {len(changed)} cut or replaced" if changed else ""
    return (
        f"{name}: {context.get('total')} of {context.get('whole')} tokens, {len(dropped)} of "
        f"{context.get('messages')} messages dropped{more} ({context.get('strategy')})"
    )


def run_json(record: RunRecord) -> JsonObject:
    """A run as `runs --json` prints it."""
    return {
        "run_id": record.run_id,
        "kind": record.kind,
        "state": record.state,
        "verdict": record.verdict,
        "deployment": record.deployment,
        "model": record.model,
        "server": record.server,
        "base_url": record.base_url,
        "started_at": iso_time(record.started_at),
        "ended_at": None if record.ended_at is None else iso_time(record.ended_at),
        "suites": list(record.suites),
        "cases": record.cases,
        "passes": record.passes,
        "seed": record.seed,
        "answered": record.answered,
        "failed": record.failed,
        "warnings": [warning.en for warning in record.warnings],
        "warnings_zh": [warning.zh for warning in record.warnings],
    }


def iso_time(unix: float) -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(unix, UTC).isoformat(timespec="seconds")


def local_time(unix: float) -> str:
    """Date and time of this machine's zone, for people."""
    return datetime.fromtimestamp(unix).astimezone().isoformat(sep=" ", timespec="seconds")
