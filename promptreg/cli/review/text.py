"""What `promptreg review` prints: lists of cases, one case with its differences, what decisions would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from promptreg.cli.console import STYLES
from promptreg.review.apply import Outcome
from promptreg.text.preview import marked, preview
from promptreg.text.terminal import safe_for_terminal
from promptreg.verdict.approvals import told_lacks
from promptreg.workflow.review.apply import APPLIED_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.report.payload import AnswerGroup, OperationView, PartDiffView
    from promptreg.text.sentence import Language
    from promptreg.workflow.review.apply import Applied
    from promptreg.workflow.review.case import CaseSides
    from promptreg.workflow.review.waiting import ReviewedCase, ReviewedRun

FOLDED: Final = 240
"""An equal stretch of more characters shows its two ends only."""

_KEPT: Final = 80
_OTHERS_SHOWN: Final = 3

_WORDS: Final = {
    "waiting": {
        "en": "Cases of run {run} that wait for a decision: {count} of {total}.",
        "zh": "运行 {run} 的 {total} 个用例中有 {count} 个待决定。",
    },
    "asked": {"en": "asked", "zh": "提问"},
    "golden": {"en": "golden", "zh": "基准输出"},
    "candidate": {"en": "candidate", "zh": "候选"},
    "facts": {"en": "facts", "zh": "事实"},
    "decided": {"en": "decided", "zh": "已决定"},
    "expired": {"en": "waiver expired on {day}", "zh": "豁免已于 {day} 到期"},
    "empty": {"en": "(empty answer)", "zh": "（空回答）"},
    "none": {"en": "nothing is recorded", "zh": "没有录制"},
    "not_asked": {"en": "the target was not asked", "zh": "目标部署未被问到"},
    "no_answer": {"en": "no call was answered", "zh": "没有一次调用得到回答"},
    "passes": {"en": "{given} of {passes} passes", "zh": "{passes} 遍中 {given} 遍"},
    "distance": {"en": "distance {distance:.2f} from the nearest golden", "zh": "与最近的基准输出相距 {distance:.2f}"},
    "nearest": {"en": "{golden}; {candidate}; {distance}", "zh": "{golden}；{candidate}；{distance}"},
    "answer": {"en": "{side} ({given}): {text}", "zh": "{side}（{given}）：{text}"},
    "folded": {"en": "… {count} equal characters …", "zh": "……{count} 个相同字符……"},
    "incomplete": {
        "en": "The texts differ too much to mark every difference.",
        "zh": "两段文本相差太大，无法逐处标出差别。",
    },
    "more_golden": {
        "en": "More golden answers: {count} (-v shows them)",
        "zh": "另有 {count} 种基准输出（-v 全部显示）",
    },
    "more_candidate": {
        "en": "More candidate answers: {count} (-v shows them)",
        "zh": "另有 {count} 种候选回答（-v 全部显示）",
    },
    "moved": {
        "en": "The baseline holds another golden by now than the run was judged against; the newer one is shown.",
        "zh": "基线中的基准输出已不是运行判定时的那一份；这里显示的是较新的。",
    },
    "lacks": {"en": "The target's answers by themselves", "zh": "目标部署的回答自身"},
    "accepted": {"en": "{verb}", "zh": "{verb}"},
    "refused": {"en": "refused", "zh": "拒绝执行"},
    "done": {"en": "done before", "zh": "已生效"},
    "replaced": {
        "en": "Decisions that a later one of the same file replaces: {count}.",
        "zh": "文件中有 {count} 个用例被重复决定；以最后一次为准。",
    },
    "nothing": {"en": "The file holds no decisions.", "zh": "文件中没有任何决定。"},
    "all_refused": {
        "en": "Decisions refused: {count} of {total}, so nothing was changed.",
        "zh": "{total} 个决定中有 {count} 个不能执行，因此没有任何改动。",
    },
    "would": {
        "en": "Nothing was changed yet. With --write, these files change: {files}.",
        "zh": "尚未改动。加上 --write 将修改：{files}。",
    },
    "no_change": {"en": "There is nothing to change.", "zh": "没有需要改动的内容。"},
    "written": {
        "en": "Written: {files}. Commit them; `promptreg baseline diff` says what changed.",
        "zh": "已写入：{files}。请提交；`promptreg baseline diff` 用文字说明改动。",
    },
    "instead": {
        "en": "This is no terminal, so nothing is asked. To decide without one:",
        "zh": "这里不是终端，因此不提问。可用以下命令决定：",
    },
}


def _label(name: str, language: Language) -> str:
    return said(name, language) + ("：" if language == "zh" else ": ")


def said(name: str, language: Language, **values: object) -> str:
    """One of this module's texts."""
    return _WORDS[name][language].format(**values)


def case_line(case: ReviewedCase, language: Language, *, whole: bool = True) -> Text:
    """A case in a list: verdict, name, what was decided, the verdict's sentence or its beginning."""
    shown = case.shown
    decided = "" if case.decision is None else f" [{case.decision}]"
    if case.expired:
        decided = f" [{said('expired', language, day=case.expires_on)}]"
    sentence = shown.sentence_zh if language == "zh" else shown.sentence
    return Text.assemble(
        (shown.verdict.ljust(8), STYLES[shown.verdict]),
        f" {_key(case)}{decided}: {safe_for_terminal(sentence) if whole else preview(sentence, 120)}",
    )


def counts_line(run: ReviewedRun, language: Language) -> str:
    """How many cases wait."""
    return said("waiting", language, count=len(run.waiting), total=len(run.cases), run=run.record.run_id)


def case_lines(sides: CaseSides, language: Language, *, everything: bool = False) -> Iterator[Text]:
    """One case in full: sentence, question, facts that differ, differences of the nearest pair, how often each."""
    case, groups = sides.case, sides.groups
    yield case_line(case, language)
    if case.decision is not None:
        until = f" → {case.expires_on}" if case.expires_on else ""
        reason = f": {safe_for_terminal(case.reason)}" if case.reason else ""
        by = safe_for_terminal(case.reviewer or "")
        past = f" ({said('expired', language, day=case.expires_on)})" if case.expired else ""
        yield Text(f"{_label('decided', language)}{case.decision}{until}{past}, {by}{reason}")
    if sides.golden_moved:
        yield Text(said("moved", language), style="yellow")
    if sides.asked:
        yield Text(f"{_label('asked', language)}{preview(sides.asked, 100)}", style="dim")
    if sides.facts:
        pairs = ", ".join(f"{preview(f.golden, 40) or '–'} → {preview(f.candidate, 40) or '–'}" for f in sides.facts)
        yield Text(f"{_label('facts', language)}{pairs}", style="bold")
    if case.shown.lacks:
        yield Text(f"{_label('lacks', language)}{told_lacks(case.shown.lacks).text(language)}", style="yellow")
    if (candidate := groups.shown_first) is None:
        yield from _one_sided(sides, language)
        return
    nearest = groups.golden[candidate.diffs[0].golden]
    golden = _label("golden", language) + _given(nearest, sides.source_passes, language) + _empty(nearest, language)
    told = _label("candidate", language) + _given(candidate, sides.target_passes, language)
    told += _empty(candidate, language)
    distance = said("distance", language, distance=candidate.diffs[0].distance or 0.0)
    yield Text(said("nearest", language, golden=golden, candidate=told, distance=distance))
    for part in candidate.diffs[0].parts:
        yield from _part_lines(part, language, everything=everything)
    yield from _others("golden", groups.golden, nearest, sides.source_passes, language, everything=everything)
    yield from _others("candidate", groups.candidate, candidate, sides.target_passes, language, everything=everything)


def applied_lines(applied: Applied, language: Language, *, quiet: bool) -> Iterator[Text]:
    """What becomes of each decision, and of the files."""
    review = applied.review
    if not quiet:
        for held in review.held:
            what = held.decision.decision if held.outcome is Outcome.ACCEPTED else said(held.outcome.value, language)
            style = {"accepted": "green", "refused": "red", "done": "dim"}[held.outcome.value]
            if held.outcome is Outcome.ACCEPTED and held.lacks:
                style = "yellow"
            name = preview(f"{held.decision.suite}/{held.decision.case_id}", 60)
            yield Text.assemble((what.ljust(12), style), f" {name}: {safe_for_terminal(held.sentence.text(language))}")
        if review.decisions.replaced:
            yield Text(said("replaced", language, count=len(review.decisions.replaced)), style="yellow")
        if not review.held:
            yield Text(said("nothing", language))
    if review.refused:
        yield Text(said("all_refused", language, count=len(review.refused), total=len(review.held)), style="red")
    elif not applied.files:
        yield Text(said("no_change", language))
    else:
        files = ", ".join(map(safe_for_terminal, applied.files))
        yield Text(said("written" if applied.written else "would", language, files=files))


def applied_json(applied: Applied) -> JsonObject:
    """The object of `review apply --json`."""
    return {
        "schema": APPLIED_SCHEMA,
        "run_id": applied.review.decisions.run_id,
        "reviewer": applied.review.decisions.reviewer,
        "written": applied.written,
        "files": list(applied.files),
        "exit_code": 1 if applied.review.refused else 0,
        "replaced": len(applied.review.decisions.replaced),
        "decisions": [
            {
                "suite": held.decision.suite,
                "case_id": held.decision.case_id,
                "decision": held.decision.decision,
                "outcome": held.outcome.value,
                "sentence": held.sentence.en,
                "sentence_zh": held.sentence.zh,
                **({"lacks": [lack.to_json() for lack in held.lacks]} if held.lacks else {}),
            }
            for held in applied.review.held
        ],
    }


def commands_instead(run: ReviewedRun, language: Language) -> Iterator[str]:
    """What to type where there is no terminal."""
    yield counts_line(run, language)
    yield said("instead", language)
    name = _shell(run.waiting[0].shown.key if run.waiting else "SUITE/CASE")
    run_id = run.record.run_id
    yield f"  promptreg review list {run_id}"
    yield f"  promptreg review show {name} --run {run_id}"
    yield f"  promptreg review decide approve {name} --run {run_id} --write"
    yield f"  promptreg review decide reject {name} --run {run_id} --reason WHY --write"
    yield f"  promptreg review decide waive {name} --run {run_id} --reason WHY --until DAY --write"
    yield "  promptreg review apply decisions.json --write"


def _shell(text: str) -> str:
    import shlex  # noqa: PLC0415 - only here

    return shlex.quote(safe_for_terminal(text))


def _key(case: ReviewedCase) -> str:
    return preview(case.shown.key, 80)


def _given(group: AnswerGroup, passes: int, language: Language) -> str:
    return said("passes", language, given=len(group.passes), passes=passes)


def _empty(group: AnswerGroup, language: Language) -> str:
    """Says of an answer that there is nothing in it: an empty line looks like a fault of the terminal."""
    return "" if group.content or group.tool_calls else f" {said('empty', language)}"


def _part_lines(part: PartDiffView, language: Language, *, everything: bool) -> Iterator[Text]:
    if part.part != "content":
        yield Text(f"— {part.part}", style="dim")
    if part.note is not None:
        yield Text(part.note.text(language), style="yellow")
    if not part.complete:
        yield Text(said("incomplete", language), style="yellow")
    yield _difference(part.operations, language, everything=everything)


def _difference(operations: Sequence[OperationView], language: Language, *, everything: bool) -> Text:
    """Both texts in one; signs say what colours say, so that neither is needed."""
    text = Text()
    for operation in operations:
        piece = marked(operation.text)
        if operation.kind == "delete":
            text.append(f"[-{piece}-]", style="red")
        elif operation.kind == "insert":
            text.append(f"{{+{piece}+}}", style="green")
        elif len(piece) > FOLDED and not everything:
            text.append(piece[:_KEPT])
            text.append(said("folded", language, count=len(piece) - 2 * _KEPT), style="dim")
            text.append(piece[-_KEPT:])
        else:
            text.append(piece)
    return text


def _others(
    name: str, groups: Sequence[AnswerGroup], first: AnswerGroup, passes: int, language: Language, *, everything: bool
) -> Iterator[Text]:
    """The other distinct answers of one side; without -v, the beginnings of the first few."""
    others = [group for group in groups if group is not first]
    for group in others if everything else others[:_OTHERS_SHOWN]:
        content = marked(group.content) if everything else preview(group.content, 100)
        given = _given(group, passes, language)
        yield Text(said("answer", language, side=said(name, language), given=given, text=content), style="dim")
    left = len(others) - _OTHERS_SHOWN
    if left > 0 and not everything:
        yield Text(said(f"more_{name}", language, count=left), style="dim")


def _one_sided(sides: CaseSides, language: Language) -> Iterator[Text]:
    # A case that was asked in vain is an error; one that was not asked is new.
    unanswered = "no_answer" if sides.case.shown.verdict == "error" else "not_asked"
    for name, groups, passes, none in (
        ("golden", sides.groups.golden, sides.source_passes, "none"),
        ("candidate", sides.groups.candidate, sides.target_passes, unanswered),
    ):
        if not groups:
            yield Text(f"{_label(name, language)}{said(none, language)}")
        for group in groups[:_OTHERS_SHOWN]:
            given, text = _given(group, passes, language), marked(group.content)
            yield Text(said("answer", language, side=said(name, language), given=given, text=text))
